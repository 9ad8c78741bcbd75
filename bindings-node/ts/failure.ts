/**
 * What a function of the program threw, as an answer to the other side. Internal.
 */

import type { ErrorAnswer } from './connection.js';
import { ErrorCode, McpError, textOf } from './errors.js';

/**
 * An {@link McpError} is passed on with its code, message and data. Of anything else the other side learns nothing but
 * that it happened, and `hidden` gets it.
 */
export function errorAnswer(error: unknown, hidden: (error: unknown) => void): ErrorAnswer {
  if (!(error instanceof McpError)) {
    hidden(error);
    return { code: ErrorCode.InternalError, message: 'Internal error', data: null };
  }
  const code = Number.isSafeInteger(error.code) ? (error.code as number) : ErrorCode.InternalError;
  let data: string | undefined;
  try {
    if (error.data !== undefined) data = JSON.stringify(error.data);
  } catch (unwritable) {
    hidden(unwritable);
  }
  return { code, message: textOf(error), data: data ?? null };
}

/** A fault of this program's function that both sides may know of. */
export function fault(message: string): McpError {
  return new McpError(ErrorCode.InternalError, message);
}
