/**
 * JSON Schema of schemas of zod 3, which writes none itself: what a value must be on the way in, or is on the way out.
 *
 * What JSON cannot hold (dates, big integers, maps) and what runs code (effects) accepts anything here; the schema's own
 * check, which runs in any case, decides. Internal.
 */

import { type Check as WholeCheck, type StandardIssue, type StandardResult, checkOf } from './schema.js';
import type { JsonObject } from './types.js';

/** A schema of zod 3: the parts that are read. */
export interface Zod3 {
  readonly _def: Definition;
  readonly description?: string | undefined;
}

interface Definition {
  readonly typeName: string;
  // Each kind of schema has members of its own.
  // oxlint-disable-next-line no-explicit-any
  readonly [member: string]: any;
}

interface Writer {
  readonly way: 'input' | 'output';
  /** Lazy schemas that are being written, or were, by what makes them: their names in `$defs`. */
  readonly lazy: Map<() => Zod3, string>;
  readonly definitions: Record<string, unknown>;
}

type Json = Record<string, unknown>;

/** The schemas of an object's members; none where the schema is of another kind. */
export function shapeOf(schema: Zod3): Readonly<Record<string, Zod3>> {
  const inner = unwrapped(schema);
  return inner._def.typeName === 'ZodObject' ? (inner._def['shape']() as Record<string, Zod3>) : {};
}

/** The schema inside one that was made optional, described, refined and so on; itself where there is none. */
export function unwrapped(schema: Zod3): Zod3 {
  const { innerType, schema: inner } = schema._def as { readonly innerType?: Zod3; readonly schema?: Zod3 };
  const next = innerType ?? inner;
  return next === undefined ? schema : unwrapped(next);
}

/** An object of schemas as one. They belong to any copy of zod 3, so it is put together here. */
export function wholeOf(shape: Readonly<Record<string, Zod3>>): { readonly check: WholeCheck; json(way: 'input' | 'output'): JsonObject } {
  const whole: Zod3 = { _def: { typeName: 'ZodObject', shape: () => shape, unknownKeys: 'strip' } };
  const checks = Object.entries(shape).map(([name, member]) => [name, checkOf(member) as WholeCheck] as const);
  const check = async (value: unknown): Promise<StandardResult<unknown>> => {
    if (typeof value !== 'object' || value === null) return { issues: [{ message: 'Expected an object' }] };
    const given = value as Readonly<Record<string, unknown>>;
    const issues: StandardIssue[] = [];
    const made: Record<string, unknown> = {};
    for (const [name, one] of checks) {
      const result = await one(Object.hasOwn(given, name) ? given[name] : undefined);
      if (result.issues !== undefined) issues.push(...result.issues.map((issue) => ({ ...issue, path: [name, ...(issue.path ?? [])] })));
      else if (result.value !== undefined || Object.hasOwn(given, name)) made[name] = result.value;
    }
    return issues.length > 0 ? { issues } : { value: made };
  };
  return { check, json: (way) => zod3ToJson(whole, way) };
}

/** The JSON Schema of `schema`. */
export function zod3ToJson(schema: Zod3, way: 'input' | 'output'): JsonObject {
  const writer: Writer = { way, lazy: new Map(), definitions: {} };
  const json = write(schema, writer);
  return Object.keys(writer.definitions).length === 0 ? json : { ...json, $defs: writer.definitions };
}

function write(schema: Zod3, writer: Writer): Json {
  const json = KINDS[schema._def.typeName]?.(schema._def, writer) ?? {};
  const { description } = schema._def as { readonly description?: string };
  return description === undefined || '$ref' in json ? json : { ...json, description };
}

type Kind = (definition: Definition, writer: Writer) => Json;

const inner: Kind = (definition, writer) => write((definition['innerType'] ?? definition['schema'] ?? definition['type']) as Zod3, writer);

const union: Kind = (definition, writer) => {
  const options = definition['options'] as readonly Zod3[] | ReadonlyMap<unknown, Zod3>;
  const all = [...options.values()];
  const values = all.map((option) => (option._def.typeName === 'ZodLiteral' ? (option._def['value'] as unknown) : undefined));
  if (values.every((value) => typeof value === 'string')) return { type: 'string', enum: values };
  return { anyOf: all.map((option) => write(option, writer)) };
};

const KINDS: Readonly<Record<string, Kind>> = {
  ZodString: (definition) => stringSchema(definition['checks'] as readonly Check[]),
  ZodNumber: (definition) => numberSchema(definition['checks'] as readonly Check[]),
  ZodBoolean: () => ({ type: 'boolean' }),
  ZodNull: () => ({ type: 'null' }),
  ZodNever: () => ({ not: {} }),
  ZodLiteral: (definition) => literalSchema(definition['value'] as unknown),
  ZodEnum: (definition) => ({ type: 'string', enum: [...(definition['values'] as readonly string[])] }),
  ZodNativeEnum: (definition) => nativeEnum(definition['values'] as Readonly<Record<string, string | number>>),
  ZodObject: objectSchema,
  ZodRecord: (definition, writer) => ({ type: 'object', additionalProperties: write(definition['valueType'] as Zod3, writer) }),
  ZodArray: arraySchema,
  ZodSet: (definition, writer) => ({ type: 'array', uniqueItems: true, items: write(definition['valueType'] as Zod3, writer) }),
  ZodTuple: tupleSchema,
  ZodUnion: union,
  ZodDiscriminatedUnion: union,
  ZodIntersection: (definition, writer) => ({
    allOf: [write(definition['left'] as Zod3, writer), write(definition['right'] as Zod3, writer)],
  }),
  ZodNullable: (definition, writer) => ({ anyOf: [inner(definition, writer), { type: 'null' }] }),
  ZodOptional: inner,
  ZodReadonly: inner,
  ZodBranded: inner,
  ZodCatch: inner,
  ZodPromise: inner,
  ZodDefault: (definition, writer) => withDefault(definition, write(definition['innerType'] as Zod3, writer)),
  ZodEffects: effects,
  ZodPipeline: (definition, writer) => write(definition[writer.way === 'input' ? 'in' : 'out'] as Zod3, writer),
  ZodLazy: lazySchema,
};

interface Check {
  readonly kind: string;
  readonly value?: unknown;
  readonly inclusive?: boolean;
  readonly regex?: RegExp;
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'email',
  url: 'uri',
  uuid: 'uuid',
  datetime: 'date-time',
  date: 'date',
  time: 'time',
  duration: 'duration',
};

function stringSchema(checks: readonly Check[]): Json {
  const json: Json = { type: 'string' };
  for (const { kind, value, regex } of checks) {
    if (kind === 'min') json['minLength'] = value;
    else if (kind === 'max') json['maxLength'] = value;
    else if (kind === 'length') json['minLength'] = json['maxLength'] = value;
    else if (kind === 'regex' && regex?.flags === '') json['pattern'] = regex.source;
    else if (FORMATS[kind] !== undefined) json['format'] = FORMATS[kind];
  }
  return json;
}

function numberSchema(checks: readonly Check[]): Json {
  const json: Json = { type: 'number' };
  for (const { kind, value, inclusive } of checks) {
    if (kind === 'int') json['type'] = 'integer';
    else if (kind === 'min') json[inclusive === false ? 'exclusiveMinimum' : 'minimum'] = value;
    else if (kind === 'max') json[inclusive === false ? 'exclusiveMaximum' : 'maximum'] = value;
    else if (kind === 'multipleOf') json['multipleOf'] = value;
  }
  return json;
}

function literalSchema(value: unknown): Json {
  const type = typeof value;
  return { ...(['string', 'number', 'boolean'].includes(type) && { type }), const: value };
}

function nativeEnum(values: Readonly<Record<string, string | number>>): Json {
  // An enum of numbers names each of them a second time, the other way round.
  const names = Object.keys(values).filter((name) => typeof values[values[name] as string] !== 'number');
  return { enum: names.map((name) => values[name]) };
}

function objectSchema(definition: Definition, writer: Writer): Json {
  const shape = definition['shape']() as Record<string, Zod3>;
  const members = Object.entries(shape);
  const required = members.filter(([, member]) => isRequired(member, writer.way)).map(([name]) => name);
  const { catchall, unknownKeys } = definition as { readonly catchall?: Zod3; readonly unknownKeys?: string };
  const others = catchall !== undefined && catchall._def.typeName !== 'ZodNever';
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(([name, member]) => [name, write(member, writer)])),
    ...(required.length > 0 && { required }),
    ...(others && { additionalProperties: write(catchall, writer) }),
    ...(!others && unknownKeys === 'strict' && { additionalProperties: false }),
  };
}

/** Whether a member must be there: on the way in, one with a default need not be. */
function isRequired({ _def: definition }: Zod3, way: 'input' | 'output'): boolean {
  switch (definition.typeName) {
    case 'ZodOptional':
    case 'ZodUndefined':
    case 'ZodVoid':
      return false;
    case 'ZodAny':
    case 'ZodUnknown':
      return false;
    case 'ZodDefault':
    case 'ZodCatch':
      return way === 'output';
    case 'ZodUnion':
      return [...(definition['options'] as readonly Zod3[])].every((option) => isRequired(option, way));
    case 'ZodNullable':
    case 'ZodReadonly':
    case 'ZodBranded':
    case 'ZodEffects':
      return isRequired((definition['innerType'] ?? definition['schema'] ?? definition['type']) as Zod3, way);
    case 'ZodPipeline':
      return isRequired(definition[way === 'input' ? 'in' : 'out'] as Zod3, way);
    default:
      return true;
  }
}

function arraySchema(definition: Definition, writer: Writer): Json {
  const { minLength, maxLength, exactLength } = definition as {
    readonly [bound: string]: { readonly value: number } | null | undefined;
  };
  const [least, most] = [exactLength ?? minLength, exactLength ?? maxLength];
  return {
    type: 'array',
    items: write(definition['type'] as Zod3, writer),
    ...(least && { minItems: least.value }),
    ...(most && { maxItems: most.value }),
  };
}

function tupleSchema(definition: Definition, writer: Writer): Json {
  const items = definition['items'] as readonly Zod3[];
  const rest = definition['rest'] as Zod3 | null;
  return {
    type: 'array',
    prefixItems: items.map((item) => write(item, writer)),
    minItems: items.length,
    ...(rest === null ? { items: false } : { items: write(rest, writer) }),
  };
}

function withDefault(definition: Definition, json: Json): Json {
  const value: unknown = (definition['defaultValue'] as () => unknown)();
  try {
    return JSON.stringify(value) === undefined ? json : { ...json, default: value };
  } catch {
    return json;
  }
}

/** What a preprocess takes, and a transform gives, is the program's own secret. */
function effects(definition: Definition, writer: Writer): Json {
  const { effect } = definition as { readonly effect?: { readonly type: string } };
  if (effect?.type === 'transform' && writer.way === 'output') return {};
  return inner(definition, writer);
}

function lazySchema(definition: Definition, writer: Writer): Json {
  const getter = definition['getter'] as () => Zod3;
  let name = writer.lazy.get(getter);
  if (name === undefined) {
    name = `schema${writer.lazy.size}`;
    writer.lazy.set(getter, name);
    writer.definitions[name] = write(getter(), writer);
  }
  return { $ref: `#/$defs/${name}` };
}
