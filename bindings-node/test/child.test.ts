/**
 * Servers as processes: how they start, how they end, and what a person reads when that goes wrong.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { Client, ConnectionClosedError, ServerStartError, StdioClientTransport, getDefaultEnvironment } from 'oxmcp';

import { ChildTransport } from '../dist/child/transport.js';
import { openClient } from '../dist/client.js';
import { native } from '../dist/native.js';
import { HandClock, connected, fixture, fixtureServer, gone, isRunning, turn } from './support.js';

const folder = mkdtempSync(path.join(tmpdir(), 'oxmcp-test-'));
after(() => rmSync(folder, { recursive: true }));

const LIMIT = { timeout: 60_000 };
const newClient = (): Client => new Client({ name: 'test', version: '1' });

/** Takes any other first message than `initialize` for an error. */
const STRICT = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (method === 'initialize') {
      const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'strict', version: String(process.pid) } };
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    } else if (method === 'ping') {
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
    } else if (id !== undefined) {
      console.error('what is ' + method);
      process.exit(1);
    }
  });
`;

describe('a server that leaves at the first question', LIMIT, () => {
  test('is started again for the handshake, and known from then on', async () => {
    for (const expected of [1, 0]) {
      const client = newClient();
      let said = '';
      let closed = 0;
      client.onclose = () => closed++;
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: ['-e', STRICT],
        onstderr: (text) => (said += text),
      });
      await client.connect(transport);
      assert.equal(client.getServerVersion()?.name, 'strict');
      const pid = transport.pid ?? 0;
      assert.equal(client.getServerVersion()?.version, String(pid));
      await client.ping();
      assert.equal(closed, 0);
      await client.close();
      assert.equal(closed, 1);
      await gone(pid);
      assert.equal(said.split('what is server/discover').length - 1, expected);
    }
  });

  test('and leaves again is told of', async () => {
    const client = newClient();
    await assert.rejects(client.connect({ command: process.execPath, args: ['-e', 'process.exit(3)'] }), (error) => {
      assert.ok(error instanceof ConnectionClosedError, String(error));
      assert.equal(error.exitCode, 3);
      return true;
    });
    // The client is free for another try.
    await client.connect(fixtureServer());
    await client.close();
  });
});

describe('a command that cannot be started', LIMIT, () => {
  async function failure(parameters: ConstructorParameters<typeof StdioClientTransport>[0]): Promise<ServerStartError> {
    const client = newClient();
    const error: unknown = await client.connect(parameters).then(
      () => assert.fail('it connected'),
      (error: unknown) => error,
    );
    assert.ok(error instanceof ServerStartError, String(error));
    assert.deepEqual([error.kind, error.fault, error.retryable, error.command], ['start', 'local', false, parameters.command]);
    assert.equal(client.isConnected, false);
    // The client is free for another try.
    await client.connect(fixtureServer());
    await client.close();
    return error;
  }

  test('names the command, the folder, the PATH, and what to do', async () => {
    const error = await failure({ command: 'no-such-command-anywhere', env: { PATH: '/usr/bin:/bin' } });
    assert.match(error.message, /"no-such-command-anywhere" was not found in PATH \(\/usr\/bin:\/bin\)/);
    assert.ok(error.message.includes(process.cwd()));
    assert.match(error.message, /Install it, correct its spelling, or give its full path/);
    assert.equal((error.cause as NodeJS.ErrnoException).code, 'ENOENT');
  });

  test('says that arguments do not belong into the command', async () => {
    const error = await failure({ command: 'node server.js' });
    assert.match(error.message, /arguments go into "args"/);
  });

  test('tells a missing folder from a missing command', async () => {
    const error = await failure({ command: process.execPath, cwd: path.join(folder, 'nowhere') });
    assert.match(error.message, /its folder \(cwd\) .*nowhere does not exist/);
    assert.equal(error.cwd, path.join(folder, 'nowhere'));
  });

  test('tells a missing file, one that may not be run, and a missing interpreter', { skip: process.platform === 'win32' ? 'POSIX modes' : false }, async () => {
    assert.match((await failure({ command: './nothing.sh', cwd: folder })).message, /there is no file .*nothing\.sh/);
    const plain = path.join(folder, 'plain.sh');
    writeFileSync(plain, '#!/bin/sh\n', { mode: 0o644 });
    assert.match((await failure({ command: plain })).message, /may not be run: .*plain\.sh.*Make it executable/);
    const script = path.join(folder, 'script');
    writeFileSync(script, '#!/no/such/interpreter -x\n');
    chmodSync(script, 0o755);
    assert.match((await failure({ command: script })).message, /interpreter was not found \(#!\/no\/such\/interpreter -x\)/);
  });

  test('a command that is no command is refused before anything is started', async () => {
    await assert.rejects(newClient().connect({ command: '' }), { kind: 'usage', message: /non-empty string/ });
  });
});

describe('a server that dies', LIMIT, () => {
  test('in the handshake: the error has its exit code and what it wrote last', async () => {
    const script = 'console.error("no database"); console.error("giving up"); process.exitCode = 4';
    await assert.rejects(newClient().connect({ command: process.execPath, args: ['-e', script], stderr: 'pipe' }), (error) => {
      assert.ok(error instanceof ConnectionClosedError);
      assert.deepEqual([error.code, error.exitCode, error.signal], [-32000, 4, null]);
      assert.equal(error.stderr, 'no database\ngiving up');
      assert.match(error.message, /initialize was not answered: .*exited with code 4/);
      assert.match(error.message, /no database\ngiving up$/);
      return true;
    });
  });

  test('at once, without a word', async () => {
    await assert.rejects(newClient().connect({ command: process.execPath, args: ['-e', ''] }), {
      kind: 'closed',
      exitCode: 0,
      stderr: '',
    });
  });

  test('in mid-call: every call fails with it, and so do later ones', async () => {
    const client = await connected();
    let closed = 0;
    client.onclose = () => closed++;
    const held = client.callTool({ name: 'hold' });
    const exit = client.callTool({ name: 'exit', arguments: { code: 3 } });
    for (const call of [held, exit]) {
      await assert.rejects(call, { kind: 'closed', exitCode: 3, stderr: 'about to leave', fault: 'transport', retryable: true });
    }
    await assert.rejects(client.ping(), { kind: 'closed', exitCode: 3, message: /ping was not sent/ });
    assert.deepEqual([closed, client.isConnected], [1, false]);
    await client.close();
    assert.equal(closed, 1);
  });

  test('by a signal', async () => {
    const transport = new StdioClientTransport(fixtureServer());
    const client = newClient();
    await client.connect(transport);
    await assert.rejects(client.callTool({ name: 'crash' }), { kind: 'closed', exitCode: null, signal: 'SIGKILL', message: /SIGKILL/ });
    assert.equal(transport.pid, null);
  });

  test('one that closes its output but goes on is an end as well', async () => {
    const client = await connected();
    await assert.rejects(client.callTool({ name: 'closeOutput' }), { kind: 'closed' });
    await client.close();
  });

  test('one that died is not waited for though its output is held open', async () => {
    const client = await connected();
    await assert.rejects(client.callTool({ name: 'leaveHeir' }), { kind: 'closed', exitCode: 5 });
    await client.close();
  });

  test('the client can connect again', async () => {
    const client = await connected();
    await assert.rejects(client.callTool({ name: 'crash' }), { kind: 'closed' });
    await client.connect(fixtureServer());
    await client.ping();
    await client.close();
  });
});

describe('closing', LIMIT, () => {
  test('ends the process by the end of its input, and is safe to repeat', async () => {
    const stderr: string[] = [];
    const transport = new StdioClientTransport(fixtureServer({ onstderr: (text) => stderr.push(text) }));
    const client = newClient();
    await client.connect(transport);
    const { pid } = transport;
    assert.ok(pid !== null && isRunning(pid));
    const pending = client.callTool({ name: 'hold' });
    const closing = client.close();
    await assert.rejects(pending, { kind: 'closed', message: /the client was closed/ });
    await Promise.all([closing, client.close()]);
    assert.equal(isRunning(pid), false);
    assert.equal(transport.pid, null);
    assert.match(stderr.join(''), /end of input/);
    await client.close();
    await assert.rejects(client.ping(), { kind: 'closed' });
  });

  test('goes on to SIGTERM after 2 s and to SIGKILL after 2 more, for the whole group', async () => {
    const clock = new HandClock();
    const client = newClient();
    const stderr: string[] = [];
    const ignored = new Promise<void>((resolve) => {
      const program = { command: process.execPath, args: [fixture('server.mjs')], env: process.env, cwd: process.cwd(), stderr: 'pipe' as const };
      const transport = new ChildTransport(program, clock, {
        chunk: (chunk) => {
          stderr.push(Buffer.from(chunk).toString());
          if (stderr.join('').includes('SIGTERM ignored')) resolve();
        },
        end: () => {},
      });
      void openClient(client, () => transport, clock, {}).then(() => opened());
    });
    let opened = (): void => {};
    await new Promise<void>((resolve) => (opened = resolve));
    const child = Number(await text(client, 'stubborn'));
    const grandchild = Number(await text(client, 'grandchild'));

    const closing = client.close();
    clock.advance(1999);
    await turn();
    assert.doesNotMatch(stderr.join(''), /SIGTERM/);
    clock.advance(1);
    await ignored;
    assert.deepEqual([isRunning(child), isRunning(grandchild)], [true, true]);
    clock.advance(2000);
    await closing;
    await gone(grandchild);
    assert.equal(isRunning(child), false);
    assert.equal(clock.timers, 0);
  });

  test('what a server leaves behind in its group ends with it', async () => {
    const client = await connected();
    const grandchild = Number(await text(client, 'grandchild'));
    await client.close();
    await gone(grandchild);
  });

  test('await using closes', async () => {
    const transport = new StdioClientTransport(fixtureServer());
    let pid: number | null;
    {
      await using client = newClient();
      await client.connect(transport);
      pid = transport.pid;
    }
    assert.ok(pid !== null && !isRunning(pid));
  });

  test('an aborted connect rejects with the reason and ends the process', async () => {
    const controller = new AbortController();
    const transport = new StdioClientTransport({ command: process.execPath, args: ['-e', 'process.stdin.resume()'] });
    const client = newClient();
    const connecting = client.connect(transport, { signal: controller.signal });
    await turn();
    const { pid } = transport;
    assert.ok(pid !== null);
    controller.abort('changed my mind');
    await assert.rejects(connecting, (error) => error === 'changed my mind');
    await client.close();
    assert.equal(isRunning(pid), false);
    const reason = new Error('before');
    await assert.rejects(client.connect(fixtureServer(), { signal: AbortSignal.abort(reason) }), (error) => error === reason);
  });

  test('a silent server does not hold the handshake beyond its time', async () => {
    const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'], timeout: 300 };
    const client = newClient();
    await assert.rejects(client.connect(silent), { kind: 'timeout', message: /initialize got no answer within 0.3 s/ });
    await client.close();
  });
});

describe('the process of a server', LIMIT, () => {
  test('gets its arguments unchanged, its folder, and no more of the environment than it should', async () => {
    process.env['OXMCP_TEST_SECRET'] = 'secret';
    const args = ['a "b" c&d', '', '$HOME', '*'];
    const client = await connected(undefined, {
      args: [fixture('server.mjs'), ...args],
      cwd: pathToFileURL(folder),
      env: { OXMCP_TEST: 'given' },
    });
    const { structuredContent } = await client.callTool({ name: 'environment' });
    const seen = structuredContent as { env: Record<string, string>; cwd: string; argv: string[] };
    assert.deepEqual([seen.argv, seen.env['OXMCP_TEST'], seen.env['OXMCP_TEST_SECRET']], [args, 'given', undefined]);
    assert.equal(path.basename(seen.cwd), path.basename(folder));
    assert.equal(seen.env['PATH'], getDefaultEnvironment()['PATH']);
    await client.close();
  });

  test('its piped stderr can be read as a stream from the first byte', async () => {
    const transport = new StdioClientTransport(fixtureServer());
    const stream = transport.stderr;
    assert.ok(stream);
    const client = newClient();
    await client.connect(transport);
    await client.close();
    let all = '';
    for await (const chunk of stream) all += Buffer.from(chunk).toString();
    assert.equal(all, 'end of input\n');
    assert.equal(new StdioClientTransport({ command: 'x' }).stderr, null);
    await assert.rejects(newClient().connect(transport), { kind: 'usage', message: /connected before/ });
  });

  test('is read through a pipe of Node where the system has no pair of sockets', async () => {
    const addon = native() as { socketPair: () => [number, number] | null };
    const { socketPair } = addon;
    addon.socketPair = () => null;
    try {
      const client = await connected();
      assert.equal(await text(client, 'grandchild').then(Number).then(isRunning), true);
      await assert.rejects(client.callTool({ name: 'exit', arguments: { code: 5 } }), { kind: 'closed', exitCode: 5 });
      await assert.rejects(client.connect({ command: 'no-such-command-anywhere' }), ServerStartError);
    } finally {
      addon.socketPair = socketPair;
    }
  });

  test('no descriptor stays open, whether it starts or not', { skip: process.platform !== 'linux' ? '/proc' : false }, async () => {
    const open = (): number => readdirSync('/proc/self/fd').length;
    const round = async (): Promise<void> => {
      const client = await connected();
      await client.close();
      await assert.rejects(client.connect({ command: 'no-such-command-anywhere' }), ServerStartError);
    };
    await round();
    await turn();
    const before = open();
    for (let index = 0; index < 10; index++) await round();
    await turn();
    assert.equal(open(), before);
  });

  const posix = process.platform === 'win32' ? 'POSIX signals' : false;
  for (const [how, signal] of [['exit'], ['throw'], ['close'], ['wait', 'SIGINT'], ['wait', 'SIGTERM'], ['wait', 'SIGHUP']] as const) {
    test(`never outlives its client: ${signal ?? how}`, { skip: posix }, async () => {
      const parameters = JSON.stringify(fixtureServer({ stderr: 'ignore' }));
      const program = spawn(process.execPath, [fixture('leaves.mjs'), how, parameters], { stdio: ['ignore', 'pipe', 'ignore'] });
      const ended = new Promise<[number | null, string | null]>((resolve) => {
        program.on('close', (code, signal) => resolve([code, signal]));
      });
      let output = '';
      for await (const chunk of program.stdout) {
        output += String(chunk);
        if (output.includes('\n') && signal !== undefined) program.kill(signal);
      }
      const [code, by] = await ended;
      const [pids = '', settled] = output.split('\n');
      const [child, grandchild] = pids.split(' ').map(Number);
      assert.ok(child !== undefined && grandchild !== undefined && child > 1 && grandchild > 1, output);
      await gone(child);
      await gone(grandchild);
      if (how === 'close') assert.equal(settled, 'closed');
      assert.deepEqual([code, by], signal === undefined ? [how === 'throw' ? 1 : 0, null] : [null, signal]);
    });
  }
});

async function text(client: Client, name: string): Promise<string> {
  const [block] = (await client.callTool({ name })).content;
  assert.ok(block?.type === 'text');
  return block.text;
}
