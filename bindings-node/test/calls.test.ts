/**
 * Calls from the program's side, against a real process.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Client, ResponseError, UsageError } from 'oxmcp';

import { connectionOf } from '../dist/client.js';
import { connected, textOf } from './support.js';

describe('a connected client', { timeout: 60_000 }, () => {
  let client: Client;

  before(async () => {
    client = await connected();
  });
  after(() => client.close());

  test('knows the server', () => {
    assert.equal(client.isConnected, true);
    assert.deepEqual(client.getServerVersion(), { name: 'fixture', version: '1.2.3' });
    assert.deepEqual(client.getServerCapabilities(), { tools: {} });
    assert.equal(client.getInstructions(), 'Call echo.');
    assert.equal(client.getNegotiatedProtocolVersion(), '2025-11-25');
  });

  test('lists, calls and pings', async () => {
    const { tools } = await client.listTools();
    assert.ok(tools.some((tool) => tool.name === 'echo'));
    assert.deepEqual(await client.callTool({ name: 'echo', arguments: { text: 'grüße 👋' } }), {
      content: [{ type: 'text', text: 'grüße 👋' }],
    });
    await client.ping();
    assert.deepEqual(await client.request({ method: 'ping' }), {});
  });

  test('gives the server its error back, code, message and data', async () => {
    await assert.rejects(client.callTool({ name: 'fail' }), (error) => {
      assert.ok(error instanceof ResponseError);
      assert.deepEqual(
        [error.kind, error.code, error.message, error.data, error.fault, error.retryable],
        ['response', -32603, 'it failed', { why: 'asked to' }, 'peer', false],
      );
      return true;
    });
    await assert.rejects(client.callTool({ name: 'nothing' }), { code: -32602, message: 'Unknown tool: nothing' });
    await assert.rejects(client.request({ method: 'no/such' }), { code: -32601, message: 'Method not found: no/such' });
  });

  test('has many calls in flight, each with its own answer', async () => {
    const texts = Array.from({ length: 500 }, (_, index) => `text ${index}`);
    const results = await Promise.all(texts.map((text) => client.callTool({ name: 'echo', arguments: { text } })));
    assert.deepEqual(results.map(textOf), texts);
  });

  test('passes large texts, longer than any buffer on the way', async () => {
    const text = 'ä0123456789'.repeat(200_000);
    assert.equal(textOf(await client.callTool({ name: 'echo', arguments: { text } })), text);
  });

  test('keeps the digits of integers in both directions', async () => {
    const raw = await client.callTool({ name: 'digits' }, { rawJson: true });
    assert.equal(raw, '{"content":[],"structuredContent":{"n":9007199254740993}}');
    await client.callTool({ name: 'echo', arguments: { text: 'x', n: 9007199254740993n, list: [-1n, 'bigint:1'] } });
    const seen = await client.callTool({ name: 'seen' }, { rawJson: true });
    // The fixture reads numbers as JavaScript does; what counts is that they came as numbers.
    assert.match(seen, /"n":9007199254740992,"list":\[-1,"bigint:1"\]/);
  });

  test('refuses what cannot be sent, and says what would be right', async () => {
    const bad = client as unknown as { callTool(...args: unknown[]): Promise<unknown>; request(...args: unknown[]): Promise<unknown> };
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const [refused, message] of [
      [bad.callTool({}), /needs the name of a tool/],
      [bad.callTool({ name: 'echo', arguments: [1] }), /arguments must be an object.*an array/],
      [bad.callTool({ name: 'echo', arguments: () => 1 }), /arguments must be an object.*function/],
      [bad.callTool({ name: 'echo', arguments: circular }), /arguments has no JSON form: .*circular/i],
      [bad.callTool({ name: 'echo' }, { timeout: -1 }), /timeout must be a number of milliseconds from 0 up/],
      [bad.callTool({ name: 'echo' }, { timeout: '5' }), /timeout must be a number of milliseconds; it is string/],
      [bad.callTool({ name: 'echo' }, { maxTotalTimeout: NaN }), /maxTotalTimeout must be/],
      [bad.request({}), /request needs a method/],
      [client.connect({ command: 'x' }), /connected already/],
    ] as const) {
      await assert.rejects(refused, (error) => {
        assert.ok(error instanceof UsageError, String(error));
        assert.match(error.message, message);
        return true;
      });
    }
  });

  test('refuses a method whose capability the server lacks', async () => {
    await assert.rejects(client.request({ method: 'prompts/list' }), {
      kind: 'not_negotiated',
      message: /does not declare the capability "prompts"/,
    });
  });

  test('holds nothing after many calls, half of them failing', async () => {
    const one = async (index: number): Promise<void> => {
      const call = client.callTool({ name: index % 2 === 0 ? 'fail' : 'echo', arguments: { text: 'x' } });
      await (index % 2 === 0 ? assert.rejects(call) : call);
    };
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < 100_000) await one(next++);
    };
    await Promise.all(Array.from({ length: 64 }, worker));
    const stats = connectionOf(client)?.stats;
    assert.deepEqual({ ...stats, timer: undefined }, { calls: 0, inbound: 0, outbound: 0, buffered: 0, timer: undefined });
  });
});

test('a client that is not connected says what to do', async () => {
  const client = new Client({ name: 'test', version: '1' });
  await assert.rejects(client.callTool({ name: 'x' }), { kind: 'usage', message: /call connect first/ });
  await assert.rejects(client.listTools(), { kind: 'usage' });
  assert.equal(client.isConnected, false);
  await client.close();
});

test('wrong settings are refused at once', () => {
  const make = Client as unknown as new (...args: unknown[]) => Client;
  assert.throws(() => new make(), { kind: 'usage', message: /needs a name and a version/ });
  assert.throws(() => new make({ name: 'x', version: '1' }, { timeout: -1 }), { kind: 'usage' });
  assert.throws(() => new make({ name: 'x', version: '1' }, { listMaxPages: 0 }), { kind: 'usage' });
});
