/**
 * The example programs run as their first lines say.
 */

import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';

import { fixture, packageFolder } from './support.js';

// A folder in which the package is installed, as it is for a person who tries the example.
const folder = mkdtempSync(path.join(tmpdir(), 'oxmcp-example-'));
after(() => rmSync(folder, { recursive: true }));
mkdirSync(path.join(folder, 'node_modules'));
symlinkSync(packageFolder, path.join(folder, 'node_modules', 'oxmcp'), 'dir');
symlinkSync(path.join(packageFolder, 'node_modules', 'zod'), path.join(folder, 'node_modules', 'zod'), 'dir');
for (const name of ['client.mjs', 'server.mjs', 'http-client.mjs', 'http-server.mjs']) {
  copyFileSync(path.join(packageFolder, '..', 'examples', 'node', name), path.join(folder, name));
}

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return runWith('', ...args);
}

function runWith(input: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['client.mjs', ...args], { cwd: folder, input, encoding: 'utf8', timeout: 60_000 });
}

test('it lists the tools and calls one', () => {
  const { status, stdout } = run(process.execPath, fixture('server.mjs'), '--', 'echo', '{"text":"hello"}');
  assert.equal(status, 0);
  assert.match(stdout, /^connected to fixture 1\.2\.3, revision 2025-11-25\n/);
  assert.match(stdout, /^tool echo: $/m);
  assert.match(stdout, /^result: hello$/m);
});

test('it reports progress', () => {
  const { stdout } = run(process.execPath, fixture('server.mjs'), '--', 'report', '{"times":2}');
  assert.match(stdout, /progress 1 of 2\nprogress 2 of 2\nresult: reported\n$/);
});

test('with the example server: a note is written, and found', () => {
  const written = run('node', 'server.mjs', '--', 'write', '{"name":"today","text":"Buy milk"}');
  assert.equal(written.status, 0, written.stderr);
  assert.match(written.stdout, /^connected to notes 1\.0\.0, revision 2026-07-28\n/);
  for (const line of [/^tool write: Writes a note$/m, /^prompt summarise: Sums a note up$/m, /^result: \{"uri":"note:\/\/today","length":8\}$/m]) {
    assert.match(written.stdout, line);
  }
  const { stdout } = run('node', 'server.mjs', '--', 'search', '{"text":"note"}');
  assert.match(stdout, /progress 1 of 1\nresult: \{.*resource_link/s);
});

test('with the example server: the user is asked before the notes are thrown away', () => {
  for (const [answer, result] of [['y', 'All notes are gone.'], ['n', 'Nothing was thrown away.']] as const) {
    const { stdout, stderr } = runWith(`${answer}\n`, 'node', 'server.mjs', '--', 'clear');
    assert.match(stdout, /Notes that are kept: 1\.\nThrow all notes away\? /, stderr);
    assert.ok(stdout.includes(`result: ${result}`), stdout);
  }
});

test('it says what went wrong, and how it is used', () => {
  const missing = run('no-such-command');
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /^ServerStartError: .*"no-such-command" was not found in PATH/);
  assert.equal(run().status, 2);
});

test('over HTTP: the server counts for all, and ends when it is told to', { timeout: 60_000 }, async () => {
  const server = spawn(process.execPath, ['http-server.mjs', '0'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string];
    const url = line.trim();
    for (const [by, count] of [[2, 2], [1, 3]]) {
      const { stdout } = await promisify(execFile)(process.execPath, ['http-client.mjs', url, String(by)], { cwd: folder });
      assert.match(stdout, /^connected to counter 1\.0\.0, revision 2026-07-28\nprogress 1 of /);
      assert.ok(stdout.endsWith(`the count is ${count}\nthe resource says ${count}\n`), stdout);
    }
    server.kill('SIGTERM');
    assert.deepEqual(await once(server, 'exit'), [0, null]);
  } finally {
    server.kill('SIGKILL');
  }
});
