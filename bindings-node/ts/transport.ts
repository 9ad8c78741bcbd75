/**
 * What carries bytes between a connection and the other side. Internal.
 */

import type { Clock } from './clock.js';
import type { Connection } from './connection.js';
import type { Served } from './http-server.js';
import type { Origin } from './origin.js';
import { type ProcessEnd, usage } from './errors.js';
import type { NativeSession } from './native.js';

/** What a transport tells its connection. */
export interface TransportEvents {
  /**
   * Bytes came, cut anywhere: the first `length` of the buffer, which is theirs during the call. `from` tells of whole
   * messages where they come from.
   */
  data(buffer: Uint8Array, length: number, from?: Origin): void;
  /** Nothing more will come. */
  ended(why: TransportEnd): void;
}

/** How a transport ended. */
export interface TransportEnd {
  /** For a person, to follow "the server closed the connection". */
  readonly text: string;
  /** How the process ended, for a child process. */
  readonly process?: ProcessEnd;
  /** The error to report in place of a closed connection. */
  readonly error?: Error;
}

/** One connection's bytes. */
export interface Transport {
  /** Nothing of it keeps the process alive, as a pipe or a socket does. */
  readonly isBare?: boolean;
  /** Starts. Events come later, never from inside this call. */
  open(events: TransportEvents): void;
  /**
   * Writes whole messages, text as UTF-8; they wait in memory when the other side does not read. `written` is called
   * later, once they have left or never will.
   */
  write(wire: string | Uint8Array, written?: () => void): void;
  /** The descriptor that may be written to at once, as nothing waits to be written before; -1 where there is none. */
  descriptor?(): number;
  /** Stops or resumes reading. */
  pause(paused: boolean): void;
  /** Starts a server that has left once more; what comes from it goes where the rest went. */
  restart?(): void;
  /** Ends the connection; resolves when nothing of it is left. May be called more than once. */
  close(): Promise<void>;
}

/**
 * Starts a server once more whose process ended at the first question: servers of the handshake may take any other first message
 * than `initialize` for an error.
 */
export function startOver(transport: Transport, session: NativeSession, { process: end }: TransportEnd, now: number): boolean {
  const hasExited = end !== undefined && (end.exitCode !== null || end.signal !== null);
  if (!hasExited || transport.restart === undefined || !session.startOver(now)) return false;
  transport.restart();
  return true;
}

/** Of a session elsewhere: no bytes of it come by here. */
export const NO_TRANSPORT: Transport = { open() {}, write() {}, pause() {}, close: async () => {} };

/** A server over HTTP, to which the core connects. */
export interface Dialled {
  readonly url: string;
  /** How, as the core's JSON. It is asked for each connection; a promise where the program is asked, too. */
  settings(): string | Promise<string>;
  /** The header fields that the program has when the server wants other credentials: names and values one after the other. */
  readonly renew?: ((status: number, challenge: string | null) => Promise<string[]>) | undefined;
  /** What came of it. */
  dialled(connection: Connection): void;
}

/** What a transport of the program can do for a connection. */
export interface Starter {
  /** For a server whose requests come over HTTP: begins to serve them. */
  readonly serve?: (served: Served) => void;
  /** For a server over HTTP, which the core connects to by itself. */
  readonly http?: Dialled;
  start(clock: Clock): Transport;
  /** A text that stands for the server, to remember its era by; `undefined` where there is none. */
  readonly server?: string;
}

/** By the objects that programs hold, so that nothing of this shows on them. */
const starters = new WeakMap<object, Starter>();

/** From now on programs can connect by `transport`. Its starter runs once. */
export function offer(transport: object, starter: Starter): void {
  let started = false;
  starters.set(transport, {
    ...starter,
    start(clock) {
      if (started) throw usage('this transport was connected before; make a new one for each connection');
      started = true;
      return telling(starter.start(clock), transport);
    },
  });
}

/** Tells who set `onclose` of a program's transport of its end. */
function telling(made: Transport, transport: { readonly onclose?: (() => void) | undefined }): Transport {
  const close = made.close.bind(made);
  let closing: Promise<void> | undefined;
  made.close = () => (closing ??= close().then(() => transport.onclose?.()));
  return made;
}

/** The starter of a program's transport; `undefined` when it is none of this package. */
export function starterOf(transport: unknown): Starter | undefined {
  return typeof transport === 'object' && transport !== null ? starters.get(transport) : undefined;
}
