import assert from 'node:assert/strict';
import { execFileSync, execSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

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
      const costly = ['crypto', 'net', 'perf_hooks', 'http', 'child_process', 'worker_threads'];
      console.error(files, costly.filter((name) => process.moduleLoadList.includes('NativeModule ' + name)).join());
    });`;
  // A file of its own, for Node loads more for `-e`.
  const folder = mkdtempSync(path.join(tmpdir(), 'oxmcp-start-'));
  try {
    const file = path.join(folder, 'server.cjs');
    writeFileSync(file, script.replace("'oxmcp'", JSON.stringify(packageFolder)));
    const { stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', input: '' });
    assert.equal(stderr, '3 \n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('an import reads one file of code, and neither starts the loader of CommonJS nor loads the addon', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'oxmcp-import-'));
  try {
    const file = path.join(folder, 'import.mjs');
    for (const paths of [['index'], ['paths/server/mcp', 'paths/server/stdio']]) {
      const modules = paths.map((name) => pathToFileURL(path.join(packageFolder, 'dist', `${name}.mjs`)).href);
      writeFileSync(
        file,
        `const [{ McpServer }] = await Promise.all(${JSON.stringify(modules)}.map((name) => import(name)));
         const loaded = () => process.moduleLoadList.includes('NativeModule module');
         const before = [loaded(), process.report.getReport().sharedObjects.some((one) => one.endsWith('.node'))];
         new McpServer({ name: 'x', version: '1' });
         const { createRequire } = loaded() ? {} : await import('node:module');
         console.log(...before, Object.keys(createRequire(import.meta.url).cache).length);`,
      );
      assert.equal(execFileSync(process.execPath, [file], { encoding: 'utf8' }), 'false false 0\n', paths.join());
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('there is one copy, whether require or import comes first, and by every path', () => {
  const require = "const { createRequire } = await import('node:module'); const load = createRequire(process.cwd() + '/x.js');";
  const same = "console.log(a.McpServer === b.McpServer, a.McpServer === c.McpServer, a.Client === d.Client, a.McpError === e.McpError);";
  const paths = "const c = await import('oxmcp/server/mcp.js'); const d = load('oxmcp/client'); const e = await import('oxmcp/types.js');";
  const orders = [
    "const a = await import('oxmcp'); const b = load('oxmcp');",
    "const b = load('oxmcp'); const a = await import('oxmcp');",
    "const c0 = await import('oxmcp/server/mcp.js'); const a = await import('oxmcp'); const b = load('oxmcp');",
    // As in a Node that has no such function yet.
    "delete process.getBuiltinModule; const a = await import('oxmcp'); const b = load('oxmcp');",
  ];
  for (const order of orders) {
    const given = execFileSync(process.execPath, ['--input-type=module', '-e', `${require}${order}${paths}${same}`], { cwd: packageFolder, encoding: 'utf8' });
    assert.equal(given, 'true true true true\n', order);
  }
});

test('code is built as V8 reads it fastest, in ASCII, and in lines that a terminal can show', () => {
  const dist = path.join(packageFolder, 'dist');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => /\.m?js$/.test(file));
  assert.ok(files.length > 10);
  for (const file of files) {
    const code = readFileSync(path.join(dist, file), 'utf8');
    assert.match(code, /^[\x00-\x7f]*$/, file);
    assert.doesNotMatch(code, /^ +(const|return|if) /m, file);
    assert.ok(code.split('\n').every((line) => line.length < 500), file);
  }
});

test('bundlers see that zod may be missing', () => {
  const code = readFileSync(path.join(packageFolder, 'dist', 'code.js'), 'utf8');
  const [inside = ''] = /try \{[^}]*\}/.exec(code.slice(code.lastIndexOf('try {', code.indexOf("require('zod')")))) ?? [];
  const asked = /require\('zod[^']*'\)/g;
  assert.equal(inside.match(asked)?.length, 2);
  assert.equal(code.match(asked)?.length, 2);
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

test('an addon that is damaged, or for another system, is reported in the words of the loader', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'oxmcp-damaged-'));
  try {
    const installed = path.join(folder, 'node_modules', 'oxmcp');
    cpSync(path.join(packageFolder, 'dist'), path.join(installed, 'dist'), { recursive: true });
    cpSync(path.join(packageFolder, 'package.json'), path.join(installed, 'package.json'));
    for (const libc of process.platform === 'linux' ? ['-gnu', '-musl'] : process.platform === 'win32' ? ['-msvc'] : ['']) {
      const addon = path.join(folder, 'node_modules', `oxmcp-${process.platform}-${process.arch}${libc}`);
      mkdirSync(addon, { recursive: true });
      writeFileSync(path.join(addon, 'package.json'), '{"main":"addon.node"}');
      writeFileSync(path.join(addon, 'addon.node'), 'this is no library');
    }
    const script = `
      const { McpServer } = require('oxmcp');
      try {
        new McpServer({ name: 'x', version: '1' });
      } catch (error) {
        console.log(error.name, error.message);
      }`;
    const output = execFileSync(process.execPath, ['-e', script], { cwd: folder, encoding: 'utf8' });
    assert.match(output, /^AddonError oxmcp found no native addon/);
    assert.match(output, process.platform === 'linux' ? /addon\.node: (invalid ELF header|file too short)/ : /addon\.node/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('an installed addon is found inside the package, beside it, and by its name alone', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'oxmcp-places-'));
  try {
    const installed = path.join(folder, 'node_modules', 'oxmcp');
    cpSync(path.join(packageFolder, 'dist'), path.join(installed, 'dist'), { recursive: true });
    cpSync(path.join(packageFolder, 'package.json'), path.join(installed, 'package.json'));
    const file = readdirSync(path.join(packageFolder, 'native')).find((name) => name.endsWith('.node')) ?? '';
    const name = file.replace(/^oxmcp\.(.*)\.node$/, 'oxmcp-$1');
    const script = `
      const { McpServer } = await import('oxmcp');
      new McpServer({ name: 'x', version: '1' });
      const loaded = process.report.getReport().sharedObjects.filter((one) => one.endsWith('.node'));
      const { normalize } = await import('node:path');
      console.log(loaded.length, normalize(loaded[0]).endsWith(normalize(process.env.EXPECTED)));`;
    writeFileSync(path.join(folder, 'server.mjs'), script);
    // Where it is called otherwise, it is what its package says.
    const places = [[installed, file], [folder, file], [folder, 'addon.node']] as const;
    for (const [base, called] of places) {
      const addon = path.join(base, 'node_modules', name);
      mkdirSync(addon, { recursive: true });
      cpSync(path.join(packageFolder, 'native', file), path.join(addon, called));
      writeFileSync(path.join(addon, 'package.json'), JSON.stringify({ main: called }));
      const env = { ...process.env, EXPECTED: `${path.basename(base)}/node_modules/${name}/${called}` };
      assert.equal(execFileSync(process.execPath, ['server.mjs'], { cwd: folder, env, encoding: 'utf8' }), '1 true\n');
      rmSync(addon, { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the addon needs nothing of the system but its C library', { skip: process.platform !== 'linux' ? 'ELF' : false }, () => {
  const addon = readdirSync(path.join(packageFolder, 'native')).find((name) => name.endsWith('.node')) ?? '';
  const needed = neededBy(readFileSync(path.join(packageFolder, 'native', addon)));
  assert.ok(needed.length > 0);
  for (const name of needed) assert.match(name, /^(libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux.*|libc\.musl-.*)\.so(\.\d+)?$/);
});

/** The libraries that a 64-bit ELF file names. */
function neededBy(file: Buffer): string[] {
  const [DYNAMIC, NEEDED] = [6, 1n];
  const number = (at: number): number => Number(file.readBigUInt64LE(at));
  const [table, size, count] = [number(40), file.readUInt16LE(58), file.readUInt16LE(60)];
  const sections = Array.from({ length: count }, (_, index) => {
    const at = table + index * size;
    return { type: file.readUInt32LE(at + 4), from: number(at + 24), length: number(at + 32), link: file.readUInt32LE(at + 40) };
  });
  const names: string[] = [];
  for (const { type, from, length, link } of sections) {
    const texts = sections[link];
    if (type !== DYNAMIC || texts === undefined) continue;
    for (let at = from; at < from + length; at += 16) {
      if (file.readBigUInt64LE(at) !== NEEDED) continue;
      const start = texts.from + number(at + 8);
      names.push(file.toString('utf8', start, file.indexOf(0, start)));
    }
  }
  return names;
}

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
