/**
 * Servers over standard input and output, in processes of their own.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { after, describe, test } from 'node:test';

import { Client, type McpError, McpServer, type Problem, StdioServerTransport } from 'oxmcp';

import { leaveSoon } from '../dist/leaving.js';
import { serve } from '../dist/server.js';
import { redirectedStdout } from '../dist/other-output.js';
import { ERAS, HandClock, HandTransport, fixture, gone, textOf, turn } from './support.js';

const LIMIT = { timeout: 60_000 };
const POSIX = { ...LIMIT, skip: process.platform === 'win32' ? 'POSIX descriptors' : false };
const SERVER = { command: process.execPath, args: [fixture('mcp-server.mjs')] };

const folder = mkdtempSync(path.join(tmpdir(), 'oxmcp-stdio-'));
after(() => rmSync(folder, { recursive: true }));

const HANDSHAKE = [
  { id: 'i', method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } } },
  { method: 'notifications/initialized' },
];

function lines(...messages: object[]): string {
  return messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
}

function call(id: number, name: string, args: object = {}): object {
  return { id, method: 'tools/call', params: { name, arguments: args } };
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly messages: Record<string, any>[];
  readonly rest: string;
  readonly stderr: string;
}

/** Runs a server to its end; `drive` says what it is told. */
async function run(drive: (child: ChildProcess) => void, ...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [fixture('mcp-server.mjs'), ...args], { stdio: 'pipe' });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => {});
  drive(child);
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => child.on('close', (...end) => resolve(end)));
  const all = stdout.split('\n').filter((line) => line !== '');
  return {
    code,
    signal,
    // Read where a test looks at them: a client that leaves cuts the last one short.
    get messages() {
      return all.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    },
    rest: all.filter((line) => !line.startsWith('{')).join('\n'),
    stderr,
  };
}

for (const { mode, revision } of ERAS) {
  describe(`in ${revision}`, LIMIT, () => {
    test('what the program prints goes to stderr, and never onto the wire', POSIX, async () => {
      const problems: Problem[] = [];
      let stderr = '';
      const client = new Client({ name: 'test', version: '1' }, { mode, onproblem: (problem) => problems.push(problem) });
      await client.connect({ ...SERVER, onstderr: (text) => (stderr += text) });
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
      assert.equal(textOf(await client.callTool({ name: 'print' })), 'printed');
      await client.close();
      assert.deepEqual(problems, []);
      assert.equal(stderr, 'from console\nfrom process.stdout\nfrom descriptor 1\nclosed\n');
    });

    test('asks its client', async () => {
      const client = new Client({ name: 'test', version: '1' }, { mode, capabilities: { elicitation: {} } });
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
      await client.connect({ ...SERVER, stderr: 'ignore' });
      assert.equal(textOf(await client.callTool({ name: 'ask' })), 'Hello Ada');
      await client.close();
    });

    test('many calls at once, and large results', async () => {
      const client = new Client({ name: 'test', version: '1' }, { mode });
      await client.connect({ ...SERVER, stderr: 'ignore' });
      const texts = Array.from({ length: 2000 }, (_, index) => `grüße ${index} 👋`);
      const results = await Promise.all(texts.map((text) => client.callTool({ name: 'echo', arguments: { text } })));
      assert.deepEqual(results.map(textOf), texts);
      const large = await client.callTool({ name: 'repeat', arguments: { length: 5_000_000 } });
      assert.equal(textOf(large)?.length, 5_000_000);
      await client.close();
    });
  });
}

test('a connection costs a server of the handshake one request more, and only the first time', LIMIT, async () => {
  const methods: string[][] = [];
  for (let round = 0; round < 2; round++) {
    const sent: string[] = [];
    const ontrace = (direction: string, line: string): void => {
      if (direction === 'sent') sent.push(JSON.parse(line).method);
    };
    const client = new Client({ name: 'test', version: '1' }, { ontrace });
    // The arguments are part of what a server is known by.
    await client.connect({ command: process.execPath, args: [fixture('server.mjs'), 'verdict'], stderr: 'ignore' });
    await client.close();
    methods.push(sent);
  }
  assert.deepEqual(methods, [
    ['server/discover', 'initialize', 'notifications/initialized'],
    ['initialize', 'notifications/initialized'],
  ]);
});

describe('the end', LIMIT, () => {
  test('of the input: accepted calls are answered, and the process ends by itself', async () => {
    const ended = await run((child) => child.stdin?.end(lines(...HANDSHAKE, call(1, 'echo', { text: 'a' }), call(2, 'soon'), call(3, 'echo', { text: 'b' }))));
    assert.deepEqual([ended.code, ended.signal, ended.rest, ended.stderr], [0, null, '', 'closed\n']);
    assert.deepEqual(ended.messages.map(({ id }) => id), ['i', 1, 3, 2]);
  });

  test('of the input, although the program has a timer', async () => {
    const ended = await run((child) => child.stdin?.end(lines(...HANDSHAKE, call(1, 'soon'))), 'timer');
    assert.deepEqual([ended.code, ended.signal, ended.messages.at(-1)?.['id'], ended.stderr], [0, null, 1, 'closed\n']);
  });

  test('by Ctrl+C while nothing happens, without a word', POSIX, async () => {
    const ended = await run((child) => {
      child.stdin?.write(lines(...HANDSHAKE));
      child.stdout?.once('data', () => child.kill('SIGINT'));
    });
    assert.deepEqual([ended.signal, ended.stderr], ['SIGINT', '']);
  });

  test('of the input without a word', async () => {
    const ended = await run((child) => child.stdin?.end());
    assert.deepEqual([ended.code, ended.messages, ended.stderr], [0, [], 'closed\n']);
  });

  test('of the input, with a last line that is not ended', async () => {
    const ended = await run((child) => child.stdin?.end(lines(...HANDSHAKE, call(1, 'echo', { text: 'a' })).slice(0, -1)));
    assert.deepEqual([ended.code, ended.messages.at(-1)?.['id']], [0, 1]);
  });

  test('by the server: standard output is the program’s own again, after the last answer', POSIX, async () => {
    const ended = await run((child) => child.stdin?.write(lines(...HANDSHAKE, call(1, 'leave'))), 'print-before');
    assert.deepEqual([ended.code, ended.rest, ended.stderr], [0, 'before\nafter', 'closed\n']);
    assert.equal(ended.messages.at(-1)?.['result'].content[0].text, 'bye');
  });

  test('of a client that is gone: what it would have read is dropped, and the process ends', async () => {
    const ended = await run((child) => {
      child.stdin?.write(lines(...HANDSHAKE, ...Array.from({ length: 50 }, (_, id) => call(id, 'repeat', { length: 100_000 }))));
      child.stdout?.once('data', () => {
        child.stdout?.destroy();
        child.stdin?.end(lines(call(99, 'never')));
      });
    });
    assert.deepEqual([ended.code ?? ended.signal, ended.stderr], [0, 'closed\n']);
  });

  test('by an error outside of any call, as in any other program', async () => {
    const ended = await run((child) => child.stdin?.write(lines(...HANDSHAKE, call(1, 'throw'))));
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /outside of any call/);
  });

  test('by SIGTERM, which the package leaves alone', POSIX, async () => {
    const ended = await run((child) => {
      child.stdin?.write(lines(...HANDSHAKE));
      child.stdout?.once('data', () => child.kill('SIGTERM'));
    });
    assert.equal(ended.signal, 'SIGTERM');
  });
});

test('a client that does not read holds the server up, and gets all once it reads', LIMIT, async () => {
  const calls = Array.from({ length: 400 }, (_, id) => call(id, 'repeat', { length: 200_000 }));
  const child = spawn(process.execPath, [fixture('mcp-server.mjs')], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.write(lines(...HANDSHAKE));
  // The whole of it fits into no pipe: when it has left, the server has read it.
  const all = new Promise((resolve) => child.stdin.write(lines(...calls, call(400, 'echo', { text: 'y'.repeat(2_000_000) })), resolve));
  let answers = 0;
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    answers += parts.length;
    if (answers === 402) child.stdin.end();
  });
  child.stdout.pause();
  setImmediate(() => child.stdout.resume());
  await all;
  assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0);
  assert.equal(answers, 402);
});

test('a byte order mark, line ends of Windows and lines cut within a character are read', LIMIT, async () => {
  const text = `\uFEFF${lines(...HANDSHAKE, call(1, 'echo', { text: 'grüße 👋' })).replaceAll('\n', '\r\n')}`;
  const bytes = Buffer.from(text);
  const ended = await run((child) => {
    // A byte at a time, each one a read of its own as far as the system will have it.
    const step = (at: number): void => {
      if (at < bytes.length) child.stdin?.write(bytes.subarray(at, at + 1), () => step(at + 1));
      else child.stdin?.end();
    };
    step(0);
  });
  assert.deepEqual([ended.messages.map(({ id }) => id), ended.messages.at(-1)?.['result'].content[0].text], [['i', 1], 'grüße 👋']);
  assert.doesNotMatch(JSON.stringify(ended.messages), /\r|\uFEFF/);
});

test('lines that are no messages are answered, each in its way, and the next is served', LIMIT, async () => {
  const odd = ['not json', '{"id":99,"method":"tools/list","params":{}}', '[{"jsonrpc":"2.0","id":5,"method":"ping"}]', '', '7'].join('\n');
  const ended = await run((child) => child.stdin?.end(`${lines(...HANDSHAKE)}${odd}\n${lines(call(1, 'echo', { text: 'a' }))}`));
  const answers = ended.messages.slice(1).map(({ id, error, result }) => [id, error?.code, result !== undefined]);
  assert.deepEqual(answers, [
    [undefined, -32700, false],
    [99, -32600, false],
    [undefined, -32600, false],
    [undefined, -32600, false],
    [1, undefined, true],
  ]);
});

test('files in place of pipes', POSIX, async () => {
  const [input, output] = [path.join(folder, 'in'), path.join(folder, 'out')];
  writeFileSync(input, lines(...HANDSHAKE, call(1, 'echo', { text: 'a' }), call(2, 'print'), call(3, 'repeat', { length: 300_000 })));
  const descriptors = [openSync(input, 'r'), openSync(output, 'w')] as const;
  const child = spawn(process.execPath, [fixture('mcp-server.mjs')], { stdio: [...descriptors, 'ignore'] });
  assert.equal(await new Promise((resolve) => child.on('close', resolve)), 0);
  for (const descriptor of descriptors) closeSync(descriptor);
  const ids = readFileSync(output, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line).id);
  assert.deepEqual(ids, ['i', 1, 2, 3]);
});

test('a server never outlives a client that is killed', POSIX, async () => {
  const script = `
    const { Client } = require('oxmcp');
    const client = new Client({ name: 'x', version: '1' });
    client.connect(${JSON.stringify({ ...SERVER, stderr: 'ignore' })}).then(() => {
      client.callTool({ name: 'soon' }).then(() => process.kill(process.pid, 'SIGKILL'));
      console.log(process._getActiveHandles().find((handle) => handle.pid)?.pid);
    });`;
  const parent = spawn(process.execPath, ['-e', script], { cwd: path.dirname(fixture('')), stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  parent.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  await new Promise((resolve) => parent.on('close', resolve));
  const pid = Number(text);
  assert.ok(pid > 0, text);
  await gone(pid);
});

test('streams of the program’s own', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = new McpServer({ name: 'streams', version: '1' });
  server.registerTool('x', {}, () => 'x');
  await server.connect(new StdioServerTransport(input, output));
  input.write(lines(...HANDSHAKE, call(1, 'x')));
  let text = '';
  for await (const chunk of output) {
    text += String(chunk);
    if (text.includes('"id":1')) break;
  }
  assert.match(text, /"text":"x"/);
  await server.close();
});

test('the process of a client that has left is ended, unless it listens on a port', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const exit = t.mock.method(process, 'exit', () => undefined as never);
  const left = (): number => {
    leaveSoon();
    t.mock.timers.tick(2000);
    return exit.mock.callCount();
  };
  assert.equal(left(), 1);
  const server = new McpServer({ name: 'ports', version: '1' });
  await server.listen();
  assert.equal(left(), 1);
  await server.close();
  assert.equal(left(), 2);
  const app = createServer().listen(0, '127.0.0.1');
  await once(app, 'listening');
  assert.equal(left(), 2);
  app.close();
});

test('where descriptors cannot be moved, process.stdout is redirected and given back', () => {
  const written: string[] = [];
  const stream = (name: string) => ({
    write(chunk: string | Uint8Array, done?: () => void): boolean {
      written.push(`${name} ${String(chunk)}`);
      done?.();
      return true;
    },
    on: () => undefined,
  });
  const [stdout, stderr] = [stream('out'), stream('err')];
  const before = stdout.write;
  const wire = redirectedStdout(stdout, stderr);
  stdout.write('stray');
  wire.write('message');
  let finished = false;
  wire.end(() => (finished = true));
  stdout.write('after');
  assert.deepEqual(written, ['err stray', 'out message', 'out ', 'out after']);
  assert.deepEqual([finished, stdout.write], [true, before]);
});

test('a server’s question has its time, and work that outlasts the client is ended', async () => {
  const { server, transport, clock } = servedByHand();
  server.registerTool('ask', {}, async ({ mcpReq }) => JSON.stringify(await mcpReq.send({ method: 'roots/list' })));
  let aborted: unknown;
  server.registerTool('never', {}, ({ mcpReq }) => {
    mcpReq.signal.addEventListener('abort', () => (aborted = mcpReq.signal.reason));
    return new Promise(() => {});
  });
  const connection = serve(server, () => transport, clock);
  const [initialize, initialized] = HANDSHAKE as [Record<string, any>, object];
  transport.say({ ...initialize, params: { ...initialize['params'], capabilities: { roots: {} } } }, initialized);
  transport.say(call(1, 'ask'));
  await turn();
  assert.equal(transport.last['method'], 'roots/list');
  clock.advance(60_000);
  await turn();
  assert.deepEqual([transport.last['id'], transport.last['result']?.isError], [1, true]);
  assert.match(JSON.stringify(transport.last['result']), /roots\/list got no answer within 60 s/);
  transport.say(call(2, 'never'));
  transport.end();
  await turn();
  clock.advance(4_999);
  assert.equal(connection.isClosed, false);
  clock.advance(1);
  assert.equal(connection.isClosed, true);
  assert.match(String(aborted), /time to finish was over/);
  assert.equal(clock.timers, 0);
});

for (const first of ['time', 'end'] as const) {
  test(`a question whose time is over in the turn in which the server closes, the ${first} first, fails once`, async () => {
    const { server, transport, clock } = servedByHand();
    const failures: string[] = [];
    server.registerTool('ask', {}, async ({ mcpReq }) => {
      await mcpReq.send({ method: 'roots/list' }).catch((error: McpError) => failures.push(error.kind));
      return 'asked';
    });
    const connection = serve(server, () => transport, clock);
    const [initialize, initialized] = HANDSHAKE as [Record<string, any>, object];
    transport.say({ ...initialize, params: { ...initialize['params'], capabilities: { roots: {} } } }, initialized);
    transport.say(call(1, 'ask'));
    await turn();
    assert.equal(transport.last['method'], 'roots/list');
    const pass = (): void => clock.advance(60_000);
    if (first === 'time') pass();
    const closing = server.close();
    if (first === 'end') pass();
    await closing;
    await turn();
    assert.deepEqual(failures, [first === 'time' ? 'timeout' : 'closed']);
    const { length } = transport.sent;
    clock.advance(600_000);
    await turn();
    assert.deepEqual([transport.sent.length, clock.timers], [length, 0]);
    assert.deepEqual(connection.stats, { calls: 0, inbound: 0, outbound: 0, buffered: 0, timer: false });
  });
}

function servedByHand(): { server: McpServer; transport: HandTransport; clock: HandClock } {
  return { server: new McpServer({ name: 'hand', version: '1' }), transport: new HandTransport(), clock: new HandClock() };
}
