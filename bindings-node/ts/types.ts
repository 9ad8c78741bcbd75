/**
 * The protocol's objects that a client meets, as they stand on the wire.
 *
 * Servers may add members that are not listed, and newer servers new kinds of content: all of it arrives unchanged.
 */

export type * from './features.js';

/** Extra data on any object, by agreement between the two sides. */
export type Meta = Record<string, unknown>;

/** Any JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * A value to be sent as a JSON object: an object literal, or a value of an interface or a class. Not an array, a map, a
 * set or a function.
 */
export type JsonObjectInput =
  | JsonObject
  | (object & { [Symbol.iterator]?: never; [Symbol.hasInstance]?: never });

/** A program that speaks the protocol. */
export interface Implementation {
  /** For programs. */
  name: string;
  /** In the program's own scheme. */
  version: string;
  /** For people; absent when equal to the name. */
  title?: string | undefined;
  description?: string | undefined;
  websiteUrl?: string | undefined;
  icons?: Icon[] | undefined;
}

/** A picture for a user interface. */
export interface Icon {
  /** An `http(s):` or `data:` URL. */
  src: string;
  mimeType?: string | undefined;
  /** Such as `'48x48'` or `'any'`. */
  sizes?: string[] | undefined;
  theme?: 'light' | 'dark' | undefined;
}

/** What a server offers, as declared at the handshake. A member that is absent is not offered. */
export interface ServerCapabilities {
  tools?: { listChanged?: boolean | undefined } | undefined;
  prompts?: { listChanged?: boolean | undefined } | undefined;
  resources?: { subscribe?: boolean | undefined; listChanged?: boolean | undefined } | undefined;
  completions?: JsonObject | undefined;
  logging?: JsonObject | undefined;
  tasks?: JsonObject | undefined;
  experimental?: JsonObject | undefined;
  [other: string]: unknown;
}

/** A tool that a server offers. */
export interface Tool {
  /** The name to call it by. */
  name: string;
  title?: string | undefined;
  /** What it does, for a model. */
  description?: string | undefined;
  /** The JSON Schema of its arguments. */
  inputSchema: { type: 'object'; [keyword: string]: unknown };
  /** The JSON Schema of its structured content. */
  outputSchema?: { type: 'object' | undefined; [keyword: string]: unknown };
  annotations?: ToolAnnotations | undefined;
  execution?: { taskSupport?: 'forbidden' | 'optional' | 'required' | undefined } | undefined;
  icons?: Icon[] | undefined;
  _meta?: Meta | undefined;
}

/** Hints on what a tool does. They come from the server: do not base decisions on those of a server you do not trust. */
export interface ToolAnnotations {
  title?: string | undefined;
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  idempotentHint?: boolean | undefined;
  openWorldHint?: boolean | undefined;
}

/** The answer to `tools/list`. */
export interface ListToolsResult {
  tools: Tool[];
  /** Where the next page starts. Absent from {@link Client.listTools} without a cursor, which gives all pages. */
  nextCursor?: string | undefined;
  _meta?: Meta | undefined;
}

/** The answer to `tools/call`. */
export interface CallToolResult {
  /** What the tool gave. Content of a kind that is not listed here arrives as it is; check `type`. */
  content: ContentBlock[];
  /** The same as JSON, for tools with an output schema. */
  structuredContent?: Record<string, unknown> | undefined;
  /** The tool failed; `content` says why. */
  isError?: boolean | undefined;
  _meta?: Meta | undefined;
}

/** A piece of content. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** Whom content is for, and how much it matters. */
export interface Annotations {
  audience?: ('user' | 'assistant')[] | undefined;
  /** From 0, optional, to 1, required. */
  priority?: number | undefined;
  /** An ISO 8601 time. */
  lastModified?: string | undefined;
}

/** Text. */
export interface TextContent {
  type: 'text';
  text: string;
  annotations?: Annotations | undefined;
  _meta?: Meta | undefined;
}

/** A picture. */
export interface ImageContent {
  type: 'image';
  /** Its bytes in base64. */
  data: string;
  mimeType: string;
  annotations?: Annotations | undefined;
  _meta?: Meta | undefined;
}

/** Sound. */
export interface AudioContent {
  type: 'audio';
  /** Its bytes in base64. */
  data: string;
  mimeType: string;
  annotations?: Annotations | undefined;
  _meta?: Meta | undefined;
}

/** A resource to be read from the server. */
export interface ResourceLink {
  type: 'resource_link';
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

/** A resource, contents and all. */
export interface EmbeddedResource {
  type: 'resource';
  resource: TextResourceContents | BlobResourceContents;
  annotations?: Annotations | undefined;
  _meta?: Meta | undefined;
}

/** A resource that is text. */
export interface TextResourceContents {
  uri: string;
  mimeType?: string | undefined;
  text: string;
  _meta?: Meta | undefined;
}

/** A resource that is not text. */
export interface BlobResourceContents {
  uri: string;
  mimeType?: string | undefined;
  /** Its bytes in base64. */
  blob: string;
  _meta?: Meta | undefined;
}

/** How far a call has come. */
export interface Progress {
  /** Grows with each report. */
  progress: number;
  /** What `progress` will be at the end, where known. */
  total?: number | undefined;
  /** For a person. */
  message?: string | undefined;
}
