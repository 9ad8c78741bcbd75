/**
 * Servers over HTTP by the names of the official SDK's second version, and what else its programs bring along.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { Client, McpServer, StreamableHTTPClientTransport, UsageError } from 'oxmcp';
import { hostHeaderValidation, originValidation, toNodeHandler, toWebRequest } from 'oxmcp/node';
import {
  InMemoryServerEventBus,
  type McpRequestContext,
  Server,
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  isLegacyRequest,
} from 'oxmcp/server';
import { createMcpExpressApp } from 'oxmcp/server/express.js';
import { CallToolRequestSchema } from 'oxmcp/types.js';

import { ERAS, textOf, turn } from './support.js';

const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };

function post(method: string, params: object, headers: Record<string, string> = {}): Request {
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
}

/** A call of 2026-07-28. */
function call(name: string): Request {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
  return post('tools/call', { name, arguments: {}, _meta: MODERN_META }, headers);
}

function greeter(): McpServer {
  const server = new McpServer({ name: 'greeter', version: '1.0.0' });
  server.registerTool('greet', {}, () => 'Hello');
  return server;
}

async function bodyOf(response: Response): Promise<Record<string, any>> {
  return JSON.parse(await response.text()) as Record<string, any>;
}

describe('createMcpHandler', { timeout: 60_000 }, () => {
  test('the factory makes a server for each request', async () => {
    const made: McpRequestContext[] = [];
    const handler = createMcpHandler((context) => {
      made.push(context);
      return greeter();
    });
    const request = call('greet');
    const answer = await bodyOf(await handler.fetch(request, { authInfo: { token: 't', clientId: 'c', scopes: [] } }));
    assert.equal(answer['result'].content[0].text, 'Hello');
    const older = await handler.fetch(post('tools/call', { name: 'greet' }, { 'mcp-protocol-version': '2025-11-25' }));
    assert.equal((await bodyOf(older))['result'].content[0].text, 'Hello');
    assert.deepEqual(made.map(({ era, authInfo }) => [era, authInfo?.clientId]), [['modern', 'c'], ['legacy', undefined]]);
    assert.equal(made[0]?.requestInfo, request);
    await handler.close();
    assert.equal((await handler.fetch(call('greet'))).status, 503);
  });

  test('the low level is served, too', async () => {
    const handler = createMcpHandler(() => {
      const server = new Server({ name: 'low', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({ content: [{ type: 'text', text: params.name }] }));
      return server;
    });
    assert.equal((await bodyOf(await handler.fetch(call('any'))))['result'].content[0].text, 'any');
    await handler.close();
  });

  test('one that fails answers 500, and the next is tried anew', async () => {
    const errors: Error[] = [];
    let fails = true;
    const handler = createMcpHandler(
      () => {
        if (fails) throw new Error('no server today');
        return greeter();
      },
      { onerror: (error) => errors.push(error) },
    );
    const response = await handler.fetch(call('greet'));
    assert.deepEqual([response.status, (await bodyOf(response))['error'].message], [500, 'Internal error']);
    assert.equal(errors[0]?.message, 'no server today');
    fails = false;
    assert.equal((await handler.fetch(call('greet'))).status, 200);
    await handler.close();
  });

  test('older clients can be refused', async () => {
    const handler = createMcpHandler(() => greeter(), { legacy: 'reject' });
    const refused = await handler.fetch(post('initialize', INITIALIZE));
    const { error } = await bodyOf(refused);
    assert.equal(error.code, -32022, JSON.stringify(error));
    assert.equal((await handler.fetch(call('greet'))).status, 200);
    await handler.close();
  });

  test('answers are streams where that is said', async () => {
    for (const [responseMode, type] of [['sse', 'text/event-stream'], ['json', 'application/json'], ['auto', 'application/json']] as const) {
      const handler = createMcpHandler(() => greeter(), { responseMode });
      const response = await handler.fetch(call('greet'));
      assert.equal(response.headers.get('content-type'), type);
      assert.match(await response.text(), /Hello/);
      await handler.close();
    }
  });

  {
    test('clients that listen are told by the bus', async () => {
      const bus = new InMemoryServerEventBus();
      const handler = createMcpHandler(() => greeter(), { bus });
      const app = createServer(toNodeHandler(handler)).listen(0, '127.0.0.1');
      await once(app, 'listening');
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(`http://127.0.0.1:${(app.address() as AddressInfo).port}/`));
      const heard = new Promise((resolve) => client.setNotificationHandler('notifications/tools/list_changed', resolve));
      const stream = await client.listen({ toolsListChanged: true });
      handler.notify.toolsChanged();
      await heard;
      assert.equal(bus.listenerCount, 1);
      await stream.close();
      await client.close();
      await handler.close();
      assert.equal(bus.listenerCount, 0);
      app.closeAllConnections();
      app.close();
    });
  }

  test('requests of both kinds are told apart', async () => {
    assert.equal(await isLegacyRequest(call('greet')), false);
    assert.equal(await isLegacyRequest(post('initialize', INITIALIZE)), true);
    assert.equal(await isLegacyRequest(post('tools/list', { _meta: MODERN_META })), false);
    assert.equal(await isLegacyRequest(new Request('http://localhost/mcp')), true);
    assert.equal(await isLegacyRequest(post('x', {}), { params: { _meta: MODERN_META } }), false);
  });

  test('options that are none are refused', () => {
    assert.throws(() => createMcpHandler(greeter, { legcy: 'reject' } as never), /legcy/);
    assert.throws(() => createMcpHandler(undefined as never), UsageError);
    assert.throws(() => toNodeHandler({} as never), UsageError);
  });
});

describe('toNodeHandler', { timeout: 60_000 }, () => {
  test('a handler of the program gets requests as fetch has them', async () => {
    const errors: Error[] = [];
    const serve = toNodeHandler(
      {
        async fetch(request, options) {
          if (request.method === 'PUT') throw new Error('not this');
          return new Response(`${request.method} ${new URL(request.url).pathname} ${await request.text()} ${JSON.stringify(options?.parsedBody)}`);
        },
      },
      { onerror: (error) => errors.push(error), maxRequestBodySize: 10 },
    );
    const app = createServer((request, response) => void serve(request, response, () => {})).listen(0, '127.0.0.1');
    await once(app, 'listening');
    const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/a`;
    assert.equal(await (await fetch(url, { method: 'POST', body: 'x' })).text(), 'POST /a x undefined');
    assert.equal(await (await fetch(url)).text(), 'GET /a  undefined');
    assert.equal((await fetch(url, { method: 'POST', body: 'x'.repeat(11) })).status, 413);
    assert.equal((await fetch(url, { method: 'PUT', body: 'x' })).status, 500);
    assert.deepEqual(errors.map(({ message }) => message), ['a body may have 10 bytes', 'not this']);
    app.closeAllConnections();
    app.close();
  });

  test('a request that was read already is converted with what was read', async () => {
    const request = { method: 'POST', url: '/b', headers: { host: 'a.test', 'x-y': ['1', '2'] }, rawHeaders: [], socket: {}, readableEnded: true };
    const converted = await toWebRequest({ ...request, on() {}, once() {}, removeAllListeners: () => ({ resume() {} }) }, { a: 1 });
    assert.deepEqual([converted.url, converted.headers.get('x-y'), await converted.json()], ['http://a.test/b', '1, 2', { a: 1 }]);
  });
});

test('a transport for fetch keeps sessions', { timeout: 60_000 }, async () => {
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => 'unused', enableJsonResponse: true });
  await greeter().connect(transport);
  const begun = await transport.handleRequest(post('initialize', INITIALIZE));
  const id = begun.headers.get('mcp-session-id');
  assert.ok(id !== null && id === transport.sessionId);
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
  const listed = await bodyOf(await transport.handleRequest(post('tools/list', {}, headers)));
  assert.equal(listed['result'].tools[0].name, 'greet');
  const closed = new Promise<void>((resolve) => (transport.onclose = resolve));
  const ended = await transport.handleRequest(new Request('http://localhost/mcp', { method: 'DELETE', headers }));
  assert.equal(ended.status, 204);
  await closed;
  await transport.close();
});

test('a server that a program made for one request and forgot is freed', { timeout: 60_000 }, async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const held: WeakRef<object>[] = [];
  const serve = async (): Promise<void> => {
    const [server, transport] = [greeter(), new WebStandardStreamableHTTPServerTransport()];
    await server.connect(transport);
    held.push(new WeakRef(server), new WeakRef(transport));
    assert.match(await (await transport.handleRequest(call('greet'))).text(), /Hello/);
  };
  for (let round = 0; round < 31; round++) await serve();
  // The very last may still be on the stack of this turn.
  held.length -= 2;
  for (let round = 0; round < 50 && held.some((one) => one.deref() !== undefined); round++) {
    // What was looked at is kept for its turn.
    await turn();
    collect();
  }
  const left = held.flatMap((one, at) => (one.deref() === undefined ? [] : [at]));
  assert.deepEqual(left, []);
});

test('questions that are asked together reach the client together', { timeout: 60_000 }, async () => {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } } as const;
  for (const { mode } of ERAS) {
    const server = new McpServer({ name: 'asks', version: '1.0.0' });
    let runs = 0;
    server.registerTool('ask', {}, async ({ mcpReq }) => {
      runs++;
      const answers = await Promise.all(
        ['a', 'b', 'c'].map((message) => mcpReq.elicitInput({ message, requestedSchema })),
      );
      return answers.map(({ content }) => content?.['name']).join();
    });
    const { url } = await server.listen();
    const client = new Client({ name: 'test', version: '1' }, { mode, capabilities: { elicitation: {} } });
    client.setRequestHandler('elicitation/create', ({ params }) => ({ action: 'accept', content: { name: params.message } }));
    await client.connect(new StreamableHTTPClientTransport(url));
    assert.equal(textOf(await client.callTool({ name: 'ask' })), 'a,b,c');
    assert.equal(runs, mode === 'auto' ? 2 : 1, 'one round for all of them');
    await client.close();
    await server.close();
  }
});

test('guards let requests for known hosts and from known origins through', async () => {
  const cases: [guard: ReturnType<typeof hostHeaderValidation>, headers: Record<string, string>, passes: boolean][] = [
    [hostHeaderValidation(['a.test', '[::1]']), { host: 'a.test:80' }, true],
    [hostHeaderValidation(['a.test', '[::1]']), { host: '[::1]:3000' }, true],
    [hostHeaderValidation(['a.test']), { host: 'evil.test' }, false],
    [hostHeaderValidation(['a.test']), {}, false],
    [originValidation(['a.test']), {}, true],
    [originValidation(['a.test']), { origin: 'https://a.test' }, true],
    [originValidation(['a.test']), { origin: 'null' }, false],
  ];
  for (const [guard, headers, passes] of cases) {
    const said: unknown[] = [];
    const response = { writeHead: (status: number) => said.push(status), end: () => {}, flushHeaders() {}, write: () => true, once() {} };
    let next = false;
    const request = { headers, rawHeaders: [], socket: {}, readableEnded: true, on() {}, once() {}, removeAllListeners: () => ({ resume() {} }) };
    assert.equal(guard(request, response, () => (next = true)), passes, JSON.stringify(headers));
    assert.deepEqual([next, said], [passes, passes ? [] : [403]]);
  }
});

test('an app of Express needs Express', () => {
  assert.throws(() => createMcpExpressApp(), (error: Error) => error instanceof UsageError && error.message.includes('needs the package express'));
});
