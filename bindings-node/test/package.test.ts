import assert from 'node:assert/strict';
import { execFileSync, execSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import * as required from 'oxmcp';

import { native } from '../dist/native.js';
import { packageFolder } from './support.js';

// Node finds it through the package's own exports, as a program that installed the package does.
const manifest = createRequire(__filename)('oxmcp/package.json') as {
  version: string;
  scripts: Record<string, string>;
  exports: Record<string, { import?: { module: string }; require?: { default: string } }>;
};

test('the version is that of the package and of the addon', () => {
  assert.equal(required.version, manifest.version);
  assert.equal(native().version(), manifest.version);
});

test('the addon is loaded on first use, not by the import', () => {
  const script = `require('oxmcp'); console.log(Object.keys(require.cache).some((file) => file.endsWith('.node')))`;
  assert.equal(execFileSync(process.execPath, ['-e', script], { cwd: packageFolder, encoding: 'utf8' }), 'false\n');
});

test('a server starts with few files and few modules of Node', () => {
  const script = `
    const { McpServer, StdioServerTransport } = require('oxmcp');
    const server = new McpServer({ name: 'x', version: '1' });
    server.registerTool('t', { inputSchema: { type: 'object' } }, () => 'x');
    server.connect(new StdioServerTransport()).then(() => {
      const files = Object.keys(require.cache).filter((file) => !file.endsWith('.node')).length;
      const costly = ['crypto', 'perf_hooks', 'http', 'child_process', 'worker_threads'];
      console.error(files, costly.filter((name) => process.moduleLoadList.includes('NativeModule ' + name)).join());
    });`;
  // A file of its own, for Node loads more for `-e`.
  const folder = mkdtempSync(path.join(tmpdir(), 'oxmcp-start-'));
  try {
    const file = path.join(folder, 'server.cjs');
    writeFileSync(file, script.replace("'oxmcp'", JSON.stringify(packageFolder)));
    const { stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', input: '' });
    assert.equal(stderr, '4 \n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('modules for import are those for require', async () => {
  const { exports } = manifest;
  for (const [name, { import: imported, require: required }] of Object.entries(exports)) {
    if (name.includes('*') || imported === undefined) continue;
    assert.equal(imported.module, required?.default, name);
    const given = (await import(name.replace('.', 'oxmcp'))) as object;
    const same = createRequire(__filename)(name.replace('.', 'oxmcp')) as Record<string, unknown>;
    assert.deepEqual(Object.keys(given).sort(), Object.keys(same).sort(), name);
    for (const [one, value] of Object.entries(given)) assert.equal(value, same[one], `${name}: ${one}`);
  }
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

test('the build leaves nothing of sources that are gone', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'oxmcp-build-'));
  try {
    for (const name of ['package.json', 'scripts', 'tsconfig.json', 'ts']) cpSync(path.join(packageFolder, name), path.join(folder, name), { recursive: true });
    const modules = path.join(packageFolder, 'node_modules');
    symlinkSync(modules, path.join(folder, 'node_modules'), 'junction');
    mkdirSync(path.join(folder, 'dist'));
    writeFileSync(path.join(folder, 'dist', 'gone.js'), '');
    const search = [path.join(modules, '.bin'), process.env['PATH']].join(path.delimiter);
    execSync(manifest.scripts['build:ts'] ?? '', { cwd: folder, env: { ...process.env, PATH: search }, stdio: 'pipe' });
    assert.equal(existsSync(path.join(folder, 'dist', 'index.js')), true);
    assert.equal(existsSync(path.join(folder, 'dist', 'gone.js')), false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
