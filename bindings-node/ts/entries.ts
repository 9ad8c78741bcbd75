/**
 * Entries of a server's registry: what is said of each, and the function behind it. Internal.
 */

import { blocksOf, contentsOf, promptMessagesOf } from './blocks.js';
import { checkMetadata, checkShown, requireConfig, requireName } from './check-descriptor.js';
import { type Known, checkOptions, isObject, kindOf } from './check-options.js';
import { type CompleteCallback, completerOf } from './completable.js';
import { CallContext, type ServerContext } from './context.js';
import { ErrorCode, McpError, textOf, usage } from './errors.js';
import { errorAnswer, fault, isPassedOn } from './failure.js';
import { type Incoming, settle } from './incoming.js';
import { objectText, valueText } from './json.js';
import type {
  PromptConfig,
  RegisteredPrompt,
  RegisteredResource,
  RegisteredResourceTemplate,
  RegisteredTool,
  ResourceMetadata,
  ResourceTemplate,
  ToolConfig,
} from './registered.js';
import { type Prepared, checked, prepare } from './schema.js';
import { requireReachable } from './unreachable.js';
import type { JsonObject } from './types.js';

/** The server that entries belong to. */
export interface Host {
  /** Runs a command of the registry, and lets the clients know. */
  command(command: object): Readonly<Record<string, unknown>>;
  /** From now on the arguments of this tool come as JSON text. */
  keepText(tool: number): void;
  /** What went wrong in the program, and is hidden from clients. */
  thrown(error: unknown): void;
  /** From now on a template finds resources when it is asked. */
  lists(): void;
}

export type Kind = 'tool' | 'resource' | 'template' | 'prompt';

/** Any function of the program. */
// oxlint-disable-next-line no-explicit-any
type Callback = (...args: any[]) => unknown;

/** The entries of one kind, by their numbers. */
export type Table = Map<number, Entry>;

const NO_OBJECT: JsonObject = { type: 'object' };

/** Makes a result what the protocol has, or says what is wrong with it. */
type Shape = (result: JsonObject, what: string) => JsonObject;

export abstract class Entry {
  readonly #host: Host;
  readonly #kind: Kind;
  readonly #table: Table;
  #id: number | undefined;
  #key: string;
  #enabled = true;
  /** Whether the core has its descriptor. */
  #described = false;

  constructor(host: Host, kind: Kind, table: Table, key: string) {
    this.#host = host;
    this.#kind = kind;
    this.#table = table;
    this.#key = key;
  }

  /** The object that lists show. */
  protected abstract descriptor(): JsonObject;
  /** Whether making the descriptor takes time, so that it waits until someone asks. */
  protected abstract get isCostly(): boolean;
  /** What the core is told beside the key. */
  protected abstract get traits(): object;
  /** Runs the function behind it. */
  abstract run(call: Incoming, params: unknown): void;
  /** Completes an argument. */
  complete(call: Incoming, _params: CompletionParams): void {
    call.connection.respondResult(call, '{"completion":{"values":[]}}');
  }

  get enabled(): boolean {
    return this.#enabled;
  }

  protected get key(): string {
    return this.#key;
  }

  protected get host(): Host {
    return this.#host;
  }

  add(): void {
    const isCostly = this.isCostly;
    const descriptor = isCostly ? undefined : this.descriptor();
    const given = this.#host.command({ add: { kind: this.#kind, key: this.#key, descriptor, ...this.traits } });
    this.#id = given['entry'] as number;
    this.#described = !isCostly;
    this.#table.set(this.#id, this);
    this.added(this.#id);
    if (!this.#enabled) this.#setEnabled(false);
  }

  /** It has this number from now on. */
  protected added(_id: number): void {}

  enable(): void {
    this.#enabled = true;
    this.#setEnabled(true);
  }

  disable(): void {
    this.#enabled = false;
    this.#setEnabled(false);
  }

  remove(): void {
    if (this.#id === undefined) return;
    this.#host.command({ remove: { kind: this.#kind, entry: this.#id } });
    this.#table.delete(this.#id);
    this.#id = undefined;
  }

  /** Someone asks for the descriptors of all entries of this kind. */
  describe(): void {
    if (this.#described || this.#id === undefined) return;
    this.#host.command({ describe: { kind: this.#kind, entry: this.#id, descriptor: this.descriptor() } });
    this.#described = true;
  }

  /** What is said of it changed. With another key, or other traits, it is a new entry, at the end of the list. */
  protected changed(key: string, isAnother: boolean): void {
    if (this.#id === undefined) throw usage(`the ${this.#kind} "${this.#key}" was removed; register it again`);
    if (isAnother || key !== this.#key) {
      this.remove();
      this.#key = key;
      this.add();
    } else if (this.#described) {
      this.#host.command({ describe: { kind: this.#kind, entry: this.#id, descriptor: this.descriptor() } });
    }
  }

  /** Answers with what the function threw. */
  protected failed(call: Incoming, error: unknown): void {
    if (call.isCancelled) return;
    call.connection.respondError(call, errorAnswer(error, (hidden) => this.#host.thrown(hidden)), error);
  }

  /** Answers with what the function gave. */
  protected respond(call: Incoming, value: unknown, what: string, shape: Shape): void {
    const result = resultOf(value, what);
    if (!askedForInput(call, result)) call.connection.respondResult(call, resultText(shape(result, what), what));
  }

  #setEnabled(enabled: boolean): void {
    if (this.#id !== undefined) this.#host.command({ setEnabled: { kind: this.#kind, entry: this.#id, enabled } });
  }
}

/** The params of `completion/complete`. */
export interface CompletionParams {
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> };
}

const SHOWN: Known = { title: 'text', description: 'text', icons: 'list', _meta: 'object' };
const TOOL: Known = { ...SHOWN, inputSchema: 'anything', outputSchema: 'anything', rawJson: 'flag', annotations: 'object' };
const PROMPT: Known = { ...SHOWN, argsSchema: 'anything' };

export class ToolEntry extends Entry implements RegisteredTool {
  #config: ToolConfig;
  #callback: Callback;
  #input: Prepared | undefined;
  #output: Prepared | undefined;

  constructor(host: Host, table: Table, name: string, config: ToolConfig, callback: Callback) {
    super(host, 'tool', table, name);
    requireName(name, 'registerTool');
    requireConfig(config, `registerTool('${name}', …)`);
    this.#config = config;
    this.#callback = callback;
    this.#prepare();
    this.add();
  }

  get name(): string {
    return this.key;
  }

  update(updates: Parameters<RegisteredTool['update']>[0]): void {
    const { name, paramsSchema, callback, enabled, ...config } = updates;
    if (name === null) return this.remove();
    const before = JSON.stringify(this.traits);
    this.#config = { ...this.#config, ...config, ...(paramsSchema && { inputSchema: paramsSchema }) };
    this.#callback = callback ?? this.#callback;
    this.#prepare();
    this.changed(name ?? this.key, JSON.stringify(this.traits) !== before);
    if (enabled !== undefined && enabled !== this.enabled) enabled ? this.enable() : this.disable();
  }

  run(call: Incoming, args: unknown): void {
    const context = new CallContext(call, 'tools/call', true);
    const failed = (error: unknown): void => this.#failed(call, error);
    const done = (value: unknown): unknown => this.#done(call, value);
    const input = this.#input;
    const callback = this.#callback;
    if (this.#config.rawJson) return settle(() => callback(args ?? '{}', context), done, failed);
    if (input === undefined) return settle(() => callback(context), done, failed);
    const given = args ?? {};
    if (input.check === undefined) return settle(() => callback(given, context), done, failed);
    settle(
      () => checked(input.check, given, (value) => callback(value, context), (what) => new Refused(what)),
      done,
      failed,
    );
  }

  protected descriptor(): JsonObject {
    const { title, description, annotations, icons, _meta } = this.#config;
    return {
      name: this.key,
      title,
      description,
      inputSchema: this.#input === undefined ? { type: 'object', properties: {} } : this.#shown(this.#input, NO_OBJECT),
      outputSchema: this.#shown(this.#output, undefined),
      annotations,
      icons,
      _meta,
    };
  }

  protected get isCostly(): boolean {
    return !(this.#input?.isJson ?? true) || !(this.#output?.isJson ?? true);
  }

  protected override added(id: number): void {
    if (this.#config.rawJson) this.host.keepText(id);
  }

  protected get traits(): object {
    const checks = (schema: Prepared | undefined): boolean => schema !== undefined && schema.check === undefined;
    return { checks: { input: checks(this.#input), output: checks(this.#output) } };
  }

  #prepare(): void {
    const tool = `the tool "${this.key}"`;
    checkOptions(tool, this.#config, TOOL);
    checkShown(tool, this.#config);
    const { inputSchema, outputSchema } = this.#config;
    const what = (name: string): string => `the ${name} of ${tool}`;
    this.#input = inputSchema === undefined ? undefined : prepare(inputSchema, what('inputSchema'), 'input');
    if (this.#input?.check !== undefined) requireReachable(inputSchema, what('inputSchema'));
    this.#output = outputSchema === undefined ? undefined : prepare(outputSchema, what('outputSchema'), 'output');
    if (this.#config.rawJson && (this.#input?.check !== undefined || this.#output?.check !== undefined)) {
      throw usage(`the tool "${this.key}" has rawJson, so its schemas must be JSON Schema, which the core checks`);
    }
  }

  /** A schema that cannot be shown is reported, and spoils no other tool: its own takes any object, and checks it. */
  #shown(schema: Prepared | undefined, otherwise: JsonObject | undefined): JsonObject | undefined {
    try {
      return schema?.json();
    } catch (error) {
      this.host.thrown(error);
      return otherwise;
    }
  }

  #done(call: Incoming, value: unknown): unknown {
    const { connection } = call;
    const output = this.#output;
    if (typeof value === 'string') {
      if (this.#config.rawJson) return connection.respondResult(call, rawText(value, this.key));
      return output === undefined ? connection.respondText(call, value) : misfit('it is text alone, without structuredContent');
    }
    if (value instanceof Refused) return connection.respondInvalidArguments(call, value.what);
    const text = output === undefined ? onlyText(value) : undefined;
    if (text !== undefined) return connection.respondText(call, text);
    const what = `the result of the tool "${this.key}"`;
    const result = resultOf(value, what);
    if (askedForInput(call, result)) return undefined;
    if (output === undefined || result['isError'] === true) return this.#send(call, result);
    if (result['structuredContent'] === undefined) misfit('it has no structuredContent');
    if (output.check === undefined) return this.#send(call, result);
    // What the check made of it is what was said of it: with defaults, and without members that are not known.
    return settle(
      () => checked(output.check, result['structuredContent'], (structuredContent) => ({ ...result, structuredContent }), misfit),
      (made) => this.#send(call, made as JsonObject),
      (error) => this.failed(call, error),
    );
  }

  #send(call: Incoming, result: JsonObject): void {
    const what = `the result of the tool "${this.key}"`;
    call.connection.respondResult(call, resultText(withContent(result, what), what));
  }

  /** A tool that fails says so in its result, for the model to read; an error for the caller is one of ours. */
  #failed(call: Incoming, error: unknown): void {
    if (isPassedOn(error)) this.failed(call, error);
    else if (!call.isCancelled) call.connection.respondToolError(call, textOf(error) || 'the tool failed');
  }
}

/** Arguments that a check of the program's library refused. */
class Refused {
  readonly what: string;

  constructor(what: string) {
    this.what = what;
  }
}

export class ResourceEntry extends Entry implements RegisteredResource {
  #name: string;
  #metadata: ResourceMetadata;
  #callback: Callback;

  constructor(host: Host, table: Table, name: string, uri: string, metadata: ResourceMetadata, callback: Callback) {
    super(host, 'resource', table, uri);
    this.#name = name;
    this.#metadata = metadata;
    this.#callback = callback;
    requireName(name, 'registerResource');
    requireUri(uri, name);
    checkMetadata(`the resource "${name}"`, metadata);
    this.add();
  }

  get uri(): string {
    return this.key;
  }

  get name(): string {
    return this.#name;
  }

  update(updates: Parameters<RegisteredResource['update']>[0]): void {
    const { name, uri, title, metadata, callback, enabled } = updates;
    if (uri === null) return this.remove();
    if (uri !== undefined) requireUri(uri, this.#name);
    this.#name = name ?? this.#name;
    const changed = { ...(metadata ?? this.#metadata), ...(title !== undefined && { title }) };
    checkMetadata(`the resource "${this.#name}"`, changed);
    this.#metadata = changed;
    this.#callback = callback ?? this.#callback;
    this.changed(uri ?? this.key, false);
    if (enabled !== undefined && enabled !== this.enabled) enabled ? this.enable() : this.disable();
  }

  run(call: Incoming, params: unknown): void {
    const { uri } = params as { readonly uri: string };
    const context = new CallContext(call, 'resources/read', true);
    settle(
      () => this.#callback(new URL(uri), context),
      (value) => this.respond(call, value, `the result of the resource "${this.#name}"`, readResult),
      (error) => this.failed(call, error),
    );
  }

  protected descriptor(): JsonObject {
    return { uri: this.key, name: this.#name, ...this.#metadata };
  }

  protected get isCostly(): boolean {
    return false;
  }

  protected get traits(): object {
    return {};
  }
}

export class TemplateEntry extends Entry implements RegisteredResourceTemplate {
  #name: string;
  #template: ResourceTemplate;
  #metadata: ResourceMetadata;
  #callback: Callback;

  constructor(host: Host, table: Table, name: string, template: ResourceTemplate, metadata: ResourceMetadata, callback: Callback) {
    super(host, 'template', table, template.uriTemplate);
    this.#name = name;
    this.#template = template;
    this.#metadata = metadata;
    this.#callback = callback;
    requireName(name, 'registerResource');
    checkMetadata(`the template "${name}"`, metadata);
    this.add();
  }

  get name(): string {
    return this.#name;
  }

  update(updates: Parameters<RegisteredResourceTemplate['update']>[0]): void {
    const { name, title, template, metadata, callback, enabled } = updates;
    if (name === null) return this.remove();
    const before = JSON.stringify(this.traits);
    this.#name = name ?? this.#name;
    this.#template = template ?? this.#template;
    const changed = { ...(metadata ?? this.#metadata), ...(title !== undefined && { title }) };
    checkMetadata(`the resource "${this.#name}"`, changed);
    this.#metadata = changed;
    this.#callback = callback ?? this.#callback;
    this.changed(this.#template.uriTemplate, JSON.stringify(this.traits) !== before);
    if (enabled !== undefined && enabled !== this.enabled) enabled ? this.enable() : this.disable();
  }

  run(call: Incoming, params: unknown): void {
    const { uri, variables } = params as { readonly uri: string; readonly variables: object };
    const context = new CallContext(call, 'resources/read', true);
    settle(
      () => this.#callback(new URL(uri), variables, context),
      (value) => this.respond(call, value, `the result of the resource "${this.#name}"`, readResult),
      (error) => this.failed(call, error),
    );
  }

  /** Whether it finds resources when it is asked. */
  get lists(): boolean {
    return this.#template.listCallback !== undefined;
  }

  /** The resources that it finds, described as it is itself where they say nothing. */
  async list(context: ServerContext): Promise<object[]> {
    const found = await this.#template.listCallback?.(context);
    const { resources } = (found ?? {}) as { readonly resources?: unknown };
    const what = `the list function of the template "${this.#name}"`;
    if (!Array.isArray(resources)) throw fault(`${what} must give { resources: [ … ] }`);
    return resources.map((one: unknown, index) => {
      const place = `${what}: resources[${index}]`;
      if (!isObject(one)) throw fault(`${place} must be an object, such as { uri, name }; it is ${kindOf(one)}`);
      for (const name of ['uri', 'name']) if (typeof one[name] !== 'string') throw fault(`${place} needs a string "${name}"; it is ${kindOf(one[name])}`);
      return { ...this.#metadata, ...one };
    });
  }

  protected override added(): void {
    if (this.lists) this.host.lists();
  }

  override complete(call: Incoming, params: CompletionParams): void {
    const { name } = params.argument;
    const complete = Object.hasOwn(this.#template.complete, name) ? this.#template.complete[name] : undefined;
    answerCompletion(call, complete, params, (error) => this.failed(call, error));
  }

  protected descriptor(): JsonObject {
    return { uriTemplate: this.key, name: this.#name, ...this.#metadata };
  }

  protected get isCostly(): boolean {
    return false;
  }

  protected get traits(): object {
    return { completes: Object.keys(this.#template.complete).length > 0 };
  }
}

export class PromptEntry extends Entry implements RegisteredPrompt {
  #config: PromptConfig;
  #callback: Callback;
  #args: Prepared | undefined;

  constructor(host: Host, table: Table, name: string, config: PromptConfig, callback: Callback) {
    super(host, 'prompt', table, name);
    requireName(name, 'registerPrompt');
    requireConfig(config, `registerPrompt('${name}', …)`);
    this.#config = config;
    this.#callback = callback;
    this.#prepare();
    this.add();
  }

  get name(): string {
    return this.key;
  }

  update(updates: Parameters<RegisteredPrompt['update']>[0]): void {
    const { name, callback, enabled, ...config } = updates;
    if (name === null) return this.remove();
    const before = JSON.stringify(this.traits);
    this.#config = { ...this.#config, ...config };
    this.#callback = callback ?? this.#callback;
    this.#prepare();
    this.changed(name ?? this.key, JSON.stringify(this.traits) !== before);
    if (enabled !== undefined && enabled !== this.enabled) enabled ? this.enable() : this.disable();
  }

  run(call: Incoming, given: unknown): void {
    const context = new CallContext(call, 'prompts/get', true);
    const args = this.#args;
    const refused = (what: string): never => {
      throw new McpError(ErrorCode.InvalidParams, `Invalid arguments for prompt ${this.key}: ${what}`);
    };
    settle(
      () => {
        if (args === undefined) return this.#callback(context);
        return checked(args.check, given ?? {}, (value) => this.#callback(value, context), refused);
      },
      (value) => this.respond(call, value, `the result of the prompt "${this.key}"`, promptResult),
      (error) => this.failed(call, error),
    );
  }

  override complete(call: Incoming, params: CompletionParams): void {
    const members = this.#args?.members ?? {};
    const { name } = params.argument;
    const complete = Object.hasOwn(members, name) ? completerOf(members[name]) : undefined;
    answerCompletion(call, complete, params, (error) => this.failed(call, error));
  }

  protected descriptor(): JsonObject {
    const { title, description, icons, _meta } = this.#config;
    return { name: this.key, title, description, arguments: this.#arguments(), icons, _meta };
  }

  protected get isCostly(): boolean {
    return !(this.#args?.isJson ?? true);
  }

  protected get traits(): object {
    return { completes: Object.values(this.#args?.members ?? {}).some((member) => completerOf(member) !== undefined) };
  }

  #prepare(): void {
    checkOptions(`the prompt "${this.key}"`, this.#config, PROMPT);
    checkShown(`the prompt "${this.key}"`, this.#config);
    const { argsSchema } = this.#config;
    const what = `the argsSchema of the prompt "${this.key}"`;
    this.#args = argsSchema === undefined ? undefined : prepare(argsSchema, what, 'input');
    if (this.#args?.check !== undefined) requireReachable(argsSchema, what);
  }

  #arguments(): JsonObject[] | undefined {
    if (this.#args === undefined) return undefined;
    try {
      const json = this.#args.json();
      const required = Array.isArray(json['required']) ? (json['required'] as unknown[]) : [];
      return Object.entries((json['properties'] ?? {}) as Record<string, JsonObject>).map(([name, schema]) => {
        const { title, description } = schema;
        return { name, title, description, required: required.includes(name) };
      });
    } catch (error) {
      this.host.thrown(error);
      return Object.keys(this.#args.members).map((name) => ({ name }));
    }
  }
}

function answerCompletion(
  call: Incoming,
  complete: CompleteCallback | undefined,
  { argument, context }: CompletionParams,
  failed: (error: unknown) => void,
): void {
  settle(
    () => complete?.(argument.value, { arguments: context?.arguments ?? {} }) ?? [],
    (values) => {
      if (!Array.isArray(values)) throw fault(`the function that completes "${argument.name}" must give an array`);
      call.connection.respondResult(call, JSON.stringify({ completion: { values: values.map(String) } }));
    },
    failed,
  );
}

function requireUri(uri: string, name: string): void {
  if (!URL.canParse(uri)) throw usage(`the resource "${name}" needs a whole URI, with its scheme; it has "${uri}"`);
}

/** Answers a request with what the handler of its method gave. */
export function respondToMethod(call: Incoming, method: string, value: unknown): void {
  const what = `the result of ${method}`;
  const result = value === undefined || value === null ? {} : resultOf(value, what);
  if (!askedForInput(call, result)) call.connection.respondResult(call, resultText(result, what));
}

/** A result must be an object: anything else is a fault of the function, such as a forgotten `return`. */
function resultOf(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value;
  throw fault(`${what} must be an object; it is ${kindOf(value)}`);
}

function resultText(result: JsonObject, what: string): string {
  return written(() => objectText(result, what) ?? '{}');
}

/** What cannot be written is a fault of the function that gave it. */
function written(write: () => string): string {
  try {
    return write();
  } catch (error) {
    throw fault(textOf(error));
  }
}

/** The text of a result that a function wrote itself. */
function rawText(text: string, tool: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text;
  } catch {
    // Said below.
  }
  throw fault(`the result of the tool "${tool}" must be the JSON text of an object`);
}

/** A function that makes its rounds itself (2026-07-28) gives what it asks for in place of a result. */
function askedForInput(call: Incoming, result: JsonObject): boolean {
  if (result['resultType'] !== 'input_required') return false;
  const { inputRequests, requestState } = result as { readonly inputRequests?: JsonObject; readonly requestState?: string };
  call.connection.respondInputRequired(call, resultText(inputRequests ?? {}, 'inputRequests'), requestState);
  return true;
}

/** The text, where a result is nothing else: the core writes it in less time than `JSON.stringify` takes for the objects around it. */
function onlyText(result: unknown): string | undefined {
  const content = hasOnly(result, 'content', 'content') ? result['content'] : undefined;
  if (!Array.isArray(content) || content.length !== 1 || 'toJSON' in content) return undefined;
  const item: unknown = content[0];
  if (!hasOnly(item, 'type', 'text') || item['type'] !== 'text') return undefined;
  const text = item['text'] as string & { isWellFormed(): boolean };
  // With a line feed it would cross alone; half a character has an escape in JSON and no form in UTF-8.
  return typeof text === 'string' && !text.includes('\n') && text.isWellFormed() ? text : undefined;
}

/** Whether these are all the members that JSON would have. */
function hasOnly(value: unknown, one: string, other: string): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false;
  for (const name in value) if (name !== one && name !== other) return false;
  return true;
}

/** Clients of any age read `content`: structured content without one is there as text as well. */
function withContent(result: JsonObject, what: string): JsonObject {
  const { content, structuredContent, isError } = result;
  if (isError !== undefined && typeof isError !== 'boolean') throw fault(`${what} needs true or false as its "isError"; it is ${kindOf(isError)}`);
  if (Array.isArray(content)) return withList(result, what, 'content', blocksOf);
  if (content !== undefined) throw fault(`${what} needs an array "content"; it is ${kindOf(content)}`);
  if (structuredContent === undefined) throw fault(`${what} needs "content" or "structuredContent"`);
  const text = written(() => valueText(structuredContent, `the structuredContent of ${what}`));
  return withList({ content: [{ type: 'text', text }], ...result }, what, 'content', blocksOf);
}

function readResult(result: JsonObject, what: string): JsonObject {
  return withList(result, what, 'contents', contentsOf);
}

function promptResult(result: JsonObject, what: string): JsonObject {
  return withList(result, what, 'messages', promptMessagesOf);
}

/** A result whose list is checked, and ready to be written. */
function withList(result: JsonObject, what: string, name: string, ready: (items: readonly unknown[], what: string) => readonly unknown[]): JsonObject {
  const { [name]: items, _meta } = result;
  if (_meta !== undefined && !isObject(_meta)) throw fault(`${what} needs an object as its "_meta"; it is ${kindOf(_meta)}`);
  if (!Array.isArray(items)) throw fault(`${what} needs an array "${name}"; it is ${kindOf(items)}`);
  const made = ready(items, what);
  return made === items ? result : { ...result, [name]: made };
}

function misfit(why: string): never {
  throw fault(`the server's tool gave a result that does not fit its output schema: ${why}`);
}
