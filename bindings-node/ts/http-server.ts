/**
 * A server over HTTP: on a port of its own, or in an app that is there already.
 */

import { type Known, checkOptions } from './check-options.js';
import { fromNative, usage } from './errors.js';
import type { NodeRequest, NodeResponse, WebRequest, WebResponse } from './http-types.js';
import { Hub } from './hub.js';
import { type NativeExchange, type NativeHttpServer, type NativeRegistry, type NativeSession, native } from './native.js';
import type { Connection, Home } from './connection.js';
import { listens } from './leaving.js';
import type { Problem } from './options.js';
import { type AuthInfo, nodeOrigin, webOrigin } from './origin.js';

/** How a server is served over HTTP, all optional. Times are in milliseconds. */
export interface HttpOptions {
  /**
   * The names under which it is served, whatever the port; those of this machine unless listed. Requests for others are
   * refused, since a web page can let any name point to this machine. `'*'` serves all, where something before this
   * server checks them.
   */
  readonly allowedHosts?: readonly string[] | '*' | undefined;
  /** The origins whose web pages may call, such as `https://app.example.com`. Pages of the hosts need not be listed. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Keeps no sessions: each request stands for itself in all revisions. */
  readonly stateless?: boolean | undefined;
  /** Answers by JSON, never by event streams. */
  readonly jsonOnly?: boolean | undefined;
  /** Also serves clients that know only the HTTP+SSE transport of 2024-11-05. */
  readonly httpSse?: boolean | undefined;
  /** How many sessions there may be; 10,000 by default. */
  readonly maxSessions?: number | undefined;
  /** How long a session may be without a request or an open stream; 30 minutes by default. */
  readonly sessionIdle?: number | undefined;
  /** Whether streams that broke can be resumed. On by default. */
  readonly resumable?: boolean | undefined;
  /** How long clients are told to wait before they resume a stream; 1000 by default. */
  readonly retry?: number | undefined;
  /** After how long a silence a stream gets a comment; 15,000 by default. */
  readonly keepAlive?: number | undefined;
  /** The largest body of a request, in bytes; 16 MiB by default. */
  readonly bodyLimit?: number | undefined;
  /** How long the body of a request may take to come; 30,000 by default. */
  readonly bodyTimeout?: number | undefined;
}

/** How a server listens. */
export interface ListenHttpOptions extends HttpOptions {
  /** The port; any that is free by default. */
  readonly port?: number | undefined;
  /** The address of this machine to listen on; 127.0.0.1 by default. */
  readonly host?: string | undefined;
  /** The path; `/mcp` by default. */
  readonly path?: string | undefined;
  /** How many connections at the same time; 16,384 by default. */
  readonly maxConnections?: number | undefined;
  /** How long the head of a request may take to come; 60,000 by default. */
  readonly headTimeout?: number | undefined;
  /** How long a client may take nothing of what is written to it; 60,000 by default. */
  readonly writeTimeout?: number | undefined;
}

/** What a server of the program gives for HTTP. Internal. */
export interface Served {
  readonly info: string;
  /** The settings of its sessions; with other revisions than its own, if any are given. */
  settings(revisions: readonly string[] | undefined): string;
  readonly registry: NativeRegistry;
  connect(session: NativeSession, home: Home): Connection;
  trace(direction: 'sent' | 'received', line: string): void;
  problem(problem: Problem): void;
  thrown(error: unknown): void;
  /** It serves over HTTP from now on, until `closed`. */
  opened(endpoint: HttpEndpoint): void;
  closed(endpoint: HttpEndpoint): void;
}

/** Settings of an endpoint, and which revisions it serves where that are not all. Internal. */
export interface EndpointOptions extends ListenHttpOptions {
  readonly revisions?: readonly string[] | undefined;
}

/** What may be said of a request as `fetch` has it. */
export interface FetchOptions {
  /** Who makes it, as the program has found out: its functions find it in their context. */
  readonly authInfo?: AuthInfo | undefined;
  /** Its body, if something has read it already. */
  readonly parsedBody?: unknown;
  /** Stands for what it says that it accepts. Internal. */
  readonly accept?: string | undefined;
}

type Seen = (status: number, headers: readonly string[]) => void;

/** One server's end for HTTP. Internal. */
export class HttpEndpoint {
  readonly #served: Served;
  readonly #hub: Hub;
  readonly #server: NativeHttpServer;
  #closing: Promise<void> | undefined;
  #listens = false;
  /** While it listens or closes. */
  #alive: NodeJS.Timeout | undefined;

  constructor(served: Served, options: EndpointOptions) {
    this.#served = served;
    this.#hub = new Hub(served, served.registry);
    try {
      const { info, registry } = served;
      const settings = served.settings(options.revisions);
      this.#server = new (native().HttpServer)(this.#hub.native, info, settings, registry, settingsOf(options));
    } catch (thrown) {
      this.#hub.close();
      throw fromNative(thrown);
    }
    served.opened(this);
  }

  /** How many sessions there are. */
  get sessions(): number {
    return this.#server.sessions();
  }

  /** What is open, for tests. */
  get stats(): { connections: number; exchanges: number } {
    return this.#hub.stats;
  }

  /** Listens; gives the address and port. */
  bind(port: number): string {
    let address: string;
    try {
      address = this.#server.bind(port);
    } catch (thrown) {
      throw fromNative(thrown);
    }
    this.#stayAlive();
    listens(1);
    this.#listens = true;
    return address;
  }

  /** Sends a notification to all clients. */
  notifyEach(method: string, params: string | null): void {
    this.#server.notifyEach(method, params);
  }

  /** The session of this name. */
  connectionOf(sessionId: string): Connection | undefined {
    return this.#hub.connections.find((connection) => connection.sessionId === sessionId);
  }

  /** Ends the responses to calls of this id before their answers. */
  endStream(requestId: string | number): void {
    for (const connection of this.#hub.connections) connection.endStreamOf(requestId);
  }

  /** Runs a command in all sessions that are told what all clients are told. */
  commandEach(text: string): void {
    this.#server.commandEach(text);
  }

  /** Serves one request of Node's `http`. `seen` is shown how the response begins, before it does. */
  node(request: NodeRequest, response: NodeResponse, { parsedBody, accept }: FetchOptions = {}, seen?: Seen): void {
    const { method = 'GET', headers } = request;
    const target = request.originalUrl ?? request.url ?? '/';
    const authority = headers[':authority'];
    const fields = fieldsOf(request, authority !== undefined, accept);
    let exchange: NativeExchange | undefined;
    const more = (): void => exchange?.more();
    const token = this.#hub.open({
      origin: () => nodeOrigin(request),
      head(status, given, body) {
        seen?.(status, given);
        if (body !== null) {
          // Known now, so that head and body leave at once.
          if (body !== '') given.push('content-length', String(Buffer.byteLength(body)));
          response.writeHead(status, given);
          response.end(body);
        } else {
          response.writeHead(status, given);
          response.flushHeaders();
          more();
        }
      },
      chunk(text) {
        if (response.write(text)) more();
        else response.once('drain', more);
      },
      end: () => void response.end(),
    });
    try {
      exchange = this.#server.exchange(token, method, target, typeof authority === 'string' ? authority : null, fields.join('\n'));
    } catch (thrown) {
      this.#hub.forget(token);
      this.#served.thrown(fromNative(thrown));
      response.writeHead(400, []);
      response.end();
      return;
    }
    const opened = exchange;
    response.once('close', () => {
      this.#hub.forget(token);
      opened.release();
    });
    if (parsedBody !== undefined) sendWhole(parsedBody, opened);
    else sendNodeBody(request, opened);
  }

  /** Serves one request as `fetch` has it. `seen` is shown how the response begins, before it does. */
  fetch(request: WebRequest, { authInfo, parsedBody, accept }: FetchOptions = {}, seen?: Seen): Promise<WebResponse> {
    return new Promise((resolve, reject) => {
      const url = new URL(request.url);
      const fields = [...request.headers].flatMap(([name, value]) => [name, name === 'accept' ? (accept ?? value) : value]);
      let exchange: NativeExchange | undefined;
      let body: ReadableStreamDefaultController<Uint8Array> | undefined;
      // No socket may be behind it that keeps the process and this endpoint alive.
      const alive = setInterval(() => this.#hub, 2 ** 30);
      const release = (): void => {
        clearInterval(alive);
        this.#hub.forget(token);
        exchange?.release();
      };
      const encoder = new TextEncoder();
      const token = this.#hub.open({
        origin: () => webOrigin(request, authInfo),
        head(status, given, whole) {
          seen?.(status, given);
          const headers = new Headers([...pairs(given)]);
          if (whole !== null) {
            clearInterval(alive);
            resolve(new Response(whole === '' ? null : whole, { status, headers }));
            return;
          }
          const stream = new ReadableStream<Uint8Array>({
            start: (controller) => void (body = controller),
            pull: () => exchange?.more(),
            cancel: release,
          });
          resolve(new Response(stream, { status, headers }));
        },
        chunk: (text) => body?.enqueue(encoder.encode(text)),
        end: () => {
          clearInterval(alive);
          body?.close();
        },
      });
      try {
        const host = request.headers.has('host') ? null : url.host;
        exchange = this.#server.exchange(token, request.method, `${url.pathname}${url.search}`, host, fields.join('\n'));
      } catch (thrown) {
        release();
        reject(fromNative(thrown));
        return;
      }
      request.signal?.addEventListener('abort', release, { once: true });
      if (parsedBody === undefined) void sendBody(request.body, exchange);
      else sendWhole(parsedBody, exchange);
    });
  }

  /** Keeps the process and this endpoint alive, as nothing of the core does. */
  #stayAlive(): void {
    this.#alive ??= setInterval(() => this.#hub, 2 ** 30);
  }

  /** Ends streams, lets calls under way finish, and ends the rest. */
  close(): Promise<void> {
    return (this.#closing ??= new Promise((resolve) => {
      this.#stayAlive();
      const token = this.#hub.open({
        head: () => {},
        chunk: () => {},
        end: () => {
          clearInterval(this.#alive);
          this.#hub.close();
          this.#served.closed(this);
          if (this.#listens) listens(-1);
          resolve();
        },
      });
      this.#server.shutDown(token);
    }));
  }
}

/** A server that listens on a port. */
export class HttpServer {
  /** Where clients find it, such as `http://127.0.0.1:8000/mcp`. */
  readonly url: string;
  /** Its port. */
  readonly port: number;
  readonly #endpoint: HttpEndpoint;

  /** Internal: see {@link McpServer.listen}. */
  constructor(served: Served, options: ListenHttpOptions) {
    this.#endpoint = new HttpEndpoint(served, options);
    const address = this.#endpoint.bind(options.port ?? 0);
    this.url = `http://${address}${options.path ?? '/mcp'}`;
    this.port = Number(new URL(this.url).port);
  }

  /** How many sessions there are, of revisions with a handshake. */
  get sessions(): number {
    return this.#endpoint.sessions;
  }

  /**
   * Takes no more requests and ends streams. Calls under way may finish, for {@link ServerLimits.drain}; then all ends.
   */
  async close(): Promise<void> {
    await this.#endpoint.close();
  }

  /** {@link close}, at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The requests of an app that listens itself. */
export class HttpHandler {
  readonly #endpoint: HttpEndpoint;

  /** Internal: see {@link McpServer.httpHandler}. */
  constructor(served: Served, options: HttpOptions) {
    this.#endpoint = new HttpEndpoint(served, options);
  }

  /**
   * Serves a request of Node's `http`, of Express or Fastify. `parsedBody` is the body, if something has read it
   * already; Express leaves it in `request.body`, where it is found.
   */
  readonly node = (request: NodeRequest, response: NodeResponse, parsedBody?: unknown): void => {
    this.#endpoint.node(request, response, { parsedBody: typeof parsedBody === 'function' ? undefined : parsedBody });
  };

  /**
   * Serves a request as `fetch` has it, as of Hono, Deno or Bun. What stands in a second argument that is none of these
   * options, as some of them give one, is left alone.
   */
  readonly fetch = (request: WebRequest, options?: Pick<FetchOptions, 'authInfo' | 'parsedBody'>): Promise<WebResponse> => {
    const { authInfo, parsedBody } = options ?? {};
    return this.#endpoint.fetch(request, { authInfo, parsedBody });
  };

  /** How many sessions there are, of revisions with a handshake. */
  get sessions(): number {
    return this.#endpoint.sessions;
  }

  /** Ends streams, lets calls under way finish, and ends the rest. */
  async close(): Promise<void> {
    await this.#endpoint.close();
  }

  /** {@link close}, at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The settings, by the names of the core's. */
function settingsOf(options: EndpointOptions): string {
  const { host, allowedHosts, allowedOrigins, port: _, revisions: __, ...rest } = options;
  const hosts = allowedHosts === '*' ? {} : { hosts: allowedHosts };
  return JSON.stringify({ address: host === 'localhost' ? '127.0.0.1' : host, anyHost: allowedHosts === '*', ...hosts, origins: allowedOrigins, ...rest });
}

/** Names and values in turn, without those of HTTP/2, and with another `Accept` where that is given. */
function fieldsOf({ rawHeaders }: NodeRequest, isHttp2: boolean, accept: string | undefined): readonly string[] {
  if (!isHttp2 && accept === undefined) return rawHeaders;
  const fields: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]!, rawHeaders[at + 1]!];
    const isAccept = name.toLowerCase() === 'accept';
    if (!name.startsWith(':')) fields.push(name, isAccept ? (accept ?? value) : value);
  }
  return fields;
}

/** Hands over a body that Node reads, or that middleware has read. */
function sendNodeBody(request: NodeRequest, exchange: NativeExchange): void {
  if (request.body !== undefined && request.readableEnded) {
    sendWhole(request.body, exchange);
    return;
  }
  let left = Number(request.headers['content-length'] ?? NaN);
  request.on('data', (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left === 0) exchange.last(chunk);
    else if (!exchange.body(chunk)) request.removeAllListeners('data').resume();
  });
  if (!(left > 0)) request.once('end', () => exchange.endBody());
}

/** Hands over what something else has read. */
function sendWhole(parsed: unknown, exchange: NativeExchange): void {
  const text = typeof parsed === 'string' || parsed instanceof Uint8Array ? parsed : JSON.stringify(parsed);
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  exchange.last(bytes);
}

async function sendBody(body: ReadableStream<Uint8Array> | null, exchange: NativeExchange): Promise<void> {
  try {
    for await (const chunk of body ?? []) {
      if (!exchange.body(chunk)) return;
    }
    exchange.endBody();
  } catch {
    // The client has left in the middle of it.
    exchange.release();
  }
}

function* pairs(flat: readonly string[]): Generator<[string, string]> {
  for (let at = 0; at + 1 < flat.length; at += 2) yield [flat[at]!, flat[at + 1]!];
}

const HANDLER: Known = {
  allowedHosts: 'anything',
  allowedOrigins: 'list',
  stateless: 'flag',
  jsonOnly: 'flag',
  httpSse: 'flag',
  maxSessions: 'count',
  sessionIdle: 'milliseconds',
  resumable: 'flag',
  retry: 'milliseconds',
  keepAlive: 'milliseconds',
  bodyLimit: 'count',
  bodyTimeout: 'milliseconds',
};

const LISTEN: Known = {
  ...HANDLER,
  port: 'anything',
  host: 'text',
  path: 'text',
  maxConnections: 'count',
  headTimeout: 'milliseconds',
  writeTimeout: 'milliseconds',
};

/** Refuses options that are none. Internal. */
export function checkHttpOptions(what: 'listen' | 'httpHandler', options: ListenHttpOptions): void {
  checkOptions(what, options, what === 'listen' ? LISTEN : HANDLER);
  const { port } = options;
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65535)) {
    throw usage(`a port is a whole number from 0 to 65535, not ${port}`);
  }
}
