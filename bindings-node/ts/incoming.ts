/**
 * A call that the other side made, while a function of this program works on it. Internal.
 */

import type { Connection } from './connection.js';
import { CancelledError, toError } from './errors.js';
import type { Origin } from './origin.js';
import type { Signal } from './options.js';

/** What a call is for: an entry of the registry, or a method by its name. */
export type CallKind =
  | 'tool'
  | 'resource'
  | 'template'
  | 'prompt'
  | 'promptCompletion'
  | 'templateCompletion'
  | 'method';

/** Who makes a call, and what it says of itself: the command `caller` of the core. */
export interface Caller {
  /** The id of the request; absent where the call came by a round. */
  readonly id?: string | number;
  readonly protocolVersion?: string;
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly info?: { readonly name: string; readonly version: string };
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly state?: string;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
}

export class Incoming {
  readonly connection: Connection;
  readonly id: number;
  readonly wantsProgress: boolean;
  #controller: AbortController | undefined;
  #reason: CancelledError | undefined;
  #caller: Caller | undefined;
  /** `null` until it was looked for. */
  #origin: Origin | undefined | null;

  /** @param origin where it comes from, where that is known at once */
  constructor(connection: Connection, id: number, wantsProgress: boolean, origin: Origin | undefined) {
    this.connection = connection;
    this.id = id;
    this.wantsProgress = wantsProgress;
    this.#origin = origin ?? (connection.isElsewhere ? null : undefined);
  }

  /** Made when first asked for: most functions never look, and a controller costs more than the rest of a call. */
  get signal(): Signal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Whether nothing more can be said for this call, because the other side or the core ended it. */
  get isCancelled(): boolean {
    return this.#reason !== undefined;
  }

  /** The call is off. */
  cancel(reason: string | null): void {
    this.#reason = toError({ kind: 'cancelled', message: reason ?? 'the call was cancelled' });
    this.#controller?.abort(this.#reason);
  }

  /** The request over HTTP that brought it. Asked for once: after the answer the core knows it no more. */
  get origin(): Origin | undefined {
    if (this.#origin === null) this.#origin = this.connection.originOf(this);
    return this.#origin;
  }

  /** Asked for once: after the answer the core knows it no more. */
  get caller(): Caller {
    return (this.#caller ??= this.connection.command(`{"caller":{"call":${this.id}}}`) as Caller);
  }
}

/**
 * Runs a function of the program to its end, at once where it does not wait, and hands on what it gave, or what it or
 * `done` threw. `failed` never throws.
 */
export function settle(run: () => unknown, done: (value: unknown) => void, failed: (error: unknown) => void): void {
  const finish = (value: unknown): void => {
    try {
      done(value);
    } catch (error) {
      failed(error);
    }
  };
  let value: unknown;
  try {
    value = run();
  } catch (error) {
    failed(error);
    return;
  }
  if (isThenable(value)) value.then(finish, failed);
  else finish(value);
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
