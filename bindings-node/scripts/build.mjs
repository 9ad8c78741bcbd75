// Makes `dist` of `ts`: declarations as they are, and the code in few files, since each one that is read costs at every start.
//
// All that `import 'oxmcp'` needs is in `index.mjs`, and all that `require('oxmcp')` needs is in `code.js`: the same code twice, of which
// a process runs one copy, whichever comes first. What most programs do without is in files of its own, which are read when they
// are needed. The module paths of the official SDK are views of these, so that a class is the same by every path.

import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { rollup } from 'rollup';

const folder = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(folder, 'dist');
const modules = path.join(dist, '.modules');

const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
/** Where the copy that runs is found. */
const shared = `Symbol.for('oxmcp ${version}')`;

/** What servers over HTTP need. */
const HTTP = /[\\/](classify|express-app|host-guard|http-body|http-server|http-transport|mcp-handler|node-handler|sse-transport)\.js$/;

/** What clients need, and what servers of the low level do. */
const CLIENTS = /[\\/](auth-provider|client|client-options|http-client|stdio|subscription)\.js$/;
const LOW_LEVEL = /[\\/](low-level|result-schema)\.js$/;

/** What both ends over HTTP need. */
const HUB = /[\\/](hub|origin)\.js$/;

/** What servers over stdio are started by as well, from a path of the official SDK. */
const STDIO = /[\\/]serve-stdio\.js$/;

/** Modules that are loaded when they are needed, and those that the tests look into. */
const OWN = [
  'child/restartable',
  'child/start',
  'child/transport',
  'client',
  'http-client',
  'http-server',
  'low-level',
  'memory',
  'message-lines',
  'other-output',
  'own-transport',
  'stdio',
  'zod3',
];
const TESTED = ['child/windows', 'clock', 'connection', 'errors', 'leaving', 'native', 'server', 'stdio-server', 'transport'];

function compile(...options) {
  const tsc = path.join(folder, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [tsc, '--project', folder, ...options], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

/** Every module path that programs may import from. */
function paths(under = 'paths') {
  return readdirSync(path.join(modules, under), { withFileTypes: true }).flatMap((entry) => {
    const name = `${under}/${entry.name}`;
    return entry.isDirectory() ? paths(name) : name.replace(/\.js$/, '');
  });
}

/** The modules that one needs at once, itself among them. */
function reachable(from, infoOf) {
  const found = new Set([from]);
  for (const id of found) for (const next of infoOf(id).importedIds) found.add(next);
  return found;
}

/**
 * The same module for `import`, with the very classes that `require` gives. Node finds the names of a CommonJS module by reading it
 * once more; here they are written down. Those who bundle programs take the other file, which they can follow.
 */
function forImport(name) {
  const file = `./${path.basename(name)}.js`;
  const find = createRequire(path.join(dist, name));
  const exported = find(file);
  const names = Object.keys(exported).sort();
  const root = path.posix.relative(path.posix.dirname(name), 'index.mjs');
  const core = find(path.join(dist, 'core.js'));
  // What the root has inside is there without the loader of CommonJS.
  const code = names.every((one) => core[one] === exported[one])
    ? [`import '${root}';`, `const all = globalThis[${shared}];`, given(names)]
    : ["import { createRequire } from 'node:module';", `const all = createRequire(import.meta.url)('${file}');`, given(names)];
  writeFileSync(path.join(dist, `${name}.mjs`), names.length > 0 ? `${code.join('\n')}\n` : 'export {};\n');
  writeFileSync(path.join(dist, `${name}.d.mts`), `export * from '${file}';\n`);
}

function given(names) {
  return `export const {\n${names.map((name) => `${name},\n`).join('')}} = all;`;
}

/**
 * The package's own root has its code inside. Node's loader of CommonJS would take as long to begin as a third of that code to read, and
 * its compile cache keeps what an ES module has compiled.
 */
function rootForImport(code) {
  const names = Object.keys(createRequire(path.join(dist, 'index'))('./index.js')).sort();
  const made = [
    // Before Node 20.16 there is no such function.
    "const builtin = process.getBuiltinModule ?? (await import('node:module')).createRequire(import.meta.url);",
    'let find;',
    'function require(name) {',
    "if (name.startsWith('node:')) return builtin(name);",
    "return (find ??= builtin('node:module').createRequire(import.meta.url))(name);",
    '}',
    "const folder = import.meta.dirname ?? builtin('node:url').fileURLToPath(new URL('.', import.meta.url));",
    `const all = globalThis[${shared}] ??= (function (exports, __dirname) {`,
    code,
    'return exports;',
    '})({}, folder);',
    given(names),
  ];
  writeFileSync(path.join(dist, 'index.mjs'), `${made.join('\n')}\n`);
  writeFileSync(path.join(dist, 'index.d.mts'), "export * from './index.js';\n");
}

/** For `require`: the copy that runs, or else this one. */
function rootForRequire() {
  const copy = `globalThis[${shared}] ??= require('./code.js')`;
  renameSync(path.join(dist, 'core.js'), path.join(dist, 'code.js'));
  writeFileSync(path.join(dist, 'core.js'), `'use strict';\nmodule.exports = ${copy};\n`);
  // A file less to read.
  const index = path.join(dist, 'index.js');
  const [code, found] = [readFileSync(index, 'utf8'), "require('./core.js')"];
  if (!code.includes(found)) throw new Error(`index.js has no ${found}`);
  writeFileSync(index, code.replace(found, `(${copy})`));
}

/** The package's version, written out: a file less to read at each start. */
function withVersion(code) {
  const found = "require('../package.json')";
  if (!code.includes(found)) throw new Error(`version.js has no ${found}`);
  return code.replace(found, JSON.stringify({ version }));
}

/**
 * What V8 reads faster: without indentation, of which a sixth of the code is, and in ASCII, since one other character doubles the
 * memory of a whole file. Lines stay as they are, for the traces of errors.
 */
function lean(code, parse) {
  const kept = new Set();
  const visit = (node) => {
    if (node.type === 'TemplateElement') {
      const first = lineOf(code, node.start);
      for (let line = first + 1; line <= lineOf(code, node.end); line++) kept.add(line);
    }
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) if (typeof child?.type === 'string') visit(child);
    }
  };
  visit(parse(code));
  const lines = code.split('\n').map((line, at) => (kept.has(at) ? line : line.trimStart()));
  return lines.join('\n').replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function lineOf(code, at) {
  let line = 0;
  for (let next = code.indexOf('\n'); next >= 0 && next < at; next = code.indexOf('\n', next + 1)) line++;
  return line;
}

rmSync(dist, { recursive: true, force: true });
compile('--outDir', modules, '--removeComments');
compile('--outDir', dist, '--declaration', '--emitDeclarationOnly');

const entries = ['index', ...paths(), ...OWN, ...TESTED];
const input = Object.fromEntries(entries.map((name) => [name, path.join(modules, `${name}.js`)]));
let core;
const bundle = await rollup({
  input,
  plugins: [
    {
      name: 'oxmcp',
      transform: (code, id) => (id === path.join(modules, 'version.js') ? withVersion(code) : null),
      renderChunk(code) {
        return lean(code, (text) => this.parse(text));
      },
    },
  ],
  // What is no file of ours is Node's.
  external: (id) => !/^[./]/.test(id) && !path.isAbsolute(id),
  onwarn(warning) {
    // The core's modules know each other; none uses another before all are there. And some paths have types alone.
    if (!['CIRCULAR_DEPENDENCY', 'EMPTY_BUNDLE'].includes(warning.code)) throw new Error(warning.message);
  },
});
await bundle.write({
  dir: dist,
  format: 'cjs',
  exports: 'named',
  esModule: true,
  generatedCode: { preset: 'es2015', symbols: false },
  minifyInternalExports: false,
  chunkFileNames: '[name].js',
  entryFileNames: '[name].js',
  manualChunks(id, { getModuleInfo }) {
    core ??= reachable(input.index, getModuleInfo);
    if ((id !== input.index && core.has(id)) || STDIO.test(id)) return 'core';
    if (CLIENTS.test(id) && !id.includes('paths')) return 'clients';
    if (LOW_LEVEL.test(id)) return 'low';
    if (HUB.test(id)) return 'hub';
    return HTTP.test(id) ? 'http' : /\.modules[\\/](auth|child|spec)[\\/]/.exec(id)?.[1];
  },
});
await bundle.close();
rootForImport(readFileSync(path.join(dist, 'core.js'), 'utf8'));
rootForRequire();
for (const name of paths()) forImport(name);
rmSync(modules, { recursive: true });
