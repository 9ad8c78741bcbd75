/**
 * What a program can say about a connection and about a call.
 */

import { unknown } from './check-options.js';
import { usage } from './errors.js';
import type { NativeCallOptions } from './native.js';
import type { JsonObject, LoggingLevel, Progress } from './types.js';

/** An `AbortSignal`: the part of it this package uses, so that its types need no others. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The `AbortSignal` of the program's own types, where it has some. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Own } } ? Own : AbortSignalLike;

/** Something odd that the other side sent. It was dealt with, and the connection goes on. */
export interface Problem {
  /** What kind. */
  readonly kind:
    | 'not_json'
    | 'not_a_message'
    | 'too_large'
    | 'unknown_response'
    | 'loose_id'
    | 'unknown_progress'
    | 'bad_notification'
    | 'unexpected_request'
    | 'peer_error'
    | 'not_delivered'
    | 'bad_tool'
    | 'handler_failed';
  /** What it was and what was done about it. */
  readonly message: string;
}

/** A notification from the server. */
export interface Notification {
  readonly method: string;
  readonly params?: JsonObject | undefined;
}

/** Options of {@link Client.connect}. */
export interface ConnectOptions {
  /** How long the server may take to answer `initialize`, in milliseconds. The client's `timeout` by default. */
  readonly timeout?: number | undefined;
  /** Gives up: `connect` rejects with the signal's reason, and the server's process is ended. */
  readonly signal?: AbortSignalLike | undefined;
}

/** Options of one call. */
export interface RequestOptions {
  /**
   * Cancels the call: it rejects with the signal's own reason at once, and the server is told. A signal that is
   * aborted already sends nothing.
   */
  readonly signal?: AbortSignalLike | undefined;
  /** How long the call may go without an answer, in milliseconds. The client's `timeout` by default. */
  readonly timeout?: number | undefined;
  /** Asks the server for progress, and is called for each report. */
  readonly onprogress?: ((progress: Progress) => void) | undefined;
  /** Each report of progress starts `timeout` anew. Asks for progress by itself; needs no `onprogress`. */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** A bound on the whole call in milliseconds, which progress does not move. */
  readonly maxTotalTimeout?: number | undefined;
  /**
   * Gives the result as the JSON text that the server sent, digits and all, in place of the parsed object. For integers
   * beyond 2^53, which `JSON.parse` rounds.
   */
  readonly rawJson?: boolean | undefined;
  /** Asks the server even when a result is at hand that it called fresh (2026-07-28). */
  readonly fresh?: boolean | undefined;
  /**
   * The mildest log messages that the server is to send for this call (2026-07-28). In earlier revisions
   * {@link Client.setLoggingLevel} sets it for the connection.
   */
  readonly logLevel?: LoggingLevel | undefined;
}

/** Settings of what a server's function asks its caller for. */
export interface AskOptions extends RequestOptions {
  /**
   * Names the question among those of the call (2026-07-28), where the client is to see a name of the program's choice, or
   * two questions say the same.
   */
  readonly key?: string | undefined;
}

/** The options of a call. Those of the official SDK that come last belong to its own streams, and change nothing here. */
const CALL: ReadonlySet<string> = new Set([
  'signal',
  'timeout',
  'onprogress',
  'resetTimeoutOnProgress',
  'maxTotalTimeout',
  'rawJson',
  'fresh',
  'logLevel',
  'relatedRequestId',
]);

/** The options of a call as the addon takes them; `null` when all are the defaults. Internal. */
export function toNative(options: RequestOptions | undefined): NativeCallOptions | null {
  if (options === undefined) return null;
  for (const name in options) if (!CALL.has(name)) throw unknown('a call', name, [...CALL]);
  const timeout = milliseconds('timeout', options.timeout);
  const total = milliseconds('maxTotalTimeout', options.maxTotalTimeout);
  const reset = options.resetTimeoutOnProgress === true;
  const progress = options.onprogress !== undefined;
  const fresh = options.fresh === true;
  const level = options.logLevel ?? null;
  const plain = timeout === null && total === null && !reset && !progress && !fresh && level === null;
  return plain ? null : [timeout, total, reset, progress, fresh, level];
}

/** The same for a command of the core. Internal. */
export function optionsText(options: RequestOptions | undefined): string {
  const native = toNative(options);
  if (native === null) return '{}';
  const [timeout, maxTotalTimeout, resetTimeoutOnProgress, progress, fresh, logLevel] = native;
  return JSON.stringify({
    timeout: finite(timeout),
    maxTotalTimeout: finite(maxTotalTimeout),
    resetTimeoutOnProgress,
    progress,
    fresh,
    logLevel,
  });
}

/** JSON has no infinity; the greatest number is longer than any program runs. Internal. */
export function finite(value: number | null | undefined): number | null | undefined {
  return value === Infinity ? Number.MAX_VALUE : value;
}

/** A time from the program; its range is the core's to check. Internal. */
export function milliseconds(name: string, value: number | undefined): number | null {
  if (value === undefined) return null;
  if (typeof value !== 'number') throw usage(`${name} must be a number of milliseconds; it is ${typeof value}`);
  return value;
}
