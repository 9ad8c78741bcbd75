/**
 * The example program runs as its first lines say.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

import { fixture, packageFolder } from './support.js';

// A folder in which the package is installed, as it is for a person who tries the example.
const folder = mkdtempSync(path.join(tmpdir(), 'oxmcp-example-'));
after(() => rmSync(folder, { recursive: true }));
mkdirSync(path.join(folder, 'node_modules'));
symlinkSync(packageFolder, path.join(folder, 'node_modules', 'oxmcp'), 'dir');
copyFileSync(path.join(packageFolder, '..', 'examples', 'node', 'client.mjs'), path.join(folder, 'client.mjs'));

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [path.join(folder, 'client.mjs'), ...args], { encoding: 'utf8', timeout: 60_000 });
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

test('it says what went wrong, and how it is used', () => {
  const missing = run('no-such-command');
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /^ServerStartError: .*"no-such-command" was not found in PATH/);
  assert.equal(run().status, 2);
});
