/**
 * The errors of this package: one tree, whose classes hold across copies of the package.
 */

/**
 * What went wrong, as a word to branch on.
 *
 * | kind | class | meaning |
 * | --- | --- | --- |
 * | `response` | {@link ResponseError} | the other side answered with an error |
 * | `timeout` | {@link RequestTimeoutError} | no answer within the time allowed |
 * | `cancelled` | {@link CancelledError} | the call was cancelled |
 * | `closed` | {@link ConnectionClosedError} | the connection ended first |
 * | `not_negotiated` | {@link CapabilityError} | the other side did not declare the capability; nothing was sent |
 * | `usage` | {@link UsageError} | the call could not be made as asked; nothing was sent |
 * | `protocol` | {@link ProtocolError} | the other side broke the protocol |
 * | `handler` | {@link HandlerError} | a function of this program failed that the call needed an answer of; see `cause` |
 * | `start` | {@link ServerStartError} | the server's process could not be started |
 * | `addon` | {@link AddonError} | the native addon could not be loaded |
 * | `internal` | {@link InternalError} | a fault inside this package |
 */
export type ErrorKind =
  | 'response'
  | 'timeout'
  | 'cancelled'
  | 'closed'
  | 'not_negotiated'
  | 'usage'
  | 'protocol'
  | 'handler'
  | 'start'
  | 'addon'
  | 'internal';

/** Whose fault an error was: this program's, the other side's, or the connection's. */
export type Fault = 'local' | 'peer' | 'transport';

/** The error codes of JSON-RPC 2.0 and MCP. Either side may send any other number as well. */
export const ErrorCode = {
  /** The text is not valid JSON. */
  ParseError: -32700,
  /** The JSON is not a valid message here. */
  InvalidRequest: -32600,
  /** The method does not exist or was not negotiated. */
  MethodNotFound: -32601,
  /** The params do not fit the method; also an unknown tool. */
  InvalidParams: -32602,
  /** The receiver failed while handling the request. */
  InternalError: -32603,
  /** The connection ended before the answer came. Never on the wire. */
  ConnectionClosed: -32000,
  /** No answer came within the time allowed. Never on the wire. */
  RequestTimeout: -32001,
  /** No resource has this URI (2025-11-25 and earlier). */
  ResourceNotFound: -32002,
  /** The user must visit a URL first (2025-11-25). */
  UrlElicitationRequired: -32042,
  /** An HTTP header and the body disagree. */
  HeaderMismatch: -32020,
  /** The request needs a capability the client did not declare. */
  MissingRequiredClientCapability: -32021,
  /** The server does not speak the requested revision. */
  UnsupportedProtocolVersion: -32022,
} as const;

/** One of the codes that are named. */
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

/** The plain data an error is made of. */
export interface ErrorDetails {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly code?: number;
  readonly data?: unknown;
  readonly fault?: Fault;
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/**
 * Marks an error with the names of its classes, so that `instanceof` holds when two copies of the package are loaded
 * (a bundled one and an installed one, say).
 */
const BRAND = Symbol.for('oxmcp.error');

/**
 * The base of all errors of this package.
 *
 * @example
 * ```ts
 * import { Client, ErrorCode, McpError } from 'oxmcp';
 *
 * const client = new Client({ name: 'example', version: '1.0.0' });
 * try {
 *   await client.callTool({ name: 'no-such-tool' });
 * } catch (error) {
 *   if (error instanceof McpError && error.code === ErrorCode.InvalidParams) console.error(error.message);
 * }
 * ```
 */
export class McpError extends Error {
  /** What went wrong, as a word to branch on. */
  readonly kind: ErrorKind;
  /** The JSON-RPC code: the other side's for a {@link ResponseError}; `undefined` where there is none. */
  readonly code: number | undefined;
  /** What the other side sent as `data`. */
  readonly data: unknown;
  /** Whose fault it was. */
  readonly fault: Fault;
  /** Whether the same call may succeed if it is made again. Says nothing about effects of the first attempt. */
  readonly retryable: boolean;

  /**
   * An error for the other side, thrown by a function that answers it, has a code, a message and data of any JSON:
   * `new McpError(ErrorCode.InvalidParams, 'no such row', { row: 7 })`.
   */
  constructor(code: number, message: string, data?: unknown);
  constructor(details: ErrorDetails);
  constructor(first: ErrorDetails | number, message = '', data?: unknown) {
    const details: ErrorDetails = typeof first === 'number' ? { kind: 'response', code: first, message, data } : first;
    super(details.message, 'cause' in details ? { cause: details.cause } : undefined);
    this.kind = details.kind;
    this.code = details.code;
    this.data = details.data;
    this.fault = details.fault ?? 'local';
    this.retryable = details.retryable ?? false;
  }

  /** True for errors of this class from any copy of the package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // A class that a program derives from ours has no brand of its own.
    if (!Object.hasOwn(this.prototype, BRAND)) return Function.prototype[Symbol.hasInstance].call(this, value);
    if (typeof value !== 'object' || value === null) return false;
    const names: unknown = (value as Record<symbol, unknown>)[BRAND];
    return Array.isArray(names) && names.includes(brandOf(this.prototype));
  }
}

/** The other side answered with an error; `code`, `message` and `data` are its own. */
export class ResponseError extends McpError {}

/** No answer came within the time allowed. The other side was told that the call is off. */
export class RequestTimeoutError extends McpError {}

/** The call was cancelled. A call that is aborted by its signal rejects with the signal's own reason instead. */
export class CancelledError extends McpError {}

/** A side did not declare the capability the method rests on. Nothing was sent. */
export class CapabilityError extends McpError {}

/** The call could not be made as asked. Nothing was sent. */
export class UsageError extends McpError {}

/** The other side broke the protocol. */
export class ProtocolError extends McpError {}

/**
 * A function of this program failed, such as the one for `elicitation/create`, on whose answer the call rested
 * (2026-07-28). `cause` is what it threw.
 */
export class HandlerError extends McpError {}

/** Something that the user must do at a URL before a call can succeed. */
export interface UrlElicitation {
  readonly mode: 'url';
  /** Why, for the user. */
  readonly message: string;
  readonly url: string;
  /** For `notifications/elicitation/complete`, which tells that it was done. */
  readonly elicitationId?: string;
}

/**
 * The user must visit a URL before the call can succeed. A server's function throws it; a client catches it (2025-11-25)
 * or is asked to show the URL and the call goes on by itself (2026-07-28).
 */
export class UrlElicitationRequiredError extends ResponseError {
  /** What there is to visit. */
  readonly elicitations: readonly UrlElicitation[];

  constructor(elicitations: readonly UrlElicitation[], message = 'This request requires the user to visit a URL first') {
    super({ kind: 'response', code: ErrorCode.UrlElicitationRequired, message, data: { elicitations } });
    this.elicitations = elicitations;
  }
}

/**
 * A server over HTTP wants credentials, or others: status 401. `data` has the `wwwAuthenticate` of the response, which may tell where
 * to get them.
 */
export class UnauthorizedError extends ResponseError {
  constructor(given: ErrorDetails | string = 'Unauthorized') {
    super(typeof given === 'string' ? { kind: 'response', message: given, fault: 'peer', data: { status: 401 } } : given);
  }
}

/** The native addon of this package could not be loaded; the message lists what was tried. */
export class AddonError extends McpError {
  constructor(message: string) {
    super({ kind: 'addon', message });
  }
}

/** A fault inside this package ended the connection. Please report it. */
export class InternalError extends McpError {}

/** How a server's process ended, as far as it is known. */
export interface ProcessEnd {
  /** The exit code; `null` when a signal ended it or it has not ended. */
  readonly exitCode: number | null;
  /** The signal that ended it, such as `'SIGKILL'`. */
  readonly signal: string | null;
  /** The last lines of its stderr, when stderr is piped; else `''`. */
  readonly stderr: string;
}

/** The connection ended before the answer came: the server died or left, or the client was closed. */
export class ConnectionClosedError extends McpError implements ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stderr: string;

  constructor(details: ErrorDetails, end?: ProcessEnd) {
    super({ code: ErrorCode.ConnectionClosed, fault: 'transport', retryable: true, ...details });
    this.exitCode = end?.exitCode ?? null;
    this.signal = end?.signal ?? null;
    this.stderr = end?.stderr ?? '';
  }
}

/** The server's process could not be started: no such command, not executable, no such folder. */
export class ServerStartError extends McpError {
  /** The command as it was given. */
  readonly command: string;
  /** The folder it was to run in. */
  readonly cwd: string;

  constructor(message: string, command: string, cwd: string, cause: unknown) {
    super({ kind: 'start', message, cause });
    this.command = command;
    this.cwd = cwd;
  }
}

type ErrorClass = abstract new (...args: never[]) => McpError;

const CLASSES: Readonly<Record<string, ErrorClass>> = {
  McpError,
  ResponseError,
  RequestTimeoutError,
  CancelledError,
  ConnectionClosedError,
  CapabilityError,
  UsageError,
  ProtocolError,
  HandlerError,
  UrlElicitationRequiredError,
  UnauthorizedError,
  ServerStartError,
  AddonError,
  InternalError,
};

// By names written out, since a bundler may shorten those of the classes.
for (const [name, { prototype }] of Object.entries(CLASSES)) {
  const brands = ['McpError'];
  if (ResponseError.prototype.isPrototypeOf(prototype) && name !== 'ResponseError') brands.unshift('ResponseError');
  if (name !== 'McpError') brands.unshift(name);
  Object.defineProperty(prototype, BRAND, { value: brands });
  Object.defineProperty(prototype, 'name', { value: name, configurable: true, writable: true });
}

function brandOf(prototype: object): unknown {
  return (prototype as Record<symbol, readonly unknown[]>)[BRAND]?.[0];
}

/** Makes the error of the class that `details.kind` names. Internal. */
export function toError(details: ErrorDetails, end?: ProcessEnd): McpError {
  switch (details.kind) {
    case 'response':
      if (httpStatusOf(details) === 401) return new UnauthorizedError(details);
      return urlElicitation(details) ?? new ResponseError(details);
    case 'handler':
      return new HandlerError(details);
    case 'timeout':
      return new RequestTimeoutError(details);
    case 'cancelled':
      return new CancelledError(details);
    case 'closed':
      return new ConnectionClosedError(details, end);
    case 'not_negotiated':
      return new CapabilityError(details);
    case 'protocol':
      return new ProtocolError(details);
    case 'internal':
      return new InternalError(details);
    default:
      return new UsageError(details);
  }
}

/** The status of a response over HTTP that was no answer. What a server sent as an error of its own has its code beside it. Internal. */
export function httpStatusOf({ code, data }: { readonly code?: number | undefined; readonly data?: unknown }): number | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { status, error } = data as { readonly status?: unknown; readonly error?: unknown };
  return typeof status === 'number' && (code === undefined || error !== undefined) ? status : undefined;
}

/** The typed error, where the answer is one and names URLs. */
function urlElicitation({ code, message, data }: ErrorDetails): McpError | undefined {
  if (code !== ErrorCode.UrlElicitationRequired || typeof data !== 'object' || data === null) return undefined;
  const { elicitations } = data as { readonly elicitations?: unknown };
  return Array.isArray(elicitations) ? new UrlElicitationRequiredError(elicitations as UrlElicitation[], message) : undefined;
}

/** A usage error of our own. Internal. */
export function usage(message: string, cause?: unknown): UsageError {
  const details = { kind: 'usage', message, code: ErrorCode.InvalidParams } as const;
  return new UsageError(cause === undefined ? details : { ...details, cause });
}

/** Any value of the program, such as the reason of an abort, as text for a message. Never throws. Internal. */
export function textOf(value: unknown): string {
  try {
    return String(typeof value === 'object' && value !== null ? messageOf(value, NESTED) : value);
  } catch {
    return `${typeof value} that has no text`;
  }
}

/** How deep errors of errors are told, and how many of each. */
const NESTED = 3;
const TOLD = 10;

/** The message of an error, of this realm or another, or of an object thrown in its place; with those of the errors inside it. */
function messageOf(value: object, depth: number): unknown {
  const { message, errors } = value as { readonly message?: unknown; readonly errors?: unknown };
  const own = message === undefined || (typeof message !== 'string' && !(value instanceof Error)) ? value : message;
  if (!(value instanceof AggregateError) || !Array.isArray(errors) || depth === 0) return own;
  const told = errors.slice(0, TOLD).map((one: unknown) => {
    return String(typeof one === 'object' && one !== null ? messageOf(one, depth - 1) : one);
  });
  if (errors.length > TOLD) told.push(`and ${errors.length - TOLD} more`);
  return [message, told.join('; ')].filter((part) => part !== '').join(': ');
}

/** The plain data that the addon threw; `undefined` for anything else. Internal. */
export function nativeDetails(thrown: unknown): ErrorDetails | undefined {
  if (typeof thrown !== 'object' || thrown === null || thrown instanceof Error) return undefined;
  const { data, ...details } = thrown as ErrorDetails & { data?: string };
  return data === undefined ? details : { ...details, data: JSON.parse(data) };
}

/** What the addon threw, as an error. Internal. */
export function fromNative(thrown: unknown): unknown {
  const details = nativeDetails(thrown);
  return details === undefined ? thrown : toError(details);
}
