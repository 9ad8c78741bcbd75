/**
 * A client's end of a WebSocket, by the name of the official SDK. The protocol does not define such a transport.
 */

import { textOf, usage } from './errors.js';
import type { MessageTransport } from './messages.js';
import type { Url } from './registered.js';
import type { JSONRPCMessage } from './spec/messages.js';

/** The part of a browser's `WebSocket` that is used. Node has it from 22 on. */
interface Socket {
  onopen: (() => void) | null;
  onclose: (() => void) | null;
  onerror: ((event: { readonly error?: unknown; readonly message?: unknown }) => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  readonly readyState: number;
  send(text: string): void;
  close(): void;
}

const OPEN = 1;

/**
 * Carries messages over a WebSocket, one in each of its own.
 *
 * @example
 * ```ts
 * import { Client } from 'oxmcp';
 * import { WebSocketClientTransport } from 'oxmcp/client/websocket.js';
 *
 * const client = new Client({ name: 'example', version: '1.0.0' });
 * await client.connect(new WebSocketClientTransport(new URL('ws://127.0.0.1:8000/mcp')));
 * ```
 */
export class WebSocketClientTransport implements MessageTransport {
  onmessage: ((message: JSONRPCMessage) => void) | undefined;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  readonly #url: string;
  #socket: Socket | undefined;

  constructor(url: Url | string) {
    this.#url = typeof url === 'string' ? url : url.href;
  }

  /**
   * Opens the socket; resolves once it is open.
   *
   * @throws {@link UsageError} when it was opened before, or there is no `WebSocket` here
   */
  async start(): Promise<void> {
    if (this.#socket !== undefined) throw usage('this transport was connected before; make a new one for each connection');
    const { WebSocket } = globalThis as { WebSocket?: new (url: string, protocol: string) => Socket };
    if (WebSocket === undefined) {
      throw usage('there is no WebSocket here: Node has it from 22 on; before, set globalThis.WebSocket to the class of a package such as ws');
    }
    const socket = (this.#socket = new WebSocket(this.#url, 'mcp'));
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = ({ error, message }) => {
        const told = error instanceof Error ? error.message : message;
        const why = new Error(`the WebSocket to ${this.#url} failed${told ? `: ${textOf(told)}` : ''}`, { cause: error });
        reject(why);
        this.onerror?.(why);
      };
      socket.onclose = () => reject(new Error(`the WebSocket to ${this.#url} was closed`));
      socket.onmessage = ({ data }) => this.#take(data);
    });
    socket.onclose = () => this.onclose?.();
  }

  /** Sends a message. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#socket?.readyState !== OPEN) throw new Error(`the WebSocket to ${this.#url} is not open`);
    this.#socket.send(JSON.stringify(message));
  }

  /** Closes the socket. */
  async close(): Promise<void> {
    this.#socket?.close();
  }

  #take(data: unknown): void {
    let message: JSONRPCMessage;
    try {
      message = JSON.parse(String(data)) as JSONRPCMessage;
    } catch (error) {
      this.onerror?.(new SyntaxError(`the other side sent a message that is not JSON: ${String(data).slice(0, 200)}`, { cause: error }));
      return;
    }
    this.onmessage?.(message);
  }
}
