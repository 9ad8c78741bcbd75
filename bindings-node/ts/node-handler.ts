/**
 * Handlers of requests as `fetch` has them, in Node's `http`.
 */

import { type Known, checkOptions } from './check-options.js';
import { ErrorCode, textOf, usage } from './errors.js';
import { Unserved, bodyOf, refusalText, respond } from './http-body.js';
import { HttpHandler } from './http-server.js';
import type { NodeRequest, NodeResponse, WebRequest, WebResponse } from './http-types.js';
import { Handler } from './mcp-handler.js';
import { type AuthInfo, nodeOrigin } from './origin.js';

/** What serves requests as `fetch` has them. */
export interface FetchLikeMcpHandler {
  fetch(request: WebRequest, options?: { readonly authInfo?: AuthInfo | undefined; readonly parsedBody?: unknown }): Promise<WebResponse>;
}

/** Settings of {@link toNodeHandler}, all optional. */
export interface ToNodeHandlerOptions {
  /** Called when a handler of the program throws: the response is 500 then. */
  readonly onerror?: ((error: Error) => void) | undefined;
  /** The largest body that is read for a handler of the program, in bytes; 16 MiB by default. */
  readonly maxRequestBodySize?: number | undefined;
}

/** Serves requests of Node's `http`, of Express or Fastify; `parsedBody` is the body, if something has read it. */
export type NodeMcpRequestHandler = (request: NodeRequest, response: NodeResponse, parsedBody?: unknown) => Promise<void>;

const KNOWN: Known = { onerror: 'function', maxRequestBodySize: 'count' };
const LONGEST = 16 * 1024 * 1024;

/**
 * Serves requests of Node's `http` by a handler of {@link createMcpHandler}, or by one of the program. The `auth` of a request
 * reaches the functions as `authInfo`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { McpServer } from 'oxmcp';
 * import { toNodeHandler } from 'oxmcp/node';
 * import { createMcpHandler } from 'oxmcp/server';
 *
 * const handler = createMcpHandler(() => new McpServer({ name: 'example', version: '1.0.0' }));
 * const app = createServer(toNodeHandler(handler));
 * ```
 */
export function toNodeHandler(handler: FetchLikeMcpHandler, options: ToNodeHandlerOptions = {}): NodeMcpRequestHandler {
  if (typeof handler?.fetch !== 'function') throw usage('toNodeHandler needs a handler with a function fetch');
  checkOptions('toNodeHandler', options, KNOWN);
  return async (request, response, given) => {
    const parsedBody = typeof given === 'function' ? undefined : given;
    // Ours need no detour by requests and responses of `fetch`.
    if (handler instanceof HttpHandler) return handler.node(request, response, parsedBody);
    try {
      if (handler instanceof Handler) return await handler.node(request, response, parsedBody);
      await convert(handler, request, response, parsedBody, options.maxRequestBodySize ?? LONGEST);
    } catch (error) {
      const { status = 500 } = (error ?? {}) as { readonly status?: number };
      const known = error instanceof Unserved;
      respond(response, status, refusalText(known ? error.message : 'Internal error', known ? ErrorCode.InvalidRequest : ErrorCode.InternalError));
      tell(options.onerror, error instanceof Error ? error : new Error(textOf(error), { cause: error }));
    }
  };
}

/** Settings of {@link toWebRequest}, all optional. */
export interface ToWebRequestOptions {
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined;
  /** The largest body that is read, in bytes; 16 MiB by default. */
  readonly maxRequestBodySize?: number | undefined;
}

/**
 * A request of Node's `http` as `fetch` has it, with its whole body.
 *
 * @param parsedBody the body, if something has read it already
 * @throws an error whose `status` is 413, when the body is too large
 */
export async function toWebRequest(
  request: NodeRequest,
  parsedBody?: unknown,
  { signal, maxRequestBodySize = LONGEST }: ToWebRequestOptions = {},
): Promise<WebRequest> {
  const head = nodeOrigin(request).request;
  if (head === undefined) throw usage(`the request has no usable URL: ${String(request.url)}`);
  const isBare = head.method === 'GET' || head.method === 'HEAD';
  const text = parsedBody === undefined ? await bodyOf(request, maxRequestBodySize) : typeof parsedBody === 'string' ? parsedBody : JSON.stringify(parsedBody);
  return new Request(head, { ...(!isBare && { body: text }), ...(signal !== undefined && { signal }) });
}

async function convert(
  handler: FetchLikeMcpHandler,
  request: NodeRequest,
  response: NodeResponse,
  parsedBody: unknown,
  maxRequestBodySize: number,
): Promise<void> {
  const left = new AbortController();
  response.once('close', () => left.abort());
  const converted = await toWebRequest(request, parsedBody, { signal: left.signal, maxRequestBodySize });
  const { status, headers, body } = await handler.fetch(converted, { authInfo: request.auth, parsedBody });
  response.writeHead(status, [...headers].flat());
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    if (left.signal.aborted) return;
    if (response.write(decoder.decode(chunk, { stream: true }))) continue;
    await new Promise<void>((resolve) => {
      response.once('drain', resolve);
      left.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
  response.end();
}

/** What a hook of the program throws must not end the process. */
function tell(hook: ((error: Error) => void) | undefined, error: Error): void {
  try {
    hook?.(error);
  } catch (second) {
    console.error(second);
  }
}
