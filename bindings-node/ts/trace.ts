/**
 * A transport that shows each message on its way. Internal.
 */

import type { Transport, TransportEvents } from './transport.js';

/** The way a message goes, seen from this program. */
export type Direction = 'sent' | 'received';

/** Wraps `transport` so that every line is shown before it goes on. `show` never throws. */
export function traced(transport: Transport, show: (direction: Direction, line: string) => void): Transport {
  const received = new Lines((line) => show('received', line));
  return {
    open(events: TransportEvents): void {
      transport.open({
        ...events,
        data(buffer, length) {
          received.push(buffer.subarray(0, length));
          events.data(buffer, length);
        },
      });
    },
    write(wire) {
      // What is written is whole messages.
      new Lines((line) => show('sent', line)).push(typeof wire === 'string' ? Buffer.from(wire) : wire);
      transport.write(wire);
    },
    get backlog() {
      return transport.backlog;
    },
    pause: (paused) => transport.pause(paused),
    close: () => transport.close(),
  };
}

/** Finds the lines in bytes that are cut anywhere. */
class Lines {
  readonly #decoder = new TextDecoder();
  readonly #each: (line: string) => void;
  #rest = '';

  constructor(each: (line: string) => void) {
    this.#each = each;
  }

  push(chunk: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') this.#each(line);
  }
}
