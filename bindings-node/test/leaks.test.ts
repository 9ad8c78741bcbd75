/**
 * What was used is given back: connections, calls, signals, handlers, and what keeps a process alive.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { Client, InMemoryTransport, McpServer } from 'oxmcp';
import { CallToolRequestSchema } from 'oxmcp/types.js';

import { ERAS, assertIdle, connected, join, turn } from './support.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The bytes in use, once what can be freed is freed. */
async function heap(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    collect();
    await turn();
  }
  return process.memoryUsage().heapUsed;
}

function busyServer(): McpServer {
  const server = new McpServer({ name: 's', version: '1' }, { capabilities: { resources: { subscribe: true } } });
  server.onerror = () => {};
  server.registerTool('echo', { inputSchema: { type: 'object' } }, (args, extra) => {
    void extra.signal;
    extra.mcpReq.progress({ progress: 1 });
    return JSON.stringify(args);
  });
  server.registerTool('fail', {}, () => Promise.reject(new Error('no')));
  server.registerTool('hold', {}, ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('late'))));
  server.registerTool('ask', {}, async ({ mcpReq }) => JSON.stringify(await mcpReq.send({ method: 'roots/list' })));
  server.registerPrompt('p', {}, () => ({ messages: [] }));
  return server;
}

/** Some calls of every kind. */
async function work(client: Client, signal: AbortSignal): Promise<void> {
  await client.callTool({ name: 'echo', arguments: { a: 'x'.repeat(1000) } }, { signal, onprogress: () => {} });
  await client.callTool({ name: 'fail' });
  await client.callTool({ name: 'ask' });
  await client.getPrompt({ name: 'p' });
  await assert.rejects(client.request({ method: 'no/such' }));
  const controller = new AbortController();
  const held = client.callTool({ name: 'hold' }, { signal: controller.signal });
  await client.listTools(undefined, { fresh: true });
  controller.abort(new Error('enough'));
  await assert.rejects(held, /enough/);
}

for (const { mode } of ERAS) {
  test(`calls leave nothing behind (${mode})`, { timeout: 120_000 }, async () => {
    const server = busyServer();
    const client = new Client({ name: 'c', version: '1' }, { mode, capabilities: { roots: {} } });
    client.setRequestHandler('roots/list', () => ({ roots: [] }));
    await join(client, server);
    const { signal } = new AbortController();
    for (let round = 0; round < 100; round++) await work(client, signal);
    const before = await heap();
    const rounds = 1000;
    for (let round = 0; round < rounds; round++) await work(client, signal);
    const each = ((await heap()) - before) / rounds;
    // One of its calls alone brings more than a thousand bytes.
    assert.ok(each < 500, `${each} bytes are left of each round`);
    assertIdle(client, server);
    await client.close();
  });
}

test('connections that have ended are freed, with their clients and servers', { timeout: 120_000 }, async () => {
  const held: WeakRef<object>[] = [];
  const ended = async (): Promise<void> => {
    const server = busyServer();
    server.server.setRequestHandler(CallToolRequestSchema, () => ({ content: [] }));
    const client = new Client({ name: 'c', version: '1' });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    await client.connect(near);
    await client.callTool({ name: 'echo' });
    await client.close();
    while (server.isConnected()) await turn();
    held.push(new WeakRef(server), new WeakRef(client), new WeakRef(near), new WeakRef(far));
  };
  for (let round = 0; round < 50; round++) await ended();
  // The very last may still be on the stack of this turn.
  for (let round = 0; round < 20 && held.some((one) => one.deref() !== undefined); round++) await heap();
  assert.equal(held.filter((one) => one.deref() !== undefined).length, 0);
});

test('nothing is left that keeps a process alive', { timeout: 120_000 }, async () => {
  const before = process.getActiveResourcesInfo().sort();
  for (let round = 0; round < 5; round++) {
    const client = await connected();
    await client.callTool({ name: 'echo', arguments: { text: 'x' } });
    await client.close();
  }
  for (let round = 0; round < 50 && process.getActiveResourcesInfo().length > before.length; round++) await turn();
  assert.deepEqual(process.getActiveResourcesInfo().sort(), before);
});
