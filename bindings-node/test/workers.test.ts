/**
 * Worker threads that go away in mid-call take their servers along and leave the others alone.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { connected, fixture, fixtureServer, gone } from './support.js';

test('fifty workers are terminated during a call; the main thread goes on', { timeout: 240_000 }, async () => {
  const client = await connected();
  const pids: number[] = [];
  // A few at a time: each one is a thread, a server and its start.
  for (let round = 0; round < 10; round++) {
    const workers = Array.from({ length: 5 }, () => {
      return new Worker(fixture('worker.mjs'), { workerData: { server: fixtureServer({ stderr: 'ignore' }) } });
    });
    await Promise.all(
      workers.map(async (worker) => {
        pids.push(await new Promise<number>((resolve, reject) => {
          worker.once('message', resolve);
          worker.once('error', reject);
        }));
        await worker.terminate();
      }),
    );
    await client.callTool({ name: 'echo', arguments: { text: `round ${round}` } });
  }
  assert.equal(pids.length, 50);
  for (const pid of pids) await gone(pid);
  await client.close();
});
