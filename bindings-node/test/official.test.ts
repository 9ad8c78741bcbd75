/**
 * The module paths and older names of the official SDK.
 */

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';

import * as root from 'oxmcp';
import { type Client, McpServer, ResourceTemplate, completable } from 'oxmcp';
import * as z from 'zod';
import { z as z3 } from 'zod3';

import { linked, textOf } from './support.js';

const find = createRequire(__filename);
const INFO = { name: 'older', version: '1' };

/** What programs import from each path. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  'server/mcp': ['McpServer', 'ResourceTemplate'],
  'server/index': ['Server', 'McpServer', 'StdioServerTransport', 'ProtocolError', 'SdkError', 'fromJsonSchema', 'CLIENT_INFO_META_KEY', 'UriTemplate', 'inputRequired', 'acceptedContent'],
  'server/stdio': ['StdioServerTransport', 'serveStdio'],
  'server/completable': ['completable', 'isCompletable'],
  server: ['Server', 'McpServer'],
  'client/index': ['Client', 'StdioClientTransport', 'ProtocolErrorCode', 'SdkErrorCode', 'SdkHttpError', 'UnauthorizedError', 'SSEClientTransport'],
  'server/auth/errors': ['InvalidTokenError', 'OAuthError', 'OAUTH_ERRORS'],
  'server/auth/middleware/bearerAuth': ['requireBearerAuth'],
  'server/auth/provider': [],
  'server/auth/router': ['mcpAuthMetadataRouter', 'getOAuthProtectedResourceMetadataUrl'],
  'server/auth/types': [],
  'server/zod-compat': [],
  'client/auth': ['UnauthorizedError'],
  'client/websocket': ['WebSocketClientTransport'],
  'client/sse': ['SSEClientTransport', 'SseError'],
  'client/streamableHttp': ['StreamableHTTPClientTransport', 'StreamableHTTPError'],
  'client/stdio': ['StdioClientTransport', 'getDefaultEnvironment'],
  client: ['Client'],
  'shared/auth': ['OAuthMetadataSchema', 'OAuthProtectedResourceMetadataSchema', 'OAuthTokensSchema'],
  'shared/auth-utils': ['checkResourceAllowed', 'resourceUrlFromServerUrl'],
  'shared/protocol': ['DEFAULT_REQUEST_TIMEOUT_MSEC', 'mergeCapabilities'],
  'shared/transport': [],
  'shared/stdio': ['ReadBuffer', 'serializeMessage', 'deserializeMessage'],
  'shared/metadataUtils': ['getDisplayName'],
  'shared/uriTemplate': ['UriTemplate'],
  inMemory: ['InMemoryTransport'],
  types: [
    'CallToolRequestSchema',
    'CallToolResultSchema',
    'ErrorCode',
    'JSONRPCMessageSchema',
    'LATEST_PROTOCOL_VERSION',
    'ListToolsRequestSchema',
    'McpError',
    'SUPPORTED_PROTOCOL_VERSIONS',
    'ToolSchema',
    'isInitializeRequest',
    'isJSONRPCRequest',
  ],
};

for (const [name, names] of Object.entries(PATHS)) {
  test(`oxmcp/${name} has what programs import from there`, async () => {
    const bare = name === 'server' || name === 'client';
    for (const specifier of [`oxmcp/${name}`, ...(bare ? [] : [`oxmcp/${name}.js`])]) {
      const required = find(specifier) as Record<string, unknown>;
      const imported = (await import(specifier)) as Record<string, unknown>;
      for (const one of names) {
        assert.notEqual(required[one], undefined, `${specifier}: ${one}`);
        assert.equal(imported[one], required[one], `${specifier}: ${one}`);
      }
      // One set of classes: what is caught by one name is known by another.
      for (const one of ['McpServer', 'Client', 'McpError', 'InMemoryTransport']) {
        if (one in required) assert.equal(required[one], (root as Record<string, unknown>)[one]);
      }
    }
  });
}

test('the errors of both versions are told apart', () => {
  const { ProtocolError, SdkError } = find('oxmcp/client') as typeof import('../dist/paths/client/index.js');
  const answer = new ProtocolError(-32602, 'no', { a: 1 });
  assert.deepEqual([answer.code, answer.message, answer.data], [-32602, 'no', { a: 1 }]);
  assert.ok(answer instanceof ProtocolError && answer instanceof root.McpError && !(answer instanceof SdkError));
  const timeout = new root.RequestTimeoutError({ kind: 'timeout', message: 'late' });
  assert.ok(timeout instanceof SdkError && !(timeout instanceof ProtocolError));
});

describe('tool', () => {
  const kinds: readonly [name: string, args: readonly unknown[], shown: object][] = [
    ['callback', [], {}],
    ['description', ['says'], { description: 'says' }],
    ['arguments', [{ a: z.string() }], { a: true }],
    ['arguments of zod 3', [{ a: z3.string() }], { a: true }],
    ['a whole schema', [z.object({ a: z.string() })], { a: true }],
    ['annotations', [{ readOnlyHint: true }], { annotations: { readOnlyHint: true } }],
    ['description, arguments', ['says', { a: z.string() }], { description: 'says', a: true }],
    ['description, annotations', ['says', { title: 'T' }], { description: 'says', annotations: { title: 'T' } }],
    ['arguments, annotations', [{ a: z.string() }, { title: 'T' }], { a: true, annotations: { title: 'T' } }],
    ['all', ['says', { a: z.string() }, { title: 'T' }], { description: 'says', a: true, annotations: { title: 'T' } }],
    ['no arguments', ['says', {}], { description: 'says' }],
  ];
  for (const [name, args, shown] of kinds) {
    test(name, async () => {
      const server = new McpServer(INFO);
      const seen: unknown[][] = [];
      const callback = (...given: unknown[]): string => {
        seen.push(given);
        return 'done';
      };
      (server.tool as (...all: unknown[]) => void).call(server, 't', ...args, callback);
      const client = await linked(server);
      const [tool] = (await client.listTools()).tools;
      const takes = tool?.inputSchema['properties'] as Record<string, unknown>;
      const { description, annotations } = tool ?? {};
      assert.deepEqual({ ...(description && { description }), ...(annotations && { annotations }), ...(takes['a'] !== undefined && { a: true }) }, shown);
      assert.equal(textOf(await client.callTool({ name: 't', arguments: { a: 'x' } })), 'done');
      const extra = seen[0]?.at(-1) as { requestId: number; signal: AbortSignal };
      assert.equal(typeof extra.requestId, 'number');
      assert.equal(seen[0]?.length, 'a' in shown || name === 'no arguments' ? 2 : 1);
      await client.close();
    });
  }

  test('what is no argument of it is told so', () => {
    const loose = new McpServer(INFO) as unknown as { tool(...args: unknown[]): void };
    assert.throws(() => loose.tool('t', 'says'), { kind: 'usage', message: /needs a function/ });
    assert.throws(() => loose.tool('t', 5, () => ''), { kind: 'usage', message: /argument 2 must be a schema/ });
    assert.throws(() => loose.tool('t', {}, { title: 'T' }, { title: 'U' }, () => ''), { kind: 'usage', message: /more arguments/ });
  });
});

test('resource and prompt', async () => {
  const server = new McpServer(INFO);
  server.resource('one', 'x://1', (uri) => ({ contents: [{ uri: uri.href, text: '1' }] }));
  server.resource('two', 'x://2', { mimeType: 'text/plain' }, (uri) => ({ contents: [{ uri: uri.href, text: '2' }] }));
  server.resource('all', new ResourceTemplate('y://{id}', { list: undefined }), (uri, { id }) => ({ contents: [{ uri: uri.href, text: id }] }));
  server.prompt('plain', () => ({ messages: [] }));
  server.prompt('said', 'says', () => ({ messages: [] }));
  const names = (start: string): string[] => ['Ada', 'Bob'].filter((name) => name.startsWith(start));
  server.prompt('asks', 'says', { name: completable(z3.string(), names).optional() }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}` } }],
  }));
  const client: Client = await linked(server);
  assert.deepEqual((await client.listResources()).resources, [
    { uri: 'x://1', name: 'one' },
    { uri: 'x://2', name: 'two', mimeType: 'text/plain' },
  ]);
  assert.deepEqual((await client.readResource({ uri: 'y://7' })).contents, [{ uri: 'y://7', text: '7' }]);
  assert.deepEqual((await client.listPrompts()).prompts, [
    { name: 'plain' },
    { name: 'said', description: 'says' },
    { name: 'asks', description: 'says', arguments: [{ name: 'name', required: false }] },
  ]);
  const { messages } = await client.getPrompt({ name: 'asks', arguments: { name: 'Ada' } });
  assert.deepEqual(messages[0]?.content, { type: 'text', text: 'Hello Ada' });
  const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'asks' }, argument: { name: 'name', value: 'A' } });
  assert.deepEqual(completion.values, ['Ada']);
  await client.close();
});

describe('templates that list', () => {
  function shop(): { server: McpServer; template: ReturnType<McpServer['registerResource']>; stock: string[] } {
    const server = new McpServer(INFO);
    const stock = ['7'];
    server.registerResource('index', 'shop://', {}, (uri) => ({ contents: [{ uri: uri.href, text: stock.join() }] }));
    const list = async (): Promise<{ resources: { uri: string; name: string }[] }> => ({
      resources: stock.map((id) => ({ uri: `shop://${id}`, name: id })),
    });
    const template = new ResourceTemplate('shop://{id}', { list });
    const read = (uri: URL, { id }: { id: string }): object => ({ contents: [{ uri: uri.href, text: id }] });
    return { server, template: server.registerResource('item', template, { mimeType: 'text/plain' }, read as never) as never, stock };
  }

  test('are asked for each list, and their resources can be read', async () => {
    const { server, stock, template } = shop();
    const client = await linked(server, { responseCache: false });
    const uris = async (): Promise<string[]> => (await client.listResources()).resources.map(({ uri }) => uri);
    assert.deepEqual((await client.listResources()).resources, [
      { uri: 'shop://', name: 'index' },
      { uri: 'shop://7', name: '7', mimeType: 'text/plain' },
    ]);
    stock.push('8');
    assert.deepEqual(await uris(), ['shop://', 'shop://7', 'shop://8']);
    assert.deepEqual((await client.readResource({ uri: 'shop://8' })).contents, [{ uri: 'shop://8', text: '8' }]);
    template.disable();
    assert.deepEqual(await uris(), ['shop://']);
    template.enable();
    server.server.setRequestHandler('resources/list', () => ({ resources: [] }));
    assert.deepEqual(await uris(), []);
    server.server.removeRequestHandler('resources/list');
    assert.deepEqual(await uris(), ['shop://', 'shop://7', 'shop://8']);
    template.remove();
    assert.deepEqual(await uris(), ['shop://']);
    await client.close();
  });

  test('with a fault add nothing, and say why to the program', async () => {
    const server = new McpServer(INFO);
    const errors: string[] = [];
    server.onerror = ({ message }) => void errors.push(message);
    const broken = [() => Promise.reject(new Error('out of stock')), () => ({ things: [] })];
    const template = server.registerResource('x', new ResourceTemplate('x://{id}', { list: broken[0] as never }), {}, () => ({ contents: [] }));
    const client = await linked(server);
    assert.deepEqual((await client.listResources()).resources, []);
    assert.deepEqual(errors, ['out of stock']);
    template.update({ template: new ResourceTemplate('x://{id}', { list: broken[1] as never }) });
    assert.deepEqual((await client.listResources()).resources, []);
    assert.match(errors[1] ?? '', /must give \{ resources/);
    await client.close();
  });
});
