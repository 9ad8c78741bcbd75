/**
 * Access tokens of clients: where they come from, what a server that wants others makes of them, and whom they never reach.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type AuthProvider, Client, McpError, McpServer, ResponseError, StreamableHTTPClientTransport, UnauthorizedError, UsageError } from 'oxmcp';
import * as auth from 'oxmcp/client/auth.js';
import { SseError } from 'oxmcp/client/sse.js';
import { StreamableHTTPError } from 'oxmcp/client/streamableHttp.js';

import { appOf } from './apps.js';
import { ERAS, textOf } from './support.js';

/** A server that takes one token, which may be changed. */
async function guarded(): Promise<{ url: string; taken: { token: string }; seen: Set<string | undefined> }> {
  const server = new McpServer({ name: 'guarded', version: '1.0.0' });
  server.registerTool('whoami', {}, (ctx) => ctx.authInfo?.clientId ?? 'nobody');
  const { node } = server.httpHandler();
  const taken = { token: 'first' };
  const seen = new Set<string | undefined>();
  const url = await appOf((request, response) => {
    seen.add(request.headers.authorization);
    if (request.headers.authorization !== `Bearer ${taken.token}`) {
      response.writeHead(401, { 'www-authenticate': 'Bearer realm="mcp"' }).end();
      return;
    }
    node(Object.assign(request, { auth: { token: taken.token, clientId: `bearer of ${taken.token}`, scopes: [] } }), response);
  });
  return { url, taken, seen };
}

function newClient(mode: 'auto' | 'legacy' = 'auto'): Client {
  return new Client({ name: 'test', version: '1.0.0' }, { mode });
}

for (const { mode, revision } of ERAS) {
  test(`the token of a provider is sent with every request, in ${revision}`, async () => {
    const { url, seen } = await guarded();
    const providers: AuthProvider[] = [
      { tokens: () => ({ access_token: 'first', token_type: 'bearer' }) },
      { tokens: async () => ({ access_token: 'first' }) },
      { token: async () => 'first' },
    ];
    for (const authProvider of providers) {
      const client = newClient(mode);
      await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
      assert.equal(textOf(await client.callTool({ name: 'whoami' })), 'bearer of first');
      await client.close();
    }
    assert.deepEqual([...seen], ['Bearer first']);
  });

  test(`a token that expires makes calls fail, and the next connection has a new one, in ${revision}`, async () => {
    const { url, taken } = await guarded();
    const tokens = { access_token: 'first' };
    const transport = new StreamableHTTPClientTransport(url, { authProvider: { tokens: () => tokens } });
    const client = newClient(mode);
    await client.connect(transport);
    taken.token = 'second';
    await assert.rejects(client.callTool({ name: 'whoami' }), (error: McpError) => {
      assert.ok(error instanceof UnauthorizedError && error instanceof ResponseError);
      assert.deepEqual(error.data, { status: 401, wwwAuthenticate: 'Bearer realm="mcp"' });
      return true;
    });
    await client.close();
    tokens.access_token = 'second';
    await client.connect(transport);
    assert.equal(textOf(await client.callTool({ name: 'whoami' })), 'bearer of second');
    await client.close();
  });
}

test('without a token none is sent, and the server says what it wants', async () => {
  const { url, seen } = await guarded();
  const client = newClient();
  await assert.rejects(client.connect(new StreamableHTTPClientTransport(url, { authProvider: { tokens: () => undefined } })), auth.UnauthorizedError);
  assert.deepEqual([...seen], [undefined]);
});

test('failures over HTTP are known by the names of the official SDK', async () => {
  const url = await appOf((_, response) => void response.writeHead(418).end());
  for (const kind of [StreamableHTTPError, SseError]) {
    await assert.rejects(newClient().connect(new StreamableHTTPClientTransport(url)), (error: unknown) => {
      assert.ok(error instanceof kind && !(error instanceof UnauthorizedError));
      assert.equal(error.data.status, 418);
      return true;
    });
  }
  assert.equal(new McpError(-32602, 'no', { status: 401 }) instanceof StreamableHTTPError, false);
});

test('what a provider throws, and a token that is none, fail the connection', async () => {
  const { url, seen } = await guarded();
  const connect = (authProvider: AuthProvider): Promise<void> => newClient().connect(new StreamableHTTPClientTransport(url, { authProvider }));
  const own = new Error('the keyring is locked');
  await assert.rejects(connect({ tokens: () => Promise.reject(own) }), own);
  await assert.rejects(connect({ token: () => 'two words\r\nX-Evil: 1' }), (error: Error) => {
    return error instanceof UsageError && !error.message.includes('Evil');
  });
  assert.throws(() => new StreamableHTTPClientTransport(url, { authProvider: {} as never }), UsageError);
  assert.equal(seen.size, 0);
});

test('a client that is asked to connect twice meanwhile connects once', async () => {
  const { url } = await guarded();
  const client = newClient();
  const connect = (): Promise<void> => client.connect(new StreamableHTTPClientTransport(url, { authProvider: { token: async () => 'first' } }));
  const outcomes = await Promise.allSettled([connect(), connect()]);
  assert.deepEqual(outcomes.map(({ status }) => status), ['fulfilled', 'rejected']);
  await client.close();
});

test('a token never follows a redirect to another origin', async () => {
  const fields: (string | undefined)[] = [];
  const elsewhere = await appOf((request, response) => {
    fields.push(request.headers.authorization);
    response.writeHead(500).end();
  });
  const url = await appOf((_, response) => void response.writeHead(307, { location: elsewhere }).end());
  const transport = new StreamableHTTPClientTransport(url, { authProvider: { token: () => 'first' }, redirects: { otherOrigins: true } });
  await assert.rejects(newClient().connect(transport));
  assert.deepEqual([...new Set(fields)].filter(Boolean), []);
});

test('the transport ends its session, and tells the revision', async () => {
  const server = new McpServer({ name: 'sessions', version: '1.0.0' });
  const http = await server.listen();
  const transport = new StreamableHTTPClientTransport(http.url, { reconnectionOptions: { initialReconnectionDelay: 10, maxRetries: 2 } });
  assert.equal(transport.protocolVersion, undefined);
  await transport.close();
  const client = newClient('legacy');
  await client.connect(transport);
  assert.deepEqual([transport.protocolVersion, http.sessions], ['2025-11-25', 1]);
  await transport.terminateSession();
  assert.deepEqual([client.isConnected, http.sessions], [false, 0]);
  await server.close();
});
