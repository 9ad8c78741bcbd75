/**
 * A server's transport over HTTP as the first version of the official SDK has it, for programs that come from it.
 */

import { type Known, checkOptions } from './check-options.js';
import { textOf, usage } from './errors.js';
import { respond } from './http-body.js';
import { type FetchOptions, HttpEndpoint, type HttpOptions, type Served } from './http-server.js';
import type { NodeRequest, NodeResponse, WebRequest, WebResponse } from './http-types.js';
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
  /** After how long a silence a stream gets a comment, in milliseconds; 15,000 by default, and 0 for never. */
  readonly keepAliveMs?: number | undefined;
  /** The largest body of a request, in bytes; 16 MiB by default. */
  readonly maxRequestBodySize?: number | undefined;
}

const KNOWN: Known = {
  keepAliveMs: 'milliseconds',
  maxRequestBodySize: 'count',
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
const SESSION = 'mcp-session-id';
const REBOUND = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"this host is not served to web pages"}}';
/** Some three weeks, in milliseconds. */
const NEVER = 2 ** 31 - 1;

/** What the transports for Node's `http` and for `fetch` share. */
abstract class SessionTransport {
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
    checkOptions(new.target.name, options, KNOWN);
    this.#options = options;
    const serve = (served: Served): void => {
      this.#endpoint = new HttpEndpoint(served, this.#settings());
    };
    offer(this, { start: () => NO_TRANSPORT, serve });
  }

  /** Ends all sessions and streams. */
  async close(): Promise<void> {
    await this.#endpoint?.close();
    this.#tellClosed();
  }

  /**
   * Ends the response to a request before its answer, where the client can come back for the rest (2025-11-25): see
   * {@link HttpCall.closeSSE}.
   */
  closeSSEStream(requestId: string | number): void {
    this.#endpoint?.endStream(requestId);
  }

  /** Internal. */
  protected get endpoint(): HttpEndpoint {
    if (this.#endpoint === undefined) throw usage('this transport is not connected; call server.connect(transport) first');
    return this.#endpoint;
  }

  #settings(): HttpOptions {
    const { sessionIdGenerator, enableJsonResponse, retryInterval, enableDnsRebindingProtection } = this.#options;
    const { allowedHosts, allowedOrigins, keepAliveMs, maxRequestBodySize } = this.#options;
    return {
      stateless: sessionIdGenerator === undefined,
      jsonOnly: enableJsonResponse,
      retry: retryInterval,
      keepAlive: keepAliveMs === 0 ? NEVER : keepAliveMs,
      bodyLimit: maxRequestBodySize,
      allowedHosts: enableDnsRebindingProtection === true ? allowedHosts?.map(withoutPort) : '*',
      allowedOrigins,
    };
  }

  /** Whether a page of another site was led here by a name of its own. Internal. */
  protected isRebound(address: string, host: string, origin: string | undefined): boolean {
    if (this.#options.enableDnsRebindingProtection !== undefined) return false;
    if (origin === undefined || this.#options.allowedOrigins?.includes(origin)) return false;
    return LOOPBACK.test(address) && !LOCAL.test(host);
  }

  /** A response begins, to a request of this method for this session. Internal. */
  protected responds(method: string | undefined, session: string | undefined, status: number, headers: readonly string[]): void {
    this.#began(headers);
    if (method === 'DELETE' && status === 204 && session !== undefined) this.#ended(session);
  }

  #began(headers: readonly string[]): void {
    const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === SESSION);
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
export class StreamableHTTPServerTransport extends SessionTransport {
  /**
   * Serves a request. `parsedBody` is its body, if something has read it already; its `auth`, if middleware has set that,
   * reaches the functions as `authInfo`.
   *
   * @throws {@link UsageError} before `server.connect`
   */
  async handleRequest(request: NodeRequest, response: NodeResponse, parsedBody?: unknown): Promise<void> {
    const { endpoint } = this;
    const address = request.socket.localAddress ?? '';
    if (this.isRebound(address, textHeader(request, 'host') ?? '', textHeader(request, 'origin'))) {
      respond(response, 403, REBOUND);
      return;
    }
    if (response.destroyed) return;
    const session = textHeader(request, SESSION);
    await new Promise<void>((resolve) => {
      response.once('close', resolve);
      endpoint.node(request, response, { parsedBody }, (status, headers) => {
        this.responds(request.method, session, status, headers);
        resolve();
      });
    });
  }
}

/**
 * The same for requests as `fetch` has them.
 *
 * @example
 * ```ts
 * import { McpServer } from 'oxmcp';
 * import { WebStandardStreamableHTTPServerTransport } from 'oxmcp/server/webStandardStreamableHttp.js';
 *
 * export default {
 *   async fetch(request: Request): Promise<Response> {
 *     const server = new McpServer({ name: 'example', version: '1.0.0' });
 *     const transport = new WebStandardStreamableHTTPServerTransport();
 *     await server.connect(transport);
 *     return transport.handleRequest(request);
 *   },
 * };
 * ```
 */
export class WebStandardStreamableHTTPServerTransport extends SessionTransport {
  /**
   * Serves a request. `parsedBody` is its body, if something has read it already; `authInfo` reaches the functions.
   *
   * @throws {@link UsageError} before `server.connect`
   */
  async handleRequest(request: WebRequest, options: Pick<FetchOptions, 'authInfo' | 'parsedBody'> = {}): Promise<WebResponse> {
    const session = request.headers.get(SESSION) ?? undefined;
    const seen = (status: number, headers: readonly string[]): void => this.responds(request.method, session, status, headers);
    return this.endpoint.fetch(request, options, seen);
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
