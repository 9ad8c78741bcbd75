/**
 * A server's transport of revision 2024-11-05, HTTP+SSE, as the official SDK has it: an event stream to the client, and a POST for
 * each message from it. New programs have `httpSse` of {@link McpServer.listen} and {@link McpServer.httpHandler}.
 */

import { type Known, checkOptions } from './check-options.js';
import { usage } from './errors.js';
import { bodyOf, respond } from './http-body.js';
import type { NodeRequest, NodeResponse } from './http-types.js';
import { Messages, toldOrigin } from './messages.js';
import { type MessageExtraInfo, nodeOrigin } from './origin.js';
import { type Transport, type TransportEvents, offer } from './transport.js';

/** Settings of an {@link SSEServerTransport}, all optional. */
export interface SSEServerTransportOptions {
  /** Whether requests for other hosts and of other origins than those listed are refused. */
  readonly enableDnsRebindingProtection?: boolean | undefined;
  readonly allowedHosts?: readonly string[] | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
}

const KNOWN: Known = { enableDnsRebindingProtection: 'flag', allowedHosts: 'list', allowedOrigins: 'list' };

/** The largest body of a message, in bytes. */
const LONGEST = 16 * 1024 * 1024;

/**
 * One client of revision 2024-11-05: made for the request by which it opens its event stream. Its messages come by other requests,
 * which name it by `sessionId` in their query.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { McpServer } from 'oxmcp';
 * import { SSEServerTransport } from 'oxmcp/server/sse.js';
 *
 * const transports = new Map<string, SSEServerTransport>();
 * const app = createServer(async (request, response) => {
 *   const url = new URL(request.url ?? '/', 'http://localhost');
 *   if (request.method === 'GET') {
 *     const transport = new SSEServerTransport('/messages', response);
 *     transports.set(transport.sessionId, transport);
 *     response.on('close', () => transports.delete(transport.sessionId));
 *     await new McpServer({ name: 'example', version: '1.0.0' }).connect(transport);
 *   } else {
 *     const transport = transports.get(url.searchParams.get('sessionId') ?? '');
 *     if (transport) await transport.handlePostMessage(request, response);
 *     else response.writeHead(404).end();
 *   }
 * });
 * ```
 */
export class SSEServerTransport extends Messages {
  /** Names the client's session. */
  readonly sessionId: string;
  readonly #options: SSEServerTransportOptions;
  readonly #stream: EventStream;

  /**
   * @param endpoint where the client sends its messages
   * @param response to the request that opens the event stream
   * @throws {@link UsageError} when an option is wrong
   */
  constructor(endpoint: string, response: NodeResponse, options: SSEServerTransportOptions = {}) {
    super();
    checkOptions('SSEServerTransport', options, KNOWN);
    this.#options = options;
    const { randomUUID } = require('node:crypto') as typeof import('node:crypto');
    this.sessionId = randomUUID();
    const url = new URL(endpoint, 'http://localhost');
    url.searchParams.set('sessionId', this.sessionId);
    this.#stream = new EventStream(response, `${url.pathname}${url.search}${url.hash}`);
    offer(this, { start: () => this.#stream });
  }

  /**
   * Takes in a message of the client. `parsedBody` is the body, if something has read it already.
   *
   * @throws {@link UsageError} before `server.connect`
   */
  async handlePostMessage(request: NodeRequest, response: NodeResponse, parsedBody?: unknown): Promise<void> {
    const answer = (status: number, text: string): void => respond(response, status, text, 'text/plain');
    if (!this.#stream.isOpen) {
      answer(500, 'the event stream is not open');
      throw usage('this transport is not connected; call server.connect(transport) first');
    }
    const refused = this.#refused(request);
    if (refused !== undefined) return this.#report(answer, 403, refused);
    const type = String(request.headers['content-type'] ?? '').split(';', 1)[0];
    if (type?.trim().toLowerCase() !== 'application/json') {
      return this.#report(answer, 400, `a message must be application/json, not ${type || 'without a type'}`);
    }
    let message: unknown = parsedBody;
    try {
      message ??= JSON.parse(await bodyOf(request, LONGEST));
    } catch (error) {
      return this.#report(answer, 400, error instanceof Error ? error.message : String(error));
    }
    answer(202, 'Accepted');
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    this.#stream.take(text, { authInfo: request.auth, requestInfo: nodeOrigin(request).requestInfo });
  }

  /** Takes in a message that came by another way. */
  async handleMessage(message: unknown, extra?: MessageExtraInfo): Promise<void> {
    if (typeof message !== 'object' || message === null) throw usage('a message is an object');
    this.#stream.take(JSON.stringify(message), extra);
  }

  /** Ends the event stream. */
  override async close(): Promise<void> {
    await this.#stream.close();
  }

  #report(answer: (status: number, text: string) => void, status: number, why: string): void {
    answer(status, why);
    this.onerror?.(new Error(why));
  }

  #refused({ headers }: NodeRequest): string | undefined {
    const { enableDnsRebindingProtection, allowedHosts = [], allowedOrigins = [] } = this.#options;
    if (!enableDnsRebindingProtection) return undefined;
    const { host, origin } = headers;
    if (allowedHosts.length > 0 && !allowedHosts.includes(String(host))) return `Invalid Host header: ${String(host)}`;
    const isForeign = origin !== undefined && allowedOrigins.length > 0 && !allowedOrigins.includes(String(origin));
    return isForeign ? `Invalid Origin header: ${String(origin)}` : undefined;
  }
}

/** The bytes of one client: events go out, and messages come in whole. */
class EventStream implements Transport {
  readonly #response: NodeResponse;
  readonly #endpoint: string;
  #events: TransportEvents | undefined;
  #state: 'new' | 'open' | 'closed' = 'new';
  /** Who waits for the client to read on, or to leave. */
  readonly #unwritten: (() => void)[] = [];

  constructor(response: NodeResponse, endpoint: string) {
    this.#response = response;
    this.#endpoint = endpoint;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  open(events: TransportEvents): void {
    this.#events = events;
    this.#state = 'open';
    const fields = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' };
    this.#response.writeHead(200, Object.entries(fields).flat());
    this.#response.write(`event: endpoint\ndata: ${this.#endpoint}\n\n`);
    this.#response.once('close', () => {
      this.#state = 'closed';
      this.#tellWritten();
      this.#end();
    });
  }

  write(wire: string | Uint8Array, written?: () => void): void {
    const text = typeof wire === 'string' ? wire : Buffer.from(wire.buffer, wire.byteOffset, wire.byteLength).toString();
    const lines = text.split('\n').filter((line) => line !== '');
    const isOver = this.#state !== 'open' || this.#response.writableEnded === true;
    const isRead = isOver || this.#response.write(lines.map((line) => `event: message\ndata: ${line}\n\n`).join(''));
    if (written === undefined) return;
    if (isRead) process.nextTick(written);
    else if (this.#unwritten.push(written) === 1) this.#response.once('drain', () => this.#tellWritten());
  }

  #tellWritten(): void {
    for (const written of this.#unwritten.splice(0)) written();
  }

  /** Takes in a message. */
  take(text: string, extra: MessageExtraInfo | undefined): void {
    // In valid JSON line ends are between tokens only.
    const line = Buffer.from(`${text.replaceAll(/[\r\n]/g, ' ')}\n`);
    this.#events?.data(line, line.length, toldOrigin(extra));
  }

  /** Each message is a request of its own, which its client sends when it likes. */
  pause(): void {}

  async close(): Promise<void> {
    this.#events = undefined;
    if (this.#state === 'open') this.#response.end();
    this.#state = 'closed';
  }

  #end(): void {
    const events = this.#events;
    this.#events = undefined;
    events?.ended({ text: '' });
  }
}
