/**
 * A server's own standard streams.
 */

import type { Socket } from 'node:net';

import type { Clock, Timer } from './clock.js';
import { leaveSoon } from './leaving.js';
import { Messages } from './messages.js';
import { native } from './native.js';
import { isDeno, isNode } from './runtime.js';
import { type Source, listen, standardInput } from './standard-input.js';
import { type Transport, type TransportEvents, offer } from './transport.js';

/** What a client may leave unread when the connection ends, in milliseconds. */
const LINGER = 5000;

export type { Source };

/** A writable stream of bytes: the part of Node's that is used. */
export interface Sink {
  write(chunk: string | Uint8Array, written?: () => void): unknown;
  end(finished?: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  destroy?(): unknown;
}

/**
 * Serves the client that started this process, by standard input and output.
 *
 * From `connect` on, standard output is the wire, and what the program or a library of it prints goes to stderr; when
 * the connection ends, it is restored. On Windows this holds for `process.stdout` and `console`, not for addons.
 *
 * The end of the input ends the connection, once the calls under way are answered, and then the process: what still runs two seconds
 * later, such as a timer, is not waited for. A process that listens on a port goes on; so does one that gives the streams itself,
 * as in `new StdioServerTransport(process.stdin, process.stdout)`.
 *
 * @example
 * ```ts
 * import { McpServer, StdioServerTransport } from 'oxmcp';
 *
 * const server = new McpServer({ name: 'example', version: '1.0.0' });
 * await server.connect(new StdioServerTransport());
 * ```
 */
export class StdioServerTransport extends Messages {
  #started: StandardStreams | undefined;

  /** @param input and `output` in place of the standard streams */
  constructor(input?: Source, output?: Sink) {
    super();
    offer(this, { start: (clock) => (this.#started = new StandardStreams(clock, input, output)) });
  }

  /** Ends the connection. */
  override async close(): Promise<void> {
    await this.#started?.close();
  }
}

/** A stream of ours can say where to write at once. */
interface Standard extends Sink {
  descriptor?(): number;
}

class StandardStreams implements Transport {
  readonly #clock: Clock;
  readonly #givenInput: Source | undefined;
  readonly #givenOutput: Sink | undefined;
  #input: Source | undefined;
  #output: Standard | undefined;
  #events: TransportEvents | undefined;
  #closing: Promise<void> | undefined;
  /** The client has left, and no program of ours gave the streams. */
  #left = false;

  constructor(clock: Clock, input: Source | undefined, output: Sink | undefined) {
    this.#clock = clock;
    this.#givenInput = input;
    this.#givenOutput = output;
  }

  open(events: TransportEvents): void {
    this.#events = events;
    const data = (buffer: Uint8Array, length: number): void => this.#events?.data(buffer, length);
    const input = this.#givenInput === undefined ? standardInput(data) : listen(this.#givenInput, data);
    this.#input = input;
    for (const event of ['end', 'close'] as const) input.on(event, () => this.#ended(''));
    input.on('error', (error) => this.#ended(`: ${error.message}`));
    const output: Standard = this.#givenOutput ?? standardOutput();
    this.#output = output;
    // Nobody reads any more: the client has gone.
    output.on('error', (error) => this.#ended(`: ${error.message}`));
  }

  write(wire: string | Uint8Array, written?: () => void): void {
    if (this.#closing === undefined) this.#output?.write(wire, written);
    else if (written !== undefined) process.nextTick(written);
  }

  descriptor(): number {
    return this.#closing === undefined ? (this.#output?.descriptor?.() ?? -1) : -1;
  }

  pause(paused: boolean): void {
    if (paused) this.#input?.pause();
    else this.#input?.resume();
  }

  close(): Promise<void> {
    return (this.#closing ??= new Promise((resolve) => {
      this.#events = undefined;
      const input = this.#input;
      // Its end is told to the program when all is written: that may be the program's end.
      if (!this.#left) input?.destroy?.();
      const output = this.#output;
      if (output === undefined) {
        resolve();
        return;
      }
      let linger: Timer | undefined;
      const finish = (): void => {
        linger?.cancel();
        if (this.#left) {
          input?.destroy?.();
          leaveSoon();
        }
        resolve();
      };
      linger = this.#clock.after(LINGER, () => {
        output.destroy?.();
        finish();
      });
      output.on('error', finish);
      output.end(finish);
    }));
  }

  #ended(text: string): void {
    const events = this.#events;
    if (events === undefined) return;
    this.#events = undefined;
    this.#left = this.#givenInput === undefined;
    // Answers that are still being made are written; nothing more is read.
    process.nextTick(() => events.ended({ text }));
  }
}

/** Takes standard output for the wire. Restored when the stream has been ended and all is written. */
function standardOutput(): Standard {
  const taken = isDeno ? null : native().takeStdout();
  if (taken === null) return otherOutput().redirectedStdout();
  const restore = (): void => native().restoreStdout(taken);
  return isNode && native().unblock(taken) ? socketOutput(taken, restore) : otherOutput().fileOutput(taken, restore);
}

/**
 * A stream of Node's for what the other side does not take at once, made when that happens. Never ended as a socket is, which would
 * end it for all who hold its other descriptors: for us, after `restore`.
 */
function socketOutput(descriptor: number, restore: () => void): Standard {
  const failures: ((error: Error) => void)[] = [];
  let socket: Socket | undefined;
  let destroyed = false;
  let unwritten = 0;
  let finished: (() => void) | undefined;
  const opened = (): Socket => {
    const made: Socket = new (net().Socket)({ fd: descriptor, readable: false, writable: true });
    for (const listener of failures) made.on('error', listener);
    return made;
  };
  const destroy = (): void => {
    // Once it is destroyed, its number may be that of another file.
    if (destroyed || socket?.destroyed) return;
    destroyed = true;
    restore();
    if (socket === undefined) native().closeDescriptor(descriptor);
    else socket.destroy();
  };
  const finish = (): void => {
    if (finished === undefined || unwritten > 0) return;
    destroy();
    finished();
  };
  return {
    write: (chunk, written) => {
      unwritten++;
      return (socket ??= opened()).write(chunk, () => {
        unwritten--;
        written?.();
        finish();
      });
    },
    // Of the streams of Windows only Node knows how they are written.
    descriptor: () => (unwritten > 0 || destroyed || socket?.destroyed || process.platform === 'win32' ? -1 : descriptor),
    end: (done) => {
      finished = done ?? (() => {});
      finish();
    },
    on: (event, listener) => {
      failures.push(listener);
      return socket?.on(event, listener);
    },
    destroy,
  };
}

/** Hosts connect servers by pipes and sockets. */
function otherOutput(): typeof import('./other-output.js') {
  return require('./other-output.js') as typeof import('./other-output.js');
}

/** Loaded when it is needed: clients may do without. */
function net(): typeof import('node:net') {
  return require('node:net') as typeof import('node:net');
}
