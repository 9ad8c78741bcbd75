/**
 * Arguments that a server can complete while the user types.
 */

/** Gives the values that an argument may have which begins with `value`. */
export type CompleteCallback = (
  value: string,
  context: { readonly arguments: Readonly<Record<string, string>> },
) => readonly string[] | Promise<readonly string[]>;

/** The mark of the official SDK, so that schemas marked by either are known to both. */
const MARK = Symbol.for('mcp.completable');

/**
 * Marks the schema of a prompt's argument: of zod, or a JSON Schema. At most 100 values are sent.
 *
 * @example
 * ```ts
 * import { McpServer, completable } from 'oxmcp';
 * import * as z from 'zod';
 *
 * const server = new McpServer({ name: 'example', version: '1.0.0' });
 * const languages = ['python', 'rust', 'typescript'];
 * server.registerPrompt(
 *   'review',
 *   { argsSchema: z.object({ language: completable(z.string(), (value) => languages.filter((one) => one.startsWith(value))) }) },
 *   ({ language }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Review this ${language}` } }] }),
 * );
 * ```
 */
export function completable<Schema extends object>(schema: Schema, complete: CompleteCallback): Schema {
  Object.defineProperty(schema, MARK, { value: { complete } });
  return schema;
}

/** Whether an argument is completed. */
export function isCompletable(schema: unknown): boolean {
  return completerOf(schema) !== undefined;
}

/** A schema around another one, of zod 4 or 3. */
interface Layered {
  readonly _zod?: { readonly def?: { readonly innerType?: unknown } };
  readonly _def?: { readonly innerType?: unknown };
}

/** The function that completes an argument, also when its schema was made optional afterwards. Internal. */
export function completerOf(schema: unknown): CompleteCallback | undefined {
  for (let one = schema; typeof one === 'object' && one !== null; ) {
    const mark = (one as Record<symbol, unknown>)[MARK] as { readonly complete: CompleteCallback } | undefined;
    if (mark !== undefined) return mark.complete;
    const { _zod: zod4, _def: zod3 } = one as Layered;
    one = (zod4?.def ?? zod3)?.innerType;
  }
  return undefined;
}
