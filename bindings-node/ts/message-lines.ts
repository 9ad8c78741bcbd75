/**
 * Messages of a transport of this package that a program uses without a client or a server. Read when that happens. Internal.
 */

import type { MessageTransport } from './messages.js';
import type { JSONRPCMessage } from './spec/messages.js';
import type { Transport } from './transport.js';

/** The longest message that is taken: 16 MiB. */
const LONGEST = 16 * 1024 * 1024;

/** From now on what `bytes` brings reaches the functions that the program has set. */
export function readMessages(bytes: Transport, transport: MessageTransport): void {
  const failed = (error: Error): void => transport.onerror?.(error);
  const lines = new Lines((line) => take(line, transport, failed), failed);
  bytes.open({
    data: (buffer, length) => lines.take(buffer.subarray(0, length)),
    ended: ({ error }) => {
      if (error !== undefined) failed(error);
      void transport.close();
    },
  });
}

function take(line: string, transport: MessageTransport, failed: (error: Error) => void): void {
  let message: JSONRPCMessage;
  try {
    message = JSON.parse(line) as JSONRPCMessage;
  } catch (error) {
    failed(new SyntaxError(`the other side sent a line that is not JSON: ${line.slice(0, 200)}`, { cause: error }));
    return;
  }
  transport.onmessage?.(message);
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
