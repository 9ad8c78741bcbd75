/**
 * Schemas as programs have them: of zod 3 or 4 or another library of the Standard Schema, or JSON Schema itself.
 */

import { textOf, usage } from './errors.js';
import { isThenable } from './incoming.js';
import type { JsonObject } from './types.js';

/** A schema of a library that follows the Standard Schema: zod, Valibot, ArkType and others. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a check gave. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** What is wrong with a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema of zod 3: the part of it that types read. Those before 3.24 do not follow the Standard Schema. */
export interface ZodLike<Output = unknown> {
  readonly _output: Output;
  readonly _def: object;
}

/** The members of an object, each with its own zod schema. */
export type SchemaShape = { readonly [member: string]: StandardSchema | ZodLike };

/** A JSON Schema of an object. Without `$schema` it is one of 2020-12; draft-07 and 2019-09 are checked by their rules. */
export interface JsonSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/** Any of the ways to give a schema. */
export type AnySchema = StandardSchema | ZodLike | SchemaShape | JsonSchema;

/** What a function gets that was registered with this schema. */
export type InferSchema<Schema> =
  OutputOf<Schema> extends infer Output
    ? [Output] extends [NoOutput]
      ? Schema extends SchemaShape
        ? InferShape<Schema>
        : InferJson<Schema>
      : Output
    : never;

declare const TYPE: unique symbol;

/** A JSON Schema, and what fits it by the program's own word. */
export type TypedJsonSchema<T> = JsonSchema & { readonly [TYPE]?: T };

/** JSON Schema names no types that TypeScript could read. */
// oxlint-disable-next-line no-explicit-any
type InferJson<Schema> = Schema extends { readonly [TYPE]?: infer T } ? (unknown extends T ? Record<string, any> : T) : Record<string, any>;

declare const NO_OUTPUT: unique symbol;
type NoOutput = typeof NO_OUTPUT;

type OutputOf<Schema> =
  Schema extends StandardSchema<unknown, infer Output> ? Output : Schema extends ZodLike<infer Output> ? Output : NoOutput;

type OptionalKeys<Shape> = { [Key in keyof Shape]: undefined extends OutputOf<Shape[Key]> ? Key : never }[keyof Shape];

type InferShape<Shape> = { [Key in Exclude<keyof Shape, OptionalKeys<Shape>>]: OutputOf<Shape[Key]> } & {
  [Key in OptionalKeys<Shape>]?: OutputOf<Shape[Key]>;
};

/** A check of the program's own library; absent where the core checks. Internal. */
export type Check = (value: unknown) => StandardResult<unknown> | Promise<StandardResult<unknown>>;

/** A schema, ready to be shown and checked. Internal. */
export interface Prepared {
  /** JSON Schema, made when it is first needed: for some libraries that takes longer than all else at a start. */
  json(): JsonObject;
  /** Whether `json` costs nothing. */
  readonly isJson: boolean;
  readonly check: Check | undefined;
  /** The schemas of its members, as far as they can be seen. */
  readonly members: Readonly<Record<string, unknown>>;
}

type Way = 'input' | 'output';

/** The parts of the Standard JSON Schema and of zod 4 that are used here. */
interface Foreign {
  readonly '~standard': StandardSchema['~standard'] & {
    readonly jsonSchema?: Readonly<Record<Way, (options: { readonly target: string }) => JsonObject>>;
  };
  readonly _zod?: { readonly def: { readonly shape?: Readonly<Record<string, unknown>>; readonly innerType?: unknown } };
}

interface Zod {
  object(shape: SchemaShape): StandardSchema;
  toJSONSchema(
    schema: unknown,
    options: { readonly io: Way; readonly target: string; readonly unrepresentable: 'any' },
  ): JsonObject;
}

const TARGET = 'draft-2020-12';

/** Prepares what the program gave as `what`. Internal. */
export function prepare(schema: unknown, what: string, way: Way): Prepared {
  if (isLibrary(schema)) return prepareLibrary(schema, what, way);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw usage(`${what} must be a schema of zod or of another library of the Standard Schema, or a JSON Schema object`);
  }
  const members = Object.values(schema);
  if (members.length > 0 && members.every(isLibrary)) return prepareShape(schema as SchemaShape, what, way);
  const json = members.length === 0 ? { type: 'object', properties: {} } : way === 'input' ? (schema as JsonObject) : resultSchema(schema as JsonObject);
  const properties = json['properties'];
  return {
    json: () => json,
    isJson: true,
    check: undefined,
    members: typeof properties === 'object' && properties !== null ? { ...properties } : {},
  };
}

/** Whether a value is a schema of a library of the Standard Schema. Internal. */
export function isStandard(schema: unknown): schema is Foreign {
  return (typeof schema === 'object' || typeof schema === 'function') && schema !== null && '~standard' in schema;
}

/** A schema of zod 3: the parts that are read here. */
export interface Zod3 {
  readonly _def: { readonly typeName: string };
}

/** Whether a value is a schema of zod 3. Internal. */
export function isZod3(value: unknown): value is Zod3 {
  const definition = (value as Partial<Zod3> | null | undefined)?._def;
  return typeof definition?.typeName === 'string' && definition.typeName.startsWith('Zod');
}

/** Loaded when it is needed: most programs have zod 4. */
function zod3(): typeof import('./zod3.js') {
  return require('./zod3.js') as typeof import('./zod3.js');
}

/** Zod 3 follows the Standard Schema from 3.24 on only. */
function isLibrary(schema: unknown): schema is Foreign | OldZod {
  return isStandard(schema) || isZod3(schema);
}

/** Whether an object is a schema, or one of schemas, and nothing else, such as annotations. Internal. */
export function isSchemaLike(value: object): value is AnySchema {
  if (isLibrary(value)) return true;
  const members = Object.values(value);
  return members.every(isLibrary) || ('type' in value && value.type === 'object' && 'properties' in value);
}

interface OldZod {
  safeParseAsync(value: unknown): Promise<OldResult>;
}

type OldResult =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: { readonly issues: readonly StandardIssue[] } };

/** The check of a schema of a library; `undefined` for anything else. Internal. */
export function checkOf(schema: unknown): Check | undefined {
  if (isStandard(schema)) return (value) => schema['~standard'].validate(value);
  if (!isZod3(schema)) return undefined;
  return async (value) => {
    const result = await (schema as unknown as OldZod).safeParseAsync(value);
    return result.success ? { value: result.data } : { issues: result.error.issues };
  };
}

/** An object of schemas is checked member by member by a whole made of them, by the library that they are of. */
function prepareShape(shape: SchemaShape, what: string, way: Way): Prepared {
  const members = Object.values(shape);
  if (members.every(isZod3)) {
    const whole = zod3().wholeOf(shape as never);
    let json: JsonObject | undefined;
    return { ...whole, json: () => (json ??= objectSchema(whole.json(way), what)), isJson: false, members: shape };
  }
  if (!members.every((member) => '_zod' in member)) {
    throw usage(`${what} must be an object schema of its library, not an object of schemas`);
  }
  let whole: StandardSchema;
  try {
    whole = zod().object(shape);
  } catch (error) {
    throw usage(`${what} is an object of zod schemas, but zod cannot be loaded; pass z.object({ … }): ${textOf(error)}`, error);
  }
  return { ...prepareLibrary(whole as Foreign, what, way), members: shape };
}

function prepareLibrary(schema: Foreign | OldZod, what: string, way: Way): Prepared {
  let made: JsonObject | undefined;
  const make = (): JsonObject => {
    const json = toJson(schema, what, way);
    return way === 'input' ? objectSchema(json, what) : resultSchema(json);
  };
  return {
    json: () => (made ??= make()),
    isJson: false,
    check: checkOf(schema),
    members: isZod3(schema) ? zod3().shapeOf(schema as never) : ((schema as Foreign)._zod?.def.shape ?? {}),
  };
}

function toJson(schema: Foreign | OldZod, what: string, way: Way): JsonObject {
  try {
    if (isZod3(schema)) return zod3().zod3ToJson(schema as never, way);
    const { _zod: zod4, '~standard': standard } = schema as Foreign;
    // Loads nothing, but refuses what JSON cannot hold, such as dates; then they may be anything, and are checked later.
    const own = standard.jsonSchema?.[way];
    if (own !== undefined && zod4 === undefined) return own({ target: TARGET });
    const made = own === undefined ? undefined : attempt(() => own({ target: TARGET }));
    if (made !== undefined) return made;
    if (zod4 !== undefined) return zod().toJSONSchema(schema, { io: way, target: TARGET, unrepresentable: 'any' });
  } catch (error) {
    throw usage(`${what} cannot be written as JSON Schema: ${textOf(error)}`, error);
  }
  const { vendor } = (schema as Foreign)['~standard'];
  throw usage(`${what}: this version of ${vendor} does not write JSON Schema; give a JSON Schema instead`);
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** Tools take objects, and say so at the root. */
function objectSchema(json: JsonObject, what: string): JsonObject {
  const { type } = json;
  if (type === 'object') return json;
  if (type !== undefined) throw usage(`${what} must be a schema of an object; it is one of ${String(type)}`);
  return { type: 'object', ...json };
}

/** Results may be any values. Where they are objects this is said at the root: revisions before 2026-07-28 show no other schema. */
function resultSchema(json: JsonObject): JsonObject {
  return json['type'] === undefined && isOfObjects(json, json) ? { type: 'object', ...json } : json;
}

/** Whether all that fits is an object, as far as the schema says. */
function isOfObjects(json: JsonObject, root: JsonObject, depth = 0): boolean {
  const { type, $ref, anyOf, oneOf, allOf, properties } = json;
  if (type !== undefined || depth > DEEPEST) return type === 'object';
  const inner = (one: unknown): boolean => isOfObjects((one ?? {}) as JsonObject, root, depth + 1);
  if (typeof $ref === 'string') return inner(pointed(root, $ref));
  const choice = anyOf ?? oneOf;
  if (Array.isArray(choice)) return choice.every(inner);
  if (Array.isArray(allOf)) return allOf.some(inner);
  return properties !== undefined;
}

/** More steps from one schema to another than this are none that programs write. */
const DEEPEST = 20;

function pointed(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let found: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    found = (found as JsonObject | undefined)?.[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return found;
}

/**
 * Only of a copy that the program has installed: it is a peer, and an optional one. From 3.25 on the package of zod 3 has
 * zod 4 inside.
 */
function zod(): Zod {
  // Inside of `try`, so that bundlers know that it may not be there.
  try {
    const whole = require('zod') as Partial<Zod>;
    return (whole.toJSONSchema === undefined ? require('zod/v4') : whole) as Zod;
  } catch (error) {
    throw new Error(textOf(error).split('\n', 1)[0], { cause: error });
  }
}

/** What is wrong, each issue with its place, for the other side. Internal. */
export function issuesText(issues: readonly StandardIssue[]): string {
  const place = (issue: StandardIssue): string =>
    (issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
  return issues.map((issue) => (place(issue) === '' ? issue.message : `${place(issue)}: ${issue.message}`)).join('; ');
}

/** Checks `value` and goes on with what the check made of it; `refused` gets what is wrong. Internal. */
export function checked(
  check: Check | undefined,
  value: unknown,
  accepted: (value: unknown) => unknown,
  refused: (what: string) => unknown,
): unknown {
  if (check === undefined) return accepted(value);
  const take = (result: StandardResult<unknown>): unknown =>
    result.issues === undefined ? accepted(result.value) : refused(issuesText(result.issues));
  const result = check(value);
  return isThenable(result) ? result.then((late) => take(late as StandardResult<unknown>)) : take(result as StandardResult<unknown>);
}
