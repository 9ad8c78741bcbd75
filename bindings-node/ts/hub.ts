/**
 * Gives out what comes from other threads: the rows of sessions over HTTP, and of exchanges. Internal.
 */

import type { Connection, Home } from './connection.js';
import type { Incoming } from './incoming.js';
import { type NativeHub, type NativeRegistry, type NativeSession, native } from './native.js';
import type { Problem } from './options.js';
import { type CoreHead, type Origin, coreOrigin } from './origin.js';

/** The elements of a row: see `hub.rs`. */
const WIDTH = 5;
const EXCHANGE = -1;

/** What becomes of one exchange. */
export interface ExchangeEvents {
  /** The request, for the calls that it brings. */
  origin?(): Origin;
  /** The response begins; with a body it is complete. */
  head(status: number, headers: string[], body: string | null): void;
  chunk(text: string): void;
  end(): void;
}

/** What a hub tells its owner. The owner's functions never throw. */
export interface HubHooks {
  /** A session that was not there before. */
  connect(session: NativeSession, home: Home): Connection;
  /** Of requests that the core answers alone. */
  trace(direction: 'sent' | 'received', line: string): void;
  problem(problem: Problem): void;
}

export class Hub {
  readonly native: NativeHub;
  readonly #hooks: HubHooks | undefined;
  readonly #connections = new Map<number, Connection>();
  readonly #exchanges = new Map<number, ExchangeEvents>();
  #tokens = 0;
  #closed = false;

  /** @param hooks of a server, whose sessions begin elsewhere */
  constructor(hooks: HubHooks | undefined, registry: NativeRegistry | null) {
    this.#hooks = hooks;
    // Programs may forget a server that they made for one request: the addon, which holds the function, must not keep it.
    const self = new WeakRef(this);
    this.native = new (native().Hub)(() => {
      const hub = self.deref();
      if (hub !== undefined) hub.#drain();
    }, registry);
  }

  /** How much is open, for tests. */
  get stats(): { connections: number; exchanges: number } {
    return { connections: this.#connections.size, exchanges: this.#exchanges.size };
  }

  /** The sessions that are open, as far as they have said anything. */
  get connections(): readonly Connection[] {
    return [...this.#connections.values()];
  }

  /** Gives the rows of a session that was made here to its connection, until that is over. */
  adopt(handle: number, connection: Connection): void {
    this.#connections.set(handle, connection);
  }

  /** A token for an exchange, whose events come to `events`. */
  open(events: ExchangeEvents): number {
    const token = ++this.#tokens;
    this.#exchanges.set(token, events);
    return token;
  }

  /** Nothing more of this exchange is wanted. Calls that it brought may go on: what is known of it is kept for them. */
  forget(token: number): void {
    if (!this.#exchanges.has(token)) return;
    for (const connection of this.#connections.values()) connection.keepOrigins();
    this.#exchanges.delete(token);
  }

  /** From now on nothing comes. */
  close(): void {
    this.#closed = true;
    this.native.close();
  }

  #drain(): void {
    if (this.#closed) return;
    const text = this.native.drain();
    const rows = JSON.parse(text) as unknown[];
    for (let row = 0; row < rows.length; row += WIDTH) this.#give(rows, row);
    // What else there is to do has its turn before the next batch.
    if (text.charCodeAt(0) === 0x20) setImmediate(() => this.#drain());
  }

  #give(rows: readonly unknown[], row: number): void {
    const handle = rows[row] as number;
    if (handle >= 0) {
      this.#session(handle)?.take(rows, row + 1);
      return;
    }
    const [kind, id, what, more] = rows.slice(row + 1, row + WIDTH);
    if (handle === EXCHANGE) this.#exchange(kind as string, id as number, what, more as string | null);
    else if (kind === 'trace') this.#hooks?.trace(what as 'sent' | 'received', more as string);
    else this.#hooks?.problem({ kind: what as Problem['kind'], message: more as string });
  }

  #session(handle: number): Connection | undefined {
    const known = this.#connections.get(handle);
    if (known !== undefined || this.#hooks === undefined) return known;
    const session = this.native.session(handle);
    // An earlier row of this batch ended it.
    if (session === null) return undefined;
    const connection = this.#hooks.connect(session, this.#homeOf(handle, session));
    this.#connections.set(handle, connection);
    return connection;
  }

  #homeOf(handle: number, session: NativeSession): Home {
    return {
      over: () => void this.#connections.delete(handle),
      originOf: (call) => this.#originOf(session, call),
      get sessionId() {
        return session.sessionId() ?? undefined;
      },
    };
  }

  /** The request that brought a call: as the program gave it, or as the core has it. */
  #originOf(session: NativeSession, call: Incoming): Origin | undefined {
    const text = session.httpRequest(call.id);
    if (text === null) return undefined;
    const [token, ...head] = JSON.parse(text) as [number | null, ...CoreHead];
    const given = token === null ? undefined : this.#exchanges.get(token)?.origin?.();
    return given ?? coreOrigin(head);
  }

  #exchange(kind: string, token: number, first: unknown, body: string | null): void {
    const events = this.#exchanges.get(token);
    if (events === undefined) return;
    if (kind === 'chunk') {
      events.chunk(first as string);
      return;
    }
    if (kind === 'end' || body !== null) this.#exchanges.delete(token);
    if (kind === 'end') {
      events.end();
      return;
    }
    const [status, headers] = first as [number, string[]];
    events.head(status, headers, body);
  }
}
