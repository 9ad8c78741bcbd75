/**
 * A stream of notifications that a client asked for (2026-07-28).
 */

import type { Connection } from './connection.js';
import { CancelledError, toError } from './errors.js';
import type { AbortSignalLike, Notification } from './options.js';
import type { SubscriptionFilter } from './types.js';

/** Options of {@link Client.listen}. */
export interface ListenOptions {
  /** Ends the stream, as {@link Subscription.close} does. */
  readonly signal?: AbortSignalLike | undefined;
  /** Called for each notification on this stream, after the client's own handlers. */
  readonly onnotification?: ((notification: Notification) => void | Promise<void>) | undefined;
}

/** An open stream of notifications, from {@link Client.listen}. */
export interface Subscription {
  /** The part of what was asked for that the server tells. */
  readonly honoredFilter: SubscriptionFilter;
  /**
   * Resolves when the stream has ended: `'local'` by {@link close} or the signal, `'graceful'` by the server in good
   * order, `'remote'` by an error or with the connection.
   */
  readonly closed: Promise<'local' | 'graceful' | 'remote'>;
  /** Ends the stream, and tells the server. */
  close(): Promise<void>;
}

/** Internal. */
export class Stream implements Subscription {
  readonly #connection: Connection;
  readonly #onnotification: ListenOptions['onnotification'];
  #id: number | undefined;
  #filter: SubscriptionFilter = {};
  #acknowledged: (() => void) | undefined;
  #closedHere = false;
  closed!: Promise<'local' | 'graceful' | 'remote'>;

  constructor(connection: Connection, onnotification: ListenOptions['onnotification']) {
    this.#connection = connection;
    this.#onnotification = onnotification;
  }

  get honoredFilter(): SubscriptionFilter {
    return this.#filter;
  }

  /** Resolves once the server has said what it honours. `started` and `ended` get the number of the call. */
  open(params: string, signal: AbortSignalLike | undefined, started: (id: number) => void, ended: (id: number) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#acknowledged = resolve;
      const call = this.#connection.listen(params, signal, (id) => {
        this.#id = id;
        started(id);
      });
      this.closed = call.then(
        () => {
          reject(new CancelledError({ kind: 'cancelled', message: 'the server ended the stream before it acknowledged it' }));
          return 'graceful' as const;
        },
        (error: unknown) => {
          reject(error);
          return this.#closedHere || signal?.aborted === true ? 'local' : 'remote';
        },
      );
      void this.closed.then(() => {
        if (this.#id !== undefined) ended(this.#id);
      });
    });
  }

  async close(): Promise<void> {
    this.#closedHere = true;
    const reason = toError({ kind: 'cancelled', message: 'the stream was closed' });
    if (this.#id !== undefined) this.#connection.abandon(this.#id, reason);
    await this.closed;
  }

  /** A notification on this stream. True when it was meant for the stream itself. */
  take({ method, params }: Notification): boolean {
    if (method !== 'notifications/subscriptions/acknowledged') return false;
    this.#filter = (params?.['notifications'] ?? {}) as SubscriptionFilter;
    this.#acknowledged?.();
    return true;
  }

  /** Lets the program have a notification. */
  tell(notification: Notification): void | Promise<void> {
    return this.#onnotification?.(notification);
  }
}
