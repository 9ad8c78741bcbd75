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
symlinkSync(path.join(modules, 'zod3'), path.join(folder, 'node_modules', 'zod3'), 'dir');
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

/** As programs are written for the official SDK, with schemas of every zod. */
const MOVED = `
import { Client } from 'oxmcp/client/index.js';
import { StdioClientTransport } from 'oxmcp/client/stdio.js';
import { InMemoryTransport } from 'oxmcp/inMemory.js';
import { Server } from 'oxmcp/server/index.js';
import { McpServer, ResourceTemplate, type ToolCallback } from 'oxmcp/server/mcp.js';
import { StdioServerTransport } from 'oxmcp/server/stdio.js';
import type { RequestHandlerExtra } from 'oxmcp/shared/protocol.js';
import type { Transport } from 'oxmcp/shared/transport.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  type JSONRPCMessage,
  ListToolsRequestSchema,
  ListToolsResultSchema,
  McpError,
  type ServerNotification,
  type ServerRequest,
  type Tool,
  ToolSchema,
} from 'oxmcp/types.js';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as z3 } from 'zod3';

type ToolInput = z.infer<typeof ToolSchema.shape.inputSchema>;

const ThreeSchema = z3.object({ text: z3.string(), count: z3.number().optional().default(1) });
const FourSchema = z.object({ text: z.string(), count: z.coerce.number().default(1) });

const server = new Server({ name: 'a', version: '1' }, { capabilities: { tools: {}, logging: {} } });
server.setRequestHandler(ListToolsRequestSchema, async () => {
  const tools: Tool[] = [{ name: 't', description: 'd', inputSchema: { type: 'object' } as ToolInput, annotations: { readOnlyHint: true } }];
  tools.push({ name: 'u', inputSchema: z.toJSONSchema(FourSchema) as ToolInput });
  return { tools };
});
server.setRequestHandler(CallToolRequestSchema, async (request, extra): Promise<CallToolResult> => {
  const { name, arguments: args } = request.params;
  const token: string | number | undefined = request.params._meta?.progressToken;
  if (token !== undefined) {
    await extra.sendNotification({ method: 'notifications/progress', params: { progressToken: token, progress: 1 } });
  }
  extra.signal.addEventListener('abort', () => {});
  try {
    const { count, text } = FourSchema.parse(args);
    return { content: [{ type: 'text', text: text.repeat(count) }], _meta: { a: 1 } };
  } catch (error) {
    if (error instanceof z.ZodError) throw new McpError(ErrorCode.InvalidParams, name, { issues: error.issues });
    const text = error instanceof Error ? error.message : String(error);
    return { content: [{ type: 'text', text }], isError: true };
  }
});
server.onerror = (error) => console.error(error);

const high = new McpServer({ name: 'b', version: '1' }, { instructions: 'x' });
async function three({ text, count }: z3.infer<typeof ThreeSchema>): Promise<CallToolResult> {
  return { content: [{ type: 'text', text: text.slice(count) }] };
}
high.tool('three', 'd', ThreeSchema.shape, three);
high.tool('four', FourSchema.shape, async ({ text, count }) => ({ content: [{ type: 'text' as const, text: text.repeat(count) }] }));
high.registerTool('whole', { inputSchema: ThreeSchema }, three);
high.registerTool('shape', { inputSchema: FourSchema.shape, outputSchema: { ok: z.boolean() } }, async ({ count }) => {
  const structuredContent = { ok: count > 1 };
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
});
high.registerTool('small', { inputSchema: mini.object({ a: mini.optional(mini.string()) }) }, ({ a }) => ({ content: [], isError: a === undefined }));
high.registerTool('none', { title: 'T' }, async (extra: RequestHandlerExtra<ServerRequest, ServerNotification>) => {
  const id: string | number = extra.requestId;
  return { content: [{ type: 'text', text: String(id) }] };
});
const callback: ToolCallback<typeof FourSchema.shape> = async ({ text }) => ({ content: [{ type: 'text', text }] });
high.registerTool('typed', { inputSchema: FourSchema.shape }, callback);
high.registerResource('r', new ResourceTemplate('x://{id}', { list: undefined }), {}, async (uri, { id }) => ({ contents: [{ uri: uri.href, text: String(id) }] }));
high.registerPrompt('p', { argsSchema: { a: z.string() } }, ({ a }) => ({ messages: [{ role: 'user', content: { type: 'text', text: a } }] }));

class Own implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  sessionId?: string;
  async start(): Promise<void> {}
  async close(): Promise<void> {
    this.onclose?.();
  }
  async send(message: JSONRPCMessage): Promise<void> {
    if ('method' in message) this.onmessage?.(message);
  }
}

export async function main(): Promise<void> {
  const transport = new StdioServerTransport();
  transport.onclose = () => {};
  await server.connect(transport);
  await high.connect(new Own());
  const [near] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'c', version: '1' }, { capabilities: { roots: { listChanged: true } } });
  await client.connect(near);
  const listed = await client.request({ method: 'tools/list' }, ListToolsResultSchema);
  for (const { name } of listed.tools) await client.callTool({ name, arguments: {} }, undefined, { timeout: 5 });
  await client.connect(new StdioClientTransport({ command: 'node', args: ['x'], env: { A: 'b' } }));
  const roots = await high.server.listRoots();
  const { action, content } = await high.server.elicitInput({ message: 'm', requestedSchema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } });
  if (action === 'accept') console.log(content?.['a'], roots.roots.map(({ uri }) => new URL(uri)));
  await high.server.sendLoggingMessage({ level: 'info', data: 'x' });
}
`;

/** Guarded servers, and classes that are extended, as types and as values. */
const GUARDED = `
import { Client, InMemoryTransport, McpServer, Server } from 'oxmcp';
import { mcpAuthMetadataRouter, requireBearerAuth } from 'oxmcp/express';
import { WebSocketClientTransport } from 'oxmcp/client/websocket.js';
import { InvalidTokenError } from 'oxmcp/server/auth/errors.js';
import type { OAuthTokenVerifier } from 'oxmcp/server/auth/provider.js';
import type { AuthInfo } from 'oxmcp/server/auth/types.js';
import type { AnySchema, SchemaOutput, ZodRawShapeCompat } from 'oxmcp/server/zod-compat.js';
import { type OAuthClientMetadata, type OAuthMetadata, OAuthMetadataSchema, type OAuthTokens } from 'oxmcp/shared/auth.js';
import { z } from 'zod';

class Mine extends Client {
  readonly own: number = 1;
}
const client: Client = new Mine({ name: 'a', version: '1' });
const ends: InMemoryTransport[] = InMemoryTransport.createLinkedPair();
const low: Server = new McpServer({ name: 'a', version: '1' }).server;

class Verifier implements OAuthTokenVerifier {
  async verifyAccessToken(token: string): Promise<AuthInfo> {
    if (token === '') throw new InvalidTokenError('none');
    return { token, clientId: 'a', scopes: [], expiresAt: 1, resource: new URL('https://a.test') };
  }
}
const metadata: OAuthMetadata = OAuthMetadataSchema.parse({});
const guards = [
  requireBearerAuth({ verifier: new Verifier(), requiredScopes: ['a'], resourceMetadataUrl: undefined }),
  mcpAuthMetadataRouter({ oauthMetadata: metadata, resourceServerUrl: new URL('https://a.test/mcp') }),
];
const tokens: OAuthTokens = { access_token: 'a', token_type: 'Bearer' };
const about: OAuthClientMetadata = { redirect_uris: ['https://a.test/'] };

function outputOf<Schema extends AnySchema>(schema: Schema, value: SchemaOutput<Schema>): SchemaOutput<Schema> {
  return schema === undefined ? value : value;
}
const shape: ZodRawShapeCompat = { a: z.string() };
const text: string = outputOf(z.object({ a: z.string() }), { a: 'x' }).a;
const socket = new WebSocketClientTransport(new URL('ws://a.test'));
export const all = [client instanceof Client, ends, low, guards, tokens.access_token, about, shape, text, client.connect(socket)];
`;

test('programs with guarded servers, and classes of their own', () => {
  for (const kind of ['mts', 'cts']) assert.equal(compile(`guarded-${kind}`, { [`a.${kind}`]: GUARDED }, { types: ['node'] }), '');
});

test('programs of the official SDK, with zod 3, zod 4 and zod mini', () => {
  const options = { types: ['node'], exactOptionalPropertyTypes: false, esModuleInterop: true };
  assert.equal(compile('moved', { 'esm.mts': MOVED, 'commonjs.cts': MOVED }, options), '');
  assert.equal(compile('bundled', { 'esm.ts': MOVED }, { ...options, module: 'esnext', moduleResolution: 'bundler', skipLibCheck: true }), '');
});

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
