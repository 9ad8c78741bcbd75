/**
 * Gives out what comes from other threads: the rows of sessions over HTTP, and of exchanges. Internal.
 */

import type { Connection } from './connection.js';
import type { Home } from './home.js';
import type { Incoming } from './incoming.js';
import { type NativeHub, type NativeRegistry, type NativeSession, native } from './native.js';
import type { Problem } from './options.js';
import { type CoreHead, type Origin, coreOrigin } from './origin.js';

/** The elements of a row: see `hub.rs`. */
const WIDTH = 5;
const EXCHANGE = -1;
const NO_SESSION = -2;
const NEW_SESSION = -3;

/**
 * So many answers cross together at most, and those that were given in so much time (milliseconds): the core writes them while the
 * program goes on.
 */
const TOGETHER = 16;
const MEANWHILE = 0.5;

/** What becomes of one exchange. */
export interface ExchangeEvents {
  /** The request, for the calls that it brings. */
  origin?(): Origin;
  /** The response begins; with a body it is complete. */
  head(status: number, headers: string[], body: string | null): void;
  chunk(text: string): void;
  end(): void;
  /** One of these threw, or the hub was closed (`undefined`): nothing more comes. */
  failed(error: unknown): void;
}

/** What a hub tells its owner. The owner's functions never throw. */
export interface HubHooks {
  /** A session that was not there before. */
  connect(handle: number, home: Home): Connection;
  /** Of requests that the core answers alone. */
  trace(direction: 'sent' | 'received', line: string): void;
  problem(problem: Problem): void;
}

export class Hub implements Home {
  readonly native: NativeHub;
  readonly #hooks: HubHooks | undefined;
  /** Of a client: its server wants other credentials. */
  unauthorized: ((status: number, challenge: string | null) => void) | undefined;
  readonly #connections = new Map<number, Connection>();
  readonly #exchanges = new Map<number, ExchangeEvents>();
  #tokens = 0;
  #closed = false;
  /** Answers that wait to cross, and sessions to be let go of: see `hub.rs`. */
  #lines = '';
  #answers = 0;
  /** Rows are being given out, since then. */
  #reading = false;
  #since = 0;

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
    this.settle();
    this.#closed = true;
    this.native.close();
    for (const connection of this.#connections.values()) connection.forsake();
    this.#connections.clear();
    const exchanges = [...this.#exchanges.values()];
    this.#exchanges.clear();
    for (const events of exchanges) events.failed(undefined);
  }

  sessionOf(handle: number): NativeSession | undefined {
    return this.native.session(handle) ?? undefined;
  }

  answer({ handle }: Connection, kind: 'r' | 't', call: number, text: string): void {
    this.#line(`${handle} ${kind}${call} ${text}\n`);
    if (++this.#answers >= TOGETHER || (this.#reading && performance.now() - this.#since > MEANWHILE)) this.settle();
  }

  settle(): void {
    if (this.#lines === '' || this.#closed) return;
    const lines = this.#lines;
    this.#lines = '';
    this.#answers = 0;
    for (const handle of this.native.answer(lines)) this.#connections.get(handle)?.broke();
    if (this.#reading) this.#since = performance.now();
  }

  over({ handle }: Connection, held: boolean): void {
    this.#connections.delete(handle);
    if (held) this.#line(`${handle} \n`);
  }

  /** The request that brought a call: as the program gave it, or as the core has it. */
  originOf(session: NativeSession, call: Incoming): Origin | undefined {
    const text = session.httpRequest(call.id);
    if (text === null) return undefined;
    const [token, ...head] = JSON.parse(text) as [number | null, ...CoreHead];
    const given = token === null ? undefined : this.#exchanges.get(token)?.origin?.();
    return given ?? coreOrigin(head);
  }

  /** What the functions of this turn give crosses together. */
  #line(line: string): void {
    if (this.#lines === '' && !this.#reading) process.nextTick(Hub.#settleLater, this);
    this.#lines += line;
  }

  static #settleLater(hub: Hub): void {
    hub.settle();
  }

  #drain(): void {
    if (this.#closed) return;
    const text = this.native.drain();
    const rows = JSON.parse(text) as unknown[];
    this.#reading = true;
    this.#since = performance.now();
    try {
      for (let row = 0; row < rows.length; row += WIDTH) this.#give(rows, row);
    } finally {
      // Whatever was thrown: nobody else would go on with what waits.
      this.#reading = false;
      this.settle();
      // What else there is to do has its turn before the next batch.
      if (text.charCodeAt(0) === 0x20) setImmediate(() => this.#drain());
    }
  }

  #give(rows: readonly unknown[], row: number): void {
    const mark = rows[row] as number;
    if (mark >= 0) {
      // An earlier row of this batch may have ended it.
      this.#connections.get(mark)?.take(rows, row + 1);
      return;
    }
    if (mark <= NEW_SESSION) {
      this.#begin(NEW_SESSION - mark)?.take(rows, row + 1);
      return;
    }
    const [kind, id, what, more] = rows.slice(row + 1, row + WIDTH);
    if (mark === EXCHANGE) this.#exchange(kind as string, id as number, what, more as string | null);
    else if (kind === 'unauthorized') this.unauthorized?.(id as number, what as string | null);
    else if (mark === NO_SESSION && kind === 'trace') this.#hooks?.trace(what as 'sent' | 'received', more as string);
    else this.#hooks?.problem({ kind: what as Problem['kind'], message: more as string });
  }

  #begin(handle: number): Connection | undefined {
    const connection = this.#hooks?.connect(handle, this);
    if (connection !== undefined) this.#connections.set(handle, connection);
    return connection;
  }

  #exchange(kind: string, token: number, first: unknown, body: string | null): void {
    const events = this.#exchanges.get(token);
    if (events === undefined) return;
    try {
      this.#tell(events, kind, token, first, body);
    } catch (error) {
      // It ends this exchange, and costs the others nothing.
      this.forget(token);
      events.failed(error);
    }
  }

  #tell(events: ExchangeEvents, kind: string, token: number, first: unknown, body: string | null): void {
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
