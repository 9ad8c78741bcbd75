/**
 * The classes of the root whose code is read when they are first used: they are classes in every way, and a server reads none of them.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { inspect } from 'node:util';

import { Client, InMemoryTransport, McpServer, Server, StdioClientTransport, StreamableHTTPClientTransport } from 'oxmcp';
import * as byPath from 'oxmcp/client/stdio.js';

import { packageFolder } from './support.js';

const INFO = { name: 'lazy', version: '1.0.0' };

test('they bear their names before they are used', () => {
  assert.deepEqual([Client, InMemoryTransport, Server, StdioClientTransport].map((one) => /\w+(?=\])/.exec(inspect(one))?.[0]), [
    'Client',
    'InMemoryTransport',
    'Server',
    'StdioClientTransport',
  ]);
});

test('they are made, extended and told apart as any class', () => {
  class Mine extends Client {
    override get isConnected(): boolean {
      return super.isConnected;
    }
  }
  const [mine, plain] = [new Mine(INFO), new Client(INFO)];
  assert.ok(mine instanceof Mine && mine instanceof Client && !(plain instanceof Mine) && !(new McpServer(INFO) instanceof Client));
  assert.deepEqual([mine.isConnected, mine.constructor, plain.constructor, Mine.prototype.constructor], [false, Mine, Client, Mine]);
  assert.ok(Object.getPrototypeOf(Mine) === Client && Client.prototype.isPrototypeOf(mine));
  assert.deepEqual([Client, Server, InMemoryTransport].map((one) => one.name), ['Client', 'Server', 'InMemoryTransport']);
  assert.equal(typeof Client, 'function');
  assert.throws(() => (Client as unknown as () => void)(), TypeError);
});

test('what is set on one is seen by its objects', (t) => {
  t.mock.method(Client.prototype, 'ping', async () => 'mocked');
  assert.equal((new Client(INFO).ping as () => unknown).name, (Client.prototype.ping as () => unknown).name);
  (Client as unknown as { own?: number }).own = 1;
  assert.equal((Client as unknown as { own?: number }).own, 1);
  delete (Client as unknown as { own?: number }).own;
  assert.equal('own' in Client, false);
});

test('they are one by every path, also where their own code makes the objects', () => {
  assert.equal(byPath.StdioClientTransport, StdioClientTransport);
  assert.ok(new McpServer(INFO).server instanceof Server);
  assert.ok(InMemoryTransport.createLinkedPair().every((end) => end instanceof InMemoryTransport));
  assert.equal(new StreamableHTTPClientTransport('http://127.0.0.1/').constructor, StreamableHTTPClientTransport);
});

test('a server reads none of them, a client what it needs', () => {
  const script = `
    const { Client, McpServer } = require('oxmcp');
    const read = () => Object.keys(require.cache).map((file) => file.split(/[\\\\/]/).at(-1)).filter((name) => name.endsWith('.js')).sort().join();
    new McpServer({ name: 'x', version: '1' });
    console.log(read());
    new Client({ name: 'x', version: '1' });
    console.log(read().includes('client.js'));`;
  assert.equal(execFileSync(process.execPath, ['-e', script], { cwd: packageFolder, encoding: 'utf8' }), 'code.js,index.js\ntrue\n');
});
