/**
 * Requests and responses as Node's `http` and `fetch` have them: as much of them as is used here, so that programs need no
 * types of either.
 */

import type { AuthInfo } from './origin.js';

/** A request as Node's `http` has it. Frameworks may have read its body and its token, and know where it is mounted. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string | undefined;
  readonly body?: unknown;
  /** Who makes it, as middleware before has found out. */
  readonly auth?: AuthInfo | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly rawHeaders: readonly string[];
  readonly socket: { readonly localAddress?: string | undefined; readonly encrypted?: boolean | undefined };
  readonly readableEnded: boolean;
  readonly readableDidRead?: boolean | undefined;
  readonly readableEncoding?: string | null | undefined;
  on(event: 'data', listener: (chunk: unknown) => void): unknown;
  once(event: 'end' | 'close', listener: () => void): unknown;
  removeAllListeners(event: 'data'): { resume(): unknown };
}

/** A response as Node's `http` has it. */
export interface NodeResponse {
  readonly headersSent?: boolean | undefined;
  readonly writableEnded?: boolean | undefined;
  readonly destroyed?: boolean | undefined;
  destroy?(): unknown;
  writeHead(status: number, headers: string[]): unknown;
  flushHeaders(): void;
  write(chunk: string): boolean;
  end(chunk?: string): unknown;
  once(event: 'close' | 'drain', listener: () => void): unknown;
}

/** The `Request` of the program's own types, where it has some. */
export type WebRequest = typeof globalThis extends { Request: { prototype: infer Own } } ? Own : { readonly url: string };

/** The `Response` of the program's own types, where it has some. */
export type WebResponse = typeof globalThis extends { Response: { prototype: infer Own } } ? Own : { readonly status: number };

/** The `Headers` of the program's own types, where it has some. */
export type WebHeaders = typeof globalThis extends { Headers: { prototype: infer Own } } ? Own : never;

/** Header fields, as `fetch` takes them. */
export type HeaderFields = Readonly<Record<string, string>> | readonly (readonly [string, string])[] | WebHeaders;
