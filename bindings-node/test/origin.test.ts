/**
 * What functions learn of the request over HTTP that brought their call, by every way that one can come.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage } from 'node:http';
import { describe, test } from 'node:test';

import { type AuthInfo, Client, McpServer, type MessageTransport, type NodeRequest, type ServerContext, StreamableHTTPClientTransport } from 'oxmcp';
import { SSEClientTransport } from 'oxmcp/client/sse.js';
import { toNodeHandler } from 'oxmcp/node';
import { createMcpHandler } from 'oxmcp/server';
import { SSEServerTransport } from 'oxmcp/server/sse.js';
import { StreamableHTTPServerTransport } from 'oxmcp/server/streamableHttp.js';

import { type NativeSession, native } from '../dist/native.js';
import { appOf } from './apps.js';
import { ERAS, linked, textOf } from './support.js';

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

/** Every way to serve, whether it has sessions in the era with a handshake, and whether the program tells who calls. */
const WAYS: Record<string, [serve: (server: () => McpServer) => Promise<string>, sessions: boolean, tells?: false]> = {
  'a port': [async (server) => (await server().listen()).url, true, false],
  'one handler of Node for all': [
    (server) => {
      const { node } = server().httpHandler();
      return appOf((request, response) => node(withAuth(request), response));
    },
    true,
  ],
  'one handler of Node for all, without sessions': [
    (server) => {
      const { node } = server().httpHandler({ stateless: true });
      return appOf((request, response) => node(withAuth(request), response));
    },
    false,
  ],
  'one handler of fetch for all': [
    (server) => {
      const { fetch } = server().httpHandler();
      const serve = toNodeHandler({ fetch: (request, options) => fetch(request, options) });
      return appOf((request, response) => serve(withAuth(request), response));
    },
    true,
  ],
  'one transport for all sessions': [
    async (server) => {
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => 'unused' });
      await server().connect(transport);
      return appOf((request, response) => transport.handleRequest(withAuth(request), response));
    },
    true,
  ],
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

for (const [way, [serve, sessions, tells]] of Object.entries(WAYS)) {
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
          const who = tells === false ? {} : { who: agent };
          assert.deepEqual(seen[at], { ...who, agent, path: '/mcp', method: 'POST', again: agent, session });
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

  test('a call that came by no request knows of none', async () => {
    const client = await linked(newServer());
    assert.deepEqual(await see(client), { session: false });
    await client.close();
  });
});

describe('what is known of a request stays while its call goes on', { timeout: 60_000 }, () => {
  /** Serves a tool that says who calls, once the response to its request is closed. */
  async function served(before: (ctx: ServerContext) => void): Promise<{ url: string; server: McpServer; said: Promise<string> }> {
    let closed: Promise<unknown> = Promise.resolve();
    let say!: (who: string) => void;
    const said = new Promise<string>((resolve) => (say = resolve));
    const server = new McpServer({ name: 'origin', version: '1.0.0' });
    server.registerTool('hold', {}, async (ctx) => {
      before(ctx);
      await closed;
      const who = `${ctx.authInfo?.clientId} ${ctx.requestInfo?.headers['x-agent']}`;
      say(who);
      return who;
    });
    const { node } = server.httpHandler({ retry: 1 });
    const url = await appOf((request, response) => {
      if (request.method === 'POST') closed = once(response, 'close');
      node(withAuth(request), response);
    });
    return { url, server, said };
  }

  test('after the stream of its answer was ended', async () => {
    const { url, server } = await served((ctx) => {
      ctx.mcpReq.progress({ progress: 1 });
      ctx.closeSSEStream?.();
    });
    const client = await connectedTo(url, 'ada', 'legacy');
    assert.equal(textOf(await client.callTool({ name: 'hold' }, { onprogress: () => {} })), 'ada ada');
    await client.close();
    await server.close();
  });

  test('after a transport of the program ended that stream', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => 'unused', retryInterval: 1 });
    const server = new McpServer({ name: 'origin', version: '1.0.0' });
    server.registerTool('hold', {}, async (ctx) => {
      ctx.mcpReq.progress({ progress: 1 });
      transport.closeSSEStream('another');
      transport.closeSSEStream(ctx.requestId);
      await closed;
      return `${ctx.authInfo?.clientId}`;
    });
    await server.connect(transport);
    const url = await appOf((request, response) => {
      if (request.method === 'POST') closed = once(response, 'close');
      return transport.handleRequest(withAuth(request), response);
    });
    const client = await connectedTo(url, 'ada', 'legacy');
    assert.equal(textOf(await client.callTool({ name: 'hold' }, { onprogress: () => {} })), 'ada');
    await client.close();
    await server.close();
  });

  test('after its client has left', async () => {
    const controller = new AbortController();
    const { url, server, said } = await served(() => controller.abort());
    const post = (message: object, more: Record<string, string>, signal?: AbortSignal): Promise<Response> => {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'x-agent': 'ada', ...more };
      return fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }), ...(signal && { signal }) });
    };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const begun = await post({ id: 1, method: 'initialize', params }, {});
    await begun.text();
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
    await (await post({ method: 'notifications/initialized' }, session)).text();
    await assert.rejects(post({ id: 2, method: 'tools/call', params: { name: 'hold' } }, session, controller.signal).then((response) => response.text()));
    assert.equal(await said, 'ada ada');
    await server.close();
  });

  test('and costs nothing where no function looks', async () => {
    const { prototype } = native().Session as unknown as { prototype: NativeSession };
    const original = prototype.httpRequest;
    let asked = 0;
    prototype.httpRequest = function (this: NativeSession, id: number) {
      asked++;
      return original.call(this, id);
    };
    try {
      const server = newServer();
      server.registerTool('plain', {}, () => 'fine');
      const client = await connectedTo((await server.listen()).url, 'ada', 'auto');
      for (let call = 0; call < 10; call++) await client.callTool({ name: 'plain' });
      assert.equal(asked, 0);
      await see(client);
      assert.equal(asked, 1);
      await client.close();
      await server.close();
    } finally {
      prototype.httpRequest = original;
    }
  });
});
