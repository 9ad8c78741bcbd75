/**
 * What stands on the wire over HTTP: heads and bodies that disagree, names of sessions, and event streams in any shape.
 */

import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, test } from 'node:test';

import { Client, McpServer, StreamableHTTPClientTransport } from 'oxmcp';

import { appOf } from './apps.js';
import { ERAS, textOf } from './support.js';

/** Both ways to serve, each with an address; `ran` counts the calls. */
async function served(): Promise<{ urls: string[]; server: McpServer; ran: () => number }> {
  let ran = 0;
  const server = new McpServer({ name: 'wire', version: '1.0.0' });
  server.registerTool('run', {}, () => `${++ran}`);
  const { node } = server.httpHandler();
  const urls = [(await server.listen()).url, await appOf((request, response) => node(request, response))];
  return { urls, server, ran: () => ran };
}

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const INITIALIZE = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const CALL = { id: 2, method: 'tools/call', params: { name: 'run', arguments: {}, _meta: META } };
const CALL_HEADERS = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'run' };

function post(url: string, message: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
}

describe('a server', { timeout: 60_000 }, () => {
  test('serves no request whose head and body name different revisions', async () => {
    const { urls, server, ran } = await served();
    for (const url of urls) {
      const { 'mcp-protocol-version': _, ...without } = CALL_HEADERS;
      for (const headers of [without, { ...CALL_HEADERS, 'mcp-protocol-version': '2025-11-25' }]) {
        const refused = await post(url, CALL, headers);
        assert.equal(refused.status, 400);
        assert.equal(((await refused.json()) as { error: { code: number } }).error.code, -32020);
      }
      const older = await post(url, INITIALIZE, { 'mcp-protocol-version': '2025-03-26' });
      assert.equal(older.status, 400);
      await older.text();
    }
    assert.equal(ran(), 0);
    await server.close();
  });

  test('tells sessions that are unknown from requests without one', async () => {
    const { urls, server } = await served();
    for (const url of urls) {
      const ping = { id: 3, method: 'ping' };
      const unknown = await post(url, ping, { 'mcp-session-id': 'invented', 'mcp-protocol-version': '2025-06-18' });
      const missing = await post(url, { id: 3, method: 'tools/list' }, { 'mcp-protocol-version': '2025-06-18' });
      assert.deepEqual([unknown.status, missing.status], [404, 400]);
      await Promise.all([unknown.text(), missing.text()]);
    }
    await server.close();
  });

  test('reads media types as such', async () => {
    const { urls, server } = await served();
    const statusOf = async (url: string, headers: Record<string, string>): Promise<number> => {
      const response = await post(url, CALL, { ...CALL_HEADERS, ...headers });
      await response.text();
      return response.status;
    };
    for (const url of urls) {
      assert.equal(await statusOf(url, { accept: '*/*' }), 200);
      assert.equal(await statusOf(url, { 'content-type': 'Application/JSON; charset=utf-8' }), 200);
      assert.equal(await statusOf(url, { 'content-type': 'text/plain; a=application/json' }), 415);
      assert.equal(await statusOf(url, { accept: 'text/html; b=application/json' }), 406);
    }
    await server.close();
  });
});

/** A server of the handshake that answers calls of tools as `answer` says. `seen` is told of each request. */
function oddServer(
  answer: (id: number, response: ServerResponse) => unknown,
  seen: (request: IncomingMessage, method: string | undefined, response: ServerResponse) => boolean = () => false,
): Promise<string> {
  return appOf(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { id, method } = (text === '' ? {} : JSON.parse(text)) as { id?: number; method?: string };
    if (seen(request, method, response)) return undefined;
    if (request.method !== 'POST') return response.writeHead(405).end();
    if (id === undefined) return response.writeHead(202).end();
    if (method === 'tools/call') return answer(id, response);
    const initialized = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } };
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'abc' });
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'initialize' ? initialized : {} }));
  });
}

async function connectedTo(url: string, options: object = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { mode: 'legacy', onproblem: () => {} });
  await client.connect(new StreamableHTTPClientTransport(url, options));
  return client;
}

const RESULT = '"result":{"content":[{"type":"text","text":"größe 👋"}]}}';

/** Streams with one answer each. */
const SHAPES: Record<string, (id: number) => string> = {
  'lines of Windows, data on two lines': (id) => `data: {"jsonrpc":"2.0",\r\ndata: "id":${id},${RESULT}\r\n\r\n`,
  'carriage returns alone': (id) => `event: message\rdata: {"jsonrpc":"2.0","id":${id},${RESULT}\r\r`,
  'comments, pings and an id without data before it': (id) => `: note\n\nevent: ping\ndata: x\n\nid: 5\ndata:\n\ndata:{"jsonrpc":"2.0","id":${id},${RESULT}\n\n`,
  'a byte order mark': (id) => `\uFEFFdata: {"jsonrpc":"2.0","id":${id},${RESULT}\n\n`,
  'a burst of comments': (id) => `${': nothing\n'.repeat(100_000)}data: {"jsonrpc":"2.0","id":${id},${RESULT}\n\n`,
};

describe('a client', { timeout: 60_000 }, () => {
  for (const [shape, streamOf] of Object.entries(SHAPES)) {
    test(`reads a stream with ${shape}, whole and in single bytes`, async () => {
      let single = false;
      const url = await oddServer(async (id, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const bytes = Buffer.from(streamOf(id));
        if (!single) return response.end(bytes);
        for (const byte of bytes) await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
        return response.end();
      });
      const client = await connectedTo(url);
      for (single of streamOf(1).length > 1000 ? [false] : [false, true]) {
        assert.equal(textOf(await client.callTool({ name: 'x' })), 'größe 👋');
      }
      await client.close();
    });
  }

  test('comes back with the last event that it knows, also when the stream breaks again before another', async () => {
    const asked: (string | undefined)[] = [];
    let waiting = 0;
    const url = await oddServer(
      (id, response) => {
        waiting = id;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end('retry: 1\nid: e1\ndata:\n\n');
      },
      (request, _, response) => {
        const last = request.headers['last-event-id'];
        if (request.method !== 'GET' || last === undefined) return false;
        asked.push(String(last));
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(asked.length < 3 ? '' : `data: {"jsonrpc":"2.0","id":${waiting},${RESULT}\n\n`);
        return true;
      },
    );
    const client = await connectedTo(url, { reconnectionOptions: { initialReconnectionDelay: 1, maxReconnectionDelay: 5, maxRetries: 5 } });
    assert.equal(textOf(await client.callTool({ name: 'x' })), 'größe 👋');
    assert.deepEqual(asked, ['e1', 'e1', 'e1']);
    await client.close();
  });

  test('begins each session without the name of another', async () => {
    const names: [string | undefined, unknown][] = [];
    const url = await oddServer(
      (id, response) => response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'later' }).end(`{"jsonrpc":"2.0","id":${id},${RESULT}`),
      (request, method) => {
        if (request.method === 'POST') names.push([method, request.headers['mcp-session-id']]);
        return false;
      },
    );
    const transport = new StreamableHTTPClientTransport(url);
    const client = new Client({ name: 'test', version: '1.0.0' }, { mode: 'legacy' });
    for (let round = 0; round < 2; round++) {
      await client.connect(transport);
      await client.callTool({ name: 'x' });
      await client.callTool({ name: 'x' });
      await client.close();
    }
    const session = [['initialize', undefined], ['notifications/initialized', 'abc'], ['tools/call', 'abc'], ['tools/call', 'abc']];
    assert.deepEqual(names, [...session, ...session]);
  });
});

for (const { mode, revision } of ERAS) {
  test(`what a server says stays with the client it is for, in ${revision}`, { timeout: 60_000 }, async () => {
    const server = new McpServer({ name: 'shared', version: '1.0.0' });
    const holds = new Map<string, () => void>();
    let arrived: () => void = () => {};
    server.registerTool('hold', { inputSchema: { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] } }, async ({ who }, ctx) => {
      const held = new Promise<void>((resolve) => holds.set(who, resolve));
      arrived();
      await held;
      ctx.mcpReq.progress({ progress: 1, message: who });
      return who;
    });
    const { url } = await server.listen();
    const said: Record<string, string[]> = { ada: [], bob: [] };
    const call = async (who: string): Promise<[Client, Promise<string | undefined>]> => {
      const client = new Client({ name: who, version: '1.0.0' }, { mode });
      await client.connect(new StreamableHTTPClientTransport(url));
      const here = new Promise<void>((resolve) => (arrived = resolve));
      const result = client.callTool({ name: 'hold', arguments: { who } }, { onprogress: ({ message }) => said[who]?.push(message ?? '') });
      await here;
      return [client, result.then(textOf)];
    };
    const [ada, adas] = await call('ada');
    const [bob, bobs] = await call('bob');
    holds.get('ada')?.();
    assert.equal(await adas, 'ada');
    holds.get('bob')?.();
    assert.equal(await bobs, 'bob');
    assert.deepEqual(said, { ada: ['ada'], bob: ['bob'] });
    await Promise.all([ada.close(), bob.close()]);
    await server.close();
  });
}
