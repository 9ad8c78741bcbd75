/**
 * Guarded servers over HTTP, by the module paths of the official SDK: who is let through, what the others are told, and where clients
 * find out which tokens are wanted.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Client, McpServer, StreamableHTTPClientTransport, UnauthorizedError, UsageError } from 'oxmcp';
import * as express from 'oxmcp/express';
import { OAuthError, OAuthErrorCode } from 'oxmcp/server';
import * as errors from 'oxmcp/server/auth/errors.js';
import { type BearerAuthMiddlewareOptions, requireBearerAuth } from 'oxmcp/server/auth/middleware/bearerAuth.js';
import type { OAuthTokenVerifier } from 'oxmcp/server/auth/provider.js';
import { getOAuthProtectedResourceMetadataUrl, mcpAuthMetadataRouter } from 'oxmcp/server/auth/router.js';
import type { AuthInfo } from 'oxmcp/server/auth/types.js';
import { checkResourceAllowed, resourceUrlFromServerUrl } from 'oxmcp/shared/auth-utils.js';
import {
  type OAuthMetadata,
  OAuthClientInformationFullSchema,
  OAuthMetadataSchema,
  OAuthProtectedResourceMetadataSchema,
  OAuthTokensSchema,
  OpenIdProviderMetadataSchema,
  SafeUrlSchema,
} from 'oxmcp/shared/auth.js';

import { appOf } from './apps.js';
import { ERAS, textOf } from './support.js';

const LATER = Date.now() / 1000 + 3600;
const OWN = 'https://mcp.example.com/mcp';

/** What each token says. */
const TOKENS: Readonly<Record<string, Partial<AuthInfo>>> = {
  good: {},
  narrow: { scopes: [] },
  old: { expiresAt: LATER - 7200 },
  endless: { expiresAt: Number.NaN },
  elsewhere: { resource: new URL('https://other.example.com/') },
};

const verifier: OAuthTokenVerifier = {
  async verifyAccessToken(token) {
    if (token === 'broken') throw new Error('the database is at 10.0.0.7');
    if (token === 'foreign') throw Object.assign(new Error('of another copy'), { errorCode: 'invalid_token', toResponseObject: () => ({}) });
    if (token === 'odd') throw new OAuthError(OAuthErrorCode.InvalidToken, 'says "no"\r\nX-Evil: ☠');
    if (token === 'many') throw new errors.TooManyRequestsError('too often');
    const known = TOKENS[token];
    if (known === undefined) throw new errors.InvalidTokenError('no such token');
    return { token, clientId: 'ada', scopes: ['tools'], expiresAt: LATER, resource: new URL(`${OWN}/#fragment`), ...known };
  },
};

/** A server behind the guard. */
async function guarded(options: Partial<BearerAuthMiddlewareOptions> = {}): Promise<string> {
  const server = new McpServer({ name: 'guarded', version: '1.0.0' });
  server.registerTool('whoami', {}, (ctx) => `${ctx.http?.authInfo?.clientId} by ${ctx.http?.authInfo?.token}`);
  const { node } = server.httpHandler();
  const guard = requireBearerAuth({ verifier, ...options });
  return appOf(async (request, response) => {
    if (await guard(request, response)) node(request, response);
  });
}

for (const { mode, revision } of ERAS) {
  test(`functions know who calls, in ${revision}`, async () => {
    const url = await guarded({ requiredScopes: ['tools'], expectedResource: new URL(OWN) });
    const client = new Client({ name: 'test', version: '1.0.0' }, { mode });
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider: { token: () => 'good' } }));
    assert.equal(textOf(await client.callTool({ name: 'whoami' })), 'ada by good');
    await client.close();
    const refused = new Client({ name: 'test', version: '1.0.0' }, { mode });
    await assert.rejects(refused.connect(new StreamableHTTPClientTransport(url)), UnauthorizedError);
  });
}

describe('a request is refused', () => {
  const unknown = 'Bearer error="invalid_token", error_description=';
  const cases: readonly [name: string, authorization: string | undefined, status: number, body: object, challenge: string | null][] = [
    ['without a token', undefined, 401, { error: 'invalid_token', error_description: 'Missing Authorization header' }, `${unknown}"Missing Authorization header"`],
    ['by another scheme', 'Basic eA==', 401, { error: 'invalid_token', error_description: "Invalid Authorization header format, expected 'Bearer TOKEN'" }, `${unknown}"Invalid Authorization header format, expected 'Bearer TOKEN'"`],
    ['with a token that nobody knows', 'bearer none', 401, { error: 'invalid_token', error_description: 'no such token' }, `${unknown}"no such token"`],
    ['with one that has expired', 'Bearer old', 401, { error: 'invalid_token', error_description: 'Token has expired' }, `${unknown}"Token has expired"`],
    ['with one that never expires', 'Bearer endless', 401, { error: 'invalid_token', error_description: 'Token has no expiration time' }, `${unknown}"Token has no expiration time"`],
    ['with one for another server', 'Bearer elsewhere', 401, { error: 'invalid_token', error_description: 'Token was not issued for this resource' }, `${unknown}"Token was not issued for this resource"`],
    ['with one that allows too little', 'Bearer narrow', 403, { error: 'insufficient_scope', error_description: 'Insufficient scope' }, 'Bearer error="insufficient_scope", error_description="Insufficient scope"'],
    ['by an error of the official SDK', 'Bearer foreign', 401, { error: 'invalid_token', error_description: 'of another copy' }, `${unknown}"of another copy"`],
    ['by words that no header field may have', 'Bearer odd', 401, { error: 'invalid_token', error_description: 'says "no"\r\nX-Evil: ☠' }, `${unknown}"says  no   X-Evil:  "`],
    ['by any other error of OAuth', 'Bearer many', 400, { error: 'too_many_requests', error_description: 'too often' }, null],
    ['when the program fails, whose words stay with it', 'Bearer broken', 500, { error: 'server_error', error_description: 'Internal Server Error' }, null],
  ];
  for (const [name, authorization, status, body, challenge] of cases) {
    test(name, async () => {
      const metadata = getOAuthProtectedResourceMetadataUrl(new URL(OWN));
      const url = await guarded({ requiredScopes: ['tools'], expectedResource: new URL(OWN), resourceMetadataUrl: metadata });
      const response = await fetch(url, { method: 'POST', body: '{}', ...(authorization && { headers: { authorization } }) });
      assert.deepEqual([response.status, await response.json()], [status, body]);
      const rest = `, scope="tools", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`;
      assert.equal(response.headers.get('www-authenticate'), challenge === null ? null : `${challenge}${rest}`);
    });
  }

  test('and as middleware nothing after it runs', async () => {
    const guard = express.requireBearerAuth({ verifier });
    const ran: string[] = [];
    const url = await appOf(async (request, response) => {
      await guard(request, response, () => {
        ran.push(request.headers.authorization ?? '');
        response.end();
      });
    });
    for (const token of ['none', 'good']) await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    assert.deepEqual(ran, ['Bearer good']);
  });

  test('when there is nobody to look tokens up, the program is told so', () => {
    assert.throws(() => requireBearerAuth({} as never), UsageError);
    assert.throws(() => requireBearerAuth({ verifier, scopes: [] } as never), /has no option "scopes"/);
  });
});

describe('what a server says of the tokens that it wants', () => {
  const oauthMetadata: OAuthMetadata = {
    issuer: 'https://auth.example.com/',
    authorization_endpoint: 'https://auth.example.com/authorize',
    token_endpoint: 'https://auth.example.com/token',
    response_types_supported: ['code'],
    extra: 1,
  };
  const origin = async (resourceServerUrl: URL): Promise<string> => {
    const router = mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl, scopesSupported: ['tools'], resourceName: 'Example' });
    return (await appOf((request, response) => router(request, response) && response.writeHead(418).end())).replace(/\/mcp$/, '');
  };

  test('is at the well-known places, for pages of any origin', async () => {
    for (const resource of [OWN, 'https://mcp.example.com/', `${OWN}/`]) {
      const at = await origin(new URL(resource));
      const { pathname } = new URL(getOAuthProtectedResourceMetadataUrl(new URL(resource)));
      const response = await fetch(`${at}${pathname}?x=1`);
      assert.equal(response.headers.get('access-control-allow-origin'), '*');
      assert.deepEqual(OAuthProtectedResourceMetadataSchema.parse(await response.json()), {
        resource,
        authorization_servers: ['https://auth.example.com/'],
        scopes_supported: ['tools'],
        resource_name: 'Example',
      });
      assert.deepEqual(OAuthMetadataSchema.parse(await (await fetch(`${at}/.well-known/oauth-authorization-server`)).json()), oauthMetadata);
      assert.equal((await fetch(`${at}/.well-known/oauth-protected-resource/other`)).status, 418);
    }
  });

  test('answers questions of browsers, and nothing else', async () => {
    const url = `${await origin(new URL(OWN))}/.well-known/oauth-protected-resource/mcp`;
    const asked = await fetch(url, { method: 'OPTIONS', headers: { 'access-control-request-headers': 'mcp-protocol-version' } });
    assert.deepEqual([asked.status, asked.headers.get('access-control-allow-headers')], [204, 'mcp-protocol-version']);
    const posted = await fetch(url, { method: 'POST', body: '{}' });
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD, OPTIONS']);
    assert.deepEqual(await posted.json(), { error: 'method_not_allowed', error_description: 'The method POST is not allowed for this endpoint' });
    const head = await fetch(url, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
  });

  test('must name an issuer that can be trusted', () => {
    const of = (issuer: unknown, more: object = {}): unknown =>
      mcpAuthMetadataRouter({ oauthMetadata: { ...oauthMetadata, issuer } as OAuthMetadata, resourceServerUrl: new URL(OWN), ...more });
    for (const issuer of ['http://auth.example.com/', 'https://auth.example.com/?a', 'https://auth.example.com/#a', 'auth', undefined]) {
      assert.throws(() => of(issuer), UsageError, String(issuer));
    }
    for (const issuer of ['http://localhost:9000', 'http://127.0.0.1:9000', 'http://[::1]:9000']) of(issuer);
    of('http://auth.test/', { dangerouslyAllowInsecureIssuerUrl: true });
  });
});

test('the errors of both versions have their codes', () => {
  const error = new errors.InsufficientScopeError('more, please', 'https://example.com/why');
  assert.ok(error instanceof errors.OAuthError && error instanceof OAuthError && !(error instanceof errors.InvalidTokenError));
  assert.deepEqual([error.name, error.code, error.errorCode, error.errorUri], ['InsufficientScopeError', 'insufficient_scope', 'insufficient_scope', 'https://example.com/why']);
  assert.deepEqual(error.toResponseObject(), { error: 'insufficient_scope', error_description: 'more, please', error_uri: 'https://example.com/why' });
  assert.deepEqual(OAuthError.fromResponse({ error: 'invalid_grant' }).toResponseObject(), { error: 'invalid_grant', error_description: 'invalid_grant' });
  assert.equal(new errors.CustomOAuthError('of_our_own', 'x').errorCode, 'of_our_own');
  class Own extends errors.OAuthError {
    static override errorCode = 'own';
  }
  assert.equal(new Own('x').code, 'own');
  const codes = Object.values(OAuthErrorCode).filter((code) => code !== OAuthErrorCode.InvalidRedirectUri);
  assert.deepEqual(Object.keys(errors.OAUTH_ERRORS).sort(), codes.sort());
  for (const [code, kind] of Object.entries(errors.OAUTH_ERRORS)) assert.equal(new kind('x').code, code);
});

test('a token is for a server and what is below it', () => {
  const allowed = (requestedResource: string, configuredResource: string): boolean => checkResourceAllowed({ requestedResource, configuredResource });
  assert.equal(resourceUrlFromServerUrl(`${OWN}?a=1#b`).href, `${OWN}?a=1`);
  assert.ok(allowed(`${OWN}/deeper`, OWN) && allowed(OWN, `${OWN}/`) && allowed(`${OWN}/`, OWN));
  assert.ok(!allowed(`${OWN}123`, OWN) && !allowed('https://mcp.example.com/', OWN) && !allowed('http://mcp.example.com/mcp', OWN));
  assert.ok(checkResourceAllowed({ requestedResource: new URL(OWN), configuredResource: new URL(OWN) }));
});

test('documents are checked, and keep what is not known', () => {
  const faults = (schema: { safeParse(value: unknown): { error?: { message: string } } }, value: unknown): string | undefined => schema.safeParse(value).error?.message;
  assert.equal(faults(SafeUrlSchema, 'javascript:alert(1)'), 'must not be a javascript: or data: or vbscript: URL');
  assert.equal(faults(SafeUrlSchema, 'no'), 'must be a URL');
  assert.deepEqual(OAuthTokensSchema.parse({ access_token: 'a', token_type: 'Bearer', expires_in: '60' }), { access_token: 'a', token_type: 'Bearer', expires_in: 60 });
  assert.equal(faults(OAuthTokensSchema, { access_token: 'a', token_type: 'Bearer', expires_in: 'soon' }), 'expires_in: must be a number');
  const client = { client_id: 'c', redirect_uris: ['https://a.test/'], logo_uri: '', other: 1 };
  assert.deepEqual(OAuthClientInformationFullSchema.parse(client), { ...client, logo_uri: undefined });
  assert.equal(faults(OAuthClientInformationFullSchema, { client_id: 'c', redirect_uris: ['data:x'] }), 'redirect_uris.0: must not be a javascript: or data: or vbscript: URL');
  assert.equal(faults(OpenIdProviderMetadataSchema, { issuer: 'x' })?.split('; ')[0], 'authorization_endpoint: is missing');
});
