/**
 * The protocol's objects that a client meets, as they stand on the wire.
 *
 * Servers may add members that are not listed, and newer servers new kinds of content: all of it arrives unchanged.
 */

export type * from './features.js';

/** Extra data on any object, by agreement between the two sides. */
export type Meta = Readonly<Record<string, unknown>>;

/** Any JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * A value to be sent as a JSON object: an object literal, or a value of an interface or a class. Not an array, a map, a
 * set or a function.
 */
export type JsonObjectInput =
  | JsonObject
  | (object & { readonly [Symbol.iterator]?: never; readonly [Symbol.hasInstance]?: never });

/** A program that speaks the protocol. */
export interface Implementation {
  /** For programs. */
  readonly name: string;
  /** In the program's own scheme. */
  readonly version: string;
  /** For people; absent when equal to the name. */
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly websiteUrl?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
}

/** A picture for a user interface. */
export interface Icon {
  /** An `http(s):` or `data:` URL. */
  readonly src: string;
  readonly mimeType?: string;
  /** Such as `'48x48'` or `'any'`. */
  readonly sizes?: readonly string[];
  readonly theme?: 'light' | 'dark';
}

/** What a server offers, as declared at the handshake. A member that is absent is not offered. */
export interface ServerCapabilities {
  readonly tools?: { readonly listChanged?: boolean };
  readonly prompts?: { readonly listChanged?: boolean };
  readonly resources?: { readonly subscribe?: boolean; readonly listChanged?: boolean };
  readonly completions?: JsonObject;
  readonly logging?: JsonObject;
  readonly tasks?: JsonObject;
  readonly experimental?: JsonObject;
  readonly [other: string]: unknown;
}

/** A tool that a server offers. */
export interface Tool {
  /** The name to call it by. */
  readonly name: string;
  readonly title?: string;
  /** What it does, for a model. */
  readonly description?: string;
  /** The JSON Schema of its arguments. */
  readonly inputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown };
  /** The JSON Schema of its structured content. */
  readonly outputSchema?: { readonly type: 'object'; readonly [keyword: string]: unknown };
  readonly annotations?: ToolAnnotations;
  readonly execution?: { readonly taskSupport?: 'forbidden' | 'optional' | 'required' };
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
}

/** Hints on what a tool does. They come from the server: do not base decisions on those of a server you do not trust. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** The answer to `tools/list`. */
export interface ListToolsResult {
  readonly tools: readonly Tool[];
  /** Where the next page starts. Absent from {@link Client.listTools} without a cursor, which gives all pages. */
  readonly nextCursor?: string;
  readonly _meta?: Meta;
}

/** The answer to `tools/call`. */
export interface CallToolResult {
  /** What the tool gave. Content of a kind that is not listed here arrives as it is; check `type`. */
  readonly content: readonly ContentBlock[];
  /** The same as JSON, for tools with an output schema. */
  readonly structuredContent?: JsonObject;
  /** The tool failed; `content` says why. */
  readonly isError?: boolean;
  readonly _meta?: Meta;
}

/** A piece of content. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** Whom content is for, and how much it matters. */
export interface Annotations {
  readonly audience?: readonly ('user' | 'assistant')[];
  /** From 0, optional, to 1, required. */
  readonly priority?: number;
  /** An ISO 8601 time. */
  readonly lastModified?: string;
}

/** Text. */
export interface TextContent {
  readonly type: 'text';
  readonly text: string;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** A picture. */
export interface ImageContent {
  readonly type: 'image';
  /** Its bytes in base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** Sound. */
export interface AudioContent {
  readonly type: 'audio';
  /** Its bytes in base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** A resource to be read from the server. */
export interface ResourceLink {
  readonly type: 'resource_link';
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

/** A resource, contents and all. */
export interface EmbeddedResource {
  readonly type: 'resource';
  readonly resource: TextResourceContents | BlobResourceContents;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** A resource that is text. */
export interface TextResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text: string;
  readonly _meta?: Meta;
}

/** A resource that is not text. */
export interface BlobResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  /** Its bytes in base64. */
  readonly blob: string;
  readonly _meta?: Meta;
}

/** How far a call has come. */
export interface Progress {
  /** Grows with each report. */
  readonly progress: number;
  /** What `progress` will be at the end, where known. */
  readonly total?: number;
  /** For a person. */
  readonly message?: string;
}
