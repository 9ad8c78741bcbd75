/**
 * What functions learn of the request over HTTP that brought their call, by every way that one can come.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, type Server as App, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';

import { type AuthInfo, Client, McpServer, type MessageTransport, type NodeRequest, StreamableHTTPClientTransport } from 'oxmcp';
import { SSEClientTransport } from 'oxmcp/client/sse.js';
import { toNodeHandler } from 'oxmcp/node';
import { createMcpHandler } from 'oxmcp/server';
import { SSEServerTransport } from 'oxmcp/server/sse.js';
import { StreamableHTTPServerTransport } from 'oxmcp/server/streamableHttp.js';

import { ERAS, linked, textOf } from './support.js';

const opened: App[] = [];

after(() => {
  for (const app of opened) {
    app.closeAllConnections();
    app.close();
  }
});

/** Serves by a function of Node's `http`, and gives the address. */
async function appOf(serve: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const app = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  opened.push(app);
  await once(app, 'listening');
  return `http://127.0.0.1:${(app.address() as AddressInfo).port}/mcp`;
}

/** What a function sees of its request. */
interface Seen {
  readonly who?: string;
  readonly agent?: string;
  readonly path?: string;
  readonly method?: string;
  readonly again?: string;
  readonly session: boolean;
}

function newServer(): McpServer {
  const server = new McpServer({ name: 'origin', version: '1.0.0' });
  server.registerTool('see', {}, async (ctx) => {
    const seen: Seen = {
      who: ctx.authInfo?.clientId as string,
      agent: ctx.requestInfo?.headers['x-agent'] as string,
      path: ctx.requestInfo?.url?.pathname as string,
      method: ctx.http?.req?.method as string,
      again: ctx.http?.req?.headers.get('x-agent') as string,
      session: ctx.sessionId !== undefined,
    };
    // It is known for as long as the call is.
    await new Promise(setImmediate);
    assert.equal(ctx.http?.authInfo?.clientId, seen.who);
    return JSON.stringify(seen);
  });
  return server;
}

function infoOf(clientId: string): AuthInfo {
  return { token: `token of ${clientId}`, clientId, scopes: ['all'] };
}

/** As middleware leaves it: the client names itself. */
function withAuth(request: IncomingMessage): IncomingMessage & NodeRequest {
  const name = request.headers['x-agent'];
  return Object.assign(request, typeof name === 'string' && { auth: infoOf(name) });
}

async function connectedTo(url: string, agent: string, mode: 'auto' | 'legacy'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { mode });
  await client.connect(new StreamableHTTPClientTransport(url, { headers: { 'X-Agent': agent } }));
  return client;
}

async function see(client: Client): Promise<Seen> {
  return JSON.parse(textOf(await client.callTool({ name: 'see' })) ?? '') as Seen;
}

/** Every way to serve, and whether it has sessions in the era with a handshake. */
const WAYS: Record<string, [serve: (server: () => McpServer) => Promise<string>, sessions: boolean]> = {
  'a handler of Node': [
    (server) => {
      const serve = toNodeHandler(createMcpHandler(() => server()));
      return appOf((request, response) => serve(withAuth(request), response));
    },
    false,
  ],
  'a handler of fetch': [
    (server) => {
      const { fetch } = createMcpHandler(() => server());
      const serve = toNodeHandler({ fetch: (request, options) => fetch(request, options) });
      return appOf((request, response) => serve(withAuth(request), response));
    },
    false,
  ],
  'a transport for each request': [
    (server) =>
      appOf(async (request, response) => {
        const [own, transport] = [server(), new StreamableHTTPServerTransport()];
        response.on('close', () => void own.close());
        await own.connect(transport);
        await transport.handleRequest(withAuth(request), response);
      }),
    false,
  ],
  'a transport for each session': [
    (server) => {
      const transports = new Map<string, StreamableHTTPServerTransport>();
      return appOf(async (request, response) => {
        let transport = transports.get(String(request.headers['mcp-session-id']));
        if (transport === undefined) {
          const made = new StreamableHTTPServerTransport({
            sessionIdGenerator: () => 'unused',
            onsessioninitialized: (id) => void transports.set(id, made),
          });
          await server().connect(made);
          transport = made;
        }
        await transport.handleRequest(withAuth(request), response);
      });
    },
    true,
  ],
};

for (const [way, [serve, sessions]] of Object.entries(WAYS)) {
  for (const { mode, revision } of ERAS) {
    test(`a function behind ${way} knows the request, in ${revision}`, { timeout: 60_000 }, async () => {
      const servers: McpServer[] = [];
      const made = (): McpServer => {
        const server = newServer();
        servers.push(server);
        return server;
      };
      const url = await serve(made);
      const clients = await Promise.all(['ada', 'bob'].map((agent) => connectedTo(url, agent, mode)));
      // Side by side, so that one could be taken for the other.
      for (let round = 0; round < 20; round++) {
        const seen = await Promise.all(clients.flatMap((client) => [see(client), see(client)]));
        for (const [at, agent] of ['ada', 'ada', 'bob', 'bob'].entries()) {
          const session = sessions && mode === 'legacy';
          assert.deepEqual(seen[at], { who: agent, agent, path: '/mcp', method: 'POST', again: agent, session });
        }
      }
      await Promise.all(clients.map((client) => client.close()));
      await Promise.all(servers.map((server) => server.close()));
    });
  }
}

describe('other transports', { timeout: 60_000 }, () => {
  test('HTTP+SSE: each message is a request of its own', async () => {
    const transports = new Map<string, SSEServerTransport>();
    const url = await appOf(async (request, response) => {
      if (request.method === 'GET') {
        const transport = new SSEServerTransport('/messages?a=b', response);
        transports.set(transport.sessionId, transport);
        response.on('close', () => transports.delete(transport.sessionId));
        await newServer().connect(transport);
        return;
      }
      const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
      assert.equal(searchParams.get('a'), 'b');
      await transports.get(searchParams.get('sessionId') ?? '')?.handlePostMessage(withAuth(request), response);
    });
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new SSEClientTransport(url, { headers: { 'X-Agent': 'ada' } }));
    const { who, agent, path, session } = await see(client);
    assert.deepEqual({ who, agent, path, session }, { who: 'ada', agent: 'ada', path: '/messages', session: true });
    await client.close();
    while (transports.size > 0) await new Promise(setImmediate);
  });

  test('a transport of the program says what it knows', async () => {
    const server = newServer();
    const answered = new Promise<string>((resolve) => {
      const transport: MessageTransport = {
        start: async () => {},
        close: async () => transport.onclose?.(),
        send: async (message) => {
          if ('result' in message && 'content' in message.result) resolve(JSON.stringify(message.result));
        },
      };
      void server.connect(transport).then(() => {
        const say = (message: object): void => {
          const extra = { authInfo: infoOf('eve'), requestInfo: { headers: { 'x-agent': 'eve' } } };
          transport.onmessage?.({ jsonrpc: '2.0', ...message } as never, extra);
        };
        const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'own', version: '1' } };
        say({ id: 1, method: 'initialize', params });
        say({ method: 'notifications/initialized' });
        say({ id: 2, method: 'tools/call', params: { name: 'see', arguments: {} } });
      });
    });
    assert.match(await answered, /\\"who\\":\\"eve\\",\\"agent\\":\\"eve\\"/);
    await server.close();
  });

  test('where it cannot be told for certain who calls, nothing is said', async () => {
    const server = newServer();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => 'unused' });
    await server.connect(transport);
    const url = await appOf((request, response) => transport.handleRequest(withAuth(request), response));
    const clients = await Promise.all(['ada', 'bob'].map((agent) => connectedTo(url, agent, 'legacy')));
    for (const client of clients) {
      assert.deepEqual(await see(client), { session: false });
      await client.close();
    }
    await server.close();
  });

  test('a call that came by no request knows of none', async () => {
    const client = await linked(newServer());
    assert.deepEqual(await see(client), { session: false });
    await client.close();
  });
});
