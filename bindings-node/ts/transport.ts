/**
 * What carries bytes between a connection and the other side. Internal.
 */

import type { ProcessEnd } from './errors.js';

/** What a transport tells its connection. */
export interface TransportEvents {
  /** Bytes came, cut anywhere: the first `length` of the buffer, which is theirs during the call. */
  data(buffer: Uint8Array, length: number): void;
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
  /** Starts. Events come later, never from inside this call. */
  open(events: TransportEvents): void;
  /**
   * Writes whole messages, text as UTF-8; they wait in memory when the other side does not read. `written` is called
   * later, once they have left or never will.
   */
  write(wire: string | Uint8Array, written?: () => void): void;
  /** Stops or resumes reading. */
  pause(paused: boolean): void;
  /** Ends the connection; resolves when nothing of it is left. May be called more than once. */
  close(): Promise<void>;
}
