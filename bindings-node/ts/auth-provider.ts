/**
 * Credentials for a server over HTTP: access tokens, and what is asked for when the server refuses those that it got.
 */

import { usage } from './errors.js';
import type { HeaderFields, WebResponse } from './http-types.js';
import type { Url } from './registered.js';

/** A server refused a request for want of authorization (`basic/authorization` of the specification). */
export interface Unauthorized {
  /** 401, or 403 with a challenge: the credentials do not allow enough. */
  readonly status: number;
  /** The value of the header field `WWW-Authenticate`, if there is one. */
  readonly wwwAuthenticate: string | undefined;
}

/** Gives the header fields to send from now on; nothing when there are no others. */
export type OnUnauthorized = (refused: Unauthorized) => HeaderFields | undefined | Promise<HeaderFields | undefined>;

/** What the function `onUnauthorized` of a provider is told. */
export interface UnauthorizedContext extends Unauthorized {
  /** The head of the response, as `fetch` has it. */
  readonly response: WebResponse;
  readonly serverUrl: Url;
}

/** What an authorization server gives (RFC 6749). Members that are not listed may be there. */
export interface OAuthTokens {
  readonly access_token: string;
  readonly token_type?: string | undefined;
}

interface Refreshes {
  /** The server refused the token: the time to get another one, which is asked for when this is done. */
  onUnauthorized?(context: UnauthorizedContext): void | Promise<void>;
}

/** What a program's object gives that has tokens of an authorization server, as the official SDK has it. */
export interface OAuthClientProvider extends Refreshes {
  /** The tokens at hand; `undefined` when there are none. */
  tokens(): OAuthTokens | undefined | Promise<OAuthTokens | undefined>;
}

/** Gives a token alone. */
export interface TokenProvider extends Refreshes {
  /** The token at hand; `undefined` when there is none. */
  token(): string | undefined | Promise<string | undefined>;
}

/** Where a client has its access token from. It is asked at each {@link Client.connect}, and when the server refuses the token. */
export type AuthProvider = OAuthClientProvider | TokenProvider;

/** A token may be of these characters alone (RFC 6750). */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** Refuses what gives no tokens. Internal. */
export function checkProvider(provider: AuthProvider | undefined): void {
  const { tokens, token } = (provider ?? {}) as Partial<OAuthClientProvider & TokenProvider>;
  if (provider !== undefined && typeof tokens !== 'function' && typeof token !== 'function') {
    throw usage('the option "authProvider" of StreamableHTTPClientTransport must have a function tokens() or token()');
  }
}

/** The value of the field `Authorization`, if there is a token. Internal. */
export async function authorizationOf(provider: AuthProvider): Promise<string | undefined> {
  const token = 'tokens' in provider ? (await provider.tokens())?.access_token : await provider.token();
  if (token === undefined || token === null) return undefined;
  // Never shown: what was given instead may be secret, too.
  if (typeof token !== 'string' || !TOKEN.test(token)) throw usage('the authProvider gave a token that is none of RFC 6750');
  return `Bearer ${token}`;
}

/** What a client over HTTP does when its server wants other credentials: names and values of header fields, one after the other. Internal. */
export function renewal(
  serverUrl: Url,
  provider: AuthProvider | undefined,
  onUnauthorized: OnUnauthorized | undefined,
): ((status: number, challenge: string | null) => Promise<string[]>) | undefined {
  if (provider !== undefined) {
    return async (status, challenge) => {
      const headers = challenge === null ? {} : { 'www-authenticate': challenge };
      const response = new Response(null, { status, headers });
      await provider.onUnauthorized?.({ status, wwwAuthenticate: challenge ?? undefined, response, serverUrl });
      const authorization = await authorizationOf(provider);
      return authorization === undefined ? [] : ['authorization', authorization];
    };
  }
  return (
    onUnauthorized &&
    (async (status, challenge) => {
      const fields = await onUnauthorized({ status, wwwAuthenticate: challenge ?? undefined });
      return [...new Headers((fields ?? {}) as ConstructorParameters<typeof Headers>[0])].flat();
    })
  );
}
