/**
 * Entries of a server's registry: what is said of each, and the function behind it. Internal.
 */

import { type Known, checkOptions } from './check-options.js';
import { type CompleteCallback, completerOf } from './completable.js';
import { CallContext, type ServerContext } from './context.js';
import { ErrorCode, McpError, textOf, usage } from './errors.js';
import { errorAnswer, fault, isPassedOn } from './failure.js';
import { type Incoming, settle } from './incoming.js';
import { objectText } from './json.js';
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
  protected respond(call: Incoming, value: unknown, what: string): void {
    const result = resultOf(value, what);
    if (!askedForInput(call, result)) call.connection.respondResult(call, resultText(result, what));
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
    checkOptions(`the tool "${name}"`, config, TOOL);
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
      inputSchema: this.#shown(this.#input) ?? { type: 'object', properties: {} },
      outputSchema: this.#shown(this.#output),
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
    const { inputSchema, outputSchema } = this.#config;
    const what = (name: string): string => `the ${name} of the tool "${this.key}"`;
    this.#input = inputSchema === undefined ? undefined : prepare(inputSchema, what('inputSchema'), 'input');
    this.#output = outputSchema === undefined ? undefined : prepare(outputSchema, what('outputSchema'), 'output');
    if (this.#config.rawJson && (this.#input?.check !== undefined || this.#output?.check !== undefined)) {
      throw usage(`the tool "${this.key}" has rawJson, so its schemas must be JSON Schema, which the core checks`);
    }
  }

  /** A schema that cannot be shown is reported, and spoils no other tool: its own takes any object, and checks it. */
  #shown(schema: Prepared | undefined): JsonObject | undefined {
    try {
      return schema?.json();
    } catch (error) {
      this.host.thrown(error);
      return NO_OBJECT;
    }
  }

  #done(call: Incoming, value: unknown): unknown {
    const { connection } = call;
    if (typeof value === 'string') {
      return this.#config.rawJson ? connection.respondResult(call, rawText(value, this.key)) : connection.respondText(call, value);
    }
    if (value instanceof Refused) return connection.respondInvalidArguments(call, value.what);
    const what = `the result of the tool "${this.key}"`;
    const result = resultOf(value, what);
    if (askedForInput(call, result)) return undefined;
    const whole = withContent(result, what);
    const output = this.#output;
    if (output?.check === undefined || whole['isError'] === true) {
      return connection.respondResult(call, resultText(whole, what));
    }
    const broken = (why: string): never => {
      throw fault(`the server's tool gave a result that does not fit its output schema: ${why}`);
    };
    if (whole['structuredContent'] === undefined) broken('it has no structuredContent');
    const send = (): void => connection.respondResult(call, resultText(whole, what));
    return settle(
      () => checked(output.check, whole['structuredContent'], () => undefined, broken),
      send,
      (error) => this.failed(call, error),
    );
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
    requireUri(uri, name);
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
    this.#metadata = { ...(metadata ?? this.#metadata), ...(title !== undefined && { title }) };
    this.#callback = callback ?? this.#callback;
    this.changed(uri ?? this.key, false);
    if (enabled !== undefined && enabled !== this.enabled) enabled ? this.enable() : this.disable();
  }

  run(call: Incoming, params: unknown): void {
    const { uri } = params as { readonly uri: string };
    const context = new CallContext(call, 'resources/read', true);
    settle(
      () => this.#callback(new URL(uri), context),
      (value) => this.respond(call, withBase64(value, 'contents'), `the result of the resource "${this.#name}"`),
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
    this.#metadata = { ...(metadata ?? this.#metadata), ...(title !== undefined && { title }) };
    this.#callback = callback ?? this.#callback;
    this.changed(this.#template.uriTemplate, JSON.stringify(this.traits) !== before);
    if (enabled !== undefined && enabled !== this.enabled) enabled ? this.enable() : this.disable();
  }

  run(call: Incoming, params: unknown): void {
    const { uri, variables } = params as { readonly uri: string; readonly variables: object };
    const context = new CallContext(call, 'resources/read', true);
    settle(
      () => this.#callback(new URL(uri), variables, context),
      (value) => this.respond(call, withBase64(value, 'contents'), `the result of the resource "${this.#name}"`),
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
    if (!Array.isArray(resources)) throw fault(`the list function of the template "${this.#name}" must give { resources: [ … ] }`);
    return resources.map((one: object) => ({ ...this.#metadata, ...one }));
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
    checkOptions(`the prompt "${name}"`, config, PROMPT);
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
      (value) => this.respond(call, value, `the result of the prompt "${this.key}"`),
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
    const { argsSchema } = this.#config;
    this.#args = argsSchema === undefined ? undefined : prepare(argsSchema, `the argsSchema of the prompt "${this.key}"`, 'input');
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
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw fault(`${what} must be an object; it is ${Array.isArray(value) ? 'an array' : value === null ? 'null' : typeof value}`);
}

function resultText(result: JsonObject, what: string): string {
  try {
    return objectText(result, what) ?? '{}';
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

/** Clients of any age read `content`: structured content without one is there as text as well. */
function withContent(result: JsonObject, what: string): JsonObject {
  const { content, structuredContent } = result;
  if (Array.isArray(content)) return withBase64(result, 'content') as JsonObject;
  if (content !== undefined) throw fault(`${what} needs an array "content"`);
  if (structuredContent === undefined) throw fault(`${what} needs "content" or "structuredContent"`);
  const text = resultText(structuredContent as JsonObject, `the structuredContent of ${what}`);
  return { content: [{ type: 'text', text }], ...result };
}

/** Bytes are written in base64, of the standard alphabet. */
function withBase64(result: unknown, list: string): unknown {
  const items: unknown = (result as JsonObject | null | undefined)?.[list];
  if (!Array.isArray(items)) return result;
  const isBinary = (item: unknown): boolean => bytesOf(item) !== undefined;
  if (!items.some(isBinary)) return result;
  return { ...(result as JsonObject), [list]: items.map(encoded) };
}

function encoded(item: unknown): unknown {
  const member = bytesOf(item);
  if (member === undefined) return item;
  const object = item as Record<string, unknown>;
  if (member === 'resource') return { ...object, resource: encoded(object['resource']) };
  const bytes = object[member] as Uint8Array;
  return { ...object, [member]: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') };
}

/** The member that holds bytes. */
function bytesOf(item: unknown): 'data' | 'blob' | 'resource' | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const { data, blob, resource } = item as { readonly data?: unknown; readonly blob?: unknown; readonly resource?: unknown };
  if (data instanceof Uint8Array) return 'data';
  if (blob instanceof Uint8Array) return 'blob';
  return resource !== undefined && bytesOf(resource) !== undefined ? 'resource' : undefined;
}
