import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import * as required from 'oxmcp';

import { native } from '../dist/native.js';
import { packageFolder } from './support.js';

// Node finds it through the package's own exports, as a program that installed the package does.
const manifest = createRequire(__filename)('oxmcp/package.json') as { version: string };

test('the version is that of the package and of the addon', () => {
  assert.equal(required.version, manifest.version);
  assert.equal(native().version(), manifest.version);
});

test('the addon is loaded on first use, not by the import', () => {
  const script = `require('oxmcp'); console.log(Object.keys(require.cache).some((file) => file.endsWith('.node')))`;
  assert.equal(execFileSync(process.execPath, ['-e', script], { cwd: packageFolder, encoding: 'utf8' }), 'false\n');
});

test('an addon that does not load is a typed error that shows what was tried', () => {
  const script = `
    Object.defineProperty(process, 'arch', { value: 'abacus' });
    const { Client, AddonError } = require('oxmcp');
    new Client({ name: 'x', version: '1' }).connect({ command: 'x' }).catch((error) => {
      console.log(error instanceof AddonError, error.kind, error.message);
    });`;
  const output = execFileSync(process.execPath, ['-e', script], { cwd: packageFolder, encoding: 'utf8' });
  assert.match(output, /^true addon oxmcp found no native addon for .*abacus/);
  assert.match(output, /Cannot find module/);
});

test('require and import give the same things', async () => {
  const imported: Record<string, unknown> = await import('oxmcp');
  const exports: Record<string, unknown> = { ...required };
  assert.ok(Object.keys(exports).length > 0);
  for (const [name, value] of Object.entries(exports)) {
    assert.equal(imported[name], value, name);
  }
});
