/**
 * Much to write and a server that does not read: when the client goes on reading, and when it must not.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client } from 'oxmcp';

import { ChildTransport } from '../dist/child/transport.js';
import { openClient } from '../dist/client.js';
import { systemClock } from '../dist/clock.js';
import { fixture, played, turn } from './support.js';

const LIMIT = { timeout: 60_000 };
const MB = 1_000_000;

test('60 calls of 1 MB against a server that answers each before it reads the next', LIMIT, async () => {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect({ command: process.execPath, args: [fixture('blocking.mjs')] });
  const text = 'a'.repeat(MB);
  const calls = Array.from({ length: 60 }, () => client.callTool({ name: 'x', arguments: { text } }));
  for (const { content } of await Promise.all(calls)) {
    assert.equal(content[0]?.type === 'text' && content[0].text.length, 200_000);
  }
  await client.close();
});

test('requests of our own never stop the reading', async () => {
  const { client, server } = await played();
  server.reads = false;
  const args = { text: 'a'.repeat(MB) };
  const calls = Array.from({ length: 20 }, () => client.callTool({ name: 'x', arguments: args }));
  await turn();
  const ids = server.sent.slice(-20).map(({ id }) => id);
  server.say({ id: 'p', method: 'ping' });
  assert.deepEqual(server.last, { jsonrpc: '2.0', id: 'p', result: {} });
  assert.equal(server.paused, false);
  server.say(...ids.map((id) => ({ id, result: { content: [] } })));
  await Promise.all(calls);
  assert.equal(server.paused, false);
});

test('a call and an answer of one turn are told apart', async () => {
  const { client, server } = await played({ limits: { message: 20 * MB } });
  server.reads = false;
  const call = client.callTool({ name: 'x', arguments: { text: 'a'.repeat(19 * MB) } });
  server.say({ id: 'p', method: 'ping' });
  assert.equal(server.paused, false);
  server.say({ id: server.sent.at(-2)?.['id'], result: { content: [] } });
  await call;
});

test('a server that does not read its answers is not read from, until it does', async () => {
  const { server } = await played();
  server.reads = false;
  const ping = (index: number): object => ({ id: `${index}`.padEnd(MB, '.'), method: 'ping' });
  for (let index = 0; index < 16; index++) server.say(ping(index));
  assert.equal(server.paused, false);
  server.say(ping(16));
  assert.equal(server.paused, true);
  server.readAll();
  assert.equal(server.paused, false);
  // What was read no longer counts.
  server.reads = false;
  for (let index = 0; index < 16; index++) server.say(ping(index));
  assert.equal(server.paused, false);
});

test('a process that does not read its answers is not read from, until it does', { ...LIMIT, skip: process.platform === 'win32' ? 'POSIX signals' : false }, async () => {
  const pauses: boolean[] = [];
  const program = { command: process.execPath, args: [fixture('deaf.mjs')], env: process.env, cwd: process.cwd(), stderr: 'inherit' as const };
  const transport = new (class extends ChildTransport {
    override pause(paused: boolean): void {
      super.pause(paused);
      pauses.push(paused);
      if (paused && this.pid !== null) process.kill(this.pid, 'SIGUSR2');
    }
  })(program, systemClock);
  const client = new Client({ name: 'test', version: '1' });
  const answered = new Promise((resolve) => client.setNotificationHandler('notifications/answered', ({ params }) => resolve(params)));
  await openClient(client, () => transport, systemClock, {});
  assert.deepEqual(await answered, { answers: 20 });
  assert.deepEqual(pauses.slice(0, 2), [true, false]);
  await client.close();
});
