/**
 * A server by the names of the official SDK's `Server`.
 */

import type { ServerContext } from './context.js';
import type { MessageSchemaLike } from './handler-schema.js';
import type { Notification, RequestOptions } from './options.js';
import type { ServerRequestHandler } from './registered.js';
import { type ResultArguments, type ResultSchema, withSchema } from './result-schema.js';
import type { InferSchema } from './schema.js';
import { McpServer, type ServerTransport, handleRequests } from './server.js';
import type { ServerCapabilitiesInput, ServerOptions } from './server-options.js';
import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitRequestParams,
  ElicitRequestURLParams,
  ElicitResult,
  Implementation,
  JsonObject,
  JsonObjectInput,
  ListRootsResult,
  LoggingMessage,
} from './types.js';

/** The `Server` of an `McpServer`. Internal. */
export let lowLevelOf: (server: McpServer) => Server;

/** The `McpServer` of a `Server`. Internal. */
export let serverOf: (server: Server) => McpServer;

/**
 * A server that answers each method by a function of its own, for programs that come from the official SDK. In new
 * programs, {@link McpServer} does more for less.
 *
 * What a handler throws is told to the client by its message, and by its `code` where it has one.
 *
 * @example
 * ```ts
 * import { Server, StdioServerTransport } from 'oxmcp';
 * import { CallToolRequestSchema, ListToolsRequestSchema } from 'oxmcp/types.js';
 *
 * const server = new Server({ name: 'example', version: '1.0.0' }, { capabilities: { tools: {} } });
 * server.setRequestHandler(ListToolsRequestSchema, () => ({
 *   tools: [{ name: 'greet', description: 'Greets', inputSchema: { type: 'object', properties: {} } }],
 * }));
 * server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
 *   content: [{ type: 'text', text: `Hello from ${params.name}` }],
 * }));
 * await server.connect(new StdioServerTransport());
 * ```
 */
export class Server {
  readonly #server: McpServer;

  static {
    lowLevelOf = (server) => new Server(server as never);
    serverOf = (server) => server.#server;
  }

  /**
   * @param info who this server is; clients see it
   * @param options what it declares, among others: what is not declared has no handlers
   */
  constructor(info: Implementation, options: ServerOptions = {}) {
    const logs = options.capabilities?.logging !== undefined;
    this.#server = info instanceof McpServer ? info : new McpServer(info, { logging: logs, ...options });
  }

  /** {@link McpServer.oninitialized}. */
  get oninitialized(): (() => void) | undefined {
    return this.#server.oninitialized;
  }

  set oninitialized(task: (() => void) | undefined) {
    this.#server.oninitialized = task;
  }

  /** {@link McpServer.onclose}. */
  get onclose(): (() => void) | undefined {
    return this.#server.onclose;
  }

  set onclose(task: (() => void) | undefined) {
    this.#server.onclose = task;
  }

  /** {@link McpServer.onerror}. */
  get onerror(): ((error: Error) => void) | undefined {
    return this.#server.onerror;
  }

  set onerror(task: ((error: Error) => void) | undefined) {
    this.#server.onerror = task;
  }

  /** {@link McpServer.transport}. */
  get transport(): ServerTransport | undefined {
    return this.#server.transport;
  }

  /**
   * Sets the function that answers a method: one of the protocol that was declared, or one of your own.
   *
   * @param method its name, or the schema of its requests, such as `CallToolRequestSchema`
   * @throws {@link UsageError} for a request of the protocol that was not declared, or that the core answers
   */
  setRequestHandler<Schema extends MessageSchemaLike>(
    method: Schema,
    handler: (request: InferSchema<Schema>, extra: ServerContext) => object | Promise<object>,
  ): void;
  setRequestHandler(method: string, handler: ServerRequestHandler): void;
  setRequestHandler(method: unknown, handler: ServerRequestHandler): void {
    handleRequests(this.#server, method, handler, { open: true });
  }

  /** Takes {@link setRequestHandler} back. */
  removeRequestHandler(method: string): void {
    this.#server.removeRequestHandler(method);
  }

  /** {@link McpServer.setNotificationHandler}. */
  setNotificationHandler<Schema extends MessageSchemaLike>(
    method: Schema,
    handler: (notification: InferSchema<Schema>) => void | Promise<void>,
  ): void;
  setNotificationHandler(method: string, handler: (notification: Notification) => void | Promise<void>): void;
  setNotificationHandler(method: unknown, handler: (notification: never) => void | Promise<void>): void {
    this.#server.setNotificationHandler(method as string, handler as never);
  }

  /** {@link McpServer.removeNotificationHandler}. */
  removeNotificationHandler(method: string): void {
    this.#server.removeNotificationHandler(method);
  }

  /** {@link McpServer.registerCapabilities}. */
  registerCapabilities(capabilities: ServerCapabilitiesInput): void {
    this.#server.registerCapabilities(capabilities);
  }

  /** {@link McpServer.connect}. */
  connect(transport: ServerTransport): Promise<void> {
    return this.#server.connect(transport);
  }

  /** {@link McpServer.close}. */
  close(): Promise<void> {
    return this.#server.close();
  }

  /** {@link McpServer.getClientVersion}. */
  getClientVersion(): Implementation | undefined {
    return this.#server.getClientVersion();
  }

  /** {@link McpServer.getClientCapabilities}. */
  getClientCapabilities(): ClientCapabilities | undefined {
    return this.#server.getClientCapabilities();
  }

  /** The revision of the protocol that this client and the server agreed on. */
  getNegotiatedProtocolVersion(): string | undefined {
    return this.#server.getNegotiatedProtocolVersion();
  }

  /**
   * Makes a call to the client that connected last, in revisions with a handshake. Inside a handler, `extra.sendRequest`
   * belongs to its call.
   *
   * @param rest the schema of the result, if it is to be checked, and options
   */
  request<Schema extends ResultSchema>(
    request: { readonly method: string; readonly params?: JsonObjectInput | undefined },
    schema: Schema,
    options?: RequestOptions,
  ): Promise<InferSchema<Schema>>;
  request<Result = Record<string, unknown>>(
    request: { readonly method: string; readonly params?: JsonObjectInput | undefined },
    options?: RequestOptions,
  ): Promise<Result>;
  request(request: { readonly method: string; readonly params?: JsonObjectInput | undefined }, ...rest: ResultArguments): Promise<never> {
    return withSchema(rest, (options) => this.#server.request(request, options));
  }

  /** {@link McpServer.notification}. */
  notification(notification: { readonly method: string; readonly params?: JsonObject | undefined }): Promise<void> {
    return this.#server.notification(notification);
  }

  /** Asks that client for a sign of life. */
  async ping(options?: RequestOptions): Promise<object> {
    await this.#server.ping(options);
    return {};
  }

  /** Asks that client's model. Throws as {@link request} does. */
  createMessage(params: CreateMessageRequestParams, options?: RequestOptions): Promise<CreateMessageResult> {
    return this.request({ method: 'sampling/createMessage', params }, options);
  }

  /** Asks that client's user, by a form or by a URL. Throws as {@link request} does. */
  elicitInput(
    params: ElicitRequestParams | ElicitRequestFormParams | ElicitRequestURLParams,
    options?: RequestOptions,
  ): Promise<ElicitResult> {
    return this.request({ method: 'elicitation/create', params }, options);
  }

  /** A function that tells that client that what a URL asked for is done (2025-11-25). */
  createElicitationCompletionNotifier(elicitationId: string): () => Promise<void> {
    return () => this.notification({ method: 'notifications/elicitation/complete', params: { elicitationId } });
  }

  /** Asks that client for the folders that this server may work in. Throws as {@link request} does. */
  listRoots(params?: JsonObject, options?: RequestOptions): Promise<ListRootsResult> {
    return this.request({ method: 'roots/list', params }, options);
  }

  /** {@link McpServer.sendLoggingMessage}. */
  sendLoggingMessage(message: LoggingMessage, sessionId?: string): Promise<void> {
    return this.#server.sendLoggingMessage(message, sessionId);
  }

  /** {@link McpServer.sendResourceUpdated}. */
  sendResourceUpdated(params: { readonly uri: string }): Promise<void> {
    return this.#server.sendResourceUpdated(params);
  }

  /** {@link McpServer.sendResourceListChanged}. */
  async sendResourceListChanged(): Promise<void> {
    this.#server.sendResourceListChanged();
  }

  /** {@link McpServer.sendToolListChanged}. */
  async sendToolListChanged(): Promise<void> {
    this.#server.sendToolListChanged();
  }

  /** {@link McpServer.sendPromptListChanged}. */
  async sendPromptListChanged(): Promise<void> {
    this.#server.sendPromptListChanged();
  }
}
