/**
 * The types as a program meets them: complete in themselves, in both kinds of modules, with every check on.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

import { packageFolder } from './support.js';

const folder = mkdtempSync(path.join(tmpdir(), 'oxmcp-types-'));
after(() => rmSync(folder, { recursive: true }));
mkdirSync(path.join(folder, 'node_modules', '@types'), { recursive: true });
symlinkSync(packageFolder, path.join(folder, 'node_modules', 'oxmcp'), 'dir');
const modules = path.join(packageFolder, 'node_modules');
symlinkSync(path.join(modules, '@types', 'node'), path.join(folder, 'node_modules', '@types', 'node'), 'dir');
symlinkSync(path.join(modules, 'zod'), path.join(folder, 'node_modules', 'zod'), 'dir');
symlinkSync(path.join(modules, 'undici-types'), path.join(folder, 'node_modules', 'undici-types'), 'dir');

/** Compiles files with TypeScript; gives what it says, empty when all is well. */
function compile(name: string, files: Record<string, string>, options: object): string {
  const project = path.join(folder, name);
  mkdirSync(project);
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(project, file), text);
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    ...options,
  };
  writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  const tsc = path.join(modules, 'typescript', 'bin', 'tsc');
  try {
    execFileSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

const PROGRAM = `
import { Client, McpError, type CallToolResult, type Tool } from 'oxmcp';

interface Args {
  a: number;
}

class Point {
  constructor(readonly x: number) {}
}

export async function main(signal?: undefined): Promise<string[]> {
  const client = new Client({ name: 'a', version: '1', title: 'A' }, { timeout: 5, onproblem: (problem) => void problem.kind });
  client.onerror = (error: Error) => void error.message;
  await client.connect({ command: 'x', args: ['y'], env: { A: 'b', C: undefined }, stderr: 'pipe' }, { timeout: 1, signal });
  const tools: readonly Tool[] = (await client.listTools()).tools;
  const result: CallToolResult = await client.callTool({ name: 'x', arguments: { a: 1n } }, { signal, timeout: undefined });
  const args: Args = { a: 1 };
  for (const one of [args, new Point(1), {}, { a: { b: [] } }]) await client.callTool({ name: 'x', arguments: one });
  await client.request({ method: 'x', params: args });
  await client.callTool({ name: 'x', arguments: { a: 1, args } });
  const open: Record<string, unknown> = {};
  await client.callTool({ name: 'x', arguments: open });
  const raw: string = await client.callTool({ name: 'x' }, { rawJson: true });
  const typed: { a: number } = await client.request<{ a: number }>({ method: 'x' });
  const fault = new Error() as unknown;
  if (fault instanceof McpError) fault.kind satisfies string;
  await client[Symbol.asyncDispose]();
  const texts: string[] = [];
  for (const block of result.content) if (block.type === 'text') texts.push(block.text);
  return [...tools.map((tool) => tool.name), raw, String(typed.a), ...texts];
}
`;

const WITH_NODE = `
import { Client, StdioClientTransport } from 'oxmcp';

export async function main(): Promise<void> {
  await using client = new Client({ name: 'a', version: '1' });
  const transport = new StdioClientTransport({ command: 'x', env: process.env, cwd: new URL('file:///'), stderr: process.stderr });
  transport.stderr?.pipe(process.stderr);
  await client.connect(transport);
  await client.callTool({ name: 'x' }, { signal: AbortSignal.timeout(5) });
}
`;

test('without any other types, in both kinds of modules', () => {
  assert.equal(compile('bare', { 'esm.mts': PROGRAM, 'commonjs.cts': PROGRAM }, { types: [] }), '');
});

test('beside the types of Node', () => {
  const options = { types: ['node'], lib: ['es2022', 'esnext.disposable'] };
  assert.equal(compile('node', { 'esm.mts': PROGRAM + WITH_NODE.replace('main', 'other').replace(/import .*\n/, "import { StdioClientTransport } from 'oxmcp';\n"), 'commonjs.cts': WITH_NODE }, options), '');
});

test('a wrong program is told so', () => {
  const wrong = `import { Client } from 'oxmcp';\nnew Client({ name: 'a' });\n`;
  assert.match(compile('wrong', { 'wrong.mts': wrong }, { types: [] }), /wrong\.mts\(2,.*version/);
});

test('arguments that are no object are told so', () => {
  const wrong = ['[1]', "'text'", '5', 'true', 'null', 'new Map()', 'new Set()', 'Date', 'main'];
  const lines = wrong.map((one) => `void client.callTool({ name: 'x', arguments: ${one} });`);
  const program = ["import { Client } from 'oxmcp';", "const client = new Client({ name: 'a', version: '1' });", ...lines, 'function main(): void {}'];
  const said = compile('arguments', { 'wrong.mts': program.join('\n') }, { types: [] });
  for (const [index, one] of wrong.entries()) assert.match(said, new RegExp(`wrong\\.mts\\(${index + 3},`), one);
});

/** The code in the documentation: the README, and the examples on public names. */
function snippets(): [where: string, code: string][] {
  const files = readdirSync(path.join(packageFolder, 'ts'), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts')).map((file) => path.join('ts', file));
  return ['README.md', ...sources].flatMap((file) => {
    const text = readFileSync(path.join(packageFolder, file), 'utf8').replace(/^ *\* ?/gm, '');
    return [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code], index): [string, string] => {
      return [`${file.replaceAll(/\W/g, '-')}-${index}.mts`, code ?? ''];
    });
  });
}

test('every example in the documentation is a program', () => {
  const all = snippets();
  assert.ok(all.length >= 8, `only ${all.length} examples were found`);
  assert.equal(compile('examples', Object.fromEntries(all), { types: ['node'], lib: ['es2022', 'esnext.disposable'] }), '');
});
