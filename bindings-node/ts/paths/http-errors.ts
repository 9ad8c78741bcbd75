/**
 * Failures of servers over HTTP, by the names of the official SDK. They have no class of their own here: any error that tells a status
 * is one.
 */

import { McpError, httpStatusOf } from '../errors.js';

/** The server answered with a status that is no success; `error.data.status` is the status. */
export class StreamableHTTPError extends McpError {
  declare readonly data: { readonly status: number; readonly [other: string]: unknown };

  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof McpError && httpStatusOf(value) !== undefined;
  }
}

/** The same, by its name in the second version. */
export const SdkHttpError: typeof StreamableHTTPError = StreamableHTTPError;
export type SdkHttpError = StreamableHTTPError;

/** The same, of a server of HTTP+SSE. */
export const SseError: typeof StreamableHTTPError = StreamableHTTPError;
export type SseError = StreamableHTTPError;
