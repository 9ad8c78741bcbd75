/**
 * A server over HTTP: on a port of its own, or in an app that is there already.
 */

import { type Known, checkOptions } from './check-options.js';
import { ErrorCode, fromNative, usage } from './errors.js';
import { Unserved, refusalText, respond, sendNodeBody, sendWebBody } from './http-body.js';
import type { NodeRequest, NodeResponse, WebRequest, WebResponse } from './http-types.js';
import type { Home } from './home.js';
import { Hub } from './hub.js';
import { type NativeExchange, type NativeHttpServer, type NativeRegistry, native } from './native.js';
import type { Connection } from './connection.js';
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
  connect(handle: number, home: Home): Connection;
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
type Failed = (error: unknown) => void;

/** How the promise of a response settles. */
interface Settle {
  resolve(response: WebResponse): void;
  refuse(error: unknown): void;
}

/** For a client that is there no more: nobody reads it, and no app has to handle it. */
const LEFT = 499;
const CLOSED = refusalText('the server is closing', ErrorCode.InternalError);

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

  /** Serves one request of Node's `http`. `seen` is shown how the response begins, before it does. Never throws. */
  node(request: NodeRequest, response: NodeResponse, options: FetchOptions = {}, seen?: Seen): void {
    // The client has left already.
    if (response.destroyed) return;
    if (this.#closing !== undefined) return respond(response, 503, CLOSED);
    const failed = (error: unknown): void => this.#refuse(error, (status, text) => respond(response, status, text));
    try {
      if (response.headersSent || response.writableEnded) throw usage('the response has begun already, and all of it is written here');
      this.#node(request, response, options, seen, failed);
    } catch (error) {
      failed(error);
    }
  }

  #node(request: NodeRequest, response: NodeResponse, { parsedBody, accept }: FetchOptions, seen: Seen | undefined, refuse: Failed): void {
    const { method = 'GET', headers } = request;
    const target = request.originalUrl ?? request.url ?? '/';
    const authority = headers[':authority'];
    const fields = fieldsOf(request, authority !== undefined, accept);
    let exchange: NativeExchange | undefined;
    const more = (): void => exchange?.more();
    const release = (): void => {
      this.#hub.forget(token);
      exchange?.release();
    };
    const failed = (error: unknown): void => {
      release();
      refuse(error);
    };
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
        if (response.writableEnded) release();
        else if (response.write(text)) more();
        else response.once('drain', more);
      },
      end: () => void response.end(),
      failed,
    });
    try {
      exchange = this.#server.exchange(token, method, target, typeof authority === 'string' ? authority : null, fields.join('\n'));
      response.once('close', release);
      sendNodeBody(request, parsedBody, exchange, failed);
    } catch (thrown) {
      failed(exchange === undefined ? new Unserved(400, fromNative(thrown) as Error) : thrown);
    }
  }

  /** Serves one request as `fetch` has it. `seen` is shown how the response begins, before it does. */
  fetch(request: WebRequest, options: FetchOptions = {}, seen?: Seen): Promise<WebResponse> {
    return new Promise((resolve, reject) => {
      const refuse = (error: unknown): void =>
        this.#refuse(error, (status, text) => resolve(new Response(text, { status, headers: { 'content-type': 'application/json' } })));
      if (this.#closing !== undefined) return refuse(undefined);
      if (!(request instanceof Request) && typeof (request as Partial<Request> | undefined)?.headers?.get !== 'function') {
        return reject(usage('fetch needs a Request: mcp.fetch(new Request(url, { method, headers, body }))'));
      }
      if (request.signal?.aborted) return resolve(new Response(null, { status: LEFT }));
      try {
        this.#fetch(request, options, seen, { resolve, refuse });
      } catch (error) {
        refuse(error);
      }
    });
  }

  #fetch(request: WebRequest, { authInfo, parsedBody, accept }: FetchOptions, seen: Seen | undefined, settle: Settle): void {
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
    const failed = (error: unknown): void => {
      release();
      settle.refuse(error);
      fail(body, error);
    };
    const encoder = new TextEncoder();
    const token = this.#hub.open({
      origin: () => webOrigin(request, authInfo),
      head(status, given, whole) {
        seen?.(status, given);
        const headers = new Headers([...pairs(given)]);
        if (whole !== null) {
          clearInterval(alive);
          settle.resolve(new Response(whole === '' ? null : whole, { status, headers }));
          return;
        }
        const stream = new ReadableStream<Uint8Array>({
          start: (controller) => void (body = controller),
          pull: () => exchange?.more(),
          cancel: release,
        });
        settle.resolve(new Response(stream, { status, headers }));
      },
      chunk: (text) => body?.enqueue(encoder.encode(text)),
      end: () => {
        clearInterval(alive);
        body?.close();
      },
      failed,
    });
    try {
      const host = request.headers.has('host') ? null : url.host;
      exchange = this.#server.exchange(token, request.method, `${url.pathname}${url.search}`, host, fields.join('\n'));
    } catch (thrown) {
      failed(new Unserved(400, fromNative(thrown) as Error));
      return;
    }
    const left = (): void => {
      release();
      settle.resolve(new Response(null, { status: LEFT }));
      // An error would be one of the stream, which some libraries report to their program for each client that leaves.
      end(body);
    };
    request.signal?.addEventListener('abort', left, { once: true });
    sendWebBody(request, parsedBody, exchange).catch((error: unknown) => (request.signal?.aborted ? left() : failed(error)));
  }

  /** Ends an exchange in the place of the core, and tells the program why; `undefined`: it was closed. */
  #refuse(error: unknown, answer: (status: number, text: string) => void): void {
    if (error === undefined) return answer(503, CLOSED);
    const { cause, message, status = 500 } = error instanceof Unserved ? error : {};
    answer(status, refusalText(message ?? 'Internal error', message === undefined ? ErrorCode.InternalError : ErrorCode.InvalidRequest));
    this.#served.thrown(cause ?? error);
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
        failed: () => {},
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

/** Ends a stream, if there is one that goes on. */
function end(body: ReadableStreamDefaultController<Uint8Array> | undefined): void {
  try {
    body?.close();
  } catch {
    // It has ended, or nobody reads it any more.
  }
}

/** Breaks a stream off, if there is one that goes on. */
function fail(body: ReadableStreamDefaultController<Uint8Array> | undefined, error: unknown): void {
  try {
    body?.error(error);
  } catch {
    // Nobody reads it any more.
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
  const { path } = options;
  if (path !== undefined && !/^\/[^?#\s]*$/.test(path)) throw usage(`the path of listen must begin with "/", as in "/mcp", and have no query; it is "${path}"`);
}
