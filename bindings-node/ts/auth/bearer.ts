/**
 * Guards a server over HTTP by access tokens (RFC 6750), which the program itself looks up.
 */

import { type Known, checkOptions } from '../check-options.js';
import { usage } from '../errors.js';
import type { NodeRequest, NodeResponse } from '../http-types.js';
import type { AuthInfo } from '../origin.js';
import type { Url } from '../registered.js';
import { OAuthError } from './errors.js';
import { isSameResource } from './resource.js';

/** Looks up tokens. */
export interface OAuthTokenVerifier {
  /** What a token says. Throws an {@link OAuthError} for one that is none: `invalid_token`. */
  verifyAccessToken(token: string): Promise<AuthInfo>;
}

/** Settings of {@link requireBearerAuth}. */
export interface BearerAuthMiddlewareOptions {
  /** Looks up tokens. */
  readonly verifier: OAuthTokenVerifier;
  /** What a token must allow; nothing by default. */
  readonly requiredScopes?: readonly string[] | undefined;
  /** Where a client finds out which tokens are wanted: see {@link getOAuthProtectedResourceMetadataUrl}. */
  readonly resourceMetadataUrl?: string | undefined;
  /** The server that a token must be for, by its `resource`; any by default. */
  readonly expectedResource?: Url | undefined;
}

/**
 * Lets a request through that has a token, and leaves what it says as the request's `auth`: functions of a server find it in
 * `ctx.http.authInfo`. As middleware of Express it calls `next`, and for Node's `http` it gives whether the request may go on.
 */
export type BearerGuard = (request: NodeRequest, response: NodeResponse, next?: () => void) => Promise<boolean>;

const KNOWN: Known = { verifier: 'object', requiredScopes: 'list', resourceMetadataUrl: 'text', expectedResource: 'object' };

/** With these codes; all others of OAuth are 400. */
const STATUS: Readonly<Record<string, number>> = { invalid_token: 401, insufficient_scope: 403, server_error: 500 };

/**
 * Refuses requests without a token that the program's `verifier` knows, that has not expired, is for this server and allows enough:
 * by 401 or 403 and the challenge that leads a client to a token. A token without `expiresAt` counts as expired.
 */
export function requireBearerAuth(options: BearerAuthMiddlewareOptions): BearerGuard {
  checkOptions('requireBearerAuth', options, KNOWN);
  if (typeof options?.verifier?.verifyAccessToken !== 'function') {
    throw usage('the option "verifier" of requireBearerAuth must have a function verifyAccessToken(token)');
  }
  return async (request, response, next) => {
    try {
      const auth = await verified(request, options);
      Object.assign(request, { auth });
    } catch (thrown) {
      refuse(response, thrown, options);
      return false;
    }
    next?.();
    return true;
  };
}

async function verified({ headers }: NodeRequest, options: BearerAuthMiddlewareOptions): Promise<AuthInfo> {
  const { authorization } = headers;
  if (authorization === undefined) throw new OAuthError('invalid_token', 'Missing Authorization header');
  const [, token] = /^bearer +(\S+) *$/i.exec(String(authorization)) ?? [];
  if (token === undefined) throw new OAuthError('invalid_token', "Invalid Authorization header format, expected 'Bearer TOKEN'");
  const auth = await options.verifier.verifyAccessToken(token);
  const { expectedResource, requiredScopes = [] } = options;
  if (expectedResource !== undefined && (auth.resource === undefined || !isSameResource(auth.resource, expectedResource))) {
    throw new OAuthError('invalid_token', 'Token was not issued for this resource');
  }
  if (!requiredScopes.every((scope) => auth.scopes.includes(scope))) throw new OAuthError('insufficient_scope', 'Insufficient scope');
  if (typeof auth.expiresAt !== 'number' || Number.isNaN(auth.expiresAt)) throw new OAuthError('invalid_token', 'Token has no expiration time');
  if (auth.expiresAt < Date.now() / 1000) throw new OAuthError('invalid_token', 'Token has expired');
  return auth;
}

/** An error of the official SDK's own is known by its code; what any other says stays with the program. */
function refuse(response: NodeResponse, thrown: unknown, options: BearerAuthMiddlewareOptions): void {
  const error = asOAuth(thrown) ?? new OAuthError('server_error', 'Internal Server Error');
  const status = STATUS[error.code] ?? 400;
  const headers = ['content-type', 'application/json'];
  if (status === 401 || status === 403) headers.push('www-authenticate', challenge(error, options));
  if (response.headersSent === true) return;
  response.writeHead(status, headers);
  response.end(JSON.stringify(error.toResponseObject()));
}

function asOAuth(thrown: unknown): OAuthError | undefined {
  if (thrown instanceof OAuthError) return thrown;
  const { errorCode, code = errorCode, toResponseObject } = (thrown ?? {}) as { errorCode?: unknown; code?: unknown; toResponseObject?: unknown };
  if (!(thrown instanceof Error) || typeof code !== 'string' || typeof toResponseObject !== 'function') return undefined;
  return new OAuthError(code, thrown.message);
}

function challenge({ code, message }: OAuthError, { requiredScopes = [], resourceMetadataUrl }: BearerAuthMiddlewareOptions): string {
  const parameters = [`error=${quoted(code)}`, `error_description=${quoted(message)}`];
  if (requiredScopes.length > 0) parameters.push(`scope=${quoted(requiredScopes.join(' '))}`);
  if (resourceMetadataUrl !== undefined) parameters.push(`resource_metadata=${quoted(resourceMetadataUrl)}`);
  return `Bearer ${parameters.join(', ')}`;
}

/** A header field is printable ASCII, and RFC 6750 leaves out these two as well. */
function quoted(text: string): string {
  return `"${text.replaceAll(/[^\x20-\x7e]|["\\]/g, ' ')}"`;
}
