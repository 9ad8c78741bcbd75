/**
 * Servers and clients over HTTP, on real sockets: on a port, in apps of Node's `http`, and as `fetch` has it.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';

import {
  Client,
  type ClientOptions,
  ConnectionClosedError,
  McpServer,
  type Progress,
  RequestTimeoutError,
  ResponseError,
  StreamableHTTPClientTransport,
  UsageError,
} from 'oxmcp';
import { SSEClientTransport } from 'oxmcp/client/sse.js';
import { StreamableHTTPServerTransport } from 'oxmcp/server/streamableHttp.js';

import { endpointsOf } from '../dist/server.js';
import { ERAS, assertIdle, packageFolder, textOf, turn } from './support.js';

const opened: Server[] = [];

after(() => {
  for (const app of opened) {
    app.closeAllConnections();
    app.close();
  }
});

/** A server with a tool for each case; `waiting` is told of each call of `wait`. */
function newServer(waiting: (signal: { readonly aborted: boolean }, cancelled: Promise<void>) => void = () => {}): McpServer {
  const server = new McpServer({ name: 'http', version: '1.0.0' }, { capabilities: { resources: { subscribe: true } } });
  server.registerTool('add', { inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } }, (args) => {
    const { a, b } = args as { a: number; b: number };
    return `${a + b}`;
  });
  server.registerTool('steps', {}, async (ctx) => {
    for (const progress of [1, 2, 3]) ctx.mcpReq.progress({ progress, total: 3, message: `step ${progress}` });
    await turn();
    return 'stepped';
  });
  server.registerTool('ask', {}, async (ctx) => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } } as const;
    const { content } = await ctx.mcpReq.elicitInput({ message: 'Who are you?', requestedSchema });
    return `Hello, ${String(content?.['name'])}`;
  });
  server.registerTool('wait', {}, (ctx) => {
    const { signal } = ctx.mcpReq;
    return new Promise((_, reject) => {
      const cancelled = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          resolve();
          reject(new Error('cancelled'));
        });
      });
      waiting(signal, cancelled);
    });
  });
  server.registerTool('fail', {}, () => {
    throw new Error('it failed');
  });
  server.registerResource('note', 'app://note', {}, ({ href: uri }) => ({ contents: [{ uri, text: 'a note' }] }));
  return server;
}

async function connectedTo(url: string, options?: ClientOptions): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { elicitation: {} }, ...options });
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

/** Serves by a function of Node's `http`, and gives the address. */
async function appOf(serve: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const app = createServer(serve).listen(0, '127.0.0.1');
  opened.push(app);
  await once(app, 'listening');
  return `http://127.0.0.1:${(app.address() as AddressInfo).port}/mcp`;
}

/** A call of the newest revision, as it is on the wire. */
function message(id: number, name: string, args: object = {}): [string, RequestInit & { body: string }] {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, _meta } });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  return [name, { method: 'POST', headers, body }];
}

/** Every way to serve, each with an address. */
const WAYS: Record<string, (server: McpServer) => Promise<string>> = {
  'on a port': async (server) => (await server.listen()).url,
  'in an app of Node': (server) => {
    const { node } = server.httpHandler();
    return appOf((request, response) => node(request, response));
  },
  'in an app that reads bodies itself': (server) => {
    const { node } = server.httpHandler();
    return appOf((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      request.on('end', () => node(request, response, text === '' ? undefined : JSON.parse(text)));
    });
  },
};

for (const [way, serve] of Object.entries(WAYS)) {
  for (const { mode, revision } of ERAS) {
    test(`a server ${way} serves ${revision}`, { timeout: 60_000 }, async () => {
      const server = newServer();
      const client = await connectedTo(await serve(server), { mode });
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
      assert.equal(textOf(await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })), '5');
      const seen: Progress[] = [];
      await client.callTool({ name: 'steps' }, { onprogress: (progress) => seen.push(progress) });
      assert.deepEqual(seen.map(({ progress }) => progress), [1, 2, 3]);
      assert.equal(textOf(await client.callTool({ name: 'ask' })), 'Hello, Ada');
      const failed = await client.callTool({ name: 'fail' });
      assert.equal(failed.isError, true);
      await assert.rejects(client.callTool({ name: 'nothing' }), ResponseError);
      const many = Array.from({ length: 50 }, (_, b) => client.callTool({ name: 'add', arguments: { a: 1, b } }));
      assert.deepEqual((await Promise.all(many)).map(textOf), Array.from({ length: 50 }, (_, b) => `${1 + b}`));
      assertIdle(client);
      await client.close();
      await server.close();
    });
  }
}

describe('over HTTP', { timeout: 60_000 }, () => {
  for (const { mode, revision } of ERAS) {
    test(`a cancel reaches the function that works, in ${revision}`, async () => {
      let began!: (cancelled: Promise<void>) => void;
      // In an object, as a promise in a promise would be waited for.
      const waiting = new Promise<{ cancelled: Promise<void> }>((resolve) => (began = (cancelled) => resolve({ cancelled })));
      const server = newServer((_, cancelled) => began(cancelled));
      const client = await connectedTo((await server.listen()).url, { mode });
      const controller = new AbortController();
      const call = client.callTool({ name: 'wait' }, { signal: controller.signal });
      const { cancelled } = await waiting;
      controller.abort(new Error('enough'));
      await assert.rejects(call, { message: 'enough' });
      await cancelled;
      await client.close();
      await server.close();
    });

    test(`clients hear what changed, in ${revision}`, async () => {
      const server = newServer();
      const client = await connectedTo((await server.listen()).url, { mode });
      const heard = new Promise<string>((resolve) => {
        client.setNotificationHandler('notifications/tools/list_changed', ({ method }) => resolve(method));
      });
      const stream = mode === 'auto' ? await client.listen({ toolsListChanged: true }) : undefined;
      server.registerTool('later', {}, () => 'ok');
      assert.equal(await heard, 'notifications/tools/list_changed');
      await stream?.close();
      await client.close();
      await server.close();
    });

    test(`a timeout fails the call, and the connection goes on, in ${revision}`, async () => {
      const server = newServer();
      const client = await connectedTo((await server.listen()).url, { mode });
      await assert.rejects(client.callTool({ name: 'wait' }, { timeout: 50 }), RequestTimeoutError);
      assert.equal(textOf(await client.callTool({ name: 'add', arguments: { a: 1, b: 1 } })), '2');
      assertIdle(client);
      await client.close();
      await server.close();
    });
  }

  test('a client that leaves cancels its request', async () => {
    let began!: (cancelled: Promise<void>) => void;
    const waiting = new Promise<{ cancelled: Promise<void> }>((resolve) => (began = (cancelled) => resolve({ cancelled })));
    const server = newServer((_, cancelled) => began(cancelled));
    const { url } = await server.listen();
    const controller = new AbortController();
    const [, init] = message(1, 'wait');
    const call = fetch(url, { ...init, signal: controller.signal });
    const { cancelled } = await waiting;
    controller.abort();
    await assert.rejects(call);
    await cancelled;
    await server.close();
  });

  test('a session ends with its client, and the program is told of both ends', async () => {
    const server = newServer();
    const [began, ended] = [new Promise<void>((it) => (server.oninitialized = it)), new Promise<void>((it) => (server.onclose = it))];
    const http = await server.listen();
    const client = await connectedTo(http.url, { mode: 'legacy' });
    await began;
    assert.equal(http.sessions, 1);
    assert.equal(server.getClientVersion()?.name, 'test');
    await client.close();
    await ended;
    assert.equal(http.sessions, 0);
    await server.close();
  });

  test('nothing is left of 2,000 requests, half of which fail or are cancelled', async () => {
    const server = newServer();
    const { url } = await server.listen();
    const clients = await Promise.all(ERAS.map(({ mode }) => connectedTo(url, { mode })));
    for (const client of clients) {
      for (let round = 0; round < 20; round++) {
        const calls = Array.from({ length: 50 }, (_, at) => {
          if (at % 4 === 0) return client.callTool({ name: 'wait' }, { timeout: 5 });
          if (at % 4 === 1) return client.callTool({ name: 'nothing' });
          return client.callTool({ name: 'add', arguments: { a: at, b: 1 } });
        });
        const settled = await Promise.allSettled(calls);
        assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 24);
      }
      assertIdle(client);
      await client.close();
    }
    for (const endpoint of endpointsOf(server)) {
      while (endpoint.stats.connections > 0) await turn();
      assert.deepEqual(endpoint.stats, { connections: 0, exchanges: 0 });
    }
    await server.close();
  });

  test('a server that closes lets calls under way finish', async () => {
    const server = newServer();
    let go!: () => void;
    const gone = new Promise<void>((resolve) => (go = resolve));
    const inside = new Promise<void>((resolve) => {
      server.registerTool('slow', {}, async () => {
        resolve();
        await gone;
        return 'in time';
      });
    });
    const http = await server.listen();
    const client = await connectedTo(http.url);
    const call = client.callTool({ name: 'slow' });
    await inside;
    const closed = http.close();
    go();
    assert.equal(textOf(await call), 'in time');
    await closed;
    await assert.rejects(connectedTo(http.url), ConnectionClosedError);
    await client.close();
  });

  test('foreign hosts and origins are refused', async () => {
    const server = newServer();
    const { url } = await server.listen();
    const [, init] = message(1, 'add', { a: 1, b: 1 });
    const headers = { ...init.headers, origin: 'https://evil.test' };
    assert.equal((await fetch(url, { ...init, headers })).status, 403);
    await server.close();
  });

  test('options and ports that are none are refused', async () => {
    const server = newServer();
    await assert.rejects(server.listen({ port: 70_000 }), UsageError);
    await assert.rejects(server.listen({ jsonOnyl: true } as never), (error: Error) => {
      return error instanceof UsageError && error.message.includes('jsonOnyl');
    });
    assert.throws(() => server.httpHandler({ allowedOrigins: ['nowhere'] }), UsageError);
    const { port } = await server.listen();
    await assert.rejects(server.listen({ port }), { message: /cannot listen on/ });
    assert.throws(() => new StreamableHTTPClientTransport('nowhere'), UsageError);
    assert.throws(() => new StreamableHTTPClientTransport('http://a.test', { proxie: '' } as never), UsageError);
    await server.close();
  });

  test('what a server refuses is told with its status', async () => {
    const url = await appOf((_, response) => void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end());
    await assert.rejects(connectedTo(url), (error: Error & { data?: { status?: number } }) => error.data?.status === 401);
  });

  test('header fields of the program are sent', async () => {
    const server = newServer();
    const { node } = server.httpHandler();
    const seen = new Set<string | undefined>();
    const url = await appOf((request, response) => {
      seen.add(request.headers.authorization);
      node(request, response);
    });
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { Authorization: 'Bearer x' } } }));
    await client.callTool({ name: 'add', arguments: { a: 1, b: 1 } });
    assert.deepEqual([...seen], ['Bearer x']);
    await client.close();
    await server.close();
  });
});

describe('requests as fetch has them', { timeout: 60_000 }, () => {
  test('are answered whole, or by a stream', async () => {
    const server = newServer();
    const handler = server.httpHandler();
    const [, whole] = message(1, 'add', { a: 2, b: 2 });
    const response = await handler.fetch(new Request('http://localhost/mcp', whole));
    assert.equal(response.status, 200);
    assert.equal(((await response.json()) as { result: { content: { text: string }[] } }).result.content[0]?.text, '4');

    const [, steps] = message(2, 'steps');
    const body = steps.body.replace('"_meta":{', '"_meta":{"progressToken":7,');
    const streamed = await handler.fetch(new Request('http://localhost/mcp', { ...steps, body }));
    assert.equal(streamed.headers.get('content-type'), 'text/event-stream');
    const text = await streamed.text();
    assert.ok(text.includes('step 3') && text.includes('stepped'), text);
    await handler.close();
    await server.close();
  });

  test('are cancelled by who reads no further', async () => {
    let began!: (cancelled: Promise<void>) => void;
    const waiting = new Promise<{ cancelled: Promise<void> }>((resolve) => (began = (cancelled) => resolve({ cancelled })));
    const server = newServer((_, cancelled) => began(cancelled));
    const controller = new AbortController();
    const [, init] = message(1, 'wait');
    void server.httpHandler().fetch(new Request('http://localhost/mcp', { ...init, signal: controller.signal }));
    const { cancelled } = await waiting;
    controller.abort();
    await cancelled;
    await server.close();
  });
});

describe('programs of the official SDK', { timeout: 60_000 }, () => {
  test('keep a transport for each session', async () => {
    const transports = new Map<string, StreamableHTTPServerTransport>();
    const closed: string[] = [];
    const url = await appOf(async (request, response) => {
      let transport = transports.get(String(request.headers['mcp-session-id']));
      if (transport === undefined) {
        const made: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
          sessionIdGenerator: () => randomUUID(),
          onsessioninitialized: (id) => void transports.set(id, made),
          onsessionclosed: (id) => void closed.push(id),
        });
        await newServer().connect(made);
        transport = made;
      }
      await transport.handleRequest(request, response);
    });
    const client = await connectedTo(url, { mode: 'legacy' });
    assert.equal(textOf(await client.callTool({ name: 'ask' })), 'Hello, Ada');
    const [[id, transport]] = [...transports] as [[string, StreamableHTTPServerTransport]];
    assert.equal(transport.sessionId, id);
    await client.close();
    assert.deepEqual(closed, [id]);
  });

  test('make a server for each request, without sessions', async () => {
    const url = await appOf(async (request, response) => {
      const [server, transport] = [newServer(), new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })];
      response.on('close', () => void Promise.all([transport.close(), server.close()]));
      await server.connect(transport);
      await transport.handleRequest(request, response);
    });
    const client = await connectedTo(url, { mode: 'legacy' });
    assert.equal(textOf(await client.callTool({ name: 'add', arguments: { a: 4, b: 4 } })), '8');
    await client.close();
  });

  test('speak HTTP+SSE with the clients that know nothing else', async () => {
    const server = newServer();
    const http = await server.listen({ httpSse: true });
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new SSEClientTransport(new URL(http.url)));
    assert.equal(textOf(await client.callTool({ name: 'add', arguments: { a: 5, b: 4 } })), '9');
    await client.close();
    await server.close();
  });
});

describe('processes and threads', { timeout: 60_000 }, () => {
  const run = promisify(execFile);

  test('a program ends once its server and its client are closed', async () => {
    const program = `
      const { Client, McpServer, StreamableHTTPClientTransport } = require('oxmcp');
      (async () => {
        const server = new McpServer({ name: 'x', version: '1' });
        const http = await server.listen();
        const client = new Client({ name: 'c', version: '1' });
        await client.connect(new StreamableHTTPClientTransport(http.url));
        await client.close();
        await http.close();
        console.log('closed');
      })();`;
    const { stdout } = await run(process.execPath, ['-e', program], { cwd: packageFolder });
    assert.equal(stdout, 'closed\n');
  });

  test('workers with servers of their own are terminated, and the main thread goes on', async () => {
    const server = newServer();
    const client = await connectedTo((await server.listen()).url);
    const program = `
      const { McpServer } = require('oxmcp');
      const { parentPort } = require('node:worker_threads');
      const server = new McpServer({ name: 'x', version: '1' });
      server.listen().then(({ url }) => parentPort.postMessage(url));`;
    for (let round = 0; round < 4; round++) {
      const worker = new Worker(program, { eval: true });
      const [url] = (await once(worker, 'message')) as [string];
      const other = await connectedTo(url);
      await worker.terminate();
      await other.close();
      assert.equal(textOf(await client.callTool({ name: 'add', arguments: { a: round, b: 1 } })), `${round + 1}`);
    }
    await client.close();
    await server.close();
  });
});
