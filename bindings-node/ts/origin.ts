/**
 * Where a call comes from, when it comes by HTTP: the request, and what the program knows of who made it.
 */

import type { NodeRequest, WebRequest } from './http-types.js';
import type { Url } from './registered.js';

/** What a program has found out about the bearer of an access token. It checks tokens itself; this is passed on as it is. */
export interface AuthInfo {
  /** The token. */
  token: string;
  /** Whom it was issued to. */
  clientId: string;
  /** What it allows. */
  scopes: string[];
  /** When it expires, in seconds since 1970. */
  expiresAt?: number;
  /** The server that it is for (RFC 8707). */
  resource?: Url;
  /** All else. */
  extra?: Record<string, unknown>;
}

/** The request that brought a message. */
export interface RequestInfo {
  /** Its header fields, by names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  /** Its URL. */
  url?: Url;
}

/** What a transport of the program may say of a message beside it. */
export interface MessageExtraInfo {
  readonly requestInfo?: RequestInfo | undefined;
  readonly authInfo?: AuthInfo | undefined;
}

/** The request that brought a call. Internal. */
export interface Origin {
  readonly authInfo: AuthInfo | undefined;
  readonly requestInfo: RequestInfo | undefined;
  /** The same as `fetch` has it. */
  readonly request: WebRequest | undefined;
}

/** A request as Node's `http` has it; middleware before us may have left its `auth`. Internal. */
export function nodeOrigin(request: NodeRequest): Origin {
  const { method = 'GET', headers, auth: authInfo } = request;
  const authority = headers[':authority'] ?? headers['host'];
  const url = urlOf(request.socket.encrypted === true, authority, request.originalUrl ?? request.url ?? '/');
  return new HttpOrigin(authInfo, method, { headers: headers as RequestInfo['headers'], ...(url !== undefined && { url }) });
}

/** A request as `fetch` has it. Internal. */
export function webOrigin(request: WebRequest, authInfo: AuthInfo | undefined): Origin {
  const info = { headers: Object.fromEntries(request.headers), url: new URL(request.url) };
  return { authInfo, requestInfo: info, request };
}

/** Method, target, authority, and names and values of header fields in turn. Internal. */
export type CoreHead = [method: string, target: string, authority: string | null, ...fields: string[]];

/** A request to a port of the core's own. Internal. */
export function coreOrigin([method, target, authority, ...fields]: CoreHead): Origin {
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [name, value] = [fields[at]!, fields[at + 1]!];
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`;
  }
  const url = urlOf(false, authority ?? headers['host'], target);
  return new HttpOrigin(undefined, method, { headers, ...(url !== undefined && { url }) });
}

class HttpOrigin implements Origin {
  readonly authInfo: AuthInfo | undefined;
  readonly requestInfo: RequestInfo;
  readonly #method: string;
  #request: WebRequest | undefined;

  constructor(authInfo: AuthInfo | undefined, method: string, requestInfo: RequestInfo) {
    this.authInfo = authInfo;
    this.requestInfo = requestInfo;
    this.#method = method;
  }

  /** Without its body: what that said is the call. */
  get request(): WebRequest | undefined {
    const { headers, url } = this.requestInfo;
    if (url === undefined || this.#request !== undefined) return this.#request;
    const fields = Object.entries(headers).filter(([name, value]) => value !== undefined && !name.startsWith(':'));
    const pairs = fields.flatMap(([name, value]) => [value!].flat().map((one): [string, string] => [name, one]));
    return (this.#request = new Request(url.href, { method: this.#method, headers: pairs }));
  }
}

function urlOf(secure: boolean, host: unknown, target: string): URL | undefined {
  const text = `${secure ? 'https' : 'http'}://${typeof host === 'string' ? host : 'localhost'}${target}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}
