/**
 * What goes wrong with HTTP elsewhere: peers that misbehave, restarts, ends at a bad time, and threads that go away.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, type Server as App, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';

import { Client, ConnectionClosedError, McpServer, ResponseError, StreamableHTTPClientTransport } from 'oxmcp';

import { ERAS, assertIdle, fixture, textOf, turn } from './support.js';

const opened: App[] = [];

after(() => {
  for (const app of opened) {
    app.closeAllConnections();
    app.close();
  }
});

async function appOf(serve: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<[url: string, app: App]> {
  const app = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  opened.push(app);
  await once(app, 'listening');
  return [`http://127.0.0.1:${(app.address() as AddressInfo).port}/mcp`, app];
}

function newServer(): McpServer {
  const server = new McpServer({ name: 'faults', version: '1.0.0' });
  server.onerror = () => {};
  server.registerTool('echo', { inputSchema: { type: 'object' } }, (args) => JSON.stringify(args));
  server.registerTool('fail', {}, () => Promise.reject(new Error('no')));
  server.registerTool('wait', {}, (ctx) => {
    ctx.mcpReq.progress({ progress: 1 });
    return new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('cancelled'))));
  });
  return server;
}

async function connectedTo(url: string, mode: 'auto' | 'legacy', transport: object = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { mode });
  await client.connect(new StreamableHTTPClientTransport(url, transport));
  return client;
}

async function bodyOf(request: IncomingMessage): Promise<{ id?: number; method?: string }> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? {} : (JSON.parse(text) as { id?: number; method?: string });
}

const INITIALIZED = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } };

/** A server of a handshake that answers calls of tools as `answer` says. */
function oddServer(
  answer: (id: number, response: ServerResponse) => void,
  accepted: (response: ServerResponse) => void = (response) => void response.writeHead(202).end(),
): Promise<[string, App]> {
  return appOf(async (request, response) => {
    const { id, method } = await bodyOf(request);
    if (request.method !== 'POST') return response.writeHead(405).end();
    if (id === undefined) return accepted(response);
    if (method === 'tools/call') return answer(id, response);
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'abc' });
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'initialize' ? INITIALIZED : {} }));
  });
}

describe('a server that is odd', { timeout: 60_000 }, () => {
  test('a stream that ends without an answer fails the call at once', async () => {
    const [url] = await oddServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(': nothing\n\n');
    });
    const client = await connectedTo(url, 'legacy');
    await assert.rejects(client.callTool({ name: 'x' }), /ended|answer/);
    assertIdle(client);
    await client.close();
  });

  test('a notification may be accepted in any way', async () => {
    for (const accepted of [
      (response: ServerResponse) => response.writeHead(204).end(),
      (response: ServerResponse) => response.writeHead(200).end(),
      (response: ServerResponse) => response.writeHead(202, { 'content-type': 'text/plain' }).end('Accepted'),
    ]) {
      const answer = (id: number, response: ServerResponse): void => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'fine' }] } }));
      };
      const [url] = await oddServer(answer, accepted);
      const client = await connectedTo(url, 'legacy');
      assert.equal(textOf(await client.callTool({ name: 'x' })), 'fine');
      await client.close();
    }
  });

  test('an end of the session that is never answered holds nobody up', async () => {
    let asked = false;
    const [url] = await appOf(async (request, response) => {
      if (request.method === 'DELETE') {
        asked = true;
        return;
      }
      const { id, method } = await bodyOf(request);
      if (request.method !== 'POST') response.writeHead(405).end();
      else if (id === undefined) response.writeHead(202).end();
      else {
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'abc' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'initialize' ? INITIALIZED : {} }));
      }
    });
    const client = await connectedTo(url, 'legacy', { closeTimeout: 50 });
    await client.close();
    assert.equal(asked, true);
  });

  for (const status of [401, 403, 500, 503]) {
    test(`status ${status} for the first request is the cause, not an older server`, async () => {
      const seen: (string | undefined)[] = [];
      const [url] = await appOf(async (request, response) => {
        seen.push((await bodyOf(request)).method);
        response.writeHead(status).end();
      });
      await assert.rejects(connectedTo(url, 'auto'), (error: Error & { data?: { status?: number } }) => error.data?.status === status);
      assert.deepEqual([...new Set(seen)], ['server/discover']);
    });
  }
});

describe('ends and restarts', { timeout: 60_000 }, () => {
  test('a session that the server lost is begun anew, and its connections are used again', async () => {
    const first = newServer();
    const { port, url } = await first.listen();
    const client = await connectedTo(url, 'legacy');
    assert.equal(textOf(await client.callTool({ name: 'echo', arguments: { a: 1 } })), '{"a":1}');
    await first.close();
    const second = newServer();
    await second.listen({ port });
    assert.equal(textOf(await client.callTool({ name: 'echo', arguments: { a: 2 } })), '{"a":2}');
    await client.close();
    await second.close();
  });

  test('calls one after the other share a connection', async () => {
    for (const { mode } of ERAS) {
      const server = newServer();
      const { node } = server.httpHandler();
      const [url, app] = await appOf((request, response) => node(request, response));
      let connections = 0;
      app.on('connection', () => connections++);
      const client = await connectedTo(url, mode);
      for (let call = 0; call < 50; call++) await client.callTool({ name: 'echo', arguments: { call } });
      // One for the calls, and one for the stream of a session.
      assert.ok(connections <= 2, `${connections} connections`);
      await client.close();
      await server.close();
    }
  });

  test('a server ends although its clients listen, and a second end is as good as the first', async () => {
    const server = newServer();
    const http = await server.listen();
    const [modern, legacy] = await Promise.all([connectedTo(http.url, 'auto'), connectedTo(http.url, 'legacy')]);
    const stream = await modern.listen({ toolsListChanged: true });
    await Promise.all([http.close(), http.close(), server.close()]);
    await stream.close();
    await Promise.all([modern.close(), modern.close(), legacy.close()]);
  });

  test('answer and end at the same time settle each call once', async () => {
    for (let round = 0; round < 100; round++) {
      const server = newServer();
      const client = await connectedTo((await server.listen()).url, ERAS[round % 2]!.mode);
      const calls = Array.from({ length: 5 }, (_, at) => client.callTool({ name: 'echo', arguments: { at } }));
      const closed = round % 4 < 2 ? client.close() : server.close();
      for (const settled of await Promise.allSettled(calls)) {
        if (settled.status === 'rejected') assert.ok(settled.reason instanceof ConnectionClosedError || settled.reason instanceof ResponseError, String(settled.reason));
      }
      await closed;
      assertIdle(client);
      await client.close();
      await server.close();
    }
  });
});

describe('threads and memory', { timeout: 120_000 }, () => {
  test('a function that hogs the thread delays no ping and no list', async () => {
    const hold = new SharedArrayBuffer(4);
    const worker = new Worker(fixture('http-worker.mjs'), { workerData: { hold } });
    const [url] = (await once(worker, 'message')) as [string];
    for (const { mode } of ERAS) {
      const client = await connectedTo(url, mode);
      const hogging = once(worker, 'message');
      const call = client.callTool({ name: 'hog' });
      assert.deepEqual(await hogging, ['hogging']);
      await client.ping();
      assert.equal((await client.listTools(undefined, { fresh: true })).tools.length, 2);
      Atomics.store(new Int32Array(hold), 0, 1);
      Atomics.notify(new Int32Array(hold), 0);
      assert.equal(textOf(await call), 'done');
      Atomics.store(new Int32Array(hold), 0, 0);
      await client.close();
    }
    await worker.terminate();
  });

  test('fifty workers are terminated in the middle of a call, clients and servers; the main thread goes on', async () => {
    const server = newServer();
    const { url } = await server.listen();
    const client = await connectedTo(url, 'auto');
    for (let round = 0; round < 10; round++) {
      const clients = Array.from({ length: 3 }, () => new Worker(fixture('http-worker.mjs'), { workerData: { url } }));
      const servers = Array.from({ length: 2 }, () => new Worker(fixture('http-worker.mjs'), { workerData: {} }));
      const calling = Promise.all(clients.map((worker) => once(worker, 'message')));
      const urls = await Promise.all(servers.map(async (worker) => ((await once(worker, 'message')) as [string])[0]));
      const callers = await Promise.all(urls.map((one, at) => connectedTo(one, ERAS[at % 2]!.mode)));
      const calls: Promise<unknown>[] = [];
      await Promise.all(
        callers.map((caller) => {
          return new Promise((begun) => calls.push(assert.rejects(caller.callTool({ name: 'wait' }, { onprogress: begun }))));
        }),
      );
      await calling;
      await Promise.all([...clients, ...servers].map((worker) => worker.terminate()));
      await Promise.all(callers.map((caller) => caller.close()));
      await Promise.all(calls);
      assert.equal(textOf(await client.callTool({ name: 'echo', arguments: { round } })), `{"round":${round}}`);
    }
    await client.close();
    await server.close();
  });

  test('calls that fail while garbage is collected keep their errors', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const server = newServer();
    const client = await connectedTo((await server.listen()).url, 'auto');
    for (let round = 0; round < 30; round++) {
      const calls = Array.from({ length: 10 }, (_, at) => {
        const name = at % 2 === 0 ? 'echo' : 'fail';
        return client.callTool({ name, arguments: { text: 'x'.repeat(at * 100) } }, { onprogress: () => {} });
      });
      collect();
      for (const [at, { isError }] of (await Promise.all(calls)).entries()) assert.equal(isError === true, at % 2 === 1);
      await turn();
      collect();
    }
    assertIdle(client);
    await client.close();
    await server.close();
  });
});
