/**
 * Messages as lines of text, for transports of a program's own.
 */

import type { JSONRPCMessage } from './spec/messages.js';

/** A message as a line. */
export function serializeMessage(message: JSONRPCMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/**
 * A line as a message.
 *
 * @throws SyntaxError when it is not JSON, or no message
 */
export function deserializeMessage(line: string): JSONRPCMessage {
  const value: unknown = JSON.parse(line);
  const isMessage = typeof value === 'object' && value !== null && (value as { readonly jsonrpc?: unknown }).jsonrpc === '2.0';
  if (!isMessage) throw new SyntaxError(`the line is no JSON-RPC message: ${line.slice(0, 200)}`);
  return value as JSONRPCMessage;
}

/** Bytes that come in pieces, and messages out of them. */
export class ReadBuffer {
  #bytes: Buffer | undefined;

  /** Takes a piece. */
  append(chunk: Uint8Array): void {
    this.#bytes = this.#bytes === undefined ? Buffer.from(chunk) : Buffer.concat([this.#bytes, chunk]);
  }

  /** The next message; `null` when the rest of it has not come. Throws as {@link deserializeMessage} does. */
  readMessage(): JSONRPCMessage | null {
    const end = this.#bytes?.indexOf(10) ?? -1;
    if (this.#bytes === undefined || end === -1) return null;
    const line = this.#bytes.toString('utf8', 0, end).trimEnd();
    this.#bytes = this.#bytes.subarray(end + 1);
    return line === '' ? this.readMessage() : deserializeMessage(line);
  }

  /** Drops what has come. */
  clear(): void {
    this.#bytes = undefined;
  }
}
