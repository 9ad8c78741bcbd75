/**
 * Transports as the official SDK has them: they carry whole messages. Programs may write their own, and may use those of
 * this package without a client or a server, as proxies do.
 */

import { systemClock } from './clock.js';
import { usage } from './errors.js';
import type { MessageExtraInfo, Origin } from './origin.js';
import type { JSONRPCMessage } from './spec/messages.js';
import { type Starter, type Transport, starterOf } from './transport.js';

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
    this.#bytes = starterOf(this)?.start(systemClock);
    const { readMessages } = require('./message-lines.js') as typeof import('./message-lines.js');
    if (this.#bytes !== undefined) readMessages(this.#bytes, this);
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
}

/** Makes a transport of the program's own one for a connection; `undefined` when it is none. Internal. */
export function starterOfOwn(transport: unknown): Starter | undefined {
  if (typeof transport !== 'object' || transport === null) return undefined;
  const own = transport as MessageTransport;
  if (typeof own.start !== 'function' || typeof own.send !== 'function' || typeof own.close !== 'function') return undefined;
  return {
    start: () => {
      const { OwnTransport } = require('./own-transport.js') as typeof import('./own-transport.js');
      return new OwnTransport(own);
    },
  };
}

/** What a transport of the program said. Internal. */
export function toldOrigin(extra: MessageExtraInfo | undefined): Origin | undefined {
  if (extra === undefined) return undefined;
  const { authInfo, requestInfo } = extra;
  return { authInfo, requestInfo, request: undefined };
}
