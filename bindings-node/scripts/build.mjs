// Makes `dist` of `ts`: declarations as they are, and the code in few files, since each one that is read costs at every start.
//
// All that `import 'oxmcp'` needs is in `core.js`. What most programs do without is in files of its own, which are read when they
// are needed. The module paths of the official SDK are views of these, so that a class is the same by every path.

import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { rollup } from 'rollup';

const folder = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(folder, 'dist');
const modules = path.join(dist, '.modules');

/** What servers over HTTP need. */
const HTTP = /[\\/](classify|express-app|host-guard|http-body|http-server|http-transport|mcp-handler|node-handler|origin|sse-transport)\.js$/;

/** Modules that are loaded when they are needed, and those that the tests look into. */
const OWN = ['child/start', 'child/transport', 'http-server', 'zod3'];
const TESTED = ['child/windows', 'client', 'clock', 'connection', 'errors', 'leaving', 'native', 'server', 'stdio-server', 'transport'];

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
  const names = Object.keys(createRequire(path.join(dist, name))(file)).sort();
  // All that `index.js` gives is in the core, and that is a file less to read.
  const from = name === 'index' ? './core.js' : file;
  const given = createRequire(path.join(dist, name))(from);
  const missing = names.filter((exported) => !(exported in given));
  if (missing.length > 0) throw new Error(`${from} lacks ${missing.join(', ')}`);
  const code = [
    "import { createRequire } from 'node:module';",
    `const all = createRequire(import.meta.url)('${from}');`,
    `export const { ${names.join(', ')} } = all;`,
  ];
  writeFileSync(path.join(dist, `${name}.mjs`), names.length > 0 ? `${code.join('\n')}\n` : 'export {};\n');
  writeFileSync(path.join(dist, `${name}.d.mts`), `export * from '${file}';\n`);
}

/** The package's version, written out: a file less to read at each start. */
function withVersion(code) {
  const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
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
    if (id !== input.index && core.has(id)) return 'core';
    return HTTP.test(id) ? 'http' : /[\\/](spec|child)[\\/]/.exec(id)?.[1];
  },
});
await bundle.close();
for (const name of ['index', ...paths()]) forImport(name);
rmSync(modules, { recursive: true });
