/**
 * Two ends of one connection in one program, for tests and for servers that are part of their client.
 */

import { Messages } from './messages.js';
import { type Transport, type TransportEvents, offer } from './transport.js';

/**
 * One end of a connection in memory: one for a {@link Client}, the other for an {@link McpServer}.
 *
 * @example
 * ```ts
 * import { Client, InMemoryTransport, McpServer } from 'oxmcp';
 *
 * const server = new McpServer({ name: 'example', version: '1.0.0' });
 * server.registerTool('greet', { description: 'Greets' }, () => ({ content: [{ type: 'text', text: 'Hello' }] }));
 *
 * const [near, far] = InMemoryTransport.createLinkedPair();
 * await server.connect(far);
 * const client = new Client({ name: 'example', version: '1.0.0' });
 * await client.connect(near);
 * console.log(await client.callTool({ name: 'greet' }));
 * await client.close();
 * ```
 */
export class InMemoryTransport extends Messages {
  readonly #end: End;

  private constructor(end: End) {
    super();
    this.#end = end;
    offer(this, { start: () => end });
  }

  /** Two ends of one connection. */
  static createLinkedPair(): [InMemoryTransport, InMemoryTransport] {
    const [near, far] = [new End(), new End()];
    near.other = far;
    far.other = near;
    return [new InMemoryTransport(near), new InMemoryTransport(far)];
  }

  /** Ends the connection for both. */
  override async close(): Promise<void> {
    await this.#end.close();
  }
}

interface Parcel {
  readonly bytes: Uint8Array;
  readonly written: (() => void) | undefined;
}

class End implements Transport {
  readonly isBare = true;
  other!: End;
  #events: TransportEvents | undefined;
  #inbox: Parcel[] = [];
  #paused = false;
  #scheduled = false;
  #ended = false;
  #closed = false;

  open(events: TransportEvents): void {
    this.#events = events;
    this.#deliverSoon();
  }

  write(wire: string | Uint8Array, written?: () => void): void {
    const bytes = typeof wire === 'string' ? Buffer.from(wire) : wire;
    this.other.#take({ bytes, written });
  }

  pause(paused: boolean): void {
    this.#paused = paused;
    if (!paused) this.#deliverSoon();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#events = undefined;
    this.#drop();
    this.other.#endInput();
  }

  #take(parcel: Parcel): void {
    this.#inbox.push(parcel);
    this.#deliverSoon();
  }

  #endInput(): void {
    this.#ended = true;
    this.#deliverSoon();
  }

  #deliverSoon(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Between two turns, as bytes from a pipe come: both sides see whole turns of the other.
    setImmediate(() => this.#deliver());
  }

  #deliver(): void {
    this.#scheduled = false;
    if (this.#closed) this.#drop();
    while (this.#events !== undefined && !this.#paused) {
      const parcel = this.#inbox.shift();
      if (parcel === undefined) {
        if (!this.#ended) break;
        const events = this.#events;
        this.#events = undefined;
        events.ended({ text: '' });
        break;
      }
      this.#events.data(parcel.bytes, parcel.bytes.length);
      parcel.written?.();
    }
  }

  /** Nobody reads any more. */
  #drop(): void {
    for (const { written } of this.#inbox.splice(0)) {
      if (written !== undefined) process.nextTick(written);
    }
  }
}
