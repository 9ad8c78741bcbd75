/**
 * For functions that make their rounds of questions themselves (2026-07-28), by the names of the official SDK's second version.
 */

import { usage } from './errors.js';
import { isThenable } from './incoming.js';
import type { InputRequiredResult } from './registered.js';
import { type AnySchema, type InferSchema, checkOf, prepare } from './schema.js';
import type { StandardResult } from './schema.js';
import type { CreateMessageRequestParams, CreateMessageResult, ElicitResult, JsonObject, JsonObjectInput, Root } from './types.js';

/** A question, as it stands among the `inputRequests` of a result. */
export interface InputRequest {
  readonly method: string;
  readonly params?: object;
}

/** What {@link inputRequired} makes a result of. */
export type InputRequiredSpec = Omit<InputRequiredResult, 'resultType'>;

interface InputRequiredBuilder {
  /** The result of a function that wants answers first: it runs again with them. */
  (spec: InputRequiredSpec): InputRequiredResult;
  /** A form for the user. Its schema is JSON Schema, or one of a library. */
  elicit(params: { readonly message: string; readonly requestedSchema: AnySchema; readonly [other: string]: unknown }): InputRequest;
  /** A URL that the user is to visit. */
  elicitUrl(params: { readonly message: string; readonly url: string; readonly [other: string]: unknown }): InputRequest;
  /** A question to the caller's model. */
  createMessage(params: CreateMessageRequestParams): InputRequest;
  /** A question for the caller's folders. */
  listRoots(): InputRequest;
}

/**
 * Makes the result of a function that wants answers first, and by its members the questions.
 *
 * @example
 * ```ts
 * import { McpServer, acceptedContent, inputRequired } from 'oxmcp/server';
 * import * as z from 'zod';
 *
 * const Sure = z.object({ sure: z.boolean() });
 * const server = new McpServer({ name: 'example', version: '1.0.0' });
 * server.registerTool('erase', { description: 'Erases everything' }, (ctx) => {
 *   const answer = acceptedContent(ctx.mcpReq.inputResponses, 'sure', Sure);
 *   if (answer !== undefined) return answer.sure ? 'Everything is gone.' : 'Nothing was erased.';
 *   return inputRequired({ inputRequests: { sure: inputRequired.elicit({ message: 'Erase everything?', requestedSchema: Sure }) } });
 * });
 * ```
 */
export const inputRequired: InputRequiredBuilder = Object.assign(
  (spec: InputRequiredSpec): InputRequiredResult => {
    const { inputRequests, requestState } = spec;
    if (inputRequests === undefined && requestState === undefined) throw usage('inputRequired needs inputRequests, a requestState, or both');
    return { resultType: 'input_required', ...spec };
  },
  {
    elicit: ({ requestedSchema, ...params }: Parameters<InputRequiredBuilder['elicit']>[0]): InputRequest => ({
      method: 'elicitation/create',
      params: { ...params, requestedSchema: formOf(requestedSchema) },
    }),
    elicitUrl: (params: Parameters<InputRequiredBuilder['elicitUrl']>[0]): InputRequest => ({
      method: 'elicitation/create',
      params: { ...params, mode: 'url' },
    }),
    createMessage: (params: CreateMessageRequestParams): InputRequest => ({ method: 'sampling/createMessage', params }),
    listRoots: (): InputRequest => ({ method: 'roots/list' }),
  },
);

/** Whether a result asks for answers first. */
export function isInputRequiredResult(value: unknown): value is InputRequiredResult {
  return (value as JsonObject | null | undefined)?.['resultType'] === 'input_required';
}

/** What came to a question. */
export type InputResponseView =
  | { readonly kind: 'missing' }
  | { readonly kind: 'elicit'; readonly action: ElicitResult['action']; readonly content?: Record<string, unknown> }
  | { readonly kind: 'sampling'; readonly result: CreateMessageResult }
  | { readonly kind: 'roots'; readonly roots: Root[] };

/** The answer that the client gave to the question of this key, by its kind. It is not checked by the form's schema. */
export function inputResponse(responses: JsonObject | undefined, key: string): InputResponseView {
  const answer = responses !== undefined && Object.hasOwn(responses, key) ? (responses[key] as JsonObject | null) : undefined;
  const { action, content, roots, role } = answer ?? {};
  if (action === 'accept' || action === 'decline' || action === 'cancel') {
    const isFilled = action === 'accept' && typeof content === 'object' && content !== null;
    return { kind: 'elicit', action, ...(isFilled && { content: content as Record<string, unknown> }) };
  }
  if (Array.isArray(roots)) return { kind: 'roots', roots: roots as Root[] };
  if (typeof role === 'string' && content !== undefined) return { kind: 'sampling', result: answer as unknown as CreateMessageResult };
  return { kind: 'missing' };
}

/**
 * What the user filled in: `undefined` where the answer is missing or another one, or does not fit the schema.
 *
 * @throws {@link UsageError} when the schema's check takes its time
 */
export function acceptedContent<Schema extends AnySchema>(
  responses: JsonObject | undefined,
  key: string,
  schema: Schema,
): InferSchema<Schema> | undefined;
export function acceptedContent<T extends JsonObjectInput = Record<string, unknown>>(responses: JsonObject | undefined, key: string): T | undefined;
export function acceptedContent(responses: JsonObject | undefined, key: string, schema?: AnySchema): unknown {
  const answer = inputResponse(responses, key);
  if (answer.kind !== 'elicit' || answer.action !== 'accept') return undefined;
  const content = answer.content ?? {};
  const check = schema === undefined ? undefined : (checkOf(schema) ?? prepare(schema, 'the schema of acceptedContent', 'input').check);
  if (check === undefined) return content;
  const result = check(content);
  if (isThenable(result)) throw usage('acceptedContent needs a schema that checks at once');
  const { issues, value } = result as StandardResult<unknown> & { readonly value?: unknown };
  return issues === undefined ? value : undefined;
}

/** Forms are objects of plain members, whatever else a library writes of them. */
function formOf(schema: AnySchema): JsonObject {
  const { properties = {}, required } = prepare(schema, 'the requestedSchema', 'input').json();
  return { type: 'object', properties, ...(required !== undefined && { required }) };
}
