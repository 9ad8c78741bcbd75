/**
 * Schemas of the protocol's objects, by the names of the official SDK.
 */

import type * as types from '../types.js';
import {
  array,
  boolean,
  literal,
  number,
  object,
  type ObjectSchema,
  oneOf,
  type OneOf,
  record,
  type Schema,
  string,
  union,
  unknown,
} from './kit.js';
import type { Cursor, EmptyResult, InitializeResult, ModelPreferences, ProgressToken, PromptReference, RequestId, ResourceTemplateReference } from './messages.js';

const optionalString = string.optional();
const meta = record.optional();

export const ProgressTokenSchema: Schema<ProgressToken> = union(string, number);
export const CursorSchema: Schema<Cursor> = string;
export const RequestIdSchema: Schema<RequestId> = union(string, number);
export const RoleSchema: OneOf<types.PromptMessage['role']> = oneOf('user', 'assistant');
export const LoggingLevelSchema: OneOf<types.LoggingLevel> = oneOf(
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
);

export const IconSchema: ObjectSchema<types.Icon> = object({ src: string, mimeType: optionalString, sizes: array(string).optional() });
const icons = array(IconSchema).optional();

export const AnnotationsSchema: ObjectSchema<types.Annotations> = object({
  audience: array(RoleSchema).optional(),
  priority: number.optional(),
  lastModified: optionalString,
});
const annotations = AnnotationsSchema.optional();
const described = { title: optionalString, description: optionalString, icons, _meta: meta };

export const ImplementationSchema: ObjectSchema<types.Implementation> = object({
  ...described,
  name: string,
  version: string,
  websiteUrl: optionalString,
});

const flag = union<types.JsonObject>(record, boolean).optional();
export const ClientCapabilitiesSchema: ObjectSchema<types.ClientCapabilities> = object({
  experimental: flag,
  sampling: flag,
  elicitation: flag,
  roots: flag,
  extensions: flag,
});
export const ServerCapabilitiesSchema: ObjectSchema<types.ServerCapabilities> = object({
  experimental: flag,
  logging: flag,
  completions: flag,
  prompts: flag,
  resources: flag,
  tools: flag,
  extensions: flag,
});

export const TextContentSchema: ObjectSchema<types.TextContent> = object({ type: literal('text'), text: string, annotations, _meta: meta });
const bytes = { data: string, mimeType: string, annotations, _meta: meta };
export const ImageContentSchema: ObjectSchema<types.ImageContent> = object({ type: literal('image'), ...bytes });
export const AudioContentSchema: ObjectSchema<types.AudioContent> = object({ type: literal('audio'), ...bytes });

const contents = { uri: string, mimeType: optionalString, _meta: meta };
export const ResourceContentsSchema: ObjectSchema<{ uri: string; mimeType?: string }> = object(contents);
export const TextResourceContentsSchema: ObjectSchema<types.TextResourceContents> = object({ ...contents, text: string });
export const BlobResourceContentsSchema: ObjectSchema<types.BlobResourceContents> = object({ ...contents, blob: string });
const anyContents: Schema<types.TextResourceContents | types.BlobResourceContents> = union(
  TextResourceContentsSchema,
  BlobResourceContentsSchema,
);

export const EmbeddedResourceSchema: ObjectSchema<types.EmbeddedResource> = object({
  type: literal('resource'),
  resource: anyContents,
  annotations,
  _meta: meta,
});

const resource = { ...described, uri: string, name: string, mimeType: optionalString, size: number.optional(), annotations };
export const ResourceSchema: ObjectSchema<types.Resource> = object(resource);
export const ResourceLinkSchema: ObjectSchema<types.ResourceLink> = object({ type: literal('resource_link'), ...resource });
export const ResourceTemplateSchema: ObjectSchema<types.ResourceTemplateDescription> = object({
  ...described,
  uriTemplate: string,
  name: string,
  mimeType: optionalString,
  annotations,
});
export const ContentBlockSchema: Schema<types.ContentBlock> = union(
  TextContentSchema,
  ImageContentSchema,
  AudioContentSchema,
  ResourceLinkSchema,
  EmbeddedResourceSchema,
);

export const ToolAnnotationsSchema: ObjectSchema<types.ToolAnnotations> = object({
  title: optionalString,
  readOnlyHint: boolean.optional(),
  destructiveHint: boolean.optional(),
  idempotentHint: boolean.optional(),
  openWorldHint: boolean.optional(),
});
const objectSchema: ObjectSchema<types.Tool['inputSchema']> = object({ type: literal('object') });
const toolShape = {
  ...described,
  name: string,
  inputSchema: objectSchema,
  outputSchema: objectSchema.optional(),
  annotations: ToolAnnotationsSchema.optional(),
};
export const ToolSchema: ObjectSchema<types.Tool, typeof toolShape> = object(toolShape);
export const PromptArgumentSchema: ObjectSchema<types.PromptArgument> = object({
  name: string,
  description: optionalString,
  required: boolean.optional(),
});
export const PromptSchema: ObjectSchema<types.Prompt> = object({
  ...described,
  name: string,
  arguments: array(PromptArgumentSchema).optional(),
});
export const PromptMessageSchema: ObjectSchema<types.PromptMessage> = object({ role: RoleSchema, content: ContentBlockSchema });
export const PromptReferenceSchema: ObjectSchema<PromptReference> = object({ type: literal('ref/prompt'), name: string });
export const ResourceTemplateReferenceSchema: ObjectSchema<ResourceTemplateReference> = object({
  type: literal('ref/resource'),
  uri: string,
});
export const RootSchema: ObjectSchema<types.Root> = object({ uri: string, name: optionalString, _meta: meta });
export const ModelPreferencesSchema: ObjectSchema<ModelPreferences> = object({
  hints: array(record).optional(),
  costPriority: number.optional(),
  speedPriority: number.optional(),
  intelligencePriority: number.optional(),
});

const samplingContent: Schema<types.SamplingContent> = record as Schema<never>;
export const SamplingMessageSchema: ObjectSchema<types.SamplingMessage> = object({
  role: RoleSchema,
  content: union<types.SamplingMessage['content']>(samplingContent, array(samplingContent)),
});
export const ProgressSchema: ObjectSchema<types.Progress> = object({
  progress: number,
  total: number.optional(),
  message: optionalString,
});

const page = { nextCursor: optionalString, _meta: meta };
export const ResultSchema: ObjectSchema<EmptyResult> = object({ _meta: meta });
export const EmptyResultSchema: ObjectSchema<EmptyResult> = ResultSchema;
export const PaginatedResultSchema: ObjectSchema<{ nextCursor?: Cursor }> = object(page);
export const InitializeResultSchema: ObjectSchema<InitializeResult> = object({
  protocolVersion: string,
  capabilities: ServerCapabilitiesSchema,
  serverInfo: ImplementationSchema,
  instructions: optionalString,
});
/** Whether a value is what a tool gave. */
export const isCallToolResult = (value: unknown): value is types.CallToolResult => CallToolResultSchema.safeParse(value).success;
export const ListToolsResultSchema: ObjectSchema<types.ListToolsResult> = object({ ...page, tools: array(ToolSchema) });
// Content of kinds that are not known yet is content as well.
export const CallToolResultSchema: ObjectSchema<types.CallToolResult> = object({
  content: array(record as Schema<never>),
  structuredContent: unknown,
  isError: boolean.optional(),
  _meta: meta,
});
export const CompatibilityCallToolResultSchema: ObjectSchema<types.CallToolResult> = CallToolResultSchema;
export const ListResourcesResultSchema: ObjectSchema<types.ListResourcesResult> = object({ ...page, resources: array(ResourceSchema) });
export const ListResourceTemplatesResultSchema: ObjectSchema<types.ListResourceTemplatesResult> = object({
  ...page,
  resourceTemplates: array(ResourceTemplateSchema),
});
export const ReadResourceResultSchema: ObjectSchema<types.ReadResourceResult> = object({ contents: array(anyContents), _meta: meta });
export const ListPromptsResultSchema: ObjectSchema<types.ListPromptsResult> = object({ ...page, prompts: array(PromptSchema) });
export const GetPromptResultSchema: ObjectSchema<types.GetPromptResult> = object({
  description: optionalString,
  messages: array(object({ role: RoleSchema, content: record })),
  _meta: meta,
});
export const CompleteResultSchema: ObjectSchema<types.CompleteResult> = object({
  completion: object({ values: array(string), total: number.optional(), hasMore: boolean.optional() }),
});
export const ListRootsResultSchema: ObjectSchema<types.ListRootsResult> = object({ roots: array(RootSchema) });
export const CreateMessageResultSchema: ObjectSchema<types.CreateMessageResult> = object({
  role: RoleSchema,
  content: union<types.CreateMessageResult['content']>(samplingContent, array(samplingContent)),
  model: string,
  stopReason: optionalString,
});
export const CreateMessageResultWithToolsSchema: ObjectSchema<types.CreateMessageResult> = CreateMessageResultSchema;
export const ElicitResultSchema: ObjectSchema<types.ElicitResult> = object({
  action: oneOf('accept', 'decline', 'cancel'),
  content: union<types.ElicitResult['content']>(record, literal(null)).optional(),
});
