/**
 * What a function of the program threw, as an answer to the other side. Internal.
 */

import {
  AddonError,
  CancelledError,
  CapabilityError,
  ConnectionClosedError,
  ErrorCode,
  HandlerError,
  InternalError,
  McpError,
  ProtocolError,
  RequestTimeoutError,
  ResponseError,
  ServerStartError,
  UsageError,
  textOf,
} from './errors.js';

/** How a call of the other side is answered with an error. */
export interface ErrorAnswer {
  readonly code: number;
  readonly message: string;
  /** JSON text. */
  readonly data: string | null;
}

/**
 * An {@link McpError} is passed on with its code, message and data. Of anything else the other side learns nothing but
 * that it happened, and `hidden` gets it; as it gets faults of the program's functions, which both sides know of.
 */
export function errorAnswer(error: unknown, hidden: (error: unknown) => void): ErrorAnswer {
  if (!(error instanceof McpError)) {
    hidden(error);
    return { code: ErrorCode.InternalError, message: 'Internal error', data: null };
  }
  if (FAULTS.has(error)) hidden(error);
  const code = Number.isSafeInteger(error.code) ? (error.code as number) : ErrorCode.InternalError;
  let data: string | undefined;
  try {
    if (error.data !== undefined) data = JSON.stringify(error.data);
  } catch (unwritable) {
    hidden(unwritable);
  }
  return { code, message: textOf(error), data: data ?? null };
}

/**
 * The same for handlers that answer in their own words, as those of the official SDK do: whatever they throw, the other
 * side gets its message, and its code where it has one.
 */
export function openAnswer(error: unknown, hidden: (error: unknown) => void): ErrorAnswer {
  if (error instanceof McpError) return errorAnswer(error, hidden);
  const { code, data } = (typeof error === 'object' && error !== null ? error : {}) as { readonly code?: unknown; readonly data?: unknown };
  const known = Number.isSafeInteger(code) ? (code as number) : ErrorCode.InternalError;
  return errorAnswer(new McpError(known, textOf(error) || 'Internal error', data), hidden);
}

/** What the other side must see as it is, for it can act on it. */
const TELLING: readonly unknown[] = [ErrorCode.MissingRequiredClientCapability, ErrorCode.UrlElicitationRequired];

/** The classes of what this package itself reports to a program. */
const REPORTS = [
  AddonError,
  CancelledError,
  CapabilityError,
  ConnectionClosedError,
  HandlerError,
  InternalError,
  ProtocolError,
  RequestTimeoutError,
  ResponseError,
  ServerStartError,
  UsageError,
] as const;

/**
 * Whether what a tool threw is the answer itself: an {@link McpError} that the program made. One that this package
 * reported to the tool, such as a question that failed, is a failure of the tool like any other, unless the other side
 * must know of it.
 */
export function isPassedOn(error: unknown): error is McpError {
  if (!(error instanceof McpError)) return false;
  return TELLING.includes(error.code) || !REPORTS.some((report) => error instanceof report);
}

const FAULTS = new WeakSet<McpError>();

/** A fault of this program's function that both sides are to know of. */
export function fault(message: string): McpError {
  const error = new McpError(ErrorCode.InternalError, message);
  FAULTS.add(error);
  return error;
}
