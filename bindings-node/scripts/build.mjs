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
  const code = [
    "import { createRequire } from 'node:module';",
    `const all = createRequire(import.meta.url)('${file}');`,
    `export const { ${names.join(', ')} } = all;`,
  ];
  writeFileSync(path.join(dist, `${name}.mjs`), names.length > 0 ? `${code.join('\n')}\n` : 'export {};\n');
  writeFileSync(path.join(dist, `${name}.d.mts`), `export * from '${file}';\n`);
}

/** The package's version, written out: a file less to read at each start. */
function withVersion(code) {
  const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const found = "require('../package.json')";
  if (!code.includes(found)) throw new Error(`index.js has no ${found}`);
  return code.replace(found, JSON.stringify({ version }));
}

rmSync(dist, { recursive: true, force: true });
compile('--outDir', modules, '--removeComments');
compile('--outDir', dist, '--declaration', '--emitDeclarationOnly');

const entries = ['index', ...paths(), ...OWN, ...TESTED];
const input = Object.fromEntries(entries.map((name) => [name, path.join(modules, `${name}.js`)]));
let core;
const bundle = await rollup({
  input,
  plugins: [{ name: 'version', transform: (code, id) => (id === input.index ? withVersion(code) : null) }],
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
