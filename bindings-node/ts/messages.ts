/**
 * Transports as the official SDK has them: they carry whole messages. Programs may write their own, and may use those of
 * this package without a client or a server, as proxies do.
 */

import { type Clock, systemClock } from './clock.js';
import { textOf, usage } from './errors.js';
import { type MessageExtraInfo, toldOrigin } from './origin.js';
import type { JSONRPCMessage } from './spec/messages.js';
import { type Starter, type Transport, type TransportEvents, starterOf } from './transport.js';

/** What carries messages between a client and a server. A program may have its own. */
export interface MessageTransport {
  /** Starts; no message comes before. */
  start(): Promise<void>;
  /** Sends one message. */
  send(message: JSONRPCMessage): Promise<void>;
  /** Ends the connection. */
  close(): Promise<void>;
  /** Set by who uses it: called for each message that comes, with what the transport knows of where it comes from. */
  onmessage?: ((message: JSONRPCMessage, extra?: MessageExtraInfo) => void) | undefined;
  /** Set by who uses it: called once when the connection has ended. */
  onclose?: (() => void) | undefined;
  /** Set by who uses it: called for what goes wrong beside that. */
  onerror?: ((error: Error) => void) | undefined;
  /** Names the connection, where there are several of one kind. */
  readonly sessionId?: string | undefined;
}

/** The longest message that a transport takes which is used without a client or a server: 16 MiB. */
const LONGEST = 16 * 1024 * 1024;

/** A transport of this package, for a client, a server, or the program itself. */
export abstract class Messages implements MessageTransport {
  onmessage: ((message: JSONRPCMessage) => void) | undefined;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  #bytes: Transport | undefined;

  /**
   * Starts it without a client or a server: messages reach {@link onmessage}.
   *
   * @throws {@link UsageError} when it is connected already
   */
  async start(): Promise<void> {
    const starter = starterOf(this);
    this.#bytes = starter?.start(systemClock);
    const lines = new Lines(
      (line) => this.#take(line),
      (error) => this.onerror?.(error),
    );
    this.#bytes?.open({
      data: (buffer, length) => lines.take(buffer.subarray(0, length)),
      ended: ({ error }) => {
        if (error !== undefined) this.onerror?.(error);
        void this.close();
      },
    });
  }

  /** Sends a message, once it was started by {@link start}. */
  send(message: JSONRPCMessage): Promise<void> {
    const bytes = this.#bytes;
    if (bytes === undefined) return Promise.reject(usage('this transport was not started; call start first'));
    return new Promise((resolve) => bytes.write(`${JSON.stringify(message)}\n`, resolve));
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    await this.#bytes?.close();
  }

  #take(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = JSON.parse(line) as JSONRPCMessage;
    } catch (error) {
      this.onerror?.(new SyntaxError(`the other side sent a line that is not JSON: ${line.slice(0, 200)}`, { cause: error }));
      return;
    }
    this.onmessage?.(message);
  }
}

/** Cuts bytes into lines. */
class Lines {
  readonly #line: (line: string) => void;
  readonly #failed: (error: Error) => void;
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(line: (line: string) => void, failed: (error: Error) => void) {
    this.#line = line;
    this.#failed = failed;
  }

  take(bytes: Uint8Array): void {
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      this.#keep(bytes.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
    this.#keep(bytes.subarray(start));
  }

  #keep(bytes: Uint8Array): void {
    this.#length += bytes.length;
    // Copied: the buffer is used again. What is too long is counted, and not kept.
    if (bytes.length > 0 && this.#length <= LONGEST) this.#parts.push(Uint8Array.from(bytes));
  }

  #finish(): void {
    const [parts, length] = [this.#parts, this.#length];
    [this.#parts, this.#length] = [[], 0];
    if (length > LONGEST) this.#failed(new RangeError(`a message has ${length} bytes; at most ${LONGEST} are taken`));
    else if (length > 0) this.#line(Buffer.concat(parts).toString().trimEnd());
  }
}

/** Makes a transport of the program's own one for a connection; `undefined` when it is none. Internal. */
export function starterOfOwn(transport: unknown): Starter | undefined {
  if (typeof transport !== 'object' || transport === null) return undefined;
  const own = transport as MessageTransport;
  if (typeof own.start !== 'function' || typeof own.send !== 'function' || typeof own.close !== 'function') return undefined;
  return { start: (clock) => new OwnTransport(own, clock) };
}

class OwnTransport implements Transport {
  readonly #transport: MessageTransport;
  #events: TransportEvents | undefined;
  #waiting: [message: Uint8Array, extra: MessageExtraInfo | undefined][] = [];
  #paused = true;
  #sent: Promise<void> = Promise.resolve();
  #ended: { text: string; error?: Error } | undefined;

  constructor(transport: MessageTransport, _clock: Clock) {
    this.#transport = transport;
  }

  open(events: TransportEvents): void {
    this.#events = events;
    const transport = this.#transport;
    const { onclose, onerror, onmessage } = transport;
    transport.onmessage = (message, extra) => {
      onmessage?.(message, extra);
      this.#waiting.push([Buffer.from(`${JSON.stringify(message)}\n`), extra]);
      this.#deliver();
    };
    transport.onclose = () => {
      onclose?.();
      this.#end({ text: '' });
    };
    transport.onerror = (error) => onerror?.(error);
    // Events come later, never from inside this call.
    setImmediate(() => this.pause(false));
    const started = (async () => transport.start())();
    this.#sent = started;
    started.catch((error: unknown) => this.#fail(error));
  }

  write(wire: string | Uint8Array, written?: () => void): void {
    const text = typeof wire === 'string' ? wire : Buffer.from(wire.buffer, wire.byteOffset, wire.byteLength).toString();
    const messages = text.split('\n').filter((line) => line !== '');
    this.#sent = this.#sent.then(async () => {
      for (const message of messages) await this.#transport.send(JSON.parse(message) as JSONRPCMessage);
    });
    this.#sent.catch((error: unknown) => this.#fail(error)).finally(written);
  }

  pause(paused: boolean): void {
    this.#paused = paused;
    this.#deliver();
  }

  async close(): Promise<void> {
    this.#events = undefined;
    // What is written before the end is sent before it.
    await this.#sent.catch(() => undefined);
    await this.#transport.close();
  }

  #deliver(): void {
    while (!this.#paused && this.#events !== undefined) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      const [bytes, extra] = next;
      this.#events.data(bytes, bytes.length, toldOrigin(extra));
    }
    if (this.#paused || this.#ended === undefined) return;
    this.#events?.ended(this.#ended);
    this.#events = undefined;
  }

  #fail(error: unknown): void {
    this.#end({ text: `: ${textOf(error)}`, ...(error instanceof Error && { error }) });
  }

  #end(why: { text: string; error?: Error }): void {
    this.#ended ??= why;
    this.#deliver();
  }
}
