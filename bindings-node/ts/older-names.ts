/**
 * The older ways to register, whose arguments are told apart by what they are.
 */

import { usage } from './errors.js';
import type {
  PromptCallback,
  PromptConfig,
  ReadResourceCallback,
  ReadResourceTemplateCallback,
  RegisteredPrompt,
  RegisteredResource,
  RegisteredResourceTemplate,
  RegisteredTool,
  ResourceMetadata,
  ResourceTemplate,
  ToolCallback,
  ToolConfig,
} from './registered.js';
import { type AnySchema, type SchemaShape, isSchemaLike } from './schema.js';
import type { ToolAnnotations } from './types.js';

type Callback = (...args: never[]) => never;

/** What a server registers by. */
interface Registrar {
  registerTool(name: string, config: ToolConfig, callback: Callback): RegisteredTool;
  registerResource(name: string, where: unknown, metadata: ResourceMetadata, callback: Callback): unknown;
  registerPrompt(name: string, config: PromptConfig, callback: Callback): RegisteredPrompt;
}

/** The older names of a server's functions. */
export abstract class OlderNames {
  /** The older way to write {@link McpServer.registerTool}. */
  tool(name: string, callback: ToolCallback): RegisteredTool;
  tool(name: string, description: string, callback: ToolCallback): RegisteredTool;
  tool<const Args extends SchemaShape>(name: string, args: Args | ToolAnnotations, callback: ToolCallback<Args>): RegisteredTool;
  tool<const Args extends SchemaShape>(
    name: string,
    description: string,
    args: Args | ToolAnnotations,
    callback: ToolCallback<Args>,
  ): RegisteredTool;
  tool<const Args extends SchemaShape>(
    name: string,
    args: Args,
    annotations: ToolAnnotations,
    callback: ToolCallback<Args>,
  ): RegisteredTool;
  tool<const Args extends SchemaShape>(
    name: string,
    description: string,
    args: Args,
    annotations: ToolAnnotations,
    callback: ToolCallback<Args>,
  ): RegisteredTool;
  tool(name: string, ...rest: readonly unknown[]): RegisteredTool {
    const [config, callback] = toolArguments(name, rest);
    return (this as unknown as Registrar).registerTool(name, config, callback);
  }

  /** The older way to write {@link McpServer.registerResource}. */
  resource(name: string, uri: string, callback: ReadResourceCallback): RegisteredResource;
  resource(name: string, uri: string, metadata: ResourceMetadata, callback: ReadResourceCallback): RegisteredResource;
  resource(name: string, template: ResourceTemplate, callback: ReadResourceTemplateCallback): RegisteredResourceTemplate;
  resource(
    name: string,
    template: ResourceTemplate,
    metadata: ResourceMetadata,
    callback: ReadResourceTemplateCallback,
  ): RegisteredResourceTemplate;
  resource(name: string, where: unknown, ...rest: readonly unknown[]): never {
    const [metadata, callback] = resourceArguments(name, rest);
    return (this as unknown as Registrar).registerResource(name, where, metadata, callback) as never;
  }

  /** The older way to write {@link McpServer.registerPrompt}. */
  prompt(name: string, callback: PromptCallback): RegisteredPrompt;
  prompt(name: string, description: string, callback: PromptCallback): RegisteredPrompt;
  prompt<const Args extends SchemaShape>(name: string, args: Args, callback: PromptCallback<Args>): RegisteredPrompt;
  prompt<const Args extends SchemaShape>(
    name: string,
    description: string,
    args: Args,
    callback: PromptCallback<Args>,
  ): RegisteredPrompt;
  prompt(name: string, ...rest: readonly unknown[]): RegisteredPrompt {
    const [config, callback] = promptArguments(name, rest);
    return (this as unknown as Registrar).registerPrompt(name, config, callback);
  }
}

/** `tool(name, description?, argumentsOrAnnotations?, annotations?, callback)`. */
function toolArguments(name: string, rest: readonly unknown[]): [ToolConfig, Callback] {
  const callback = lastOf(rest, `tool('${name}', …)`);
  const config: { description?: string; inputSchema?: AnySchema; annotations?: ToolAnnotations } = {};
  for (const [at, value] of rest.slice(0, -1).entries()) {
    if (at === 0 && typeof value === 'string') config.description = value;
    else if (!isObject(value)) throw usage(`tool('${name}', …): argument ${at + 2} must be a schema of its arguments, or annotations`);
    else if (config.inputSchema === undefined && config.annotations === undefined && isSchemaLike(value)) config.inputSchema = value;
    else if (config.annotations === undefined) config.annotations = value as ToolAnnotations;
    else throw usage(`tool('${name}', …) has more arguments than tool(name, description, arguments, annotations, callback)`);
  }
  return [config, callback];
}

/** `prompt(name, description?, arguments?, callback)`. */
function promptArguments(name: string, rest: readonly unknown[]): [PromptConfig, Callback] {
  const callback = lastOf(rest, `prompt('${name}', …)`);
  const config: { description?: string; argsSchema?: AnySchema } = {};
  for (const [at, value] of rest.slice(0, -1).entries()) {
    if (at === 0 && typeof value === 'string') config.description = value;
    else if (config.argsSchema === undefined && isObject(value)) config.argsSchema = value as AnySchema;
    else throw usage(`prompt('${name}', …): argument ${at + 2} must be a schema of its arguments`);
  }
  return [config, callback];
}

/** `resource(name, uriOrTemplate, metadata?, callback)`. */
function resourceArguments(name: string, rest: readonly unknown[]): [ResourceMetadata, Callback] {
  const callback = lastOf(rest, `resource('${name}', …)`);
  const [metadata = {}] = rest.slice(0, -1);
  if (!isObject(metadata)) throw usage(`resource('${name}', …): argument 3 must be an object of metadata`);
  return [metadata as ResourceMetadata, callback];
}

function lastOf(rest: readonly unknown[], what: string): Callback {
  const callback = rest.at(-1);
  if (typeof callback === 'function') return callback as Callback;
  throw usage(`${what} needs a function as its last argument`);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
