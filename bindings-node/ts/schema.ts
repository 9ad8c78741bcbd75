/**
 * Schemas as programs have them: of zod 4 or another library of the Standard Schema, or JSON Schema itself.
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

/** The members of an object, each with its own zod schema. */
export type SchemaShape = { readonly [member: string]: StandardSchema };

/** A JSON Schema of an object. Without `$schema` it is one of 2020-12; draft-07 and 2019-09 are checked by their rules. */
export interface JsonSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/** Any of the ways to give a schema. */
export type AnySchema = StandardSchema | SchemaShape | JsonSchema;

/** What a function gets that was registered with this schema. */
export type InferSchema<Schema> =
  Schema extends StandardSchema<unknown, infer Output>
    ? Output
    : Schema extends SchemaShape
      ? InferShape<Schema>
      : // JSON Schema names no types that TypeScript could read.
        // oxlint-disable-next-line no-explicit-any
        Record<string, any>;

type OutputOf<Schema> = Schema extends StandardSchema<unknown, infer Output> ? Output : never;

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
  toJSONSchema(schema: unknown, options: { readonly io: Way; readonly target: string }): JsonObject;
}

const TARGET = 'draft-2020-12';

/** Prepares what the program gave as `what`. Internal. */
export function prepare(schema: unknown, what: string, way: Way): Prepared {
  if (isStandard(schema)) return prepareStandard(schema, what, way);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw usage(`${what} must be a schema of zod 4 or of another library of the Standard Schema, or a JSON Schema object`);
  }
  const members = Object.values(schema);
  if (members.length > 0 && members.every(isStandard)) return prepareShape(schema as SchemaShape, what, way);
  if (members.some((member) => typeof member === 'object' && member !== null && '_def' in member)) {
    throw usage(`${what} has schemas of zod 3, which have no JSON Schema; use zod 4, or give a JSON Schema`);
  }
  const json: JsonObject = members.length === 0 ? { type: 'object', properties: {} } : (schema as JsonObject);
  const properties = json['properties'];
  return {
    json: () => json,
    isJson: true,
    check: undefined,
    members: typeof properties === 'object' && properties !== null ? { ...properties } : {},
  };
}

function isStandard(schema: unknown): schema is Foreign {
  return (typeof schema === 'object' || typeof schema === 'function') && schema !== null && '~standard' in schema;
}

function prepareShape(shape: SchemaShape, what: string, way: Way): Prepared {
  if (!Object.values(shape).every((member) => '_zod' in member)) {
    throw usage(`${what} must be an object schema of its library, not an object of schemas`);
  }
  let whole: StandardSchema;
  try {
    whole = zod().object(shape);
  } catch (error) {
    throw usage(`${what} is an object of zod schemas, but zod cannot be loaded; pass z.object({ … }): ${textOf(error)}`, error);
  }
  return { ...prepareStandard(whole as Foreign, what, way), members: shape };
}

function prepareStandard(schema: Foreign, what: string, way: Way): Prepared {
  let made: JsonObject | undefined;
  return {
    json: () => (made ??= objectSchema(toJson(schema, what, way), what)),
    isJson: false,
    check: (value) => schema['~standard'].validate(value),
    members: schema._zod?.def.shape ?? {},
  };
}

function toJson(schema: Foreign, what: string, way: Way): JsonObject {
  const { jsonSchema, vendor } = schema['~standard'];
  try {
    if (jsonSchema !== undefined) return jsonSchema[way]({ target: TARGET });
    if (schema._zod !== undefined) return zod().toJSONSchema(schema, { io: way, target: TARGET });
  } catch (error) {
    throw usage(`${what} cannot be written as JSON Schema: ${textOf(error)}`, error);
  }
  throw usage(`${what}: this version of ${vendor} does not write JSON Schema; give a JSON Schema instead`);
}

/** Tools take objects, and say so at the root. */
function objectSchema(json: JsonObject, what: string): JsonObject {
  const { type } = json;
  if (type === 'object') return json;
  if (type !== undefined) throw usage(`${what} must be a schema of an object; it is one of ${String(type)}`);
  return { type: 'object', ...json };
}

/** Only of a copy that the program has installed: it is a peer, and an optional one. */
function zod(): Zod {
  return require('zod') as Zod;
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
