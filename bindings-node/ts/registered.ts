/**
 * What a server offers, as the program registers it and may change it later.
 */

import type { CompleteCallback } from './completable.js';
import type { ServerContext } from './context.js';
import { usage } from './errors.js';
import type { AnySchema, InferSchema } from './schema.js';
import type {
  Annotations,
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  Icon,
  JsonObject,
  Meta,
  ReadResourceResult,
  Resource,
  ToolAnnotations,
} from './types.js';

/** The `URL` of the program's own types, where it has some. */
export type Url = typeof globalThis extends { URL: { prototype: infer Own } } ? Own : { readonly href: string };

/** What a handle of something registered can do. Clients that are connected are told, once per turn of the event loop. */
export interface Registered<Updates> {
  /** Whether clients see it. */
  readonly enabled: boolean;
  /** Shows it again. */
  enable(): void;
  /** Hides it: it is in no list, and cannot be called. */
  disable(): void;
  /** Changes what is named; the rest stays. */
  update(updates: Updates): void;
  /** Removes it for good. Calls that run go on. */
  remove(): void;
}

/**
 * A handler's own way to ask the client for input (2026-07-28), in place of `ctx.mcpReq.elicitInput` and the others. The
 * next call has the answers in `ctx.mcpReq.inputResponses`, and the state in `ctx.mcpReq.requestState()`.
 */
export interface InputRequiredResult {
  readonly resultType: 'input_required';
  /** By keys of your choice. */
  readonly inputRequests?: Readonly<Record<string, { readonly method: string; readonly params?: object }>>;
  /** Any text. It is sealed, and comes back as it was. */
  readonly requestState?: string;
}

/** What a tool may give. Text alone stands for a result with one block of it. */
export type ToolResult = Omit<CallToolResult, 'content' | 'structuredContent'> & {
  readonly content?: readonly ContentBlock[] | undefined;
  /** An object; of clients of 2026-07-28 any JSON. Others do not get what is none. */
  readonly structuredContent?: unknown;
  readonly [other: string]: unknown;
};

/** What to say of a tool. */
export interface ToolConfig<Input extends AnySchema | undefined = AnySchema | undefined> {
  /** For people; the name where absent. */
  readonly title?: string | undefined;
  /** What it does, for a model. */
  readonly description?: string | undefined;
  /** What arguments it takes. They are checked before the function runs. */
  readonly inputSchema?: Input;
  /**
   * What its `structuredContent` is. It is checked before it is sent, and what a library's schema makes of it is what is sent. Clients
   * of revisions before 2026-07-28 are shown schemas of objects only.
   */
  readonly outputSchema?: AnySchema | JsonObject | undefined;
  /**
   * The function gets its arguments as JSON text, and what text it gives is the JSON text of its result: for integers
   * beyond 2^53, which `JSON.parse` rounds, and for proxies. Its schemas are JSON Schema, which the core checks.
   */
  readonly rawJson?: boolean | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly icons?: readonly Icon[] | undefined;
  readonly _meta?: Meta | undefined;
}

type Gives<Result> = Result | InputRequiredResult | Promise<Result | InputRequiredResult>;

/** A tool's function. What it throws becomes a result with `isError`; an {@link McpError} becomes the answer itself. */
export type ToolCallback<Input = undefined> = [Input] extends [AnySchema]
  ? (args: InferSchema<Input>, ctx: ServerContext) => Gives<CallToolResult | ToolResult | string>
  : (ctx: ServerContext) => Gives<CallToolResult | ToolResult | string>;

/** The function of a tool with {@link ToolConfig.rawJson}: JSON text in and out. */
export type RawToolCallback = (args: string, ctx: ServerContext) => Gives<ToolResult | string>;

/** A tool that is registered. */
export interface RegisteredTool
  extends Registered<
    Partial<ToolConfig> & {
      /** Another name; `null` removes the tool. */
      readonly name?: string | null;
      /** The same as `inputSchema`. */
      readonly paramsSchema?: AnySchema;
      readonly callback?: (...args: never[]) => Gives<ToolResult | string>;
      readonly enabled?: boolean;
    }
  > {
  readonly name: string;
}

/** What to say of a resource, or of the resources of a template. */
export interface ResourceMetadata {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  /** In bytes. */
  readonly size?: number | undefined;
  readonly annotations?: Annotations | undefined;
  readonly icons?: readonly Icon[] | undefined;
  readonly _meta?: Meta | undefined;
}

/** Contents that a function gives: text, or bytes as they are or in base64. */
export interface ResourceResult {
  readonly contents: readonly {
    readonly uri: string;
    readonly mimeType?: string;
    readonly text?: string;
    readonly blob?: string | Uint8Array;
    readonly _meta?: Meta;
  }[];
  readonly _meta?: Meta;
}

/** The values of a template's variables: text, a list or an object where the template says so. */
export type Variables = Readonly<Record<string, string | readonly string[] | Readonly<Record<string, string>>>>;

/** Reads a resource. */
export type ReadResourceCallback = (uri: Url, ctx: ServerContext) => Gives<ReadResourceResult | ResourceResult>;

/** Reads a resource of a template. */
export type ReadResourceTemplateCallback = (
  uri: Url,
  // Programs know the variables of their own templates.
  // oxlint-disable-next-line no-explicit-any
  variables: any,
  ctx: ServerContext,
) => Gives<ReadResourceResult | ResourceResult>;

/** A resource that is registered. */
export interface RegisteredResource
  extends Registered<{
    readonly name?: string;
    /** Another URI; `null` removes the resource. */
    readonly uri?: string | null;
    readonly title?: string;
    readonly metadata?: ResourceMetadata;
    readonly callback?: ReadResourceCallback;
    readonly enabled?: boolean;
  }> {
  readonly uri: string;
  readonly name: string;
}

/** A template of resources that is registered. */
export interface RegisteredResourceTemplate
  extends Registered<{
    /** Another name; `null` removes the template. */
    readonly name?: string | null;
    readonly title?: string;
    readonly template?: ResourceTemplate;
    readonly metadata?: ResourceMetadata;
    readonly callback?: ReadResourceTemplateCallback;
    readonly enabled?: boolean;
  }> {
  readonly name: string;
}

/**
 * A URI template by RFC 6570, with functions that complete its variables.
 *
 * @example
 * ```ts
 * import { McpServer, ResourceTemplate } from 'oxmcp';
 *
 * const server = new McpServer({ name: 'example', version: '1.0.0' });
 * const template = new ResourceTemplate('users://{id}/profile', { complete: { id: () => ['1', '2'] } });
 * server.registerResource('profile', template, { mimeType: 'text/plain' }, (uri, { id }) => ({
 *   contents: [{ uri: uri.href, text: `The profile of ${id}` }],
 * }));
 * ```
 */
export class ResourceTemplate {
  readonly uriTemplate: string;
  /** Finds the resources of this template that are to be listed; each call of `resources/list` asks. */
  readonly listCallback: ListResourcesCallback | undefined;
  /** By variable. Internal. */
  readonly complete: Readonly<Record<string, CompleteCallback>>;

  /**
   * @param callbacks.list gives the resources that are to be listed, each with a `uri` that the template fits
   * @param callbacks.complete completes variables, by their names
   */
  constructor(
    uriTemplate: string | { toString(): string },
    callbacks: {
      readonly list?: ListResourcesCallback | undefined;
      readonly complete?: Readonly<Record<string, CompleteCallback>> | undefined;
    } = {},
  ) {
    const text: unknown = typeof uriTemplate === 'object' ? String(uriTemplate) : uriTemplate;
    if (typeof text !== 'string') throw usage('a resource template needs a URI template that is a string');
    const { list, complete } = callbacks;
    if (list !== undefined && typeof list !== 'function') throw usage(`the list of the template ${text} must be a function`);
    this.uriTemplate = text;
    this.listCallback = list;
    this.complete = complete ?? {};
  }

  /** The function that completes a variable. */
  completeCallback(variable: string): CompleteCallback | undefined {
    return Object.hasOwn(this.complete, variable) ? this.complete[variable] : undefined;
  }
}

/** Lists resources that a template stands for. What they do not say of themselves, the template's metadata says. */
export type ListResourcesCallback = (ctx: ServerContext) => ListedResources | Promise<ListedResources>;

/** Resources that are found when a client asks. */
export interface ListedResources {
  readonly resources: readonly Resource[];
}

/** What to say of a prompt. */
export interface PromptConfig<Args extends AnySchema | undefined = AnySchema | undefined> {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** What arguments it takes; their values are text. {@link completable} ones are completed. */
  readonly argsSchema?: Args;
  readonly icons?: readonly Icon[] | undefined;
  readonly _meta?: Meta | undefined;
}

/** A prompt's function. */
export type PromptCallback<Args = undefined> = [Args] extends [AnySchema]
  ? (args: InferSchema<Args>, ctx: ServerContext) => Gives<GetPromptResult>
  : (ctx: ServerContext) => Gives<GetPromptResult>;

/** A prompt that is registered. */
export interface RegisteredPrompt
  extends Registered<
    Partial<PromptConfig> & {
      /** Another name; `null` removes the prompt. */
      readonly name?: string | null;
      readonly callback?: (...args: never[]) => Gives<GetPromptResult>;
      readonly enabled?: boolean;
    }
  > {
  readonly name: string;
}

/** Answers a request of a method of your own. */
export type ServerRequestHandler = (
  request: { readonly method: string; readonly params: JsonObject | undefined },
  ctx: ServerContext,
) => object | Promise<object>;
