/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The client.
 */

import { type Clock, systemClock } from './clock.js';
import { type ClientOptions, checkClientOptions } from './client-options.js';
import { Connection } from './connection.js';
import { CallContext, type ClientContext } from './context.js';
import { ErrorCode, ProtocolError, fromNative, textOf, usage } from './errors.js';
import { errorAnswer } from './failure.js';
import { type MessageSchemaLike, handledBy, withMessage } from './handler-schema.js';
import { type Incoming, settle } from './incoming.js';
import type { ConnectionHooks } from './home.js';
import { Elsewhere, type StreamableHTTPClientTransport } from './http-client.js';
import { Hub } from './hub.js';
import { objectText } from './json.js';
import type { InMemoryTransport } from './memory.js';
import { type MessageTransport, starterOfOwn } from './messages.js';
import { type NativeRegistry, type NativeSession, native } from './native.js';
import { type ConnectOptions, type Notification, type Problem, type RequestOptions, finite, milliseconds } from './options.js';
import { type ResultArguments, type ResultSchema, isSchema, optionsOf, withSchema } from './result-schema.js';
import type { Check, InferSchema } from './schema.js';
import { StdioClientTransport, type StdioServerParameters } from './stdio.js';
import { type ListenOptions, Stream, type Subscription } from './subscription.js';
import { type Dialled, type Starter, type Transport, starterOf } from './transport.js';
import type {
  CallToolResult,
  ClientCapabilities,
  CompleteParams,
  CompleteResult,
  CreateMessageRequestParams,
  CreateMessageResult,
  DiscoverResult,
  ElicitRequestParams,
  ElicitResult,
  GetPromptResult,
  Implementation,
  JsonObject,
  JsonObjectInput,
  ListPromptsResult,
  ListResourceTemplatesResult,
  ListResourcesResult,
  ListRootsResult,
  ListToolsResult,
  LoggingLevel,
  Meta,
  ReadResourceResult,
  ServerCapabilities,
  SubscriptionFilter,
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
  server?: string,
) => Promise<void>;

/** The connection of a client. Internal. */
export let connectionOf: (client: Client) => Connection | undefined;

/** What a client can connect by, beside the parameters of a process. */
export type ClientTransport = StdioClientTransport | StreamableHTTPClientTransport | InMemoryTransport | MessageTransport;

/** Handles a notification from the server. */
export type NotificationHandler = (notification: Notification) => void | Promise<void>;

/** Answers a request of the server. What it throws is its answer too: see {@link McpError}. */
export type RequestHandler<Params = JsonObject | undefined, Result extends object = object> = (
  request: { readonly method: string; readonly params: Params },
  context: ClientContext,
) => Result | Promise<Result>;

/** A handler of a request. */
interface Method {
  readonly handler: RequestHandler<never>;
  readonly check: Check | undefined;
}

/** What a client declares to be asked for each of these. */
const CAPABILITIES: Readonly<Record<string, string>> = {
  'roots/list': 'roots',
  'sampling/createMessage': 'sampling',
  'elicitation/create': 'elicitation',
};

/** Which page of a list. */
export interface PageParams {
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

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
  readonly #options: ClientOptions;
  readonly #handlers = new Map<string, NotificationHandler>();
  readonly #requestHandlers = new Map<string, Method>();
  readonly #streams = new Map<number, Stream>();
  #capabilities: ClientCapabilities;
  /** The methods of its own, once there is one. */
  #methods: NativeRegistry | undefined;
  #connection: Connection | undefined;
  #transport: ClientTransport | undefined;

  static {
    openClient = (client, transport, clock, options, server) => {
      return client.#open({ start: transport, ...(server !== undefined && { server }) }, clock, options);
    };
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
    checkClientOptions(options);
    this.#info = JSON.stringify(info);
    this.#options = options;
    this.#capabilities = options.capabilities ?? {};
  }

  /**
   * Connects to a server: one to start as a process, or one behind a transport of this package.
   *
   * @param server how to start it, or its transport
   * @throws {@link ServerStartError} when the command cannot be started
   * @throws {@link ConnectionClosedError} when the server ends before it answers; it says how, and with a piped stderr
   * what the server wrote last
   * @throws {@link RequestTimeoutError} when it does not answer in time
   * @throws {@link ProtocolError} when it speaks no revision that this client speaks
   * @throws the reason of `signal`, when that is aborted
   */
  async connect(
    server: (StdioServerParameters & ConnectOptions) | ClientTransport,
    options?: ConnectOptions,
  ): Promise<void> {
    const given = starterOf(server) ?? starterOfOwn(server);
    const parameters = server as StdioServerParameters & ConnectOptions;
    const starter = given ?? starterOf(new StdioClientTransport(parameters));
    const own: ConnectOptions = given === undefined ? parameters : {};
    const timeout = options?.timeout ?? own.timeout;
    const signal = options?.signal ?? own.signal;
    if (starter === undefined) return;
    this.#transport = given === undefined ? undefined : (server as ClientTransport);
    await this.#open(starter, systemClock, { timeout, signal });
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

  /** The transport of the last {@link connect}, where that was given one. */
  get transport(): ClientTransport | undefined {
    return this.#connection === undefined || this.#connection.isClosed ? undefined : this.#transport;
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
  callTool(params: CallToolParams, schema: undefined, options?: RequestOptions): Promise<CallToolResult>;
  callTool<Schema extends ResultSchema>(
    params: CallToolParams,
    schema: Schema,
    options?: RequestOptions,
  ): Promise<InferSchema<Schema>>;
  callTool(params: CallToolParams, ...rest: ResultArguments): Promise<unknown> {
    const [first, second] = rest;
    if (isSchema(first)) return withSchema(rest, (options) => this.#callTool(params, options));
    return this.#callTool(params, (first ?? second) as RequestOptions | undefined);
  }

  #callTool(params: CallToolParams, options: RequestOptions | undefined): Promise<unknown> {
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
   * @throws {@link ProtocolError} when a list has more pages than {@link ClientOptions.listMaxPages}, or an answer is none
   */
  listTools(params?: PageParams, options?: RequestOptions): Promise<ListToolsResult> {
    return this.#list('tools/list', params, options);
  }

  /** Lists the server's resources; see {@link listTools}. */
  listResources(params?: PageParams, options?: RequestOptions): Promise<ListResourcesResult> {
    return this.#list('resources/list', params, options);
  }

  /** Lists the templates of the server's resources; see {@link listTools}. */
  listResourceTemplates(params?: PageParams, options?: RequestOptions): Promise<ListResourceTemplatesResult> {
    return this.#list('resources/templates/list', params, options);
  }

  /** Lists the server's prompts; see {@link listTools}. */
  listPrompts(params?: PageParams, options?: RequestOptions): Promise<ListPromptsResult> {
    return this.#list('prompts/list', params, options);
  }

  /** Reads a resource. Throws as {@link callTool} does. */
  readResource(params: { readonly uri: string; readonly _meta?: Meta }, options?: RequestOptions): Promise<ReadResourceResult> {
    return this.request({ method: 'resources/read', params }, options);
  }

  /** Fills in a prompt. Throws as {@link callTool} does. */
  getPrompt(
    params: { readonly name: string; readonly arguments?: Readonly<Record<string, string>> | undefined; readonly _meta?: Meta },
    options?: RequestOptions,
  ): Promise<GetPromptResult> {
    return this.request({ method: 'prompts/get', params }, options);
  }

  /** Asks how an argument of a prompt, or a variable of a template, may go on. Throws as {@link callTool} does. */
  complete(params: CompleteParams, options?: RequestOptions): Promise<CompleteResult> {
    return this.request({ method: 'completion/complete', params }, options);
  }

  /** Asks to be told of updates of a resource, in revisions with a handshake; later ones have {@link listen}. */
  async subscribeResource(params: { readonly uri: string }, options?: RequestOptions): Promise<void> {
    await this.request({ method: 'resources/subscribe', params }, options);
  }

  /** Takes {@link subscribeResource} back. */
  async unsubscribeResource(params: { readonly uri: string }, options?: RequestOptions): Promise<void> {
    await this.request({ method: 'resources/unsubscribe', params }, options);
  }

  /**
   * Opens a stream of notifications (2026-07-28); resolves once the server has said which it will send. They reach the
   * handlers of {@link setNotificationHandler}, and `options.onnotification`.
   *
   * @throws {@link CapabilityError} in revisions with a handshake, which send what they have without being asked
   */
  async listen(filter: SubscriptionFilter, options: ListenOptions = {}): Promise<Subscription> {
    const connection = this.#connected('subscriptions/listen');
    const stream = new Stream(connection, options.onnotification);
    const params = `{"notifications":${objectText(filter, 'the filter') ?? '{}'}}`;
    await stream.open(
      params,
      options.signal,
      (id) => this.#streams.set(id, stream),
      (id) => this.#streams.delete(id),
    );
    return stream;
  }

  /**
   * Sets the mildest log messages that the server is to send, in revisions with a handshake. In 2026-07-28 each call says
   * so: {@link RequestOptions.logLevel}.
   */
  async setLoggingLevel(level: LoggingLevel, options?: RequestOptions): Promise<void> {
    await this.request({ method: 'logging/setLevel', params: { level } }, options);
  }

  /** Asks the server which revisions it speaks and what it offers (2026-07-28). */
  discover(options?: RequestOptions): Promise<DiscoverResult> {
    return this.request({ method: 'server/discover' }, options);
  }

  /** Tells the server that the roots changed; several times in one turn are told once. */
  async sendRootsListChanged(): Promise<void> {
    this.#connected('notifications/roots/list_changed').notify('notifications/roots/list_changed', null);
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
  request<Schema extends ResultSchema>(request: Request, schema: Schema, options?: RequestOptions): Promise<InferSchema<Schema>>;
  request<Result = Record<string, unknown>>(request: Request, options?: RequestOptions): Promise<Result>;
  async request(request: Request, ...rest: ResultArguments): Promise<unknown> {
    const method = methodOf(request, 'request');
    const call = (options?: RequestOptions): Promise<unknown> =>
      this.#connected(method).request(method, objectText(request.params, 'params'), options);
    return isSchema(rest[0]) ? withSchema(rest, call) : call(optionsOf(rest));
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

  /**
   * Sets what is done for the server's notifications of one method, such as `'notifications/tools/list_changed'`, given by
   * its name or by the schema of its messages.
   */
  setNotificationHandler<Schema extends MessageSchemaLike>(
    method: Schema,
    handler: (notification: InferSchema<Schema>) => void | Promise<void>,
  ): void;
  setNotificationHandler(method: string, handler: NotificationHandler): void;
  setNotificationHandler(given: unknown, handler: (notification: never) => void | Promise<void>): void {
    const { method, check } = handledBy(given, 'setNotificationHandler');
    this.#handlers.set(method, (notification) => withMessage(check, notification, handler) as void | Promise<void>);
  }

  /** Takes {@link setNotificationHandler} back. */
  removeNotificationHandler(method: string): void {
    this.#handlers.delete(method);
  }

  /**
   * Sets the function that answers a request of the server: `roots/list`, `sampling/createMessage` or
   * `elicitation/create`, whose capability {@link ClientOptions.capabilities} must declare, or a method of your own. In
   * 2026-07-28, where servers ask in rounds, the same functions answer.
   *
   * @param method its name, or the schema of its requests, such as `ElicitRequestSchema` of `oxmcp/types.js`
   * @throws {@link UsageError} without the capability, or for another method of the protocol
   *
   * @example
   * ```ts
   * import { Client } from 'oxmcp';
   *
   * const client = new Client({ name: 'example', version: '1.0.0' }, { capabilities: { elicitation: {} } });
   * client.setRequestHandler('elicitation/create', ({ params }) => {
   *   console.log(params.message);
   *   return { action: 'accept', content: { name: 'Ada' } };
   * });
   * ```
   */
  setRequestHandler(method: 'roots/list', handler: RequestHandler<JsonObject | undefined, ListRootsResult>): void;
  setRequestHandler(
    method: 'sampling/createMessage',
    handler: RequestHandler<CreateMessageRequestParams, CreateMessageResult>,
  ): void;
  setRequestHandler(method: 'elicitation/create', handler: RequestHandler<ElicitRequestParams, ElicitResult>): void;
  setRequestHandler<Schema extends MessageSchemaLike>(
    method: Schema,
    handler: (request: InferSchema<Schema>, context: ClientContext) => object | Promise<object>,
  ): void;
  setRequestHandler(method: string, handler: RequestHandler<JsonObject | undefined>): void;
  setRequestHandler(given: unknown, handler: RequestHandler<never>): void {
    const { method, check } = handledBy(given, 'setRequestHandler');
    if (method === 'ping') return;
    const capability = CAPABILITIES[method];
    if (capability === undefined) {
      this.#addMethod(method);
    } else if (!this.#capabilities[capability]) {
      throw usage(`to answer ${method}, declare it: new Client(info, { capabilities: { ${capability}: {} } })`);
    }
    this.#requestHandlers.set(method, { handler, check });
  }

  /** Takes {@link setRequestHandler} back: the server is told that there is no such method. */
  removeRequestHandler(method: string): void {
    this.#requestHandlers.delete(method);
  }

  /** Adds capabilities, before {@link connect}. */
  registerCapabilities(capabilities: ClientCapabilities): void {
    if (this.#connection !== undefined && !this.#connection.isClosed) {
      throw usage('capabilities are told when connecting; add them before');
    }
    this.#capabilities = { ...this.#capabilities, ...capabilities };
  }

  async #list<Result>(method: string, params: PageParams | undefined, options: RequestOptions | undefined): Promise<Result> {
    const { cursor } = params ?? {};
    const { rawJson: _, ...rest } = options ?? {};
    if (cursor !== undefined) return this.request<Result>({ method, params: { cursor } }, rest);
    return (await this.#connected(method).list(method, rest)) as Result;
  }

  /** Connects over HTTP: the core does, on threads of its own. */
  #dial({ url, renew }: Dialled, how: string, options: ConnectOptions): Connection {
    const hub = new Hub(undefined, null);
    const transport = new Elsewhere(hub);
    try {
      const probe = this.#options.mode === 'legacy' ? false : null;
      const settings = this.#settings(true);
      const timeout = milliseconds('timeout', options.timeout);
      const renews = renew !== undefined;
      const session = hub.native.connect(this.#info, settings, this.#methods ?? null, url, how, renews, probe, timeout);
      hub.unauthorized = (status, challenge) => {
        renew?.(status, challenge).then(
          (fields) => session.giveHeaders(fields, null),
          (error: unknown) => session.giveHeaders([], String(error)),
        );
      };
      const connection = new Connection('client', session, transport, systemClock, this.#hooks(), transport);
      hub.adopt(session.handle, connection);
      return connection;
    } catch (thrown) {
      transport.over();
      throw fromNative(thrown);
    }
  }

  async #open({ start, server, http }: Starter, clock: Clock, options: ConnectOptions): Promise<void> {
    this.#refuseSecond();
    if (options.signal?.aborted) throw options.signal.reason;
    const { mode, supportedProtocolVersions } = this.#options;
    if (http !== undefined) {
      await this.#openElsewhere(http, options);
      return;
    }
    const session = this.#newSession(mode !== 'legacy' && (server === undefined || native().shouldProbe(server)));
    const connection = new Connection('client', session, start(clock), clock, this.#hooks());
    this.#connection = connection;
    // What a client finds out that speaks every revision, all clients of the process may rely on.
    const learns = server !== undefined && mode !== 'legacy' && supportedProtocolVersions === undefined;
    try {
      await connection.open(options);
    } finally {
      if (learns) native().learnVerdict(server, connection.peer?.protocolVersion ?? null);
    }
  }

  async #openElsewhere(http: Dialled, options: ConnectOptions): Promise<void> {
    const given = http.settings();
    const settings = typeof given === 'string' ? given : await given;
    this.#refuseSecond();
    if (options.signal?.aborted) throw options.signal.reason;
    const connection = this.#dial(http, settings, options);
    this.#connection = connection;
    http.dialled(connection);
    await connection.open(options);
  }

  #refuseSecond(): void {
    if (this.#connection === undefined || this.#connection.isClosed) return;
    throw usage('this client is connected already; close it first, or make another client');
  }

  #hooks(): ConnectionHooks {
    const { ontrace } = this.#options;
    return {
      trace: ontrace && ((direction, line) => this.#guarded(() => ontrace(direction, line))),
      call: (call, _kind, target, params) => this.#called(call, String(target), params),
      describe: () => {},
      notification: (notification, subscription) => this.#notified(notification, subscription),
      problem: (problem) => this.#problem(problem),
      thrown: (error) => this.#thrown(error),
      ready: () => {},
      closed: () => this.#guarded(() => this.onclose?.()),
    };
  }

  #newSession(probe: boolean): NativeSession {
    try {
      return native().Session.client(this.#info, this.#settings(probe), this.#methods ?? null);
    } catch (thrown) {
      throw fromNative(thrown);
    }
  }

  #settings(probe: boolean): string {
    const { timeout, limits, listMaxPages, inputRequired, ontrace } = this.#options;
    const { supportedProtocolVersions, debouncedNotificationMethods, responseCache, validateResults } = this.#options;
    const settings = {
      timeout: finite(timeout),
      capabilities: this.#capabilities,
      probe,
      revisions: supportedProtocolVersions,
      debounced: debouncedNotificationMethods,
      responseCache,
      validateResults,
      limits: { ...limits, pages: listMaxPages, rounds: inputRequired?.maxRounds },
      trace: ontrace !== undefined,
    };
    return objectText(settings, 'the options') ?? '{}';
  }

  #addMethod(method: string): void {
    if (this.#requestHandlers.has(method)) return;
    try {
      if (this.#methods === undefined) {
        if (this.#connection !== undefined && !this.#connection.isClosed) {
          throw usage(`set the first method of your own (${method}) before connecting`);
        }
        this.#methods = new (native().Registry)();
      }
      this.#methods.command(JSON.stringify({ addMethod: { name: method } }));
    } catch (thrown) {
      throw fromNative(thrown);
    }
  }

  /** The server asks for something. */
  #called(call: Incoming, method: string, params: unknown): void {
    const { connection } = call;
    const found = this.#requestHandlers.get(method);
    if (found === undefined) {
      const answer = { code: ErrorCode.MethodNotFound, message: `Method not found: ${method}`, data: null };
      connection.respondError(call, answer, usage(`there is no handler for ${method}; set one by setRequestHandler`));
      return;
    }
    const request = { method, params: (params ?? undefined) as never };
    settle(
      () => withMessage(found.check, request, (message) => found.handler(message, new CallContext(call, method, false))),
      (result) => connection.respondResult(call, objectText(result as object, `the result of ${method}`) ?? '{}'),
      (error) => {
        if (call.isCancelled) return;
        connection.respondError(call, errorAnswer(error, (hidden) => this.#thrown(hidden)), error);
      },
    );
  }

  #connected(method: string): Connection {
    if (this.#connection === undefined) throw usage(`${method} was not sent: call connect first`);
    return this.#connection;
  }

  #notified(notification: Notification, subscription: number | null): void {
    const stream = subscription === null ? undefined : this.#streams.get(subscription);
    if (stream?.take(notification)) return;
    const handler = this.#handlers.get(notification.method) ?? this.fallbackNotificationHandler;
    this.#guarded(() => handler?.(notification));
    if (stream !== undefined) this.#guarded(() => stream.tell(notification));
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
