/**
 * Schemas of results, as programs of the official SDK pass them along with a request. Internal.
 */

import { ProtocolError } from './errors.js';
import type { RequestOptions } from './options.js';
import { type Check, checkOf, checked, isStandard } from './schema.js';
import type { StandardSchema, ZodLike } from './schema.js';

/** A schema that a result can be checked by. */
export type ResultSchema = StandardSchema | ZodLike;

/** What may follow a request: options, or a schema and options. */
export type ResultArguments = readonly (RequestOptions | ResultSchema | undefined)[];

/** Whether an argument is a schema, and no options. */
export function isSchema(value: unknown): value is ResultSchema {
  return isStandard(value) || checkOf(value) !== undefined;
}

/** The options among the arguments. */
export function optionsOf(rest: ResultArguments): RequestOptions | undefined {
  const [first, second] = rest;
  return (second ?? (isSchema(first) ? undefined : first)) as RequestOptions | undefined;
}

/** Makes a call, and checks its result by the schema that is given, if one is. */
export async function withSchema<Result>(
  rest: ResultArguments,
  call: (options: RequestOptions | undefined) => Promise<unknown>,
): Promise<Result> {
  const [first] = rest;
  const result = await call(optionsOf(rest));
  return (await (isSchema(first) ? checkedBy(checkOf(first), result) : result)) as Result;
}

function checkedBy(check: Check | undefined, result: unknown): unknown {
  return checked(check, result, (value) => value, (what) => {
    const message = `the result does not fit the schema it was asked for with: ${what}`;
    throw new ProtocolError({ kind: 'protocol', fault: 'peer', message });
  });
}
