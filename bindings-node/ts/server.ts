/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The server.
 */

import { type Clock, systemClock } from './clock.js';
import { Connection } from './connection.js';
import { CallContext, type ServerContext } from './context.js';
import { ErrorCode, ProtocolError, UsageError, fromNative, textOf, usage } from './errors.js';
import {
  type CompletionParams,
  type Host,
  type Kind,
  PromptEntry,
  ResourceEntry,
  type Table,
  TemplateEntry,
  ToolEntry,
  respondToMethod,
} from './entries.js';
import { errorAnswer, openAnswer } from './failure.js';
import type { ConnectionHooks } from './home.js';
import { type CallKind, Incoming, settle } from './incoming.js';
import { type MessageSchemaLike, handledBy, withMessage } from './handler-schema.js';
import type { StreamableHTTPServerTransport, WebStandardStreamableHTTPServerTransport } from './http-transport.js';
import type { HttpEndpoint, HttpHandler, HttpOptions, HttpServer, ListenHttpOptions, Served } from './http-server.js';
import { objectText } from './json.js';
import type { Server } from './low-level.js';
import type { InMemoryTransport } from './memory.js';
import { type MessageTransport, starterOfOwn } from './messages.js';
import { type NativeRegistry, native } from './native.js';
import { OlderNames } from './older-names.js';
import { type Notification, type Problem, type RequestOptions, finite } from './options.js';
import {
  type PromptCallback,
  type PromptConfig,
  type RawToolCallback,
  type ReadResourceCallback,
  type ReadResourceTemplateCallback,
  type RegisteredPrompt,
  type RegisteredResource,
  type RegisteredResourceTemplate,
  type RegisteredTool,
  type ResourceMetadata,
  ResourceTemplate,
  type ServerRequestHandler,
  type ToolCallback,
  type ToolConfig,
} from './registered.js';
import { type Check, type AnySchema, type InferSchema } from './schema.js';
import { type ServerCapabilitiesInput, type ServerOptions, checkServerOptions, declared } from './server-options.js';
import type { StdioServerTransport } from './stdio-server.js';
import { NO_TRANSPORT, type Transport, starterOf } from './transport.js';
import type { ClientCapabilities, Implementation, JsonObjectInput, LoggingMessage } from './types.js';

/** What a server can be connected by. */
export type ServerTransport =
  | StdioServerTransport
  | StreamableHTTPServerTransport
  | WebStandardStreamableHTTPServerTransport
  | InMemoryTransport
  | MessageTransport;

/** Serves one client over any transport. Internal. */
export let serve: (server: McpServer, transport: () => Transport, clock: Clock) => Connection;

/** Its ends for HTTP. Internal. */
export let endpointsOf: (server: McpServer) => readonly HttpEndpoint[];

/** What a server gives for HTTP. Internal. */
export let servedOf: (server: McpServer) => Served;

/** The connections of a server. Internal. */
export let connectionsOf: (server: McpServer) => readonly Connection[];

/** Sets a handler whose errors the client sees as they are, if they are `open`. Internal. */
export let handleRequests: (server: McpServer, given: unknown, handler: ServerRequestHandler, options: HandlerOptions) => void;

interface HandlerOptions {
  readonly extension?: string | undefined;
  readonly open: boolean;
}

/** A handler of a method. */
interface Method {
  readonly handler: ServerRequestHandler;
  readonly check: Check | undefined;
  /** Whether what it throws is an answer by its message, and not hidden. */
  readonly open: boolean;
}

/** Requests that the core answers, and a handler may take over; and those that it always answers itself. */
const TAKEN_OVER = /^(tools|resources|prompts|completion|logging)\//;
const INITIALIZED = 'notifications/initialized';
const ANSWERED = ['ping', 'server/discover'];

/**
 * A server: what it offers, for any number of clients, in every revision of the protocol.
 *
 * @example
 * ```ts
 * import { McpServer, StdioServerTransport } from 'oxmcp';
 * import * as z from 'zod';
 *
 * const server = new McpServer({ name: 'example', version: '1.0.0' });
 * server.registerTool(
 *   'add',
 *   { description: 'Adds two numbers', inputSchema: z.object({ a: z.number(), b: z.number() }) },
 *   ({ a, b }) => `${a + b}`,
 * );
 * await server.connect(new StdioServerTransport());
 * ```
 */
export class McpServer extends OlderNames {
  /** Called once for each connection that has ended, by either side. */
  onclose: (() => void) | undefined;

  /**
   * Called for errors that are no answer: what a function of this program threw that clients do not see, and, without
   * {@link ServerOptions.onproblem}, what was odd about a message of a client. Without it they go to stderr.
   */
  onerror: ((error: Error) => void) | undefined;

  readonly #info: string;
  readonly #options: ServerOptions;
  readonly #registry: NativeRegistry;
  readonly #host: Host;
  readonly #tables: Readonly<Record<Kind, Table>> = {
    tool: new Map(),
    resource: new Map(),
    template: new Map(),
    prompt: new Map(),
  };
  readonly #methods = new Map<string, Method>();
  readonly #handlers = new Map<string, (notification: Notification) => void | Promise<void>>();
  readonly #connections = new Set<Connection>();
  readonly #endpoints = new Set<HttpEndpoint>();
  #capabilities: ServerCapabilitiesInput | undefined;
  #latest: Connection | undefined;
  #lowLevel: Server | undefined;
  #transport: ServerTransport | undefined;
  #stateKeys: readonly string[] | undefined;
  #oninitialized: (() => void) | undefined;
  #initialize: ServerRequestHandler | undefined;

  static {
    serve = (server, transport, clock) => server.#serve(transport, clock);
    connectionsOf = (server) => [...server.#connections];
    endpointsOf = (server) => [...server.#endpoints];
    servedOf = (server) => server.#served();
    handleRequests = (server, given, handler, options) => server.#setRequestHandler(given, handler, options);
  }

  /**
   * @param info who this server is; clients see it
   * @throws {@link UsageError} when the name or the version is missing, or there is no such option
   */
  constructor(info: Implementation, options: ServerOptions = {}) {
    super();
    if (typeof info?.name !== 'string' || typeof info.version !== 'string') {
      throw usage('a server needs a name and a version, both strings: new McpServer({ name, version })');
    }
    checkServerOptions(options);
    this.#info = JSON.stringify(info);
    this.#options = options;
    this.#capabilities = options.capabilities;
    this.#registry = new (native().Registry)();
    this.#host = {
      command: (command) => this.#command(command),
      keepText: (tool) => this.#registry.keepText(tool),
      thrown: (error) => this.#thrown(error),
      lists: () => {
        const method = 'resources/list';
        if (!this.#methods.has(method)) this.#command({ takeOver: { method, how: 'extend' } });
      },
    };
    if (options.pageSize !== undefined) this.#command({ setPageSize: { size: options.pageSize } });
  }

  /**
   * Registers a tool. Its arguments are checked by the schema's own library, or by the core where the schema is JSON
   * Schema; without one, its function gets the context alone.
   *
   * @throws {@link UsageError} when the name is taken, or a schema is none
   *
   * @example
   * ```ts
   * import { McpServer } from 'oxmcp';
   *
   * const server = new McpServer({ name: 'example', version: '1.0.0' });
   * const tool = server.registerTool(
   *   'wait',
   *   {
   *     description: 'Waits, and tells how far it is',
   *     inputSchema: { type: 'object', properties: { seconds: { type: 'integer', minimum: 0 } }, required: ['seconds'] },
   *   },
   *   async ({ seconds }, ctx) => {
   *     for (let second = 1; second <= seconds && !ctx.mcpReq.signal.aborted; second++) {
   *       await new Promise((resolve) => setTimeout(resolve, 1000));
   *       ctx.mcpReq.progress({ progress: second, total: seconds });
   *     }
   *     return { content: [{ type: 'text', text: 'done' }] };
   *   },
   * );
   * tool.disable();
   * ```
   */
  registerTool(name: string, config: ToolConfig & { readonly rawJson: true }, callback: RawToolCallback): RegisteredTool;
  registerTool<const Input extends AnySchema | undefined = undefined>(
    name: string,
    config: ToolConfig<Input> & { readonly rawJson?: false | undefined },
    callback: ToolCallback<Input>,
  ): RegisteredTool;
  registerTool(name: string, config: ToolConfig, callback: unknown): RegisteredTool {
    requireFunction(callback, `registerTool('${name}', …)`);
    return new ToolEntry(this.#host, this.#tables.tool, name, config, callback as never);
  }

  /**
   * Registers a resource of one URI, or all that a template stands for.
   *
   * @throws {@link UsageError} when the URI or the template is taken, or is none
   */
  registerResource(
    name: string,
    uri: string,
    metadata: ResourceMetadata,
    callback: ReadResourceCallback,
  ): RegisteredResource;
  registerResource(
    name: string,
    template: ResourceTemplate,
    metadata: ResourceMetadata,
    callback: ReadResourceTemplateCallback,
  ): RegisteredResourceTemplate;
  registerResource(
    name: string,
    where: string | ResourceTemplate,
    metadata: ResourceMetadata,
    callback: ReadResourceCallback | ReadResourceTemplateCallback,
  ): RegisteredResource | RegisteredResourceTemplate {
    requireFunction(callback, `registerResource('${name}', …)`);
    if (where instanceof ResourceTemplate) {
      return new TemplateEntry(this.#host, this.#tables.template, name, where, metadata, callback as never);
    }
    if (typeof where !== 'string') throw usage(`registerResource('${name}', …) needs a URI or a ResourceTemplate`);
    return new ResourceEntry(this.#host, this.#tables.resource, name, where, metadata, callback as never);
  }

  /**
   * Registers a prompt.
   *
   * @throws {@link UsageError} when the name is taken, or the schema is none
   */
  registerPrompt<const Args extends AnySchema | undefined = undefined>(
    name: string,
    config: PromptConfig<Args>,
    callback: PromptCallback<Args>,
  ): RegisteredPrompt {
    requireFunction(callback, `registerPrompt('${name}', …)`);
    return new PromptEntry(this.#host, this.#tables.prompt, name, config, callback as never);
  }

  /** Called when a client has finished its handshake. Clients of 2026-07-28 make none. */
  get oninitialized(): (() => void) | undefined {
    return this.#oninitialized;
  }

  set oninitialized(task: (() => void) | undefined) {
    this.#oninitialized = task;
    this.#command({ takeOver: { method: INITIALIZED, how: 'replace' } });
  }

  /**
   * Sets the function that answers a method of your own, or a request of the protocol in place of what is registered.
   * What an error says that is no {@link McpError} is hidden from clients.
   *
   * @param method its name, or the schema of its requests: an object whose `method` is a literal
   * @param options.extension the method is there for clients that declare this extension only
   * @throws {@link UsageError} for a request of the protocol that was not declared, or that cannot be answered otherwise
   */
  setRequestHandler<Schema extends MessageSchemaLike>(
    method: Schema,
    handler: (request: InferSchema<Schema>, ctx: ServerContext) => object | Promise<object>,
    options?: { readonly extension?: string | undefined },
  ): void;
  setRequestHandler(
    method: string,
    handler: ServerRequestHandler,
    options?: { readonly extension?: string | undefined },
  ): void;
  setRequestHandler(method: unknown, handler: ServerRequestHandler, options?: { readonly extension?: string | undefined }): void {
    this.#setRequestHandler(method, handler, { ...options, open: false });
  }

  /** Takes {@link setRequestHandler} back. */
  removeRequestHandler(method: string): void {
    if (!this.#methods.delete(method)) return;
    if (TAKEN_OVER.test(method)) this.#command({ takeOver: { method, how: this.#extends(method) ? 'extend' : null } });
  }

  /**
   * Sets what is done for the clients' notifications of one method, such as `'notifications/roots/list_changed'`, given by
   * its name or by the schema of its messages.
   */
  setNotificationHandler<Schema extends MessageSchemaLike>(
    method: Schema,
    handler: (notification: InferSchema<Schema>) => void | Promise<void>,
  ): void;
  setNotificationHandler(method: string, handler: (notification: Notification) => void | Promise<void>): void;
  setNotificationHandler(given: unknown, handler: (notification: never) => void | Promise<void>): void {
    requireFunction(handler, 'setNotificationHandler(…)');
    const { method, check } = handledBy(given, 'setNotificationHandler');
    if (method === INITIALIZED) this.#command({ takeOver: { method, how: 'replace' } });
    this.#handlers.set(method, (notification) => withMessage(check, notification, handler) as void | Promise<void>);
  }

  /** Takes {@link setNotificationHandler} back. */
  removeNotificationHandler(method: string): void {
    this.#handlers.delete(method);
  }

  /**
   * Serves a client over a transport, until either side ends the connection.
   *
   * @throws {@link UsageError} when an option is out of range, or the transport was connected before
   */
  async connect(transport: ServerTransport): Promise<void> {
    const starter = starterOf(transport) ?? starterOfOwn(transport);
    if (starter === undefined) {
      throw usage('connect needs a transport: new StdioServerTransport(), an end of InMemoryTransport, or one of your own');
    }
    if (starter.serve !== undefined) starter.serve(this.#served());
    else this.#serve(() => starter.start(systemClock), systemClock).sessionId = (transport as MessageTransport).sessionId;
    this.#transport = transport;
  }

  /**
   * Adds capabilities, before {@link connect}.
   *
   * @throws {@link UsageError} when there is a connection
   */
  registerCapabilities(capabilities: ServerCapabilitiesInput): void {
    if (this.#connections.size > 0) throw usage('capabilities are told when connecting; add them before');
    const whole: Record<string, unknown> = { ...this.#capabilities };
    for (const [name, value] of Object.entries(capabilities)) whole[name] = { ...(whole[name] as object), ...(value as object) };
    checkServerOptions({ capabilities: whole as ServerCapabilitiesInput });
    this.#capabilities = whole as ServerCapabilitiesInput;
  }

  /**
   * The same server by the names of the official SDK's `Server`, for what goes beyond tools, resources and prompts:
   * requests to the client that connected last, notifications, and handlers of single methods.
   */
  get server(): Server {
    const low = require('./low-level.js') as typeof import('./low-level.js');
    return (this.#lowLevel ??= low.lowLevelOf(this));
  }

  /** The transport of the last {@link connect}. */
  get transport(): ServerTransport | undefined {
    return this.#connections.size > 0 ? this.#transport : undefined;
  }

  /** Ends all connections. Functions that run are told by their signals. */
  async close(): Promise<void> {
    const connections = [...this.#connections].map((connection) => connection.close('the server was closed'));
    await Promise.all([...connections, ...[...this.#endpoints].map((endpoint) => endpoint.close())]);
  }

  /** {@link close}, at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Serves over HTTP, on a port of this machine.
   *
   * @throws {@link UsageError} when an option is wrong, {@link ConnectionClosedError} when the port cannot be listened on
   *
   * @example
   * ```ts
   * import { McpServer } from 'oxmcp';
   *
   * const server = new McpServer({ name: 'example', version: '1.0.0' });
   * server.registerTool('greet', { description: 'Greets' }, () => 'Hello');
   * const http = await server.listen({ port: 0 });
   * console.log(http.url);
   * await http.close();
   * ```
   */
  async listen(options: ListenHttpOptions = {}): Promise<HttpServer> {
    // Loaded when it is needed: servers on stdio do without.
    const { HttpServer, checkHttpOptions } = require('./http-server.js') as typeof import('./http-server.js');
    checkHttpOptions('listen', options);
    return new HttpServer(this.#served(), options);
  }

  /**
   * Serves the requests of an app that listens itself, by Node's `http` or by `fetch`.
   *
   * @throws {@link UsageError} when an option is wrong
   *
   * @example
   * ```ts
   * import { createServer } from 'node:http';
   * import { McpServer } from 'oxmcp';
   *
   * const server = new McpServer({ name: 'example', version: '1.0.0' });
   * const mcp = server.httpHandler();
   * const app = createServer((request, response) => {
   *   if (request.url === '/mcp') mcp.node(request, response);
   *   else response.writeHead(404).end();
   * });
   * ```
   */
  httpHandler(options: HttpOptions = {}): HttpHandler {
    const { HttpHandler, checkHttpOptions } = require('./http-server.js') as typeof import('./http-server.js');
    checkHttpOptions('httpHandler', options);
    return new HttpHandler(this.#served(), options);
  }

  /** Whether there is a connection. */
  isConnected(): boolean {
    return this.#connections.size > 0;
  }

  /** Who the client says it is: the one that connected last, once its handshake is done. */
  getClientVersion(): Implementation | undefined {
    return this.#latest?.peer?.info;
  }

  /** What that client can do. */
  getClientCapabilities(): ClientCapabilities | undefined {
    return this.#latest?.peer?.capabilities as ClientCapabilities | undefined;
  }

  /** The revision of the protocol that this client and the server agreed on, such as `'2025-11-25'`. */
  getNegotiatedProtocolVersion(): string | undefined {
    return this.#latest?.peer?.protocolVersion;
  }

  /** Says that the tools changed; what {@link registerTool} and its handles change is said by itself, once per turn. */
  sendToolListChanged(): void {
    this.#tell('notifications/tools/list_changed', null);
  }

  /** The same for resources. */
  sendResourceListChanged(): void {
    this.#tell('notifications/resources/list_changed', null);
  }

  /** The same for prompts. */
  sendPromptListChanged(): void {
    this.#tell('notifications/prompts/list_changed', null);
  }

  /**
   * Tells those who subscribed to a resource that it has other contents now.
   *
   * @throws {@link CapabilityError} unless {@link ServerOptions.capabilities} declare `resources.subscribe`
   */
  async sendResourceUpdated(params: { readonly uri: string }): Promise<void> {
    const text = JSON.stringify({ resourceUpdated: { uri: params.uri } });
    for (const connection of this.#connections) connection.command(text);
    for (const endpoint of this.#endpoints) endpoint.commandEach(text);
  }

  /**
   * Sends a log message that belongs to no call, to clients whose level it reaches. Clients of 2026-07-28 get messages
   * of their calls only: `ctx.mcpReq.log`.
   *
   * @param sessionId the client that it is for; all where absent
   */
  async sendLoggingMessage(message: LoggingMessage, sessionId?: string): Promise<void> {
    for (const connection of this.#connections) {
      if (sessionId === undefined || connection.sessionId === sessionId) connection.log(message);
    }
    const { level, data, logger } = message;
    const text = this.#endpoints.size > 0 ? objectText({ level, data: data ?? null, logger }, 'a log message') : null;
    for (const endpoint of this.#endpoints) {
      if (sessionId === undefined) endpoint.commandEach(`{"log":${text}}`);
      else endpoint.connectionOf(sessionId)?.log(message);
    }
  }

  /** Sends a notification to all clients that are connected. */
  async notification({ method, params }: Notification): Promise<void> {
    this.#tell(method, objectText(params, 'params'));
  }

  /**
   * Makes a call to the client that connected last, in revisions with a handshake. Inside a function, `ctx.mcpReq.send`
   * does it in all of them.
   */
  async request<Result = Record<string, unknown>>(
    request: { readonly method: string; readonly params?: JsonObjectInput | undefined },
    options?: RequestOptions,
  ): Promise<Result> {
    if (this.#latest === undefined) throw usage(`${request.method} was not sent: there is no connection`);
    return (await this.#latest.request(request.method, objectText(request.params, 'params'), options)) as Result;
  }

  /** Asks that client for a sign of life. */
  async ping(options?: RequestOptions): Promise<void> {
    if (this.#latest === undefined) throw usage('ping was not sent: there is no connection');
    await this.#latest.ping(options);
  }

  #serve(transport: () => Transport, clock: Clock): Connection {
    const settings = objectText(this.#settings(clock), 'the options') ?? '{}';
    let connection: Connection;
    try {
      const session = native().Session.server(this.#info, settings, this.#registry);
      connection = new Connection('server', session, transport(), clock, this.#hooks());
    } catch (thrown) {
      throw fromNative(thrown);
    }
    this.#connections.add(connection);
    this.#latest = connection;
    connection.accept();
    return connection;
  }

  #settings(clock: Clock, unixEpoch = Date.now() - clock.now()): object {
    const { instructions, logging, strict, supportedProtocolVersions, timeout, cache, stateTtl } = this.#options;
    const { debouncedNotificationMethods, stateKeys, limits, ontrace } = this.#options;
    this.#stateKeys ??= stateKeys ?? [randomSecret()];
    return {
      instructions,
      capabilities: declared(this.#capabilities),
      logging: logging ?? true,
      strict,
      revisions: supportedProtocolVersions,
      timeout: finite(timeout),
      cache,
      stateKeys: this.#stateKeys,
      stateTtl: finite(stateTtl),
      unixEpoch: Math.max(0, Math.round(unixEpoch)),
      debounced: debouncedNotificationMethods,
      limits,
      trace: ontrace !== undefined,
    };
  }

  /** What a connection over HTTP tells: a request without a session is none that comes and goes. */
  #hooksElsewhere(): ConnectionHooks {
    const hooks = this.#hooks();
    return {
      ...hooks,
      ready: (connection) => {
        this.#latest = connection;
        hooks.ready(connection);
      },
      closed: (connection) => {
        if (connection.peer !== undefined) hooks.closed(connection);
      },
    };
  }

  #served(): Served {
    const { ontrace } = this.#options;
    const hooks = this.#hooksElsewhere();
    return {
      info: this.#info,
      settings: (revisions) => {
        const own = this.#settings(systemClock, Date.now());
        return objectText(revisions === undefined ? own : { ...own, revisions }, 'the options') ?? '{}';
      },
      registry: this.#registry,
      connect: (handle, home) => new Connection('server', handle, NO_TRANSPORT, systemClock, hooks, home),
      trace: (direction, line) => this.#guarded(() => ontrace?.(direction, line)),
      problem: (problem) => this.#problem(problem),
      thrown: (error) => this.#thrown(error),
      opened: (endpoint) => this.#endpoints.add(endpoint),
      closed: (endpoint) => this.#endpoints.delete(endpoint),
    };
  }

  #hooks(): ConnectionHooks {
    const { ontrace } = this.#options;
    return {
      trace: ontrace && ((direction, line) => this.#guarded(() => ontrace(direction, line))),
      call: (call, kind, target, params) => this.#called(call, kind, target, params),
      describe: (kind, resume) => this.#describe(kind as Kind, resume),
      notification: (notification) => {
        if (notification.method === INITIALIZED) this.#guarded(() => this.#oninitialized?.());
        this.#guarded(() => this.#handlers.get(notification.method)?.(notification));
      },
      problem: (problem) => this.#problem(problem),
      thrown: (error) => this.#thrown(error),
      ready: (connection) => this.#initialized(connection),
      closed: (connection) => {
        this.#connections.delete(connection);
        if (this.#latest === connection) this.#latest = undefined;
        this.#guarded(() => this.onclose?.());
      },
    };
  }

  /** The core has answered: what the program's own handler gives is of no use, but it may want to know. */
  #initialized(connection: Connection): void {
    const handler = this.#initialize;
    if (handler === undefined || connection.peer === undefined) return;
    const { protocolVersion, capabilities, info: clientInfo } = connection.peer;
    const request = { method: 'initialize', params: { protocolVersion, capabilities, clientInfo } as never };
    // It is no call that functions could say anything of.
    const context = new CallContext(new Incoming(connection, Number.MAX_SAFE_INTEGER, false, undefined), 'initialize', true);
    this.#guarded(() => handler(request, context));
  }

  #called(call: Incoming, kind: CallKind, target: number | string, params: unknown): void {
    if (kind === 'method') return this.#method(call, String(target), params);
    const table: Kind = kind === 'promptCompletion' ? 'prompt' : kind === 'templateCompletion' ? 'template' : kind;
    const entry = this.#tables[table].get(target as number);
    if (entry === undefined) {
      // Removed in the very turn in which the call came.
      const answer = { code: ErrorCode.InvalidParams, message: `The ${table} was removed`, data: null };
      call.connection.respondError(call, answer, undefined);
    } else if (kind === table) {
      entry.run(call, params);
    } else {
      entry.complete(call, params as CompletionParams);
    }
  }

  #setRequestHandler(given: unknown, handler: ServerRequestHandler, { extension, open }: HandlerOptions): void {
    requireFunction(handler, 'setRequestHandler(…)');
    const { method, check } = handledBy(given, 'setRequestHandler');
    if (method === 'ping') return;
    if (method === 'initialize') {
      this.#initialize = handler;
      return;
    }
    if (ANSWERED.includes(method)) throw usage(`${method} is answered by the core; what it says is set by the server's options`);
    if (TAKEN_OVER.test(method)) {
      this.#requireOffered(method);
      this.#command({ takeOver: { method, how: 'replace' } });
    } else if (!this.#methods.has(method)) {
      this.#command({ addMethod: { name: method, extension } });
    }
    this.#methods.set(method, { handler, check, open });
  }

  /** Clients ask for what is declared only. */
  #requireOffered(method: string): void {
    const [family] = method.split('/') as [string];
    const name = family === 'completion' ? 'completions' : family;
    const declares = this.#capabilities?.[name as keyof ServerCapabilitiesInput] as Readonly<Record<string, unknown>> | undefined;
    const { tool, resource, template, prompt } = this.#tables;
    const registered = { tools: tool, prompts: prompt, resources: resource.size > 0 ? resource : template }[name];
    const isLogging = name === 'logging' && this.#options.logging !== false;
    const needsMember = /\/(un)?subscribe$/.test(method);
    if (needsMember ? declares?.['subscribe'] : declares || isLogging || (registered?.size ?? 0) > 0) return;
    const capability = needsMember ? '{ resources: { subscribe: true } }' : `{ ${name}: {} }`;
    throw usage(`to answer ${method}, declare it: { capabilities: ${capability} } in the server's options`);
  }

  /** Whether templates find resources when they are asked, beside those that are registered. */
  #extends(method: string): boolean {
    return method === 'resources/list' && [...this.#tables.template.values()].some((entry) => (entry as TemplateEntry).lists);
  }

  /** The resources that templates find. Those that are registered are the core's to list. */
  async #listed(context: ServerContext): Promise<object> {
    const entries = [...this.#tables.template.values()] as TemplateEntry[];
    // One that fails must not cost the client all the others.
    const listed = async (entry: TemplateEntry): Promise<object[]> => {
      try {
        return await entry.list(context);
      } catch (error) {
        this.#thrown(error);
        return [];
      }
    };
    const found = await Promise.all(entries.filter((entry) => entry.enabled && entry.lists).map(listed));
    return { resources: found.flat() };
  }

  #method(call: Incoming, method: string, params: unknown): void {
    const found = this.#methods.get(method);
    const context = new CallContext(call, method, true);
    settle(
      () => {
        if (found === undefined) return this.#listed(context);
        const request = { method, params: (params ?? undefined) as never };
        return withMessage(found.check, request, (message) => found.handler(message, context));
      },
      (result) => respondToMethod(call, method, result),
      (error) => {
        if (call.isCancelled) return;
        const hidden = (inner: unknown): void => this.#thrown(inner);
        const answer = found?.open ? openAnswer(error, hidden) : errorAnswer(error, hidden);
        call.connection.respondError(call, answer, error);
      },
    );
  }

  #describe(kind: Kind, resume: () => void): void {
    for (const entry of this.#tables[kind].values()) {
      try {
        entry.describe();
      } catch (error) {
        this.#thrown(error);
      }
    }
    resume();
  }

  #command(command: object): Readonly<Record<string, unknown>> {
    let given: string;
    try {
      given = this.#registry.command(objectText(command, 'what is registered') ?? '{}');
    } catch (thrown) {
      throw fromNative(thrown);
    }
    for (const connection of this.#connections) connection.touch();
    return JSON.parse(given) as Readonly<Record<string, unknown>>;
  }

  /** Tells all clients that can be told yet. */
  #tell(method: string, params: string | null): void {
    for (const endpoint of this.#endpoints) endpoint.notifyEach(method, params);
    for (const connection of this.#connections) {
      try {
        connection.notify(method, params);
      } catch (error) {
        // It is not ready, so its client has seen nothing that could have changed.
        if (!(error instanceof UsageError)) throw error;
      }
    }
  }

  #problem(problem: Problem): void {
    const { onproblem } = this.#options;
    if (onproblem !== undefined) this.#guarded(() => onproblem(problem));
    else this.#thrown(new ProtocolError({ kind: 'protocol', fault: 'peer', message: problem.message, data: problem }));
  }

  /** Runs a function of the program; what it throws must not disturb the connection. */
  #guarded(run: () => unknown): void {
    settle(
      run,
      () => {},
      (error) => this.#thrown(error),
    );
  }

  #thrown(thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(textOf(thrown), { cause: thrown });
    if (this.onerror === undefined) {
      console.error(error);
      return;
    }
    try {
      this.onerror(error);
    } catch (second) {
      console.error(second);
    }
  }
}

function randomSecret(): string {
  const secret = native().randomSecret();
  if (secret !== null) return secret;
  // Loaded when it is needed: it takes longer to load than all of this package.
  const { randomBytes } = require('node:crypto') as typeof import('node:crypto');
  return randomBytes(48).toString('base64');
}

function requireFunction(callback: unknown, what: string): void {
  if (typeof callback !== 'function') throw usage(`${what} needs a function as its last argument`);
}
