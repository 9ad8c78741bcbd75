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
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
  readonly icons?: readonly Icon[];
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** Resources that share a URI template. */
export interface ResourceTemplateDescription {
  /** By RFC 6570. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly icons?: readonly Icon[];
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** The answer to `resources/list`. */
export interface ListResourcesResult {
  readonly resources: readonly Resource[];
  /** Where the next page starts; absent from a whole list. */
  readonly nextCursor?: string;
  readonly _meta?: Meta;
}

/** The answer to `resources/templates/list`. */
export interface ListResourceTemplatesResult {
  readonly resourceTemplates: readonly ResourceTemplateDescription[];
  /** Where the next page starts; absent from a whole list. */
  readonly nextCursor?: string;
  readonly _meta?: Meta;
}

/** The answer to `resources/read`. */
export interface ReadResourceResult {
  readonly contents: readonly (TextResourceContents | BlobResourceContents)[];
  readonly _meta?: Meta;
}

/** A prompt that a server offers. */
export interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly PromptArgument[];
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
}

/** An argument of a prompt. Its value is text. */
export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

/** The answer to `prompts/list`. */
export interface ListPromptsResult {
  readonly prompts: readonly Prompt[];
  /** Where the next page starts; absent from a whole list. */
  readonly nextCursor?: string;
  readonly _meta?: Meta;
}

/** The answer to `prompts/get`. */
export interface GetPromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  readonly _meta?: Meta;
}

/** A message of a prompt. */
export interface PromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlock;
}

/** What {@link Client.complete} completes. */
export interface CompleteParams {
  readonly ref:
    | { readonly type: 'ref/prompt'; readonly name: string }
    | { readonly type: 'ref/resource'; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  /** The values of the other arguments, as far as they are known. */
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> };
  readonly _meta?: Meta;
}

/** The answer to `completion/complete`. */
export interface CompleteResult {
  readonly completion: {
    /** At most 100. */
    readonly values: readonly string[];
    readonly total?: number;
    readonly hasMore?: boolean;
  };
  readonly _meta?: Meta;
}

/** How severe a log message is, mildest first. */
export type LoggingLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** A log message. */
export interface LoggingMessage {
  readonly level: LoggingLevel;
  readonly logger?: string | undefined;
  /** Any JSON. */
  readonly data: unknown;
}

/** What a client can do for its server. A member that is absent is not offered. */
export interface ClientCapabilities {
  readonly roots?: { readonly listChanged?: boolean };
  readonly sampling?: { readonly tools?: JsonObject; readonly context?: JsonObject };
  /** Without a member: forms alone. */
  readonly elicitation?: { readonly form?: JsonObject; readonly url?: JsonObject };
  readonly experimental?: JsonObject;
  readonly extensions?: JsonObject;
  readonly [other: string]: unknown;
}

/** A folder or file that a server may work in. */
export interface Root {
  /** A `file:` URL. */
  readonly uri: string;
  readonly name?: string;
  readonly _meta?: Meta;
}

/** The answer to `roots/list`. */
export interface ListRootsResult {
  readonly roots: readonly Root[];
  readonly _meta?: Meta;
}

/** The params of `elicitation/create`: a form to fill in, or a URL to visit. */
export type ElicitRequestParams = ElicitRequestFormParams | ElicitRequestURLParams;

/** A form for the user. */
export interface ElicitRequestFormParams {
  readonly mode?: 'form';
  readonly message: string;
  /** A JSON Schema of flat properties. */
  readonly requestedSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, JsonObject>>;
    readonly required?: readonly string[];
    readonly [other: string]: unknown;
  };
}

/** A URL for the user, for what must not pass through the client. */
export interface ElicitRequestURLParams {
  readonly mode: 'url';
  readonly message: string;
  readonly url: string;
  readonly elicitationId?: string;
}

/** The answer to `elicitation/create`. */
export interface ElicitResult {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** What the user filled in; with `'accept'` only. */
  readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly _meta?: Meta;
}

/** The params of `sampling/createMessage`. */
export interface CreateMessageRequestParams {
  readonly messages: readonly SamplingMessage[];
  readonly maxTokens: number;
  readonly modelPreferences?: JsonObject;
  readonly systemPrompt?: string;
  readonly includeContext?: 'none' | 'thisServer' | 'allServers';
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly metadata?: JsonObject;
  readonly tools?: readonly JsonObject[];
  readonly toolChoice?: { readonly mode?: 'auto' | 'required' | 'none' };
}

/** Content of a message to or from a model. */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** A message to or from a model. */
export interface SamplingMessage {
  readonly role: 'user' | 'assistant';
  readonly content: SamplingContent | readonly SamplingContent[];
  readonly _meta?: Meta;
}

/** The model wants a tool to be called. */
export interface ToolUseContent {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly _meta?: Meta;
}

/** What a tool gave that the model wanted. */
export interface ToolResultContent {
  readonly type: 'tool_result';
  readonly toolUseId: string;
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: JsonObject;
  readonly isError?: boolean;
  readonly _meta?: Meta;
}

/** The answer to `sampling/createMessage`. */
export interface CreateMessageResult {
  readonly role: 'user' | 'assistant';
  readonly content: SamplingContent | readonly SamplingContent[];
  readonly model: string;
  readonly stopReason?: string;
  readonly _meta?: Meta;
}

/** What a stream of {@link Client.listen} is to tell (2026-07-28). */
export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  /** URIs. */
  readonly resourceSubscriptions?: readonly string[];
}

/** The answer to `server/discover` (2026-07-28). */
export interface DiscoverResult {
  readonly supportedVersions: readonly string[];
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  readonly _meta?: Meta;
  readonly [other: string]: unknown;
}
