/**
 * What a connection is between: its owner, and what drives a session that is elsewhere. Internal.
 */

import type { Connection } from './connection.js';
import type { CallKind, Incoming } from './incoming.js';
import type { NativeSession } from './native.js';
import type { Notification, Problem } from './options.js';
import type { Origin } from './origin.js';
import type { Implementation, ServerCapabilities } from './types.js';

/** The other side, as it presented itself at the handshake. */
export interface Peer {
  readonly protocolVersion: string;
  readonly info: Implementation;
  readonly capabilities: ServerCapabilities;
  readonly instructions?: string;
}

/** What a connection tells its owner. The owner's functions never throw. */
export interface ConnectionHooks {
  /** Set when the session was told to trace. */
  readonly trace: ((direction: 'sent' | 'received', line: string) => void) | undefined;
  /** The other side calls: a function is to run, and one of the `respond` functions to say what it gave. */
  call(call: Incoming, kind: CallKind, target: number | string, params: unknown): void;
  /** The descriptors of all entries of this kind are needed; `resume` goes on. */
  describe(kind: string, resume: () => void): void;
  /** `subscription` is the call whose stream it is on. */
  notification(notification: Notification, subscription: number | null): void;
  problem(problem: Problem): void;
  /** A function of the program threw. */
  thrown(error: unknown): void;
  /** The handshake is done. */
  ready(connection: Connection): void;
  closed(connection: Connection): void;
}

/** Where a session is that the core drives. */
export interface Home {
  /** The session, where the connection was told its handle alone; `undefined` once it is over. */
  sessionOf?(handle: number): NativeSession | undefined;
  /** Answers a call: with the JSON text of a result (`r`) or text of a tool (`t`), without a line feed. Absent where there is no haste. */
  answer?(connection: Connection, kind: 'r' | 't', call: number, text: string): void;
  /** Hands on the answers that wait. */
  settle?(): void;
  /** Nothing more will be said of the session or to it. `held`: nobody has taken it yet by {@link sessionOf}. */
  over(connection: Connection, held: boolean): void;
  /** The request that brought a call; `undefined` where that is not known. */
  originOf(session: NativeSession, call: Incoming): Origin | undefined;
}
