/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The client.
 */

import { type Clock, systemClock } from './clock.js';
import { Connection } from './connection.js';
import { ProtocolError, fromNative, textOf, usage } from './errors.js';
import { objectText } from './json.js';
import { type NativeSession, native } from './native.js';
import type { ClientOptions, ConnectOptions, Notification, Problem, RequestOptions } from './options.js';
import { StdioClientTransport, type StdioServerParameters, startTransport } from './stdio.js';
import type { Transport } from './transport.js';
import type {
  CallToolResult,
  Implementation,
  JsonObjectInput,
  ListToolsResult,
  Meta,
  ServerCapabilities,
  Tool,
} from './types.js';

/** What {@link Client.callTool} calls. */
export interface CallToolParams {
  /** The tool's name. */
  readonly name: string;
  /** Its arguments, as its `inputSchema` asks for. */
  readonly arguments?: JsonObjectInput | undefined;
  readonly _meta?: Meta | undefined;
}

/** A call, or a notification, by its method. */
export interface Request {
  readonly method: string;
  readonly params?: JsonObjectInput | undefined;
}

/** Connects a client over any transport. Internal. */
export let openClient: (
  client: Client,
  transport: () => Transport,
  clock: Clock,
  options: ConnectOptions,
) => Promise<void>;

/** The connection of a client. Internal. */
export let connectionOf: (client: Client) => Connection | undefined;

/** Handles a notification from the server. */
export type NotificationHandler = (notification: Notification) => void | Promise<void>;

/**
 * A connection to one server at a time.
 *
 * Every promise settles: a call whose answer does not come ends by its timeout, by its signal, or with its connection.
 *
 * @example
 * ```ts
 * import { Client } from 'oxmcp';
 *
 * const client = new Client({ name: 'example', version: '1.0.0' });
 * await client.connect({ command: 'python3', args: ['server.py'] });
 * const result = await client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
 * for (const block of result.content) if (block.type === 'text') console.log(block.text);
 * await client.close();
 * ```
 */
export class Client {
  /** Called once when a connection has ended, by either side. */
  onclose: (() => void) | undefined;

  /**
   * Called for errors that belong to no call: what a handler of this program threw, and, without
   * {@link ClientOptions.onproblem}, what was odd about a message of the server.
   */
  onerror: ((error: Error) => void) | undefined;

  /** Called for notifications without a handler of their own. */
  fallbackNotificationHandler: NotificationHandler | undefined;

  readonly #info: string;
  readonly #sessionOptions: string;
  readonly #options: ClientOptions;
  readonly #handlers = new Map<string, NotificationHandler>();
  #connection: Connection | undefined;

  static {
    openClient = (client, transport, clock, options) => client.#open(transport, clock, options);
    connectionOf = (client) => client.#connection;
  }

  /**
   * @param info who this program is; servers see it
   * @throws {@link UsageError} when the name or the version is missing or an option is out of range
   */
  constructor(info: Implementation, options: ClientOptions = {}) {
    if (typeof info?.name !== 'string' || typeof info.version !== 'string') {
      throw usage('a client needs a name and a version, both strings: new Client({ name, version })');
    }
    const { timeout, limits, listMaxPages, mode } = options;
    if (mode !== undefined && mode !== 'legacy' && mode !== 'auto') {
      throw usage(`mode must be 'legacy' or 'auto'; it is ${String(mode)}`);
    }
    if (timeout !== undefined && !(typeof timeout === 'number' && timeout >= 0)) {
      throw usage(`timeout must be a number of milliseconds from 0 up, or Infinity; it is ${String(timeout)}`);
    }
    if (listMaxPages !== undefined && !(listMaxPages >= 1)) throw usage('listMaxPages must be at least 1');
    this.#info = JSON.stringify(info);
    // JSON has no infinity; this is longer than any program runs.
    this.#sessionOptions = JSON.stringify({
      timeout: timeout === Infinity ? Number.MAX_VALUE : timeout,
      limits,
      probe: mode === 'auto',
      trace: options.ontrace !== undefined,
    });
    this.#options = options;
  }

  /**
   * Starts a server and shakes hands with it.
   *
   * @param server how to start it
   * @throws {@link ServerStartError} when the command cannot be started
   * @throws {@link ConnectionClosedError} when the server ends before it answers; it says how, and with a piped stderr
   * what the server wrote last
   * @throws {@link RequestTimeoutError} when it does not answer in time
   * @throws {@link ProtocolError} when it speaks no revision that this client speaks
   * @throws the reason of `signal`, when that is aborted
   */
  async connect(
    server: (StdioServerParameters & ConnectOptions) | StdioClientTransport,
    options?: ConnectOptions,
  ): Promise<void> {
    const transport = server instanceof StdioClientTransport ? server : new StdioClientTransport(server);
    const own: ConnectOptions = server instanceof StdioClientTransport ? {} : server;
    const timeout = options?.timeout ?? own.timeout;
    const signal = options?.signal ?? own.signal;
    await this.#open(() => startTransport(transport, systemClock), systemClock, { timeout, signal });
  }

  /**
   * Ends the connection: calls that wait reject with a {@link ConnectionClosedError}. A server's process is asked to leave
   * by the end of its input, after two seconds by SIGTERM and after two more by SIGKILL; this resolves when it has
   * ended, with all it started. Safe to call at any time, and more than once.
   */
  async close(): Promise<void> {
    await this.#connection?.close('the client was closed');
  }

  /** {@link close}, at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Whether calls can be made now. */
  get isConnected(): boolean {
    return this.#connection?.peer !== undefined && !this.#connection.isClosed;
  }

  /** Who the server says it is; `undefined` before the first {@link connect}. */
  getServerVersion(): Implementation | undefined {
    return this.#connection?.peer?.info;
  }

  /** What the server offers; `undefined` before the first {@link connect}. */
  getServerCapabilities(): ServerCapabilities | undefined {
    return this.#connection?.peer?.capabilities;
  }

  /** How to use the server, for a model; `undefined` when it does not say. */
  getInstructions(): string | undefined {
    return this.#connection?.peer?.instructions;
  }

  /** The revision of the protocol that both sides speak, such as `'2025-11-25'`. */
  getNegotiatedProtocolVersion(): string | undefined {
    return this.#connection?.peer?.protocolVersion;
  }

  /**
   * Calls a tool.
   *
   * A tool that fails in its own work gives a result with `isError`. A `bigint` in the arguments is sent as an integer
   * of the same digits.
   *
   * @throws {@link ResponseError} when the server refuses: an unknown tool, wrong arguments
   * @throws {@link RequestTimeoutError}, {@link ConnectionClosedError}, {@link CapabilityError}, {@link UsageError}
   * @throws the reason of `signal`, when that is aborted
   *
   * @example
   * ```ts
   * import { Client } from 'oxmcp';
   *
   * const client = new Client({ name: 'example', version: '1.0.0' });
   * await client.connect({ command: 'python3', args: ['server.py'] });
   * const result = await client.callTool(
   *   { name: 'count', arguments: { to: 3 } },
   *   {
   *     signal: AbortSignal.timeout(30_000),
   *     timeout: 5_000,
   *     resetTimeoutOnProgress: true,
   *     onprogress: ({ progress, total }) => console.log(`${progress} of ${total ?? '?'}`),
   *   },
   * );
   * console.log(result.content);
   * await client.close();
   * ```
   */
  callTool(params: CallToolParams, options: RequestOptions & { readonly rawJson: true }): Promise<string>;
  callTool(params: CallToolParams, options?: RequestOptions): Promise<CallToolResult>;
  callTool(params: CallToolParams, options?: RequestOptions): Promise<unknown> {
    // Not `async`: the hot path hands out the connection's own promise.
    try {
      if (typeof params?.name !== 'string') throw usage('callTool needs the name of a tool: callTool({ name, arguments })');
      const connection = this.#connected('tools/call');
      if (params._meta !== undefined) return connection.request('tools/call', objectText(params, 'params'), options);
      return connection.callTool(params.name, objectText(params.arguments, 'arguments'), options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Lists the server's tools: all of them, or one page when given the cursor of one.
   *
   * @throws {@link ProtocolError} when the list has more pages than {@link ClientOptions.listMaxPages}, or the server's
   * answer has no array `tools`
   */
  async listTools(params?: { readonly cursor?: string }, options: RequestOptions = {}): Promise<ListToolsResult> {
    const page = async (cursor: string | undefined): Promise<ListToolsResult> => {
      const request = cursor === undefined ? { method: 'tools/list' } : { method: 'tools/list', params: { cursor } };
      const result = await this.request<ListToolsResult>(request, { ...options, rawJson: false });
      if (!Array.isArray(result.tools)) throw broken('the result of tools/list must have an array "tools"');
      return result;
    };
    if (params?.cursor !== undefined) return page(params.cursor);
    const most = this.#options.listMaxPages ?? 64;
    const tools: Tool[] = [];
    let next: string | undefined;
    for (let pages = 0; pages < most; pages++) {
      const { nextCursor, ...result } = await page(next);
      for (const tool of result.tools) tools.push(tool);
      // In the revisions with a handshake, servers write an empty cursor on the last page.
      if (nextCursor === undefined || nextCursor === null || nextCursor === '') return { ...result, tools };
      next = nextCursor;
    }
    throw broken(`tools/list did not end after ${most} pages; raise listMaxPages, or read page by page with a cursor`);
  }

  /** Asks the server for a sign of life. */
  async ping(options?: RequestOptions): Promise<void> {
    await this.#connected('ping').ping(options);
  }

  /**
   * Makes any call, also of methods this package has no function for. Gives the result as the server sent it.
   *
   * @throws as {@link callTool} does
   */
  request(request: Request, options: RequestOptions & { readonly rawJson: true }): Promise<string>;
  request<Result = Record<string, unknown>>(request: Request, options?: RequestOptions): Promise<Result>;
  async request(request: Request, options?: RequestOptions): Promise<unknown> {
    const method = methodOf(request, 'request');
    return this.#connected(method).request(method, objectText(request.params, 'params'), options);
  }

  /**
   * Sends a notification.
   *
   * @throws {@link UsageError}, {@link ConnectionClosedError} when it was not sent
   */
  async notification(notification: Request): Promise<void> {
    const method = methodOf(notification, 'notification');
    this.#connected(method).notify(method, objectText(notification.params, 'params'));
  }

  /** Sets what is done for the server's notifications of one method, such as `'notifications/tools/list_changed'`. */
  setNotificationHandler(method: string, handler: NotificationHandler): void {
    this.#handlers.set(method, handler);
  }

  /** Takes {@link setNotificationHandler} back. */
  removeNotificationHandler(method: string): void {
    this.#handlers.delete(method);
  }

  async #open(transport: () => Transport, clock: Clock, options: ConnectOptions): Promise<void> {
    if (this.#connection !== undefined && !this.#connection.isClosed) {
      throw usage('this client is connected already; close it first, or make another client');
    }
    if (options.signal?.aborted) throw options.signal.reason;
    const { ontrace } = this.#options;
    const session = this.#newSession();
    const connection = new Connection(session, transport(), clock, {
      trace: ontrace && ((direction, line) => this.#guarded(() => ontrace(direction, line))),
      notification: (notification) => this.#notified(notification),
      problem: (problem) => this.#problem(problem),
      thrown: (error) => this.#thrown(error),
      closed: () => this.#guarded(() => this.onclose?.()),
    });
    this.#connection = connection;
    await connection.open(options);
  }

  #newSession(): NativeSession {
    try {
      return native().Session.client(this.#info, this.#sessionOptions);
    } catch (thrown) {
      throw fromNative(thrown);
    }
  }

  #connected(method: string): Connection {
    if (this.#connection === undefined) throw usage(`${method} was not sent: call connect first`);
    return this.#connection;
  }

  #notified(notification: Notification): void {
    const handler = this.#handlers.get(notification.method) ?? this.fallbackNotificationHandler;
    this.#guarded(() => handler?.(notification));
  }

  #problem(problem: Problem): void {
    const { onproblem } = this.#options;
    if (onproblem !== undefined) this.#guarded(() => onproblem(problem));
    else this.#report(broken(problem.message, problem));
  }

  /** Runs a function of the program; what it throws must not disturb the connection. */
  #guarded(run: () => unknown): void {
    try {
      const outcome = run();
      if (outcome instanceof Promise) outcome.catch((error: unknown) => this.#thrown(error));
    } catch (error) {
      this.#thrown(error);
    }
  }

  #thrown(error: unknown): void {
    if (this.onerror === undefined) {
      // Nobody listens: it surfaces as an uncaught error, as from any other callback.
      queueMicrotask(() => {
        throw error;
      });
      return;
    }
    this.#report(error instanceof Error ? error : new Error(textOf(error), { cause: error }));
  }

  #report(error: Error): void {
    try {
      this.onerror?.(error);
    } catch (second) {
      queueMicrotask(() => {
        throw second;
      });
    }
  }
}

/** The server broke the protocol. */
function broken(message: string, data?: unknown): ProtocolError {
  return new ProtocolError({ kind: 'protocol', fault: 'peer', message, data });
}

function methodOf(message: Request, what: string): string {
  if (typeof message?.method === 'string' && message.method !== '') return message.method;
  throw usage(`${what} needs a method: ${what}({ method, params })`);
}
