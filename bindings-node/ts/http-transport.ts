/**
 * A server's transport over HTTP as the first version of the official SDK has it, for programs that come from it.
 */

import { type Known, checkOptions } from './check-options.js';
import { textOf, usage } from './errors.js';
import { HttpEndpoint, type HttpOptions, type Served } from './http-server.js';
import type { NodeRequest, NodeResponse } from './http-types.js';
import { NO_TRANSPORT, offer } from './transport.js';

/** Settings of a {@link StreamableHTTPServerTransport}, all optional. */
export interface StreamableHTTPServerTransportOptions {
  /**
   * Whether there are sessions: with a function there are, without one each request stands for itself. The ids are made by
   * the core, unguessable; the function is not called.
   */
  readonly sessionIdGenerator?: (() => string) | undefined;
  /** Called when a session has begun. */
  readonly onsessioninitialized?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Called when a client has ended its session. */
  readonly onsessionclosed?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Answers by JSON, never by event streams. */
  readonly enableJsonResponse?: boolean | undefined;
  /** Streams can be resumed with one or without: the core keeps their events itself, within bounds. */
  readonly eventStore?: object | undefined;
  /** How long clients are told to wait before they resume a stream, in milliseconds. */
  readonly retryInterval?: number | undefined;
  /** Whether requests for other hosts and of other origins than those listed are refused. */
  readonly enableDnsRebindingProtection?: boolean | undefined;
  readonly allowedHosts?: readonly string[] | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
}

const KNOWN: Known = {
  sessionIdGenerator: 'function',
  onsessioninitialized: 'function',
  onsessionclosed: 'function',
  enableJsonResponse: 'flag',
  eventStore: 'object',
  retryInterval: 'milliseconds',
  enableDnsRebindingProtection: 'flag',
  allowedHosts: 'list',
  allowedOrigins: 'list',
};

const LOCAL = /^(localhost|[^:]+\.localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const LOOPBACK = /^(::1|(::ffff:)?127\.)/;

/**
 * Serves the requests that an app of the program hands over. New programs may use {@link McpServer.httpHandler}, one for
 * all clients.
 *
 * Unless told otherwise, it serves any host, but no web page that reaches this machine's own address under a foreign name.
 *
 * @example
 * ```ts
 * import { randomUUID } from 'node:crypto';
 * import { createServer } from 'node:http';
 * import { McpServer } from 'oxmcp';
 * import { StreamableHTTPServerTransport } from 'oxmcp/server/streamableHttp.js';
 *
 * const server = new McpServer({ name: 'example', version: '1.0.0' });
 * const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
 * await server.connect(transport);
 * const app = createServer((request, response) => transport.handleRequest(request, response));
 * ```
 */
export class StreamableHTTPServerTransport {
  /** Called when the session has ended. */
  onclose: (() => void) | undefined;
  /** Called for what goes wrong beside the requests. */
  onerror: ((error: Error) => void) | undefined;
  /** The session, once there is one: the last that began. */
  sessionId: string | undefined;
  readonly #options: StreamableHTTPServerTransportOptions;
  #endpoint: HttpEndpoint | undefined;
  #closed = false;

  /** @throws {@link UsageError} when an option is wrong */
  constructor(options: StreamableHTTPServerTransportOptions = {}) {
    checkOptions('StreamableHTTPServerTransport', options, KNOWN);
    this.#options = options;
    const serve = (served: Served): void => {
      this.#endpoint = new HttpEndpoint(served, this.#settings());
    };
    offer(this, { start: () => NO_TRANSPORT, serve });
  }

  /**
   * Serves a request. `parsedBody` is its body, if something has read it already.
   *
   * @throws {@link UsageError} before `server.connect`
   */
  async handleRequest(request: NodeRequest, response: NodeResponse, parsedBody?: unknown): Promise<void> {
    const endpoint = this.#endpoint;
    if (endpoint === undefined) throw usage('this transport is not connected; call server.connect(transport) first');
    if (this.#isRebound(request)) {
      response.writeHead(403, ['content-type', 'application/json']);
      response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"this host is not served to web pages"}}');
      return;
    }
    const ended = request.method === 'DELETE' ? textHeader(request, 'mcp-session-id') : undefined;
    await new Promise<void>((resolve) => {
      response.once('close', resolve);
      endpoint.node(request, response, parsedBody, (status, headers) => {
        this.#began(headers);
        if (status === 204 && ended !== undefined) this.#ended(ended);
        resolve();
      });
    });
  }

  /** Ends all sessions and streams. */
  async close(): Promise<void> {
    await this.#endpoint?.close();
    this.#tellClosed();
  }

  #settings(): HttpOptions {
    const { sessionIdGenerator, enableJsonResponse, retryInterval, enableDnsRebindingProtection } = this.#options;
    const { allowedHosts, allowedOrigins } = this.#options;
    return {
      stateless: sessionIdGenerator === undefined,
      jsonOnly: enableJsonResponse,
      retry: retryInterval,
      allowedHosts: enableDnsRebindingProtection === true ? allowedHosts?.map(withoutPort) : '*',
      allowedOrigins,
    };
  }

  /** A page of another site that was led here by a name of its own. */
  #isRebound(request: NodeRequest): boolean {
    if (this.#options.enableDnsRebindingProtection !== undefined) return false;
    const host = textHeader(request, 'host') ?? '';
    const origin = textHeader(request, 'origin');
    if (origin === undefined || this.#options.allowedOrigins?.includes(origin)) return false;
    return LOOPBACK.test(request.socket.localAddress ?? '') && !LOCAL.test(host);
  }

  #began(headers: readonly string[]): void {
    const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'mcp-session-id');
    const id = at < 0 ? undefined : headers[at + 1];
    if (id === undefined || id === this.sessionId) return;
    this.sessionId = id;
    this.#run(this.#options.onsessioninitialized, id);
  }

  #ended(id: string): void {
    this.#run(this.#options.onsessionclosed, id);
    if (id === this.sessionId) this.#tellClosed();
  }

  #tellClosed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#run(this.onclose, undefined);
  }

  #run(hook: ((id: never) => unknown) | undefined, id: string | undefined): void {
    const failed = (error: unknown): void => this.onerror?.(error instanceof Error ? error : new Error(textOf(error)));
    try {
      Promise.resolve(hook?.(id as never)).catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

/** The core compares names, whatever the port. */
function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

function textHeader(request: NodeRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}
