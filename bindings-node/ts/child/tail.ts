/**
 * The end of a stream, for error messages. Internal.
 */

const KEPT = 4096;

export class Tail {
  #bytes: Buffer = Buffer.alloc(0);

  push(chunk: Uint8Array): void {
    const all = Buffer.concat([this.#bytes, chunk]);
    // A copy: a view would keep the whole of a large chunk.
    this.#bytes = all.length > KEPT ? Buffer.from(all.subarray(all.length - KEPT)) : all;
  }

  /** The text kept, from the start of a line where more came before it. */
  get text(): string {
    const text = this.#bytes.toString('utf8');
    const start = this.#bytes.length < KEPT ? 0 : text.indexOf('\n') + 1;
    return text.slice(start).trimEnd();
  }
}
