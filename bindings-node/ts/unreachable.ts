/**
 * Schemas of zod for arguments that JSON cannot carry, such as dates: no call of such a tool could ever pass. Internal.
 */

import { usage } from './errors.js';

/** Kinds that no JSON value fits, and what to write in their place. */
const UNFIT: Readonly<Record<string, string>> = {
  date: 'a date; use z.iso.datetime(), or z.coerce.date()',
  bigint: 'a big integer; use z.number().int(), or z.coerce.bigint()',
  map: 'a Map; use z.record()',
  set: 'a Set; use z.array()',
  nan: 'NaN; use z.null()',
  symbol: 'a symbol',
  function: 'a function',
  file: 'a file; use z.base64()',
  promise: 'a promise',
};

/** Kinds of what is no object, as arguments as a whole are. */
const NO_OBJECTS = ['string', 'number', 'boolean', 'null', 'array', 'tuple', 'enum', 'literal', 'nativeenum'];

/** Kinds that are around another one, and fit where that does. */
const AROUND = ['optional', 'nullable', 'default', 'prefault', 'nonoptional', 'readonly', 'branded'];

interface Definition {
  readonly type?: unknown;
  readonly typeName?: unknown;
  readonly coerce?: unknown;
  readonly effect?: { readonly type?: unknown };
  readonly [member: string]: unknown;
}

/** @throws {@link UsageError} when a member of arguments is of a kind that JSON has no value for; `whole` is what the schema is */
export function requireReachable(schema: unknown, whole: string): void {
  const root = kindOf(definitionOf(schema) ?? {});
  if (NO_OBJECTS.includes(root)) throw usage(`${whole} must be a schema of an object, since arguments have names; it is one of ${root}`);
  const isShape = definitionOf(schema) === undefined && typeof schema === 'object' && schema !== null && !('~standard' in schema);
  const found = isShape ? findIn(Object.entries(schema), [], new Set()) : find(schema, [], new Set());
  if (found === undefined) return;
  const { path, what } = found;
  throw usage(`${whole} can never be met, since arguments are JSON: ${path === '' ? 'it' : `its member "${path}"`} is ${what}`);
}

function find(schema: unknown, path: readonly string[], seen: Set<unknown>): { path: string; what: string } | undefined {
  const definition = definitionOf(schema);
  // A schema may be among its own members.
  if (definition === undefined || seen.has(schema)) return undefined;
  seen.add(schema);
  const kind = kindOf(definition);
  if (Object.hasOwn(UNFIT, kind)) return definition.coerce === true ? undefined : { path: path.join('.'), what: UNFIT[kind]! };
  if (AROUND.includes(kind)) return find(definition['innerType'] ?? definition['type'], path, seen);
  if (kind === 'object') return findIn(Object.entries(shapeOf(definition)), path, seen);
  if (kind === 'array') return find(definition['element'] ?? definition['type'], [...path, '[]'], seen);
  if (kind === 'record') return find(definition['valueType'], [...path, '*'], seen);
  if (kind === 'tuple') return findIn(Object.entries(definition['items'] as object), path, seen);
  if (kind === 'pipe' || kind === 'pipeline') return find(definition['in'], path, seen);
  // What a preprocess takes is its own business.
  if (kind === 'effects' && definition.effect?.type !== 'preprocess') return find(definition['schema'], path, seen);
  return undefined;
}

function findIn(members: readonly (readonly [string, unknown])[], path: readonly string[], seen: Set<unknown>): { path: string; what: string } | undefined {
  for (const [name, member] of members) {
    const found = find(member, [...path, name], seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Of zod 4, of zod mini and of zod 3. */
function definitionOf(schema: unknown): Definition | undefined {
  const { _zod: zod4, _def: zod3 } = (schema ?? {}) as { readonly _zod?: { readonly def?: Definition }; readonly _def?: Definition };
  return zod4?.def ?? zod3;
}

function kindOf({ type, typeName }: Definition): string {
  if (typeof typeName === 'string') return typeName.replace(/^Zod/, '').toLowerCase();
  return typeof type === 'string' ? type : '';
}

function shapeOf({ shape }: Definition): object {
  return ((typeof shape === 'function' ? (shape as () => unknown)() : shape) ?? {}) as object;
}
