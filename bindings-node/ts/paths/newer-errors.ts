/**
 * The errors of the second version of the official SDK, by its names: an answer of the other side, and all else.
 */

import { ErrorCode, McpError, ResponseError } from '../errors.js';

/**
 * The other side answered with an error, or is to: {@link ResponseError}. (The package's own root has another class of
 * this name, for a side that breaks the protocol.)
 */
export const ProtocolError: typeof ResponseError = ResponseError;
export type ProtocolError = ResponseError;

/** The codes of {@link ProtocolError}. */
export const ProtocolErrorCode: typeof ErrorCode = ErrorCode;
export type ProtocolErrorCode = ErrorCode;

/** What a {@link SdkError} has as its `code`. */
export const SdkErrorCode = {
  RequestTimeout: ErrorCode.RequestTimeout,
  ConnectionClosed: ErrorCode.ConnectionClosed,
} as const;
export type SdkErrorCode = (typeof SdkErrorCode)[keyof typeof SdkErrorCode];

/** Any error that is not the other side's answer. */
export class SdkError extends McpError {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof McpError && !(value instanceof ResponseError);
  }
}
