/**
 * Bodies of requests, of Node's `http` and of `fetch`, as they are handed to the core; and responses in its place. Internal.
 */

import { usage } from './errors.js';
import type { NodeRequest, NodeResponse } from './http-types.js';
import type { NativeExchange } from './native.js';

const READ =
  'the body of the request was read already, and is not at hand; leave it unread, or hand it over: as request.body or by the third ' +
  'argument for requests of Node, and as { parsedBody } for those of fetch';

/** A request that cannot be served as it was handed over. */
export class Unserved extends Error {
  readonly status: number;

  constructor(status: number, cause: Error) {
    super(cause.message, { cause });
    this.status = status;
  }
}

/** The body of a refusal, as the core writes it. */
export function refusalText(message: string, code: number): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message } });
}

/** Ends a response, with this status unless it has begun already. Never throws. */
export function respond(response: NodeResponse, status: number, text: string, type = 'application/json'): void {
  try {
    if (response.writableEnded === true) return;
    if (response.headersSent === true) {
      response.end();
    } else {
      response.writeHead(status, ['content-type', type]);
      response.end(text);
    }
  } catch {
    // Whoever has this response as well has ended it meanwhile.
    response.destroy?.();
  }
}

/** Whether something else has taken of the request's body, so that it is lost here. */
function wasRead(request: NodeRequest): boolean {
  return request.readableDidRead ?? (request.readableEnded && Number(request.headers['content-length'] ?? 0) > 0);
}

/** A chunk of a body as bytes, also where someone has set an encoding or a library gives text. */
function bytesOf(chunk: unknown, encoding: string | null | undefined): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === 'string') return Buffer.from(chunk, (encoding ?? 'utf8') as BufferEncoding);
  throw new Unserved(400, usage('the body of a request must come as bytes or as text'));
}

/** What something else has read, as bytes. */
function wholeOf(parsed: unknown): Uint8Array {
  if (parsed instanceof Uint8Array) return parsed;
  const text = typeof parsed === 'string' ? parsed : (JSON.stringify(parsed) as string | undefined);
  if (text === undefined) throw new Unserved(400, usage(`the body that was handed over has no JSON form: it is a ${typeof parsed}`));
  return Buffer.from(text);
}

/** The body that was read before, if there is one: given with the request, or left in it. */
export function readBody(request: NodeRequest, parsedBody: unknown): Uint8Array | undefined {
  if (parsedBody !== undefined) return wholeOf(parsedBody);
  const { body } = request;
  if (body !== undefined && (request.readableEnded || request.readableDidRead === true)) return wholeOf(body);
  if (wasRead(request)) throw new Unserved(400, usage(READ));
  return undefined;
}

/** Hands over the body of a request of Node, which is read here or was before. `failed` gets what goes wrong later. */
export function sendNodeBody(request: NodeRequest, parsedBody: unknown, exchange: NativeExchange, failed: (error: unknown) => void): void {
  const whole = readBody(request, parsedBody);
  if (whole !== undefined) return exchange.last(whole);
  if (request.readableEnded) return exchange.endBody();
  const encoding = request.readableEncoding;
  // Text may have more bytes than came, or fewer.
  let left = encoding ? NaN : Number(request.headers['content-length'] ?? NaN);
  request.on('data', (chunk: unknown) => {
    try {
      const bytes = bytesOf(chunk, encoding);
      left -= bytes.length;
      if (left === 0) exchange.last(bytes);
      else if (!exchange.body(bytes)) request.removeAllListeners('data').resume();
    } catch (error) {
      request.removeAllListeners('data').resume();
      failed(error);
    }
  });
  if (!(left > 0)) request.once('end', () => exchange.endBody());
}

/** Hands over the body of a request as `fetch` has it. */
export async function sendWebBody(
  request: { readonly body: ReadableStream<unknown> | null; readonly bodyUsed: boolean },
  parsedBody: unknown,
  exchange: NativeExchange,
): Promise<void> {
  if (parsedBody !== undefined) return exchange.last(wholeOf(parsedBody));
  const { body } = request;
  if (request.bodyUsed || body?.locked) throw new Unserved(400, usage(READ));
  for await (const chunk of body ?? []) {
    if (!exchange.body(bytesOf(chunk, undefined))) return;
  }
  exchange.endBody();
}

/** The body of a request, as text. */
export function bodyOf(request: NodeRequest, longest: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const whole = readBody(request, undefined);
    if (whole !== undefined || request.readableEnded) {
      resolve(Buffer.from(whole ?? []).toString());
      return;
    }
    const { readableEncoding: encoding } = request;
    const chunks: Uint8Array[] = [];
    let length = 0;
    const refuse = (error: unknown): void => {
      request.removeAllListeners('data').resume();
      reject(error);
    };
    request.on('data', (chunk: unknown) => {
      try {
        const bytes = bytesOf(chunk, encoding);
        length += bytes.length;
        if (length <= longest) chunks.push(bytes);
        else refuse(Object.assign(new RangeError(`a body may have ${longest} bytes`), { name: 'RequestBodyTooLargeError', status: 413 }));
      } catch (error) {
        refuse(error);
      }
    });
    request.once('end', () => resolve(Buffer.concat(chunks).toString()));
    request.once('close', () => reject(new Error('the client left in the middle of its message')));
  });
}
