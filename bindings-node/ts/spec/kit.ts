/**
 * A few kinds of schemas, enough for the objects of the protocol, with the methods that programs call on such schemas of
 * the official SDK. They check, and change nothing: members that are not listed stay.
 */

import type { StandardIssue, StandardResult, StandardSchema } from '../schema.js';
import { checkOf, isStandard, isZod3, issuesText } from '../schema.js';

/** What is wrong with a value. */
export interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What {@link Schema.parse} throws. */
export class SchemaError extends Error {
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[]) {
    super(issuesText(issues));
    this.name = 'SchemaError';
    this.issues = issues;
  }
}

/** What {@link Schema.safeParse} gives. */
export type SafeResult<T> = { success: true; data: T; error?: never } | { success: false; error: SchemaError; data?: never };

type Path = readonly (string | number)[];

/** A schema of this package. It follows the Standard Schema. */
export class Schema<T> implements StandardSchema<T> {
  /** For `z.infer` of zod 4. There is no such value. */
  declare readonly _zod: { output: T; input: T };
  readonly '~standard': StandardSchema<T>['~standard'];
  /** @internal */
  readonly run: (value: unknown, path: Path, issues: Issue[]) => unknown;
  /** @internal */
  readonly isOptional: boolean;

  constructor(run: (value: unknown, path: Path, issues: Issue[]) => unknown, isOptional = false) {
    this.run = run;
    this.isOptional = isOptional;
    this['~standard'] = { version: 1, vendor: 'oxmcp', validate: (value) => this.#validate(value) };
  }

  /** The value, if it fits. Throws a {@link SchemaError} if not. */
  parse(value: unknown): T {
    const result = this.safeParse(value);
    if (!result.success) throw result.error;
    return result.data;
  }

  /** The value, or what is wrong with it. */
  safeParse(value: unknown): SafeResult<T> {
    const issues: Issue[] = [];
    const data = this.run(value, [], issues) as T;
    return issues.length === 0 ? { success: true, data } : { success: false, error: new SchemaError(issues) };
  }

  /** {@link parse}, as a promise. */
  async parseAsync(value: unknown): Promise<T> {
    return this.parse(value);
  }

  /** {@link safeParse}, as a promise. */
  async safeParseAsync(value: unknown): Promise<SafeResult<T>> {
    return this.safeParse(value);
  }

  /** The same, or nothing. */
  optional(): Schema<T | undefined> {
    const { run } = this;
    return new Schema((value, path, issues) => (value === undefined ? value : run(value, path, issues)), true);
  }

  /** An array of these. */
  array(): Schema<T[]> {
    return array(this);
  }

  #validate(value: unknown): StandardResult<T> {
    const result = this.safeParse(value);
    return result.success ? { value: result.data } : { issues: result.error.issues };
  }
}

/** One value. */
export class Literal<const T> extends Schema<T> {
  readonly value: T;

  constructor(value: T) {
    super((given, path, issues) => {
      if (given !== value) issues.push({ path, message: `must be ${JSON.stringify(value)}` });
      return given;
    });
    this.value = value;
  }
}

/** One of several texts. */
export class OneOf<const T extends string> extends Schema<T> {
  /** The texts, in their order. */
  readonly options: readonly T[];
  /** The same by name. */
  readonly enum: { readonly [Value in T]: Value };

  constructor(values: readonly T[]) {
    super((given, path, issues) => {
      if (!values.includes(given as T)) issues.push({ path, message: `must be one of ${values.join(', ')}` });
      return given;
    });
    this.options = values;
    this.enum = Object.fromEntries(values.map((value) => [value, value])) as { readonly [Value in T]: Value };
  }
}

/** The members of an object: schemas of this package, or of zod. */
export type Shape = Readonly<Record<string, unknown>>;

/** An object. Members that are not named stay as they are. */
export class ObjectSchema<T, Members extends Shape = Shape> extends Schema<T> {
  /** The schemas of its members. */
  readonly shape: Members;

  constructor(shape: Members) {
    const members = Object.entries(shape).map(([name, schema]) => [name, member(schema)] as const);
    super((value, path, issues) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        issues.push({ path, message: 'must be an object' });
        return value;
      }
      const given = value as Readonly<Record<string, unknown>>;
      let made: Record<string, unknown> | undefined;
      for (const [name, schema] of members) {
        const one = given[name];
        if (one === undefined && schema.isOptional) continue;
        const out = one === undefined && !Object.hasOwn(given, name) && !schema.fills ? missing(path, name, issues) : schema.run(one, [...path, name], issues);
        if (out !== one) (made ??= { ...given })[name] = out;
      }
      return made ?? given;
    });
    this.shape = shape;
  }

  /** The same with more members, or other ones: schemas of this package, or of zod. */
  extend<More extends Shape>(more: More): ObjectSchema<Omit<T, keyof More> & Outputs<More>, Omit<Members, keyof More> & More> {
    return new ObjectSchema({ ...this.shape, ...more } as never);
  }

  /** {@link extend}, by the members of another object. */
  merge<U, More extends Shape>(other: ObjectSchema<U, More>): ObjectSchema<Omit<T, keyof U> & U, Omit<Members, keyof More> & More> {
    return new ObjectSchema({ ...this.shape, ...other.shape } as never);
  }

  /** These schemas always let other members through. */
  passthrough(): this {
    return this;
  }

  /** See {@link passthrough}. */
  loose(): this {
    return this;
  }
}

type Outputs<Members> = { [Name in keyof Members]: Members[Name] extends { readonly _zod: { output: infer Output } } ? Output : Members[Name] extends { readonly _output: infer Output } ? Output : unknown };

interface Member {
  readonly isOptional: boolean;
  /** Whether it may have a value where none was given. */
  readonly fills: boolean;
  run(value: unknown, path: Path, issues: Issue[]): unknown;
}

function missing(path: Path, name: string, issues: Issue[]): undefined {
  issues.push({ path: [...path, name], message: 'is missing' });
  return undefined;
}

/** A member may be of zod, with defaults of its own. */
function member(schema: unknown): Member {
  if (schema instanceof Schema) return { isOptional: schema.isOptional, fills: false, run: schema.run };
  if (!isStandard(schema) && !isZod3(schema)) throw new TypeError('a member of a schema must be a schema itself');
  const parse = (schema as unknown as { safeParse?: (value: unknown) => Parsed }).safeParse?.bind(schema);
  const check = checkOf(schema);
  return {
    isOptional: false,
    fills: true,
    run(value, path, issues) {
      const at = (found: readonly StandardIssue[]): void => {
        for (const { message, path: inner } of found) issues.push({ path: [...path, ...((inner ?? []) as Path)], message });
      };
      if (parse !== undefined) {
        const result = parse(value);
        if (result.success) return result.data;
        at(result.error.issues);
        return value;
      }
      const result = check?.(value) as StandardResult<unknown>;
      if (result.issues === undefined) return result.value;
      at(result.issues);
      return value;
    },
  };
}

type Parsed =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: { readonly issues: readonly StandardIssue[] } };

function typed<T>(what: string, is: (value: unknown) => boolean): Schema<T> {
  return new Schema((value, path, issues) => {
    if (!is(value)) issues.push({ path, message: `must be ${what}` });
    return value;
  });
}

export const string: Schema<string> = typed('a string', (value) => typeof value === 'string');
export const number: Schema<number> = typed('a number', (value) => typeof value === 'number');
export const boolean: Schema<boolean> = typed('true or false', (value) => typeof value === 'boolean');
export const unknown: Schema<unknown> = new Schema((value) => value, true);
export const record: Schema<Record<string, unknown>> = typed(
  'an object',
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

export function literal<const T>(value: T): Literal<T> {
  return new Literal(value);
}

export function oneOf<const T extends string>(...values: T[]): OneOf<T> {
  return new OneOf(values);
}

export function array<T>(item: Schema<T>): Schema<T[]> {
  return new Schema((value, path, issues) => {
    if (!Array.isArray(value)) {
      issues.push({ path, message: 'must be an array' });
      return value;
    }
    value.forEach((one, at) => item.run(one, [...path, at], issues));
    return value;
  });
}

/** The first that fits. */
export function union<T>(...options: readonly Schema<unknown>[]): Schema<T> {
  return new Schema((value, path, issues) => {
    let closest: Issue[] | undefined;
    for (const option of options) {
      const found: Issue[] = [];
      const made = option.run(value, path, found);
      if (found.length === 0) return made;
      if (closest === undefined || depth(found) > depth(closest)) closest = found;
    }
    issues.push(...(closest ?? []));
    return value;
  });
}

/** How far into a value the first thing is that is wrong with it: a guess at which of several kinds it was meant to be. */
function depth(issues: readonly Issue[]): number {
  return issues[0]?.path.length ?? 0;
}

export function object<T, Members extends Shape = Shape>(shape: Members): ObjectSchema<T, Members> {
  return new ObjectSchema(shape);
}
