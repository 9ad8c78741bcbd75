/**
 * Schemas of the protocol's messages, by the names of the official SDK. `setRequestHandler` takes them, or their methods.
 */

import type * as types from '../types.js';
import { type Literal, type ObjectSchema, type Schema, literal, object, record, string, union, unknown } from './kit.js';
import type * as messages from './messages.js';
import { CursorSchema, ImplementationSchema, LoggingLevelSchema, ProgressSchema, ProgressTokenSchema, RequestIdSchema, SamplingMessageSchema } from './objects.js';

/** The schema of a message with one method. */
export type MessageSchema<Message extends { method: string }> = ObjectSchema<
  Message,
  { readonly method: Literal<Message['method']>; readonly params: Schema<Message extends { params?: infer Params } ? Params : never> }
>;

function message<Message extends { method: string }>(method: Message['method'], params: Schema<unknown>): MessageSchema<Message> {
  return object({ method: literal(method), params }) as never;
}

const meta = object<types.Meta>({ progressToken: ProgressTokenSchema.optional() }).optional();
const none = object({ _meta: meta }).optional();
const page = object({ cursor: CursorSchema.optional(), _meta: meta }).optional();
const byUri = object({ uri: string, _meta: meta });
const named = object({ name: string, arguments: record.optional(), _meta: meta });

export const RequestSchema: ObjectSchema<{ method: string; params?: messages.RequestParams | undefined }> = object({ method: string, params: none });
export const NotificationSchema: ObjectSchema<{ method: string; params?: types.JsonObject | undefined }> = object({
  method: string,
  params: record.optional(),
});
export const PaginatedRequestSchema: ObjectSchema<messages.PaginatedRequest> = object({ method: string, params: page });

export const InitializeRequestSchema = message<messages.InitializeRequest>(
  'initialize',
  object({ protocolVersion: string, capabilities: record, clientInfo: ImplementationSchema }),
);
export const PingRequestSchema = message<messages.PingRequest>('ping', none);
export const ListToolsRequestSchema = message<messages.ListToolsRequest>('tools/list', page);
export const CallToolRequestSchema = message<messages.CallToolRequest>('tools/call', named);
export const ListResourcesRequestSchema = message<messages.ListResourcesRequest>('resources/list', page);
export const ListResourceTemplatesRequestSchema = message<messages.ListResourceTemplatesRequest>('resources/templates/list', page);
export const ReadResourceRequestSchema = message<messages.ReadResourceRequest>('resources/read', byUri);
export const SubscribeRequestSchema = message<messages.SubscribeRequest>('resources/subscribe', byUri);
export const UnsubscribeRequestSchema = message<messages.UnsubscribeRequest>('resources/unsubscribe', byUri);
export const ListPromptsRequestSchema = message<messages.ListPromptsRequest>('prompts/list', page);
export const GetPromptRequestSchema = message<messages.GetPromptRequest>('prompts/get', named);
export const CompleteRequestSchema = message<messages.CompleteRequest>(
  'completion/complete',
  object({ ref: record, argument: object({ name: string, value: string }), context: record.optional() }),
);
export const SetLevelRequestSchema = message<messages.SetLevelRequest>('logging/setLevel', object({ level: LoggingLevelSchema }));
export const ListRootsRequestSchema = message<messages.ListRootsRequest>('roots/list', none);
export const CreateMessageRequestSchema = message<messages.CreateMessageRequest>(
  'sampling/createMessage',
  object({ messages: SamplingMessageSchema.array() }),
);
export const ElicitRequestSchema = message<messages.ElicitRequest>('elicitation/create', object({ message: string }));

export const CancelledNotificationSchema = message<messages.CancelledNotification>(
  'notifications/cancelled',
  object({ requestId: RequestIdSchema.optional(), reason: string.optional() }),
);
export const InitializedNotificationSchema = message<messages.InitializedNotification>('notifications/initialized', none);
export const ProgressNotificationSchema = message<messages.ProgressNotification>(
  'notifications/progress',
  ProgressSchema.extend({ progressToken: ProgressTokenSchema }),
);
export const LoggingMessageNotificationSchema = message<messages.LoggingMessageNotification>(
  'notifications/message',
  object({ level: LoggingLevelSchema, logger: string.optional(), data: unknown }),
);
export const ResourceUpdatedNotificationSchema = message<messages.ResourceUpdatedNotification>('notifications/resources/updated', byUri);
export const ResourceListChangedNotificationSchema = message<messages.ResourceListChangedNotification>(
  'notifications/resources/list_changed',
  none,
);
export const ToolListChangedNotificationSchema = message<messages.ToolListChangedNotification>('notifications/tools/list_changed', none);
export const PromptListChangedNotificationSchema = message<messages.PromptListChangedNotification>(
  'notifications/prompts/list_changed',
  none,
);
export const RootsListChangedNotificationSchema = message<messages.RootsListChangedNotification>('notifications/roots/list_changed', none);
export const ElicitationCompleteNotificationSchema = message<messages.ElicitationCompleteNotification>(
  'notifications/elicitation/complete',
  object({ elicitationId: string }),
);

const version = { jsonrpc: literal('2.0') };
export const JSONRPCRequestSchema: ObjectSchema<messages.JSONRPCRequest> = object({
  ...version,
  id: RequestIdSchema,
  method: string,
  params: record.optional(),
});
export const JSONRPCNotificationSchema: ObjectSchema<messages.JSONRPCNotification> = object({
  ...version,
  method: string,
  params: record.optional(),
});
export const JSONRPCResultResponseSchema: ObjectSchema<messages.JSONRPCResultResponse> = object({
  ...version,
  id: RequestIdSchema,
  result: record,
});
export const JSONRPCErrorResponseSchema: ObjectSchema<messages.JSONRPCErrorResponse> = object({
  ...version,
  id: RequestIdSchema.optional(),
  error: object({ code: RequestIdSchema, message: string }),
});
export const JSONRPCErrorSchema: ObjectSchema<messages.JSONRPCError> = JSONRPCErrorResponseSchema;
export const JSONRPCResponseSchema: Schema<messages.JSONRPCResponse> = union(JSONRPCResultResponseSchema, JSONRPCErrorResponseSchema);
export const JSONRPCMessageSchema: Schema<messages.JSONRPCMessage> = union(
  JSONRPCRequestSchema,
  JSONRPCNotificationSchema,
  JSONRPCResultResponseSchema,
  JSONRPCErrorResponseSchema,
);

/** Whether a value is a message of this kind. */
export const isJSONRPCRequest = (value: unknown): value is messages.JSONRPCRequest => JSONRPCRequestSchema.safeParse(value).success;
/** Whether a value is a message of this kind. A request is none. */
export const isJSONRPCNotification = (value: unknown): value is messages.JSONRPCNotification =>
  JSONRPCNotificationSchema.safeParse(value).success && (value as { id?: unknown }).id === undefined;
/** Whether a value is a message of this kind. */
export const isJSONRPCResultResponse = (value: unknown): value is messages.JSONRPCResultResponse =>
  JSONRPCResultResponseSchema.safeParse(value).success;
/** Whether a value is a message of this kind. */
export const isJSONRPCErrorResponse = (value: unknown): value is messages.JSONRPCErrorResponse =>
  JSONRPCErrorResponseSchema.safeParse(value).success;
/** Whether a value is a message of this kind. */
export const isJSONRPCError = isJSONRPCErrorResponse;
/** Whether a value is a result or an error on the wire. */
export const isJSONRPCResponse = (value: unknown): value is messages.JSONRPCResponse => JSONRPCResponseSchema.safeParse(value).success;
/** Whether a value is a request of this method. */
export const isInitializeRequest = (value: unknown): value is messages.InitializeRequest => InitializeRequestSchema.safeParse(value).success;
/** Whether a value is a notification of this method. */
export const isInitializedNotification = (value: unknown): value is messages.InitializedNotification =>
  InitializedNotificationSchema.safeParse(value).success;
