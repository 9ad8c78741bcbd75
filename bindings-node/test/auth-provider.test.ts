/**
 * Access tokens of clients: where they come from, what a server that wants others makes of them, and whom they never reach.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client, McpError, McpServer, ResponseError, StreamableHTTPClientTransport, UnauthorizedError, UsageError } from 'oxmcp';
import type { AuthProvider, OnUnauthorized, Unauthorized, UnauthorizedContext } from 'oxmcp';
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

for (const { mode, revision } of ERAS) {
  test(`a provider is asked again when its token is refused, in ${revision}`, async () => {
    const { url, taken } = await guarded();
    const told: unknown[] = [];
    const provider = {
      token: () => provider.current,
      onUnauthorized: ({ status, wwwAuthenticate, response, serverUrl }: UnauthorizedContext) => {
        told.push([status, wwwAuthenticate, response.status, response.headers.get('www-authenticate'), serverUrl.href]);
        provider.current = taken.token;
      },
      current: 'none-yet',
    };
    const client = newClient(mode);
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
    assert.equal(textOf(await client.callTool({ name: 'whoami' })), 'bearer of first');
    taken.token = 'second';
    // Refused together, they ask together, or the next after the first.
    const calls = Array.from({ length: 5 }, async () => textOf(await client.callTool({ name: 'whoami' })));
    assert.deepEqual([...new Set(await Promise.all(calls))], ['bearer of second']);
    const challenge = 'Bearer realm="mcp"';
    assert.deepEqual(told, [[401, challenge, 401, challenge, url], [401, challenge, 401, challenge, url]]);
    await client.close();
  });

  test(`other header fields are asked for when those that were sent are refused, in ${revision}`, async () => {
    const { url, taken } = await guarded();
    const told: Unauthorized[] = [];
    const fresh: (() => ReturnType<OnUnauthorized>)[] = [
      () => ({ authorization: 'Bearer first' }),
      async () => new Headers([['Authorization', 'Bearer second']]),
      () => undefined,
      () => {
        throw new Error('the keyring is locked');
      },
    ];
    const onUnauthorized: OnUnauthorized = (refused) => {
      told.push(refused);
      return fresh.shift()?.();
    };
    const client = newClient(mode);
    await client.connect(new StreamableHTTPClientTransport(url, { onUnauthorized }));
    for (const token of ['first', 'second']) {
      taken.token = token;
      assert.equal(textOf(await client.callTool({ name: 'whoami' })), `bearer of ${token}`);
    }
    taken.token = 'third';
    for (const why of ['give it credentials', 'there are no others: Error: the keyring is locked']) {
      await assert.rejects(client.callTool({ name: 'whoami' }), (error: Error) => {
        assert.ok(error instanceof UnauthorizedError && error.message.includes(why), String(error));
        assert.deepEqual(error.data, { status: 401, wwwAuthenticate: 'Bearer realm="mcp"' });
        return true;
      });
    }
    assert.deepEqual(told, Array(4).fill({ status: 401, wwwAuthenticate: 'Bearer realm="mcp"' }));
    await client.close();
  });
}

test('a program gives a provider or a function, and no both', () => {
  const both = { authProvider: { token: () => 'first' }, onUnauthorized: () => undefined };
  assert.throws(() => new StreamableHTTPClientTransport('http://127.0.0.1:1/mcp', both), UsageError);
});

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

test('a client whose connection failed may connect at once again', async () => {
  const { url } = await guarded();
  const client = newClient();
  const connect = (token: string): Promise<void> => client.connect(new StreamableHTTPClientTransport(url, { authProvider: { token: () => token } }));
  for (let round = 0; round < 20; round++) {
    await assert.rejects(connect('another'), UnauthorizedError);
    await connect('first');
    assert.ok(client.isConnected);
    await client.close();
  }
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
