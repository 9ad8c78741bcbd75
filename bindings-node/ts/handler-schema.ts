/**
 * What a handler is for: a method by its name, or by the schema of its messages, as in the official SDK. Internal.
 */

import { ErrorCode, McpError, usage } from './errors.js';
import { isThenable } from './incoming.js';
import { type Check, checkOf, issuesText } from './schema.js';
import type { StandardResult, StandardSchema, ZodLike } from './schema.js';

/** The schema of a message: an object whose member `method` is a literal. */
export type MessageSchemaLike = StandardSchema | ZodLike;

/** What a handler is for. */
export interface Handled {
  readonly method: string;
  /** Checks the message; absent where only the method is given. */
  readonly check: Check | undefined;
}

/** Reads the first argument of `setRequestHandler` and `setNotificationHandler`, which is `what`. */
export function handledBy(given: unknown, what: string): Handled {
  if (typeof given === 'string') return { method: given, check: undefined };
  const method = methodOf(given);
  if (method === undefined) {
    throw usage(`${what} needs a method, or a schema of an object whose "method" is a literal, such as CallToolRequestSchema`);
  }
  return { method, check: checkOf(given) };
}

/** Runs a handler with the message that its schema made of what came. */
export function withMessage(check: Check | undefined, message: object, run: (message: never) => unknown): unknown {
  if (check === undefined) return run(message as never);
  const go = (result: StandardResult<unknown>): unknown => {
    if (result.issues === undefined) return run(result.value as never);
    throw new McpError(ErrorCode.InvalidParams, `Invalid params for ${(message as { method: string }).method}: ${issuesText(result.issues)}`);
  };
  const result = check(message);
  return isThenable(result) ? result.then((late) => go(late as StandardResult<unknown>)) : go(result as StandardResult<unknown>);
}

interface Described {
  readonly shape?: Readonly<Record<string, unknown>> | undefined;
  readonly value?: unknown;
  readonly values?: readonly unknown[] | undefined;
}

/** The literal that a schema of zod 3 or 4 or of this package has as its member `method`. */
function methodOf(schema: unknown): string | undefined {
  const { shape } = described(schema);
  const members = (typeof shape === 'function' ? (shape as () => Described['shape'])() : shape) ?? {};
  const { value, values } = described(members['method']);
  const method = value ?? values?.[0];
  return typeof method === 'string' ? method : undefined;
}

function described(schema: unknown): Described {
  const { _zod: zod4, _def: zod3, shape, value } = (schema ?? {}) as { _zod?: { def: Described }; _def?: Described } & Described;
  return zod4?.def ?? zod3 ?? { shape, value };
}
