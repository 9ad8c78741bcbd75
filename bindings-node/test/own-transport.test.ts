/**
 * Transports of the program's own, and transports of this package that the program drives itself.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client, InMemoryTransport, McpServer, StdioClientTransport, type Transport } from 'oxmcp';
import { ReadBuffer, deserializeMessage, serializeMessage } from 'oxmcp/shared/stdio.js';
import type { JSONRPCMessage } from 'oxmcp/types.js';

import { assertIdle, fixtureServer, textOf, turn } from './support.js';

/** Two ends that hand messages over, as programs write them. */
class Pair implements Transport {
  other!: Pair;
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly sent: JSONRPCMessage[] = [];
  started = 0;
  closes = 0;
  broken: Error | undefined;

  static make(): [Pair, Pair] {
    const [near, far] = [new Pair(), new Pair()];
    near.other = far;
    far.other = near;
    return [near, far];
  }

  async start(): Promise<void> {
    this.started++;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.broken !== undefined) throw this.broken;
    this.sent.push(message);
    setImmediate(() => this.other.onmessage?.(message));
  }

  async close(): Promise<void> {
    if (this.closes++ > 0) return;
    this.onclose?.();
    this.other.onclose?.();
  }
}

function greeter(): McpServer {
  const server = new McpServer({ name: 's', version: '1' });
  server.registerTool('greet', {}, () => 'Hello');
  return server;
}

test('a client and a server meet over transports of the program', async () => {
  const [near, far] = Pair.make();
  const ends: string[] = [];
  const seen: unknown[] = [];
  near.onclose = () => ends.push('near');
  near.onmessage = (message) => seen.push(message);
  const server = greeter();
  await server.connect(far);
  const client = new Client({ name: 'c', version: '1' });
  client.onclose = () => ends.push('client');
  await client.connect(near);
  assert.equal(client.transport, near);
  assert.equal(server.transport, far);
  assert.equal(textOf(await client.callTool({ name: 'greet' })), 'Hello');
  assert.equal(seen.length, far.sent.length);
  assert.ok(near.sent.every((message) => message.jsonrpc === '2.0'));
  assertIdle(client, server);
  await client.close();
  while (server.isConnected()) await turn();
  assert.deepEqual([near.started, far.started], [1, 1]);
  assert.deepEqual(ends.sort(), ['client', 'near']);
});

test('what its functions throw ends the connection, and the calls that wait', async () => {
  const [near, far] = Pair.make();
  await greeter().connect(far);
  const client = new Client({ name: 'c', version: '1' });
  await client.connect(near);
  near.broken = new Error('the line is cut');
  await assert.rejects(client.callTool({ name: 'greet' }), { message: 'the line is cut' });
  assert.equal(client.isConnected, false);
  const [broken] = Pair.make();
  broken.start = () => Promise.reject(new Error('no line'));
  await assert.rejects(new Client({ name: 'c', version: '1' }).connect(broken), { message: 'no line' });
});

test('the program drives a transport of this package, as a proxy does', async () => {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await greeter().connect(far);
  const [inner, outer] = Pair.make();
  const forward = (from: Transport, to: Transport): void => {
    from.onmessage = (message) => void to.send(message);
    from.onclose = () => void to.close();
  };
  forward(near, outer);
  forward(outer, near);
  await assert.rejects(near.send({ jsonrpc: '2.0', method: 'x' }), { kind: 'usage', message: /call start first/ });
  await near.start();
  await assert.rejects(near.start(), { kind: 'usage', message: /connected before/ });
  const client = new Client({ name: 'c', version: '1' });
  await client.connect(inner);
  assert.equal(textOf(await client.callTool({ name: 'greet' })), 'Hello');
  await client.close();
});

test('a process by hand: lines in and out, noise reported, its end told', async () => {
  const transport = new StdioClientTransport(fixtureServer());
  const messages: JSONRPCMessage[] = [];
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  const answered = new Promise<void>((resolve) => {
    transport.onmessage = (message) => {
      messages.push(message);
      resolve();
    };
  });
  await transport.start();
  await transport.send({ jsonrpc: '2.0', id: 'a', method: 'ping' });
  await answered;
  assert.deepEqual(messages[0], { jsonrpc: '2.0', id: 'a', result: {} });
  await transport.close();
  await closed;
});

test('onclose of a transport is called once, whoever ends the connection', async () => {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const ends: string[] = [];
  near.onclose = () => ends.push('near');
  far.onclose = () => ends.push('far');
  const server = greeter();
  await server.connect(far);
  const client = new Client({ name: 'c', version: '1' });
  await client.connect(near);
  await client.close();
  await near.close();
  while (ends.length < 2) await turn();
  await turn();
  assert.deepEqual(ends.sort(), ['far', 'near']);
});

test('messages as lines', () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'a\nb' } as const;
  const buffer = new ReadBuffer();
  const bytes = Buffer.from(`\r\n${serializeMessage(message)}`);
  for (const byte of bytes) buffer.append(Uint8Array.of(byte));
  assert.deepEqual(buffer.readMessage(), message);
  assert.equal(buffer.readMessage(), null);
  buffer.append(Buffer.from('half'));
  buffer.clear();
  buffer.append(Buffer.from('[1]\n'));
  assert.throws(() => buffer.readMessage(), /no JSON-RPC message: \[1\]/);
  assert.throws(() => deserializeMessage('{'), SyntaxError);
});
