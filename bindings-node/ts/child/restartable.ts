/**
 * A server in a child process that may be started once more. Internal.
 */

import type { Transport, TransportEvents } from '../transport.js';

export class RestartableTransport implements Transport {
  readonly #start: () => Transport;
  #current: Transport;
  #events: TransportEvents | undefined;

  constructor(start: () => Transport) {
    this.#start = start;
    this.#current = start();
  }

  open(events: TransportEvents): void {
    this.#events = events;
    this.#current.open(events);
  }

  restart(): void {
    this.#current = this.#start();
    if (this.#events !== undefined) this.#current.open(this.#events);
  }

  write(wire: string | Uint8Array, written?: () => void): void {
    this.#current.write(wire, written);
  }

  descriptor(): number {
    return this.#current.descriptor?.() ?? -1;
  }

  pause(paused: boolean): void {
    this.#current.pause(paused);
  }

  close(): Promise<void> {
    return this.#current.close();
  }
}
