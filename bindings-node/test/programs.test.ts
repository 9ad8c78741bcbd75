/**
 * Real programs of other people, written for the official SDK: none of them is in this repository.
 *
 * The folder that `OXMCP_PROGRAMS` names has them installed beside each other:
 *
 *     npm install --prefix "$OXMCP_PROGRAMS" @modelcontextprotocol/server-memory@2026.8.31 …
 *
 * Each one runs twice: as it is, and as a copy in which nothing but the names of the modules was changed. What clients see of the two
 * must be the same. A program that is not installed is skipped. The table has the versions that were tried last.
 */

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';

import { type CallToolResult, Client } from 'oxmcp';

import { ERAS, packageFolder } from './support.js';

const programs = process.env['OXMCP_PROGRAMS'];

interface Program {
  readonly name: string;
  readonly version: string;
  /** The file that starts it. */
  readonly main: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Calls whose results must be the same; `{tmp}` is an empty folder. */
  readonly calls: readonly (readonly [tool: string, args: Record<string, unknown>])[];
}

const NOWHERE = 'http://127.0.0.1:9/';

const PROGRAMS: readonly Program[] = [
  {
    name: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    main: 'dist/index.js',
    args: ['{tmp}'],
    calls: [
      ['write_file', { path: '{tmp}/a.txt', content: 'one\ntwo\n' }],
      ['read_text_file', { path: '{tmp}/a.txt', head: 1 }],
      ['edit_file', { path: '{tmp}/a.txt', edits: [{ oldText: 'two', newText: 'three' }] }],
      ['list_directory', { path: '{tmp}' }],
      ['read_text_file', { path: '/nowhere' }],
    ],
  },
  {
    name: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    main: 'dist/index.js',
    env: { MEMORY_FILE_PATH: '{tmp}/memory.json' },
    calls: [
      ['create_entities', { entities: [{ name: 'Ada', entityType: 'person', observations: ['counts'] }] }],
      ['search_nodes', { query: 'Ada' }],
      ['create_entities', { entities: 'none' }],
    ],
  },
  {
    name: '@modelcontextprotocol/server-sequential-thinking',
    version: '2026.8.31',
    main: 'dist/index.js',
    env: { DISABLE_THOUGHT_LOGGING: 'true' },
    calls: [
      ['sequentialthinking', { thought: 'first', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }],
      ['sequentialthinking', { thought: 'second', nextThoughtNeeded: 'false', thoughtNumber: '2', totalThoughts: 2 }],
    ],
  },
  {
    name: '@upstash/context7-mcp',
    version: '4.1.1',
    main: 'dist/index.js',
    env: { CONTEXT7_API_URL: NOWHERE },
    calls: [['no-such-tool', {}]],
  },
  { name: 'tavily-mcp', version: '0.2.22', main: 'build/index.js', env: { TAVILY_API_KEY: 'none' }, calls: [] },
  {
    name: 'figma-developer-mcp',
    version: '0.13.2',
    main: 'dist/bin.js',
    args: ['--stdio', '--figma-api-key=none'],
    env: { DO_NOT_TRACK: '1' },
    calls: [['get_figma_data', {}]],
  },
  {
    name: '@antv/mcp-server-chart',
    version: '0.9.10',
    main: 'build/index.js',
    env: { VIS_REQUEST_SERVER: NOWHERE },
    calls: [
      ['generate_bar_chart', { data: [{ category: 'a', value: 'x' }] }],
      ['no-such-tool', {}],
    ],
  },
  {
    name: '@brave/brave-search-mcp-server',
    version: '2.1.4',
    main: 'dist/index.js',
    args: ['--transport', 'stdio', '--brave-api-key', 'none'],
    calls: [['brave_web_search', { query: '' }]],
  },
  {
    name: 'mcp-server-commands',
    version: '0.5.0',
    main: 'build/index.js',
    calls: [
      ['run_command', { command: 'echo one' }],
      ['run_command', { command: 'exit 3' }],
    ],
  },
  {
    name: '@wonderwhy-er/desktop-commander',
    version: '0.2.52',
    main: 'dist/index.js',
    args: ['--no-onboarding'],
    env: { HOME: '{tmp}' },
    calls: [
      ['write_file', { path: '{tmp}/b.txt', content: 'one\n', mode: 'rewrite' }],
      ['read_file', { path: '{tmp}/b.txt' }],
    ],
  },
];

const scratch = mkdtempSync(path.join(tmpdir(), 'oxmcp-programs-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** A folder in which a copy of the program finds this package where it looked for the official one. */
function moved({ name }: Program, installed: string): string {
  const modules = path.join(scratch, 'moved', name.replace('/', '+'), 'node_modules');
  const place = path.join(modules, name);
  cpSync(path.join(installed, name), place, { recursive: true });
  link(installed, modules);
  symlinkSync(packageFolder, path.join(modules, 'oxmcp'), 'dir');
  for (const file of readdirSync(place, { recursive: true, encoding: 'utf8' })) {
    if (!/\.[cm]?js$/.test(file) || file.split(path.sep).includes('node_modules')) continue;
    const text = readFileSync(path.join(place, file), 'utf8');
    const changed = text.replaceAll(/(["'])@modelcontextprotocol\/(?:sdk\/|(?=(?:server|client|node|express)\b))/g, '$1oxmcp/');
    if (changed !== text) writeFileSync(path.join(place, file), changed);
  }
  return place;
}

/** Everything else that is installed. */
function link(from: string, to: string): void {
  for (const entry of readdirSync(from)) {
    const [source, target] = [path.join(from, entry), path.join(to, entry)];
    if (entry.startsWith('@')) {
      mkdirSync(target, { recursive: true });
      link(source, target);
    } else if (!entry.startsWith('.') && !existsSync(target)) {
      symlinkSync(source, target, 'dir');
    }
  }
}

/** All that a client sees of a program. */
async function seen(program: Program, place: string, mode: 'auto' | 'legacy'): Promise<object> {
  const empty = mkdtempSync(path.join(scratch, 'tmp-'));
  const filled = (text: string): string => text.replaceAll('{tmp}', empty);
  const named = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(empty, '{tmp}').replaceAll(place, '{place}'));
  const env = Object.fromEntries(Object.entries(program.env ?? {}).map(([name, value]) => [name, filled(value)]));
  const client = new Client({ name: 'test', version: '1.0.0' }, { mode });
  const args = [path.join(place, program.main), ...(program.args ?? []).map(filled)];
  await client.connect({ command: process.execPath, args, env, cwd: empty, stderr: 'pipe' }, { timeout: 60_000 });
  try {
    const { tools } = await client.listTools();
    const shown = tools.map(({ name, title, description, annotations, inputSchema, outputSchema }) => {
      return { name, title, description, annotations, input: shape(inputSchema), output: shape(outputSchema) };
    });
    const capabilities = client.getServerCapabilities() ?? {};
    const { prompts } = 'prompts' in capabilities ? await client.listPrompts() : { prompts: [] };
    const { resources } = 'resources' in capabilities ? await client.listResources() : { resources: [] };
    const results: unknown[] = [];
    for (const [name, given] of program.calls) {
      const args = JSON.parse(filled(JSON.stringify(given))) as Record<string, unknown>;
      results.push(outcome(await client.callTool({ name, arguments: args }).catch((error: unknown) => error as Error)));
    }
    return named({ info: client.getServerVersion()?.name, tools: shown, prompts, resources: resources.map(({ uri, name }) => ({ uri, name })), results }) as object;
  } finally {
    await client.close();
  }
}

/** What a schema asks for; the libraries that write them differ in the rest. */
function shape(schema: object | undefined): object | undefined {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: object; required?: string[] };
  return schema && { properties: Object.keys(properties), required: [...required].sort() };
}

/** A result, or that there is none: in words of their own, both say of wrong arguments and unknown tools that they are wrong. */
function outcome(result: CallToolResult | Error): unknown {
  if (result instanceof Error || result.isError) return 'failed';
  return { content: result.content, structuredContent: result.structuredContent };
}

describe('programs of the official SDK', { skip: programs === undefined && 'OXMCP_PROGRAMS names no folder', timeout: 600_000 }, () => {
  for (const program of PROGRAMS) {
    const installed = path.join(programs ?? '', 'node_modules');
    const place = path.join(installed, program.name);
    test(program.name, { skip: !existsSync(place) && 'is not installed' }, async () => {
      const before = await seen(program, place, 'legacy');
      const copy = moved(program, installed);
      for (const { mode } of ERAS) assert.deepEqual(await seen(program, copy, mode), before);
    });
  }
});
