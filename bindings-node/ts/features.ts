/**
 * The protocol's objects beyond tools: resources, prompts, completion, logging, what a server asks of a client, and
 * subscriptions, as they stand on the wire.
 */

import type {
  Annotations,
  AudioContent,
  BlobResourceContents,
  ContentBlock,
  Icon,
  ImageContent,
  JsonObject,
  Meta,
  TextContent,
  TextResourceContents,
} from './types.js';

/** Something to read that a server offers. */
export interface Resource {
  uri: string;
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  mimeType?: string | undefined;
  /** In bytes. */
  size?: number | undefined;
  icons?: Icon[] | undefined;
  annotations?: Annotations | undefined;
  _meta?: Meta | undefined;
}

/** Resources that share a URI template. */
export interface ResourceTemplateDescription {
  /** By RFC 6570. */
  uriTemplate: string;
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  mimeType?: string | undefined;
  icons?: Icon[] | undefined;
  annotations?: Annotations | undefined;
  _meta?: Meta | undefined;
}

/** The answer to `resources/list`. */
export interface ListResourcesResult {
  resources: Resource[];
  /** Where the next page starts; absent from a whole list. */
  nextCursor?: string | undefined;
  _meta?: Meta | undefined;
}

/** The answer to `resources/templates/list`. */
export interface ListResourceTemplatesResult {
  resourceTemplates: ResourceTemplateDescription[];
  /** Where the next page starts; absent from a whole list. */
  nextCursor?: string | undefined;
  _meta?: Meta | undefined;
}

/** The answer to `resources/read`. */
export interface ReadResourceResult {
  contents: (TextResourceContents | BlobResourceContents)[];
  _meta?: Meta | undefined;
}

/** A prompt that a server offers. */
export interface Prompt {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  arguments?: PromptArgument[] | undefined;
  icons?: Icon[] | undefined;
  _meta?: Meta | undefined;
}

/** An argument of a prompt. Its value is text. */
export interface PromptArgument {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  required?: boolean | undefined;
}

/** The answer to `prompts/list`. */
export interface ListPromptsResult {
  prompts: Prompt[];
  /** Where the next page starts; absent from a whole list. */
  nextCursor?: string | undefined;
  _meta?: Meta | undefined;
}

/** The answer to `prompts/get`. */
export interface GetPromptResult {
  description?: string | undefined;
  messages: PromptMessage[];
  _meta?: Meta | undefined;
}

/** A message of a prompt. */
export interface PromptMessage {
  role: 'user' | 'assistant';
  content: ContentBlock;
}

/** What {@link Client.complete} completes. */
export interface CompleteParams {
  ref:
    | { type: 'ref/prompt'; name: string }
    | { type: 'ref/resource'; uri: string };
  argument: { name: string; value: string };
  /** The values of the other arguments, as far as they are known. */
  context?: { arguments?: Readonly<Record<string, string>> | undefined } | undefined;
  _meta?: Meta | undefined;
}

/** The answer to `completion/complete`. */
export interface CompleteResult {
  completion: {
    /** At most 100. */
    values: string[];
    total?: number | undefined;
    hasMore?: boolean | undefined;
  };
  _meta?: Meta | undefined;
}

/** How severe a log message is, mildest first. */
export type LoggingLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** A log message. */
export interface LoggingMessage {
  level: LoggingLevel;
  logger?: string | undefined;
  /** Any JSON. */
  data: unknown;
}

/** What a client can do for its server. A member that is absent is not offered. */
export interface ClientCapabilities {
  roots?: { listChanged?: boolean | undefined } | undefined;
  sampling?: { tools?: JsonObject | undefined; context?: JsonObject | undefined } | undefined;
  /** Without a member: forms alone. */
  elicitation?: { form?: JsonObject | undefined; url?: JsonObject | undefined } | undefined;
  experimental?: JsonObject | undefined;
  extensions?: JsonObject | undefined;
  [other: string]: unknown;
}

/** A folder or file that a server may work in. */
export interface Root {
  /** A `file:` URL. */
  uri: string;
  name?: string | undefined;
  _meta?: Meta | undefined;
}

/** The answer to `roots/list`. */
export interface ListRootsResult {
  roots: Root[];
  _meta?: Meta | undefined;
}

/** The params of `elicitation/create`: a form to fill in, or a URL to visit. */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams;

/** A form for the user. */
export interface ElicitRequestFormParams {
  mode?: 'form' | undefined;
  message: string;
  /** A JSON Schema of flat properties. */
  requestedSchema: {
    type: 'object';
    properties: Readonly<Record<string, JsonObject>>;
    required?: readonly string[] | undefined;
    [other: string]: unknown;
  };
}

/** A URL for the user, for what must not pass through the client. */
export interface ElicitRequestURLParams {
  mode: 'url';
  message: string;
  url: string;
  elicitationId?: string | undefined;
}

/** The answer to `elicitation/create`. */
export interface ElicitResult {
  action: 'accept' | 'decline' | 'cancel';
  /** What the user filled in; with `'accept'` only. */
  content?: Readonly<Record<string, string | number | boolean | string[]>> | undefined;
  _meta?: Meta | undefined;
}

/** The params of `sampling/createMessage`. */
export interface CreateMessageRequestParams {
  messages: readonly SamplingMessage[];
  maxTokens: number;
  modelPreferences?: JsonObject | undefined;
  systemPrompt?: string | undefined;
  includeContext?: 'none' | 'thisServer' | 'allServers' | undefined;
  temperature?: number | undefined;
  stopSequences?: readonly string[] | undefined;
  metadata?: JsonObject | undefined;
  tools?: readonly JsonObject[] | undefined;
  toolChoice?: { mode?: 'auto' | 'required' | 'none' | undefined } | undefined;
}

/** Content of a message to or from a model. */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** A message to or from a model. */
export interface SamplingMessage {
  role: 'user' | 'assistant';
  content: SamplingContent | SamplingContent[];
  _meta?: Meta | undefined;
}

/** The model wants a tool to be called. */
export interface ToolUseContent {
  type: 'tool_use';
  id: string;
  name: string;
  input: JsonObject;
  _meta?: Meta | undefined;
}

/** What a tool gave that the model wanted. */
export interface ToolResultContent {
  type: 'tool_result';
  toolUseId: string;
  content: ContentBlock[];
  structuredContent?: Record<string, unknown> | undefined;
  isError?: boolean | undefined;
  _meta?: Meta | undefined;
}

/** The answer to `sampling/createMessage`. */
export interface CreateMessageResult {
  role: 'user' | 'assistant';
  content: SamplingContent | SamplingContent[];
  model: string;
  stopReason?: string | undefined;
  _meta?: Meta | undefined;
}

/** What a stream of {@link Client.listen} is to tell (2026-07-28). */
export interface SubscriptionFilter {
  toolsListChanged?: boolean | undefined;
  promptsListChanged?: boolean | undefined;
  resourcesListChanged?: boolean | undefined;
  /** URIs. */
  resourceSubscriptions?: readonly string[] | undefined;
}

/** The answer to `server/discover` (2026-07-28). */
export interface DiscoverResult {
  supportedVersions: string[];
  capabilities: JsonObject;
  instructions?: string | undefined;
  _meta?: Meta | undefined;
  [other: string]: unknown;
}
