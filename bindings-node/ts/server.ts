/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The server.
 */

import { type Clock, systemClock } from './clock.js';
import { Connection, type ConnectionHooks } from './connection.js';
import { CallContext } from './context.js';
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
} from './entries.js';
import { errorAnswer } from './failure.js';
import { type CallKind, type Incoming, settle } from './incoming.js';
import { objectText } from './json.js';
import type { InMemoryTransport } from './memory.js';
import { type NativeRegistry, native } from './native.js';
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
import type { AnySchema } from './schema.js';
import { type ServerOptions, declared } from './server-options.js';
import type { StdioServerTransport } from './stdio-server.js';
import { type Transport, starterOf } from './transport.js';
import type { ClientCapabilities, Implementation, JsonObjectInput, LoggingMessage } from './types.js';

/** What a server can be connected by. */
export type ServerTransport = StdioServerTransport | InMemoryTransport;

/** Serves one client over any transport. Internal. */
export let serve: (server: McpServer, transport: () => Transport, clock: Clock) => Connection;

/** The connections of a server. Internal. */
export let connectionsOf: (server: McpServer) => readonly Connection[];

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
export class McpServer {
  /** Called when a client has finished its handshake. Clients of 2026-07-28 make none. */
  oninitialized: (() => void) | undefined;

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
  readonly #methods = new Map<string, ServerRequestHandler>();
  readonly #handlers = new Map<string, (notification: Notification) => void | Promise<void>>();
  readonly #connections = new Set<Connection>();
  #latest: Connection | undefined;
  #stateKeys: readonly string[] | undefined;

  static {
    serve = (server, transport, clock) => server.#serve(transport, clock);
    connectionsOf = (server) => [...server.#connections];
  }

  /**
   * @param info who this server is; clients see it
   * @throws {@link UsageError} when the name or the version is missing
   */
  constructor(info: Implementation, options: ServerOptions = {}) {
    if (typeof info?.name !== 'string' || typeof info.version !== 'string') {
      throw usage('a server needs a name and a version, both strings: new McpServer({ name, version })');
    }
    this.#info = JSON.stringify(info);
    this.#options = options;
    this.#registry = new (native().Registry)();
    this.#host = {
      command: (command) => this.#command(command),
      keepText: (tool) => this.#registry.keepText(tool),
      thrown: (error) => this.#thrown(error),
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

  /**
   * Sets the function that answers a method of your own.
   *
   * @param options.extension the method is there for clients that declare this extension only
   * @throws {@link UsageError} for a method of the protocol: register tools, resources and prompts
   */
  setRequestHandler(
    method: string,
    handler: ServerRequestHandler,
    options: { readonly extension?: string | undefined } = {},
  ): void {
    requireFunction(handler, `setRequestHandler('${method}', …)`);
    if (!this.#methods.has(method)) this.#command({ addMethod: { name: method, extension: options.extension } });
    this.#methods.set(method, handler);
  }

  /** Sets what is done for the clients' notifications of one method, such as `'notifications/roots/list_changed'`. */
  setNotificationHandler(method: string, handler: (notification: Notification) => void | Promise<void>): void {
    this.#handlers.set(method, handler);
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
    const starter = starterOf(transport);
    if (starter === undefined) {
      throw usage('connect needs a transport of this package: new StdioServerTransport(), or an end of InMemoryTransport');
    }
    this.#serve(() => starter.start(systemClock), systemClock);
  }

  /** Ends all connections. Functions that run are told by their signals. */
  async close(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.close('the server was closed')));
  }

  /** {@link close}, at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
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
  }

  /**
   * Sends a log message that belongs to no call, to clients whose level it reaches. Clients of 2026-07-28 get messages
   * of their calls only: `ctx.mcpReq.log`.
   */
  async sendLoggingMessage(message: LoggingMessage): Promise<void> {
    for (const connection of this.#connections) connection.log(message);
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
    let connection: Connection | undefined;
    try {
      const session = native().Session.server(this.#info, settings, this.#registry);
      connection = new Connection('server', session, transport(), clock, this.#hooks(() => connection));
    } catch (thrown) {
      throw fromNative(thrown);
    }
    this.#connections.add(connection);
    this.#latest = connection;
    connection.accept();
    return connection;
  }

  #settings(clock: Clock): object {
    const { instructions, capabilities, logging, strict, supportedProtocolVersions, timeout, cache, stateTtl } = this.#options;
    const { debouncedNotificationMethods, stateKeys, limits, ontrace } = this.#options;
    this.#stateKeys ??= stateKeys ?? [randomSecret()];
    return {
      instructions,
      capabilities: declared(capabilities),
      logging: logging ?? true,
      strict,
      revisions: supportedProtocolVersions,
      timeout: finite(timeout),
      cache,
      stateKeys: this.#stateKeys,
      stateTtl: finite(stateTtl),
      unixEpoch: Math.max(0, Math.round(Date.now() - clock.now())),
      debounced: debouncedNotificationMethods,
      limits,
      trace: ontrace !== undefined,
    };
  }

  #hooks(own: () => Connection | undefined): ConnectionHooks {
    const { ontrace } = this.#options;
    return {
      trace: ontrace && ((direction, line) => this.#guarded(() => ontrace(direction, line))),
      call: (call, kind, target, params) => this.#called(call, kind, target, params),
      describe: (kind, resume) => this.#describe(kind as Kind, resume),
      notification: (notification) => this.#guarded(() => this.#handlers.get(notification.method)?.(notification)),
      problem: (problem) => this.#problem(problem),
      thrown: (error) => this.#thrown(error),
      ready: () => this.#guarded(() => this.oninitialized?.()),
      closed: () => {
        const connection = own();
        if (connection !== undefined) this.#connections.delete(connection);
        if (this.#latest === connection) this.#latest = undefined;
        this.#guarded(() => this.onclose?.());
      },
    };
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

  #method(call: Incoming, method: string, params: unknown): void {
    const handler = this.#methods.get(method);
    settle(
      () => handler?.({ method, params: (params ?? undefined) as never }, new CallContext(call, method, true)),
      (result) => call.connection.respondResult(call, objectText(result as object, `the result of ${method}`) ?? '{}'),
      (error) => {
        if (call.isCancelled) return;
        call.connection.respondError(call, errorAnswer(error, (hidden) => this.#thrown(hidden)), error);
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
  // Loaded when it is needed: it takes longer to load than all of this package.
  const { randomBytes } = require('node:crypto') as typeof import('node:crypto');
  return randomBytes(48).toString('base64');
}

function requireFunction(callback: unknown, what: string): void {
  if (typeof callback !== 'function') throw usage(`${what} needs a function as its last argument`);
}
