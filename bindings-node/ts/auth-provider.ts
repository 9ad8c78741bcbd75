/**
 * Access tokens for a server over HTTP.
 */

import { usage } from './errors.js';

/** What an authorization server gives (RFC 6749). Members that are not listed may be there. */
export interface OAuthTokens {
  readonly access_token: string;
  readonly token_type?: string | undefined;
}

/** What a program's object gives that has tokens of an authorization server, as the official SDK has it. */
export interface OAuthClientProvider {
  /** The tokens at hand; `undefined` when there are none. */
  tokens(): OAuthTokens | undefined | Promise<OAuthTokens | undefined>;
}

/** Gives a token alone. */
export interface TokenProvider {
  /** The token at hand; `undefined` when there is none. */
  token(): string | undefined | Promise<string | undefined>;
}

/** Where a client has its access token from. It is asked at each {@link Client.connect}. */
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
