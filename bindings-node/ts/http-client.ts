/**
 * Servers over HTTP.
 */

import { type AuthProvider, type OnUnauthorized, authorizationOf, checkProvider, renewal } from './auth-provider.js';
import { type Known, checkOptions } from './check-options.js';
import type { Connection } from './connection.js';
import type { Home } from './home.js';
import { usage } from './errors.js';
import type { HeaderFields } from './http-types.js';
import type { Hub } from './hub.js';
import type { Url } from './registered.js';
import { type Dialled, type Transport, NO_TRANSPORT, offer } from './transport.js';

/** How to reach a server over HTTP, all optional. Times are in milliseconds. */
export interface StreamableHTTPClientTransportOptions {
  /** Header fields for every request, such as `{ Authorization: 'Bearer …' }`. They never follow a redirect elsewhere. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The same as the official SDK has it. */
  readonly requestInit?: { readonly headers?: HeaderFields | undefined } | undefined;
  /**
   * Has the access token, which is sent as `Authorization: Bearer …`. It is asked at each {@link Client.connect}, and again when the
   * server refuses the token, after its own `onUnauthorized` if it has one; the request is made once more then. With no other token
   * the request fails with an {@link UnauthorizedError}.
   */
  readonly authProvider?: AuthProvider | undefined;
  /**
   * Gives other header fields when the server refuses a request for want of authorization, with 401 or with 403 and a challenge. The
   * request is made once more with them, and so are all that follow; requests that are refused together ask once. With none, or the
   * same, the request fails with an {@link UnauthorizedError}.
   */
  readonly onUnauthorized?: OnUnauthorized | undefined;
  /** How long to wait before a stream that broke is resumed, and how often. */
  readonly reconnectionOptions?: ReconnectionOptions | undefined;
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

/** The first wait, the longest, how much longer each is than the one before, and how many there are. Times are in milliseconds. */
export interface ReconnectionOptions {
  readonly initialReconnectionDelay?: number | undefined;
  readonly maxReconnectionDelay?: number | undefined;
  readonly reconnectionDelayGrowFactor?: number | undefined;
  readonly maxRetries?: number | undefined;
}

const KNOWN: Known = {
  headers: 'object',
  requestInit: 'object',
  authProvider: 'object',
  onUnauthorized: 'function',
  reconnectionOptions: {
    initialReconnectionDelay: 'milliseconds',
    maxReconnectionDelay: 'milliseconds',
    reconnectionDelayGrowFactor: 'anything',
    maxRetries: 'anything',
  },
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
  #connection: Connection | undefined;

  /** @throws {@link UsageError} when an option is wrong, or the URL is none of http or https */
  constructor(url: Url | string, options: StreamableHTTPClientTransportOptions = {}) {
    checkOptions('StreamableHTTPClientTransport', options, KNOWN);
    this.url = parsed(url);
    checkProvider(options.authProvider);
    const { headers, requestInit, authProvider, onUnauthorized, reconnectionOptions, ...rest } = options;
    if (authProvider !== undefined && onUnauthorized !== undefined) {
      throw usage('the options "authProvider" and "onUnauthorized" exclude each other: the provider may have an onUnauthorized of its own');
    }
    const own = Object.fromEntries(new Headers((requestInit?.headers ?? {}) as ConstructorParameters<typeof Headers>[0]));
    const backoff = backoffOf(reconnectionOptions);
    const settings = (authorization?: string): string =>
      JSON.stringify({ ...rest, backoff, headers: { ...own, ...headers, ...(authorization !== undefined && { authorization }) } });
    const http: Dialled = {
      url: this.url.href,
      renew: renewal(this.url, authProvider, onUnauthorized),
      settings: authProvider === undefined ? () => settings() : async () => settings(await authorizationOf(authProvider)),
      dialled: (connection) => void (this.#connection = connection),
    };
    offer(this, { http, start: () => NO_TRANSPORT });
  }

  /** The revision that both sides speak, once they are connected. */
  get protocolVersion(): string | undefined {
    return this.#connection?.peer?.protocolVersion;
  }

  /** Ends the connection, and its session with it, as {@link Client.close} does. */
  async close(): Promise<void> {
    await this.#connection?.close('the transport was closed');
  }

  /** {@link close}. */
  async terminateSession(): Promise<void> {
    await this.close();
  }
}

/** The names that the core has. */
function backoffOf(options: ReconnectionOptions | undefined): object | undefined {
  if (options === undefined) return undefined;
  const { initialReconnectionDelay: initial, maxReconnectionDelay: max, reconnectionDelayGrowFactor: factor, maxRetries: attempts } = options;
  return { initial, max, factor, attempts };
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

  /** The server's requests come by no requests over HTTP. */
  originOf(): undefined {}

  open(): void {}

  write(): void {}

  pause(): void {}

  close(): Promise<void> {
    return this.#ended;
  }
}
