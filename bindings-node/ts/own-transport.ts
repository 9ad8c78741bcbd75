/**
 * A transport of the program's own, as the bytes that a connection reads and writes. Read when there is one. Internal.
 */

import { textOf } from './errors.js';
import { type MessageTransport, toldOrigin } from './messages.js';
import type { MessageExtraInfo } from './origin.js';
import type { JSONRPCMessage } from './spec/messages.js';
import type { Transport, TransportEvents } from './transport.js';

/** One for a connection. */
export class OwnTransport implements Transport {
  readonly #transport: MessageTransport;
  #events: TransportEvents | undefined;
  #waiting: [message: Uint8Array, extra: MessageExtraInfo | undefined][] = [];
  #paused = true;
  #sent: Promise<void> = Promise.resolve();
  #ended: { text: string; error?: Error } | undefined;

  constructor(transport: MessageTransport) {
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
