/**
 * The protocol's requests and notifications as types, by the names of the official SDK.
 */

import type {
  CallToolResult,
  ClientCapabilities,
  CompleteParams,
  CompleteResult,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  GetPromptResult,
  Implementation,
  JsonObject,
  ListPromptsResult,
  ListResourceTemplatesResult,
  ListResourcesResult,
  ListRootsResult,
  ListToolsResult,
  LoggingLevel,
  Meta,
  Progress,
  ReadResourceResult,
  ServerCapabilities,
} from '../types.js';

/** Pairs a progress report with the call it is on. */
export type ProgressToken = string | number;

/** Where a page of a list begins. */
export type Cursor = string;

/** Pairs an answer with its request. */
export type RequestId = string | number;

/** The `_meta` of a request. */
export type RequestMeta = { progressToken?: ProgressToken | undefined; [other: string]: unknown };

/** The params that any request may have. */
export interface RequestParams {
  _meta?: RequestMeta | undefined;
  [other: string]: unknown;
}

/** Any result. */
export interface Result {
  _meta?: Meta | undefined;
  [other: string]: unknown;
}

/** A result that says nothing. */
export type EmptyResult = Result;

interface RequestOf<Method extends string, Params> {
  method: Method;
  params: Params & { _meta?: RequestMeta | undefined };
}

interface RequestWith<Method extends string, Params> {
  method: Method;
  params?: (Params & { _meta?: RequestMeta | undefined }) | undefined;
}

interface NotificationOf<Method extends string, Params> {
  method: Method;
  params: Params & { _meta?: Meta | undefined };
}

interface NotificationWith<Method extends string> {
  method: Method;
  params?: { _meta?: Meta | undefined; [other: string]: unknown } | undefined;
}

interface Page {
  cursor?: Cursor | undefined;
}

interface ByUri {
  uri: string;
}

/** The params of `initialize`. */
export interface InitializeRequestParams {
  protocolVersion: string;
  capabilities: ClientCapabilities;
  clientInfo: Implementation;
}

/** The answer to `initialize`. */
export interface InitializeResult extends Result {
  protocolVersion: string;
  capabilities: ServerCapabilities;
  serverInfo: Implementation;
  instructions?: string | undefined;
}

export type InitializeRequest = RequestOf<'initialize', InitializeRequestParams>;
export type PingRequest = RequestWith<'ping', RequestParams>;
export type PaginatedRequest = RequestWith<string, Page>;
export type ListToolsRequest = RequestWith<'tools/list', Page>;
export type CallToolRequestParams = { name: string; arguments?: Record<string, unknown> | undefined };
export type CallToolRequest = RequestOf<'tools/call', CallToolRequestParams>;
export type ListResourcesRequest = RequestWith<'resources/list', Page>;
export type ListResourceTemplatesRequest = RequestWith<'resources/templates/list', Page>;
export type ReadResourceRequest = RequestOf<'resources/read', ByUri>;
export type SubscribeRequest = RequestOf<'resources/subscribe', ByUri>;
export type UnsubscribeRequest = RequestOf<'resources/unsubscribe', ByUri>;
export type ListPromptsRequest = RequestWith<'prompts/list', Page>;
export type GetPromptRequest = RequestOf<'prompts/get', { name: string; arguments?: Record<string, string> | undefined }>;
export type CompleteRequest = RequestOf<'completion/complete', CompleteParams>;
export type SetLevelRequest = RequestOf<'logging/setLevel', { level: LoggingLevel }>;
export type ListRootsRequest = RequestWith<'roots/list', RequestParams>;
export type CreateMessageRequest = RequestOf<'sampling/createMessage', CreateMessageRequestParams>;
export type ElicitRequest = RequestOf<'elicitation/create', ElicitRequestParams>;

export type CancelledNotification = NotificationOf<'notifications/cancelled', { requestId?: RequestId; reason?: string }>;
export type InitializedNotification = NotificationWith<'notifications/initialized'>;
export type ProgressNotificationParams = Progress & { progressToken: ProgressToken };
export type ProgressNotification = NotificationOf<'notifications/progress', ProgressNotificationParams>;
export type LoggingMessageNotificationParams = { level: LoggingLevel; logger?: string | undefined; data: unknown };
export type LoggingMessageNotification = NotificationOf<'notifications/message', LoggingMessageNotificationParams>;
export type ResourceUpdatedNotification = NotificationOf<'notifications/resources/updated', ByUri>;
export type ResourceListChangedNotification = NotificationWith<'notifications/resources/list_changed'>;
export type ToolListChangedNotification = NotificationWith<'notifications/tools/list_changed'>;
export type PromptListChangedNotification = NotificationWith<'notifications/prompts/list_changed'>;
export type RootsListChangedNotification = NotificationWith<'notifications/roots/list_changed'>;
export type ElicitationCompleteNotification = NotificationOf<'notifications/elicitation/complete', { elicitationId: string }>;

/** What a client asks a server. */
export type ClientRequest =
  | InitializeRequest
  | PingRequest
  | ListToolsRequest
  | CallToolRequest
  | ListResourcesRequest
  | ListResourceTemplatesRequest
  | ReadResourceRequest
  | SubscribeRequest
  | UnsubscribeRequest
  | ListPromptsRequest
  | GetPromptRequest
  | CompleteRequest
  | SetLevelRequest;

/** What a server asks a client. */
export type ServerRequest = PingRequest | ListRootsRequest | CreateMessageRequest | ElicitRequest;

export type ClientNotification = CancelledNotification | InitializedNotification | ProgressNotification | RootsListChangedNotification;

export type ServerNotification =
  | CancelledNotification
  | ProgressNotification
  | LoggingMessageNotification
  | ResourceUpdatedNotification
  | ResourceListChangedNotification
  | ToolListChangedNotification
  | PromptListChangedNotification
  | ElicitationCompleteNotification;

export type ServerResult =
  | EmptyResult
  | InitializeResult
  | ListToolsResult
  | CallToolResult
  | ListResourcesResult
  | ListResourceTemplatesResult
  | ReadResourceResult
  | ListPromptsResult
  | GetPromptResult
  | CompleteResult;

export type ClientResult = EmptyResult | ListRootsResult | CreateMessageResult | ElicitResult;

/** A request on the wire. */
export interface JSONRPCRequest {
  jsonrpc: '2.0';
  id: RequestId;
  method: string;
  params?: RequestParams | undefined;
}

/** A notification on the wire. */
export interface JSONRPCNotification {
  jsonrpc: '2.0';
  method: string;
  params?: { _meta?: Meta | undefined; [other: string]: unknown } | undefined;
}

/** A result on the wire. */
export interface JSONRPCResultResponse {
  jsonrpc: '2.0';
  id: RequestId;
  result: Result;
}

/** An error on the wire. */
export interface JSONRPCErrorResponse {
  jsonrpc: '2.0';
  id?: RequestId | undefined;
  error: { code: number; message: string; data?: unknown };
}

export type JSONRPCError = JSONRPCErrorResponse;
export type JSONRPCResponse = JSONRPCResultResponse | JSONRPCErrorResponse;
export type JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse;

/** A field of a form. */
export type PrimitiveSchemaDefinition = JsonObject & { type: 'string' | 'number' | 'integer' | 'boolean' | 'array' };

/** Which model a server would like. */
export interface ModelPreferences {
  hints?: { name?: string | undefined }[] | undefined;
  costPriority?: number | undefined;
  speedPriority?: number | undefined;
  intelligencePriority?: number | undefined;
}

/** Names a prompt. */
export interface PromptReference {
  type: 'ref/prompt';
  name: string;
}

/** Names a template of resources. */
export interface ResourceTemplateReference {
  type: 'ref/resource';
  uri: string;
}

export type Role = 'user' | 'assistant';
