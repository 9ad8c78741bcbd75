/**
 * The Model Context Protocol for Node, on a Rust core.
 *
 * Start with {@link Client} or {@link McpServer}.
 *
 * @packageDocumentation
 */

export { getDefaultEnvironment } from './child/environment.js';
export type { CallToolParams, ClientTransport, NotificationHandler, PageParams, Request, RequestHandler } from './client.js';
export { Client, InMemoryTransport, Server, StdioClientTransport, StreamableHTTPClientTransport } from './on-demand.js';
export type {
  AuthProvider,
  OAuthClientProvider,
  OAuthTokens,
  OnUnauthorized,
  TokenProvider,
  Unauthorized,
  UnauthorizedContext,
} from './auth-provider.js';
export type { ClientOptions } from './client-options.js';
export { type CompleteCallback, completable, isCompletable } from './completable.js';
export type {
  ClientContext,
  HttpCall,
  McpRequest,
  OutgoingRequest,
  RequestHandlerExtra,
  SendRequest,
  ServerContext,
  ServerMcpRequest,
} from './context.js';
export { getDisplayName } from './display-name.js';
export {
  AddonError,
  CancelledError,
  CapabilityError,
  ConnectionClosedError,
  ErrorCode,
  type ErrorDetails,
  type ErrorKind,
  type Fault,
  HandlerError,
  InternalError,
  McpError,
  type ProcessEnd,
  ProtocolError,
  RequestTimeoutError,
  ResponseError,
  ServerStartError,
  UnauthorizedError,
  type UrlElicitation,
  UrlElicitationRequiredError,
  UsageError,
} from './errors.js';
export type { MessageSchemaLike } from './handler-schema.js';
export type { StreamableHTTPClientTransportOptions } from './http-client.js';
export type { FetchOptions, HttpHandler, HttpOptions, HttpServer, ListenHttpOptions } from './http-server.js';
export type { HeaderFields, NodeRequest, NodeResponse, WebHeaders, WebRequest, WebResponse } from './http-types.js';
export type { MessageTransport, MessageTransport as Transport } from './messages.js';
export type { AuthInfo, MessageExtraInfo, RequestInfo } from './origin.js';
export type { AbortSignalLike, AskOptions, ConnectOptions, Notification, Problem, RequestOptions, Signal } from './options.js';
export {
  type InputRequiredResult,
  type ListResourcesCallback,
  type ListedResources,
  type PromptCallback,
  type PromptConfig,
  type RawToolCallback,
  type ReadResourceCallback,
  type ReadResourceTemplateCallback,
  type Registered,
  type RegisteredPrompt,
  type RegisteredResource,
  type RegisteredResourceTemplate,
  type RegisteredTool,
  type ResourceMetadata,
  type ResourceResult,
  ResourceTemplate,
  type ServerRequestHandler,
  type ToolCallback,
  type ToolConfig,
  type ToolResult,
  type Url,
  type Variables,
} from './registered.js';
export type { ResultSchema } from './result-schema.js';
export type {
  AnySchema,
  InferSchema,
  JsonSchema,
  SchemaShape,
  StandardIssue,
  StandardResult,
  StandardSchema,
  ZodLike,
} from './schema.js';
export { McpServer, type ServerTransport } from './server.js';
export type { ServerCapabilitiesInput, ServerLimits, ServerOptions } from './server-options.js';
export { type Sink, type Source, StdioServerTransport } from './stdio-server.js';
export type { ByteStream, StdioServerParameters } from './stdio.js';
export type { ListenOptions, Subscription } from './subscription.js';
export type * from './types.js';
export { version } from './version.js';
