/**
 * Servers over HTTP.
 */

import { type Known, checkOptions } from './check-options.js';
import type { Home } from './connection.js';
import { usage } from './errors.js';
import type { WebHeaders } from './http-types.js';
import type { Hub } from './hub.js';
import type { Url } from './registered.js';
import { type Transport, NO_TRANSPORT, offer } from './transport.js';

/** Header fields, as `fetch` takes them. */
export type HeaderFields = Readonly<Record<string, string>> | readonly (readonly [string, string])[] | WebHeaders;

/** How to reach a server over HTTP, all optional. Times are in milliseconds. */
export interface StreamableHTTPClientTransportOptions {
  /** Header fields for every request, such as `{ Authorization: 'Bearer …' }`. They never follow a redirect elsewhere. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The same as the official SDK has it. */
  readonly requestInit?: { readonly headers?: HeaderFields | undefined } | undefined;
  /** The proxy to use in place of the system's. */
  readonly proxy?: string | undefined;
  /** Uses no proxy. */
  readonly noProxy?: boolean | undefined;
  /** A certificate (PEM) to trust beside the system's. */
  readonly rootCertificate?: string | undefined;
  /** How long it may take until there is a connection; 30,000 by default. */
  readonly connectTimeout?: number | undefined;
  /** How long the end of a session may take; 2000 by default. */
  readonly closeTimeout?: number | undefined;
  /** Whether a session that the server has lost is begun anew. On by default. */
  readonly renewSessions?: boolean | undefined;
  /** Whether the HTTP+SSE transport of 2024-11-05 is used: where the server has no other (`'auto'`, the default). */
  readonly httpSse?: 'auto' | 'never' | 'only' | undefined;
  /** Whether a stream is opened for what the server says unasked. On by default. */
  readonly listen?: boolean | undefined;
  /** How many redirects are followed, and whether to other origins. */
  readonly redirects?: { readonly hops?: number | undefined; readonly otherOrigins?: boolean | undefined } | undefined;
}

const KNOWN: Known = {
  headers: 'object',
  requestInit: 'object',
  proxy: 'text',
  noProxy: 'flag',
  rootCertificate: 'text',
  connectTimeout: 'milliseconds',
  closeTimeout: 'milliseconds',
  renewSessions: 'flag',
  httpSse: 'text',
  listen: 'flag',
  redirects: 'object',
};

/**
 * A server over HTTP, of every revision: it is found out which one it speaks.
 *
 * @example
 * ```ts
 * import { Client, McpServer, StreamableHTTPClientTransport } from 'oxmcp';
 *
 * const server = new McpServer({ name: 'example', version: '1.0.0' });
 * server.registerTool('greet', { description: 'Greets' }, () => 'Hello');
 * const http = await server.listen();
 *
 * const client = new Client({ name: 'example', version: '1.0.0' });
 * await client.connect(new StreamableHTTPClientTransport(new URL(http.url)));
 * console.log(await client.callTool({ name: 'greet' }));
 * await client.close();
 * await http.close();
 * ```
 */
export class StreamableHTTPClientTransport {
  /** Where the server is. */
  readonly url: Url;

  /** @throws {@link UsageError} when an option is wrong, or the URL is none of http or https */
  constructor(url: Url | string, options: StreamableHTTPClientTransportOptions = {}) {
    checkOptions('StreamableHTTPClientTransport', options, KNOWN);
    this.url = parsed(url);
    const { headers, requestInit, ...rest } = options;
    const own = Object.fromEntries(new Headers((requestInit?.headers ?? {}) as ConstructorParameters<typeof Headers>[0]));
    const settings = JSON.stringify({ ...rest, headers: { ...own, ...headers } });
    offer(this, { http: { url: this.url.href, settings }, start: () => NO_TRANSPORT });
  }
}

/** A server of the HTTP+SSE transport of 2024-11-05, for programs that use the same class of the official SDK. */
export class SSEClientTransport extends StreamableHTTPClientTransport {
  /** @throws {@link UsageError} when an option is wrong, or the URL is none of http or https */
  constructor(url: Url | string, options: StreamableHTTPClientTransportOptions = {}) {
    super(url, { ...options, httpSse: 'only' });
  }
}

function parsed(url: Url | string): URL {
  try {
    return new URL(typeof url === 'string' ? url : url.href);
  } catch (cause) {
    throw usage(`${String(url)} is no URL; a server over HTTP is at one such as http://127.0.0.1:8000/mcp`);
  }
}

/** What stands for the transport of a session that the core drives. It keeps the process and the session alive until that is over. */
export class Elsewhere implements Transport, Home {
  /** The server's requests come by no requests over HTTP, and the session's name is the core's. */
  readonly sessionId = undefined;
  readonly #hub: Hub;
  readonly #alive = setInterval(() => this.#hub, 2 ** 30);
  readonly #ended: Promise<void>;
  #end!: () => void;

  constructor(hub: Hub) {
    this.#hub = hub;
    this.#ended = new Promise((resolve) => (this.#end = resolve));
  }

  /** Nothing more comes. */
  readonly over = (): void => {
    clearInterval(this.#alive);
    this.#hub.close();
    this.#end();
  };

  originOf(): undefined {}

  open(): void {}

  write(): void {}

  pause(): void {}

  close(): Promise<void> {
    return this.#ended;
  }
}
