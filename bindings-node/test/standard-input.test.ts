/**
 * How a server reads standard input: on Node's own event loop, and without Node's streams.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';

import { fixture, packageFolder } from './support.js';

const POSIX = { timeout: 60_000, skip: process.platform === 'win32' ? 'Node reads its streams there' : false };

const INITIALIZE = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

/** A server in a process of its own, which is asked one thing after the other. */
class Peer {
  readonly child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #write: (text: string) => void;
  #id = 0;

  constructor(child: ChildProcess, output: NodeJS.ReadableStream, write: (text: string) => void) {
    this.child = child;
    this.#write = write;
    this.#lines = createInterface({ input: output })[Symbol.asyncIterator]();
  }

  /** What it has written to stderr. */
  stderr = '';

  static start(...args: string[]): Peer {
    const child = spawn(process.execPath, [fixture('lean.mjs'), ...args], { stdio: 'pipe' });
    const peer = new Peer(child, child.stdout, (text) => child.stdin.write(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (peer.stderr += text));
    return peer;
  }

  async ask(message: object): Promise<Record<string, any>> {
    this.#write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const { value } = await this.#lines.next();
    return JSON.parse(value as string);
  }

  async call(name: string): Promise<string> {
    const { result } = await this.ask({ id: ++this.#id, method: 'tools/call', params: { name, arguments: {} } });
    return result.content[0].text;
  }

  async end(): Promise<number | null> {
    const ended = once(this.child, 'close');
    this.child.stdin?.end();
    return (await ended)[0];
  }
}

test('nothing of Node’s streams is loaded for it', POSIX, async () => {
  const peer = Peer.start();
  await peer.ask(INITIALIZE);
  const loaded = JSON.parse(await peer.call('loaded')) as string[];
  assert.deepEqual(loaded.filter((name) => /net|tty|crypto/.test(name)), []);
  assert.equal(await peer.end(), 0);
});

test('functions run in the context in which the server was connected', POSIX, async () => {
  const peer = Peer.start();
  await peer.ask(INITIALIZE);
  assert.equal(await peer.call('store'), 'of connect');
  assert.equal(await peer.end(), 0);
});

test('what a function puts off has its turn before the next message is read', POSIX, async () => {
  const peer = Peer.start();
  await peer.ask(INITIALIZE);
  await peer.call('order');
  assert.equal(await peer.call('order'), 'tick promise');
  assert.equal(await peer.end(), 0);
});

test('an error outside of any call reaches the process, and the next message is served', POSIX, async () => {
  const peer = Peer.start();
  await peer.ask(INITIALIZE);
  assert.equal(await peer.call('throw'), 'thrown');
  assert.equal(await peer.call('store'), 'of connect');
  assert.equal(await peer.end(), 0);
  assert.equal(peer.stderr, 'uncaught: of no call\n');
});

const LINUX = { ...POSIX, skip: process.platform !== 'linux' };

test('a server that closes leaves nothing open, however often it connects', LINUX, async () => {
  const script = `
    const { readdirSync } = require('node:fs');
    const { McpServer, StdioServerTransport } = require('oxmcp');
    const own = Object.getOwnPropertyDescriptor(process, 'stdin').get;
    const open = () => readdirSync('/proc/self/fd').length;
    const rounds = async (count) => {
      for (; count > 0; count--) {
        const server = new McpServer({ name: 'x', version: '1' });
        await server.connect(new StdioServerTransport());
        await server.close();
      }
      // The loop lets go of a descriptor at the end of its turn.
      for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
    };
    rounds(1).then(open).then(async (before) => {
      await rounds(50);
      console.log(open() - before, Object.getOwnPropertyDescriptor(process, 'stdin').get === own, process.stdin.listenerCount('newListener'));
    });`;
  const child = spawn(process.execPath, ['-e', script], { cwd: packageFolder, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  assert.equal(line, '0 true 0');
  // Nothing of it keeps the process alive, although its input is open.
  assert.equal((await ended)[0], 0);
});

describe('a program that has to do with process.stdin itself', () => {
  for (const when of ['before', 'after']) {
    test(`hears of its end, when it listens ${when} it connects`, POSIX, async () => {
      const peer = Peer.start(`listens ${when}`);
      await peer.ask(INITIALIZE);
      assert.equal(await peer.call('store'), 'of connect');
      assert.equal(await peer.end(), 0);
      assert.equal(peer.stderr, 'stdin: end\nstdin: close\n');
    });

    test(`shares what it reads, when it reads ${when} it connects`, POSIX, async () => {
      const peer = Peer.start(`reads ${when}`);
      await peer.ask(INITIALIZE);
      assert.equal(await peer.call('read'), 'read');
      assert.equal(await peer.end(), 0);
      assert.equal(peer.stderr, '1\n1\n');
    });
  }

  test('leaves at its end, once the calls under way are answered', POSIX, async () => {
    const peer = Peer.start('leaves');
    await peer.ask(INITIALIZE);
    const answer = peer.call('slow');
    const code = peer.end();
    assert.equal(await answer, 'after all');
    assert.equal(await code, 3);
  });

  for (const mode of ['resumes after', 'keeps']) {
    test(`loses nothing, when it lets it flow (${mode})`, POSIX, async () => {
      const peer = Peer.start(mode);
      await peer.ask(INITIALIZE);
      for (let round = 0; round < 5; round++) assert.equal(await peer.call('read'), 'read');
      assert.equal(await peer.end(), 0);
      assert.equal(peer.stderr, '');
    });
  }
});

describe('a socket in place of a pipe', () => {
  /** Both ends of a connection over TCP. */
  async function pair(): Promise<[ours: Socket, theirs: Socket]> {
    const server = createServer({ pauseOnConnect: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const ours = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [theirs] = (await once(server, 'connection')) as [Socket];
    server.close();
    return [ours, theirs];
  }

  test('is served, and its end ends the server', POSIX, async () => {
    const [ours, theirs] = await pair();
    const child = spawn(process.execPath, [fixture('lean.mjs')], { stdio: [theirs, theirs, 'ignore'] });
    theirs.destroy();
    const peer = new Peer(child, ours, (text) => ours.write(text));
    await peer.ask(INITIALIZE);
    assert.equal(await peer.call('store'), 'of connect');
    const ended = once(child, 'close');
    ours.end();
    assert.equal((await ended)[0], 0);
    ours.destroy();
  });

  test('that is reset ends the server, too', POSIX, async () => {
    const [ours, theirs] = await pair();
    const child = spawn(process.execPath, [fixture('lean.mjs')], { stdio: [theirs, theirs, 'ignore'] });
    theirs.destroy();
    const peer = new Peer(child, ours, (text) => ours.write(text));
    await peer.ask(INITIALIZE);
    const ended = once(child, 'close');
    ours.resetAndDestroy();
    assert.equal((await ended)[0], 0);
  });
});
