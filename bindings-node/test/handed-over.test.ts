/**
 * Requests that an app hands over in an odd state: each ends with an answer, and costs the others nothing.
 */

import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, test } from 'node:test';

import { McpServer } from 'oxmcp';
import { toNodeHandler } from 'oxmcp/node';
import { SSEServerTransport } from 'oxmcp/server/sse.js';
import { StreamableHTTPServerTransport } from 'oxmcp/server/streamableHttp.js';
import { createMcpHandler } from 'oxmcp/server';

import { endpointsOf } from '../dist/server.js';

import { appOf } from './apps.js';
import { turn } from './support.js';

type Handle = (request: IncomingMessage, response: ServerResponse, body?: unknown) => unknown;

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const PARAMS = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'tësť', version: '1' } };
const INITIALIZE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: PARAMS });
const CLOSING = '{"jsonrpc":"2.0","error":{"code":-32603,"message":"the server is closing"}}';
const READ = /the body of the request was read already, and is not at hand; leave it unread, or hand it over/;

interface Served {
  readonly server: McpServer;
  readonly errors: Error[];
}

function newServer(): Served {
  const server = new McpServer({ name: 'over', version: '1' });
  const errors: Error[] = [];
  server.onerror = (error) => errors.push(error);
  server.registerTool('echo', { inputSchema: { type: 'object' } }, (args) => JSON.stringify(args));
  return { server, errors };
}

function post(body: string = INITIALIZE): RequestInit {
  return { method: 'POST', headers: HEADERS, body };
}

async function consumed(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** The same server behind each of the ways to serve Node's `http`. */
async function ways(server: McpServer): Promise<readonly (readonly [string, Handle])[]> {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  const own = newServer().server;
  const modern = toNodeHandler(createMcpHandler(() => own));
  const mcp = server.httpHandler();
  return [
    ['httpHandler', mcp.node],
    ['the transport of the official SDK', (request, response, body) => transport.handleRequest(request, response, body)],
    ['createMcpHandler', modern],
    ['a handler of fetch', toNodeHandler({ fetch: (request, options) => mcp.fetch(request, options) })],
  ];
}

describe('requests of Node', { timeout: 60_000 }, () => {
  test('the body may be text, of any encoding', async () => {
    const { server } = newServer();
    for (const [name, handle] of await ways(server)) {
      for (const encoding of ['utf8', 'latin1', 'base64', 'hex'] as const) {
        const url = await appOf((request, response) => {
          request.setEncoding(encoding);
          return handle(request, response);
        });
        const response = await fetch(url, post());
        assert.equal(response.status, 200, `${name}, ${encoding}`);
        assert.match(await response.text(), /"protocolVersion":"2025-11-25"/);
      }
    }
    await server.close();
  });

  test('one whose body was read, and left nowhere, is refused at once', async () => {
    const { server, errors } = newServer();
    for (const [name, handle] of await ways(server)) {
      const url = await appOf(async (request, response) => {
        await consumed(request);
        return handle(request, response);
      });
      const response = await fetch(url, post());
      assert.equal(response.status, 400, name);
      assert.match(await response.text(), READ, name);
    }
    assert.match(errors[0]?.message ?? '', READ);
    await server.close();
  });

  test('one whose body was read is served where that is handed over', async () => {
    const { server, errors } = newServer();
    for (const [name, handle] of await ways(server)) {
      const inBody = await appOf(async (request, response) => handle(Object.assign(request, { body: JSON.parse(await consumed(request)) }), response));
      const beside = await appOf(async (request, response) => handle(request, response, JSON.parse(await consumed(request))));
      for (const url of [inBody, beside]) assert.equal((await fetch(url, post())).status, 200, name);
    }
    assert.deepEqual(errors, []);
    await server.close();
  });

  test('a body that has no JSON form ends its request', async () => {
    const { server, errors } = newServer();
    const mcp = server.httpHandler();
    const bodies: readonly [unknown, number][] = [[{ n: 1n }, 500], [Symbol('x'), 400]];
    for (const [body, status] of bodies) {
      const url = await appOf((request, response) => {
        request.resume();
        mcp.node(request, response, body);
      });
      assert.equal((await fetch(url, post())).status, status);
    }
    assert.equal(errors.length, bodies.length);
    await server.close();
  });

  test('a response that has begun ends as it is', async () => {
    const { server, errors } = newServer();
    for (const [name, handle] of await ways(server)) {
      const begun = await appOf((request, response) => {
        response.writeHead(202);
        return handle(request, response);
      });
      const response = await fetch(begun, post());
      assert.deepEqual([response.status, await response.text()], [202, ''], name);
      const ended = await appOf((request, response) => {
        response.end('mine');
        return handle(request, response);
      });
      assert.equal(await (await fetch(ended, post())).text(), 'mine', name);
    }
    assert.match(errors[0]?.message ?? '', /the response has begun already/);
    await server.close();
  });

  test('a response that the app ends in the meantime costs no other', async () => {
    const { server, errors } = newServer();
    const mcp = server.httpHandler();
    const url = await appOf((request, response) => {
      mcp.node(request, response);
      if (request.headers['x-early'] !== undefined) response.writeHead(504).end('too late');
    });
    const early = await fetch(url, { ...post(), headers: { ...HEADERS, 'x-early': '1' } });
    assert.deepEqual([early.status, await early.text()], [504, 'too late']);
    assert.equal((await fetch(url, post())).status, 200);
    assert.deepEqual(endpointsOf(server).map((endpoint) => endpoint.stats.exchanges), [0]);
    for (const error of errors) assert.match(error.message, /headers after they are sent|write after end/i);
    await server.close();
  });

  test('a message of the transport of 2024-11-05 ends as it is, too', async () => {
    const { server, errors } = newServer();
    let transport: SSEServerTransport | undefined;
    const url = await appOf(async (request, response) => {
      if (request.method === 'GET') {
        transport = new SSEServerTransport('/messages', response);
        transport.onerror = (error) => errors.push(error);
        await server.connect(transport);
        return;
      }
      if (request.headers['x-read'] !== undefined) await consumed(request);
      if (request.headers['x-begun'] !== undefined) response.writeHead(202);
      request.setEncoding('utf8');
      await transport?.handlePostMessage(request, response);
    });
    const stream = await fetch(url, { headers: { accept: 'text/event-stream' } });
    const reader = stream.body?.getReader();
    await reader?.read();
    const status = async (fields: object): Promise<number> => (await fetch(url, { ...post(), headers: { ...HEADERS, ...fields } })).status;
    assert.equal(await status({ 'x-read': '1' }), 400);
    assert.match(errors.at(-1)?.message ?? '', READ);
    assert.equal(await status({ 'x-begun': '1' }), 202);
    await reader?.cancel();
    await server.close();
  });
});

describe('requests of fetch', { timeout: 60_000 }, () => {
  const requestOf = (body: string | ReadableStream = INITIALIZE, more: object = {}): Request =>
    new Request('http://localhost/mcp', { ...post(), body, ...more } as RequestInit);

  test('one whose body was read, or is being read, is refused at once', async () => {
    const { server, errors } = newServer();
    const mcp = server.httpHandler();
    const handler = createMcpHandler(() => server);
    const read = requestOf();
    await read.text();
    const locked = requestOf();
    locked.body?.getReader();
    for (const [index, request] of [read, locked].entries()) {
      for (const serve of [mcp.fetch, handler.fetch]) {
        const response = await serve(request);
        assert.equal(response.status, 400, `${index}`);
        assert.match(await response.text(), READ);
      }
      assert.equal((await mcp.fetch(request, { parsedBody: JSON.parse(INITIALIZE) })).status, 200);
    }
    assert.equal(errors.length, 4);
    await server.close();
  });

  test('a body that is text is taken, and one that is neither is refused', async () => {
    const { server } = newServer();
    const mcp = server.httpHandler();
    const streamOf = (chunk: unknown): ReadableStream => new ReadableStream({
      start(controller) {
        controller.enqueue(chunk);
        controller.close();
      },
    });
    const like = (chunk: unknown): Request => {
      const request = requestOf(INITIALIZE);
      return { url: request.url, method: 'POST', headers: request.headers, body: streamOf(chunk), bodyUsed: false } as Request;
    };
    assert.equal((await mcp.fetch(like(INITIALIZE))).status, 200);
    assert.equal((await mcp.fetch(like(5))).status, 400);
    await assert.rejects(mcp.fetch('/mcp' as never), { kind: 'usage', message: /fetch needs a Request/ });
    await server.close();
  });

  test('a client that leaves ends the promise, and the stream', async () => {
    const { server } = newServer();
    server.registerTool('wait', {}, (ctx) => {
      ctx.mcpReq.progress({ progress: 1 });
      return new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('off'))));
    });
    const mcp = server.httpHandler({ stateless: true });
    const reason = new Error('gone');
    assert.equal((await mcp.fetch(requestOf(INITIALIZE, { signal: AbortSignal.abort(reason) }))).status, 499);
    const meanwhile = new AbortController();
    const never = new ReadableStream({ pull: () => new Promise(() => {}) });
    const pending = mcp.fetch(requestOf(never, { duplex: 'half', signal: meanwhile.signal }));
    await turn();
    meanwhile.abort(reason);
    assert.equal((await pending).status, 499);
    const later = new AbortController();
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait', _meta: { progressToken: 1 } } });
    const response = await mcp.fetch(requestOf(call, { signal: later.signal }));
    const reader = response.body?.getReader();
    assert.match(new TextDecoder().decode((await reader?.read())?.value as Uint8Array), /notifications\/progress/);
    const rest = reader?.read();
    later.abort(reason);
    // An error of the stream is one that libraries report to their program, for each client that leaves.
    assert.equal((await rest)?.done, true);
    await server.close();
  });
});

describe('after the end', { timeout: 60_000 }, () => {
  test('all is refused as by a port that closes', async () => {
    const { server } = newServer();
    const mcp = server.httpHandler();
    const handler = createMcpHandler(() => server);
    const urls = [await appOf(mcp.node), await appOf(toNodeHandler(handler))];
    await mcp.close();
    await handler.close();
    const responses = [
      ...(await Promise.all(urls.map((url) => fetch(url, post())))),
      ...(await Promise.all([mcp.fetch, handler.fetch].map((serve) => serve(new Request('http://localhost/mcp', post()))))),
    ];
    for (const response of responses) assert.deepEqual([response.status, await response.text()], [503, CLOSING]);
    await server.close();
  });

  test('what is under way when it closes ends as well', async () => {
    const { server } = newServer();
    const mcp = server.httpHandler();
    const never = new ReadableStream({ pull: () => new Promise(() => {}) });
    const pending = mcp.fetch(new Request('http://localhost/mcp', { ...post(), body: never, duplex: 'half' } as RequestInit));
    await turn();
    await mcp.close();
    assert.ok((await pending).status >= 400);
    await server.close();
  });
});
