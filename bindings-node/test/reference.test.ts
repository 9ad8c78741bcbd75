/**
 * The programs of the reference: each one compiles, runs, and prints what stands in it, and no name of the package is without one.
 */

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { packageFolder } from './support.js';

const text = readFileSync(path.join(packageFolder, 'docs', 'reference.md'), 'utf8');
const programs = [...text.matchAll(/^(#+) (.*?)$|```ts\n(.*?)```/gms)].reduce<[heading: string, code: string][]>((all, [, , heading, code]) => {
  if (heading !== undefined) all.push([heading, '']);
  else all.push([all.at(-1)?.[0] ?? '', code ?? '']);
  return all;
}, []).filter(([, code]) => code !== '');

const folder = mkdtempSync(path.join(tmpdir(), 'oxmcp-reference-'));
after(() => rmSync(folder, { recursive: true }));

describe('the reference', { timeout: 240_000 }, () => {
  before(() => {
    const modules = path.join(packageFolder, 'node_modules');
    mkdirSync(path.join(folder, 'node_modules', '@types'), { recursive: true });
    symlinkSync(packageFolder, path.join(folder, 'node_modules', 'oxmcp'), 'dir');
    for (const name of ['zod', 'undici-types', '@types/node']) {
      symlinkSync(path.join(modules, name), path.join(folder, 'node_modules', name), 'dir');
    }
    programs.forEach(([, code], index) => writeFileSync(path.join(folder, `${index}.mts`), code));
    const compilerOptions = { target: 'es2022', lib: ['es2022', 'esnext.disposable'], module: 'nodenext', strict: true, types: ['node'] };
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }));
    try {
      execFileSync(process.execPath, [path.join(modules, 'typescript', 'bin', 'tsc'), '-p', folder], { encoding: 'utf8', stdio: 'pipe' });
    } catch (error) {
      throw new Error((error as { stdout: string }).stdout);
    }
  });

  programs.forEach(([heading, code], index) => {
    test(`${heading} (${index})`, async () => {
      const said = [...code.matchAll(/^ *\/\/> (.*)$/gm)].map(([, line]) => `${line}\n`).join('');
      const { stdout } = await promisify(execFile)(process.execPath, [path.join(folder, `${index}.mjs`)], { cwd: folder, timeout: 60_000 });
      assert.equal(stdout, said);
    });
  });

  test('has a program for every name', () => {
    const find = createRequire(__filename);
    const code = programs.map(([, program]) => program).join('\n');
    const exempt = /^(LATEST_|SUPPORTED_|DEFAULT_|JSONRPC_|RELATED_|PROTOCOL_|CLIENT_|SERVER_|LOG_|SUBSCRIPTION_|TRACE|BAGGAGE_|PARSE_|INVALID_|METHOD_|INTERNAL_)|^is(JSONRPC|Initialize)/;
    const paths = ['', '/server', '/client', '/node', '/express', '/inMemory', '/shared/stdio', '/shared/protocol', '/shared/metadataUtils'];
    for (const one of ['stdio', 'mcp', 'sse', 'streamableHttp', 'webStandardStreamableHttp', 'express', 'completable']) paths.push(`/server/${one}`);
    for (const one of ['stdio', 'sse', 'streamableHttp', 'websocket']) paths.push(`/client/${one}`);
    for (const one of ['errors', 'router', 'middleware/bearerAuth']) paths.push(`/server/auth/${one}`);
    for (const one of ['auth', 'auth-utils']) paths.push(`/shared/${one}`);
    for (const path of paths) {
      const names = Object.keys(find(`oxmcp${path}`) as object).filter((name) => !exempt.test(name));
      const missing = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code));
      assert.deepEqual(missing, [], `oxmcp${path}`);
    }
  });
});
