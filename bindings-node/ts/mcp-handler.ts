/**
 * Servers over HTTP by the names of the official SDK's second version: a function that makes the server is given, and requests as
 * `fetch` has them are served.
 */

import { type Known, checkOptions } from './check-options.js';
import { MODERN, VERSION } from './classify.js';
import { ErrorCode, textOf, usage } from './errors.js';
import { refusalText, respond } from './http-body.js';
import { type FetchOptions, HttpEndpoint, type EndpointOptions, type HttpOptions } from './http-server.js';
import type { NodeRequest, NodeResponse, WebRequest, WebResponse } from './http-types.js';
import { type Server, serverOf } from './low-level.js';
import { type AuthInfo, nodeOrigin } from './origin.js';
import { McpServer, servedOf } from './server.js';

/** For whom a server is made. */
export interface McpRequestContext {
  /** `'modern'` is 2026-07-28, `'legacy'` what came before. */
  readonly era: 'legacy' | 'modern';
  /** Who makes the request, as the program has found out. */
  readonly authInfo?: AuthInfo | undefined;
  /** The request. */
  readonly requestInfo?: WebRequest | undefined;
}

/** Makes the server of a request. */
export type McpServerFactory = (context: McpRequestContext) => McpServer | Server | Promise<McpServer | Server>;

/** What clients that listen are told. */
export type ServerEvent =
  | { readonly kind: 'tools_list_changed' | 'prompts_list_changed' | 'resources_list_changed' }
  | { readonly kind: 'resource_updated'; readonly uri: string };

/** Carries events from where something changes to all handlers that serve it; a program with several processes has its own. */
export interface ServerEventBus {
  publish(event: ServerEvent): void;
  /** Gives a function that ends it. */
  subscribe(listener: (event: ServerEvent) => void): () => void;
}

/** A {@link ServerEventBus} in one process. */
export class InMemoryServerEventBus implements ServerEventBus {
  readonly #listeners = new Set<(event: ServerEvent) => void>();
  readonly #onerror: ((error: Error) => void) | undefined;

  /** @param onerror called with what a listener throws */
  constructor(onerror?: (error: Error) => void) {
    this.#onerror = onerror;
  }

  /** How many listen. */
  get listenerCount(): number {
    return this.#listeners.size;
  }

  publish(event: ServerEvent): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        this.#onerror?.(errorOf(error));
      }
    }
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    const own = (event: ServerEvent): void => listener(event);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }
}

/** Tells the clients that listen. */
export interface ServerNotifier {
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
  resourceUpdated(uri: string): void;
}

/** Settings of {@link createMcpHandler}, all optional. */
export interface CreateMcpHandlerOptions {
  /** Whether clients of earlier revisions are served, each request by itself, or refused. */
  readonly legacy?: 'stateless' | 'reject' | undefined;
  /** Called when the server of a request cannot be made. */
  readonly onerror?: ((error: Error) => void) | undefined;
  /** How clients of 2026-07-28 are answered: by JSON unless something is said before the answer, or always in one way. */
  readonly responseMode?: 'auto' | 'sse' | 'json' | undefined;
  /** Where events come from. */
  readonly bus?: ServerEventBus | undefined;
  /** After how long a silence a stream gets a comment, in milliseconds; 15,000 by default, and 0 for never. */
  readonly keepAliveMs?: number | undefined;
  /** The largest body of a request, in bytes; 16 MiB by default. */
  readonly maxRequestBodySize?: number | undefined;
}

const KNOWN: Known = {
  legacy: 'text',
  onerror: 'function',
  responseMode: 'text',
  bus: 'object',
  keepAliveMs: 'milliseconds',
  maxRequestBodySize: 'count',
};

/** Serves requests as `fetch` has them. */
export interface McpHttpHandler {
  fetch(request: WebRequest, options?: Pick<FetchOptions, 'authInfo' | 'parsedBody'>): Promise<WebResponse>;
  /** Ends streams, lets calls under way finish, and ends the rest. */
  close(): Promise<void>;
  readonly notify: ServerNotifier;
  readonly bus: ServerEventBus;
}

const LISTS = { tools_list_changed: 'tools', prompts_list_changed: 'prompts', resources_list_changed: 'resources' } as const;
const NEVER = 2 ** 31 - 1;
const FAILED = '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}';
const CLOSED = refusalText('the server is closing', ErrorCode.InternalError);

/**
 * Makes a handler of requests as `fetch` has them, without sessions: a server is made for each request. Where one may serve all,
 * {@link McpServer.httpHandler} costs far less.
 *
 * @example
 * ```ts
 * import { McpServer } from 'oxmcp';
 * import { createMcpHandler } from 'oxmcp/server';
 *
 * const handler = createMcpHandler(({ authInfo }) => {
 *   const server = new McpServer({ name: 'example', version: '1.0.0' });
 *   server.registerTool('whoami', { description: 'Says who calls' }, () => authInfo?.clientId ?? 'nobody');
 *   return server;
 * });
 * const response = await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', body: '{}' }));
 * console.log(response.status);
 * ```
 *
 * @throws {@link UsageError} when an option is wrong
 */
export function createMcpHandler(factory: McpServerFactory, options: CreateMcpHandlerOptions = {}): McpHttpHandler {
  if (typeof factory !== 'function') throw usage('createMcpHandler needs a function that makes a server');
  checkOptions('createMcpHandler', options, KNOWN);
  return new Handler(factory, options);
}

/** A handler of {@link createMcpHandler}. Internal. */
export class Handler implements McpHttpHandler {
  readonly bus: ServerEventBus;
  readonly notify: ServerNotifier;
  readonly #factory: McpServerFactory;
  readonly #options: CreateMcpHandlerOptions;
  readonly #endpoints = new Set<HttpEndpoint>();
  readonly #unsubscribe: () => void;
  #closed = false;

  constructor(factory: McpServerFactory, options: CreateMcpHandlerOptions) {
    this.#factory = factory;
    this.#options = options;
    const bus = (this.bus = options.bus ?? new InMemoryServerEventBus(options.onerror));
    this.notify = {
      toolsChanged: () => bus.publish({ kind: 'tools_list_changed' }),
      promptsChanged: () => bus.publish({ kind: 'prompts_list_changed' }),
      resourcesChanged: () => bus.publish({ kind: 'resources_list_changed' }),
      resourceUpdated: (uri) => bus.publish({ kind: 'resource_updated', uri }),
    };
    this.#unsubscribe = bus.subscribe((event) => this.#tell(event));
  }

  readonly fetch = async (
    request: WebRequest,
    { authInfo, parsedBody }: Pick<FetchOptions, 'authInfo' | 'parsedBody'> = {},
  ): Promise<WebResponse> => {
    const own = (status: number, text: string): WebResponse => new Response(text, { status, headers: { 'content-type': 'application/json' } });
    if (this.#closed) return own(503, CLOSED);
    const version = request.headers.get(VERSION);
    const endpoint = await this.#endpoint(version, authInfo, () => request);
    if (endpoint === undefined) return own(500, FAILED);
    try {
      return this.#closing(endpoint, await endpoint.fetch(request, { authInfo, parsedBody, accept: this.#accept(version) }));
    } catch (error) {
      this.#over(endpoint);
      throw error;
    }
  };

  /** The same for a request of Node's `http`. */
  async node(request: NodeRequest, response: NodeResponse, parsedBody: unknown): Promise<void> {
    if (this.#closed) return respond(response, 503, CLOSED);
    const version = request.headers[VERSION];
    const endpoint = await this.#endpoint(version, request.auth, () => nodeOrigin(request).request);
    if (endpoint === undefined) {
      respond(response, 500, FAILED);
      return;
    }
    if (response.destroyed) return this.#over(endpoint);
    response.once('close', () => this.#over(endpoint));
    await new Promise<void>((resolve) => {
      response.once('close', resolve);
      endpoint.node(request, response, { parsedBody, accept: this.#accept(version) }, () => resolve());
    });
  }

  #accept(version: unknown): string | undefined {
    return version === MODERN && this.#options.responseMode === 'sse' ? 'text/event-stream' : undefined;
  }

  /** The end that serves a request; `undefined` when its server cannot be made. */
  async #endpoint(
    version: unknown,
    authInfo: AuthInfo | undefined,
    request: () => WebRequest | undefined,
  ): Promise<HttpEndpoint | undefined> {
    try {
      return await this.#make({ era: version === MODERN ? 'modern' : 'legacy', authInfo, requestInfo: request() });
    } catch (error) {
      this.#options.onerror?.(errorOf(error));
      return undefined;
    }
  }

  #over(endpoint: HttpEndpoint): void {
    this.#endpoints.delete(endpoint);
    void endpoint.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe();
    await Promise.all([...this.#endpoints].map((endpoint) => endpoint.close()));
  }

  async #make(context: McpRequestContext): Promise<HttpEndpoint> {
    const made = await this.#factory(context);
    const server = made instanceof McpServer ? made : serverOf(made);
    const { legacy, keepAliveMs, maxRequestBodySize, responseMode } = this.#options;
    const options: HttpOptions = {
      stateless: true,
      allowedHosts: '*',
      jsonOnly: responseMode === 'json',
      keepAlive: keepAliveMs === 0 ? NEVER : keepAliveMs,
      bodyLimit: maxRequestBodySize,
    };
    const revisions: EndpointOptions = legacy === 'reject' ? { revisions: [MODERN] } : {};
    const endpoint = new HttpEndpoint(servedOf(server), { ...options, ...revisions });
    this.#endpoints.add(endpoint);
    return endpoint;
  }

  /** Lets the server of one request go once the response is read, or nobody reads it any more. */
  #closing(endpoint: HttpEndpoint, response: WebResponse): WebResponse {
    const over = (): void => this.#over(endpoint);
    const { body } = response;
    if (body === null || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
      over();
      return response;
    }
    const reader = body.getReader();
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        over();
      },
      async cancel(reason) {
        await reader.cancel(reason);
        over();
      },
    });
    return new Response(stream, { status: response.status, headers: response.headers });
  }

  #tell(event: ServerEvent): void {
    for (const endpoint of this.#endpoints) {
      if (event.kind === 'resource_updated') endpoint.commandEach(JSON.stringify({ resourceUpdated: { uri: event.uri } }));
      else endpoint.notifyEach(`notifications/${LISTS[event.kind]}/list_changed`, null);
    }
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(textOf(error), { cause: error });
}
