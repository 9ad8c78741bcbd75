/**
 * `Server`, and handlers of single methods beside what is registered: the way of the official SDK.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Client, McpError, McpServer, Server, type ServerContext, UsageError } from 'oxmcp';
import {
  CallToolRequestSchema,
  CallToolResultSchema,
  CompleteRequestSchema,
  CreateMessageRequestSchema,
  CreateMessageResultSchema,
  GetPromptRequestSchema,
  InitializeRequestSchema,
  InitializedNotificationSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ListToolsResultSchema,
  LoggingMessageNotificationSchema,
  ReadResourceRequestSchema,
  RootsListChangedNotificationSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
} from 'oxmcp/types.js';
import * as z from 'zod';
import * as mini from 'zod/mini';
import { z as z3 } from 'zod3';

import { ERAS, assertIdle, join, linked, textOf, turn } from './support.js';

const INFO = { name: 'low', version: '1' };
const TOOL = { name: 'greet', inputSchema: { type: 'object' as const } };

function greeter(): Server {
  const server = new Server(INFO, { capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} }, instructions: 'Greet.' });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [TOOL] }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    if (params.name !== 'greet') throw new McpError(-32602, `no tool ${params.name}`, { name: params.name });
    return { content: [{ type: 'text', text: `Hello ${String(params.arguments?.['name'])}` }] };
  });
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [{ name: 'p' }] }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: params.arguments?.['a'] ?? '' } }],
  }));
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => ({ resources: [], nextCursor: params?.cursor ? undefined : 'more' }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => {
    throw new Error(`no resource ${params.uri}`);
  });
  server.setRequestHandler(CompleteRequestSchema, ({ params }) => ({ completion: { values: [`${params.argument.value}!`] } }));
  return server;
}

for (const { mode } of ERAS) {
  test(`every method has a handler of the program (${mode})`, async () => {
    const client = await linked(greeter(), { mode });
    assert.equal(client.getInstructions(), 'Greet.');
    assert.deepEqual((await client.listTools()).tools, [TOOL]);
    assert.equal(textOf(await client.callTool({ name: 'greet', arguments: { name: 'Ada' } })), 'Hello Ada');
    await assert.rejects(client.callTool({ name: 'other' }), { kind: 'response', code: -32602, message: 'no tool other', data: { name: 'other' } });
    assert.deepEqual((await client.listPrompts()).prompts, [{ name: 'p' }]);
    assert.deepEqual((await client.getPrompt({ name: 'p', arguments: { a: 'b' } })).messages[0]?.content, { type: 'text', text: 'b' });
    assert.equal((await client.listResources({ cursor: 'more' })).nextCursor, undefined);
    assert.deepEqual((await client.listResources()).resources, []);
    // What a handler of this class throws is told to the client in its own words.
    await assert.rejects(client.readResource({ uri: 'x://1' }), { code: -32603, message: 'no resource x://1' });
    const completed = await client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: 'b' } });
    assert.deepEqual(completed.completion.values, ['b!']);
    assertIdle(client);
    await client.close();
  });

  test(`a tool of the low level asks the user (${mode})`, async () => {
    const server = new Server(INFO, { capabilities: { tools: {} } });
    const seen: ServerContext[] = [];
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [TOOL] }));
    server.setRequestHandler(CallToolRequestSchema, async (_request, extra) => {
      seen.push(extra);
      const { model } = await extra.sendRequest(
        { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
        CreateMessageResultSchema,
      );
      return { content: [{ type: 'text', text: model }] };
    });
    const client = new Client({ name: 'c', version: '1' }, { mode, capabilities: { sampling: {} } });
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
      role: 'assistant',
      content: { type: 'text', text: 'x' },
      model: `m${params.maxTokens}`,
    }));
    await join(client, server as never);
    assert.equal(textOf(await client.callTool({ name: 'greet', _meta: { mine: 5 } })), 'm1');
    assert.equal(seen.length, mode === 'auto' ? 2 : 1);
    await client.close();
  });
}

test('handlers get what the request says of itself', async () => {
  const server = new Server(INFO, { capabilities: { tools: {} } });
  const seen: unknown[] = [];
  server.setRequestHandler('tools/call', async (request, extra) => {
    const { requestId, _meta, signal, sendNotification, mcpReq } = extra;
    seen.push(request.method, requestId, mcpReq.id, _meta?.['mine'], signal.aborted);
    await sendNotification({ method: 'notifications/progress', params: { progressToken: 'x', progress: 1, total: 2 } });
    return { content: [] };
  });
  const client = await linked(server, { mode: 'legacy' });
  const reports: unknown[] = [];
  await client.callTool({ name: 't', _meta: { mine: 5 } }, { onprogress: (report) => reports.push(report) });
  assert.deepEqual(seen, ['tools/call', 1, 1, 5, false]);
  assert.deepEqual(reports, [{ progress: 1, total: 2 }]);
  await client.close();
});

describe('schemas of requests', () => {
  const kinds: readonly [name: string, schema: never][] = [
    ['zod 4', z.object({ method: z.literal('acme/add'), params: z.object({ a: z.coerce.number() }) }) as never],
    ['zod mini', mini.object({ method: mini.literal('acme/add'), params: mini.object({ a: mini.coerce.number() }) }) as never],
    ['zod 3', z3.object({ method: z3.literal('acme/add'), params: z3.object({ a: z3.coerce.number() }) }) as never],
    ['one of this package, extended', CallToolRequestSchema.extend({ method: z.literal('acme/add'), params: z.object({ a: z.coerce.number() }) }) as never],
  ];
  for (const [name, schema] of kinds) {
    test(name, async () => {
      const server = new Server(INFO);
      server.setRequestHandler(schema, ({ params }: { params: { a: number } }) => ({ twice: params.a * 2 }));
      const client = await linked(server);
      assert.deepEqual(await client.request({ method: 'acme/add', params: { a: '4' } }, z.looseObject({ twice: z.literal(8) })).then(({ twice }) => twice), 8);
      await assert.rejects(client.request({ method: 'acme/add', params: {} }), { code: -32602, message: /params\.a/ });
      await client.close();
    });
  }

  test('a schema without a method, or no schema, is refused', () => {
    const server = new Server(INFO) as unknown as { setRequestHandler(...args: unknown[]): void };
    for (const wrong of [z.object({}), z.object({ method: z.string() }), {}, undefined, 5]) {
      assert.throws(() => server.setRequestHandler(wrong, () => ({})), { kind: 'usage', message: /a schema of an object whose "method" is a literal/ });
    }
    assert.throws(() => server.setRequestHandler('a/b'), { message: /needs a function/ });
  });
});

test('a client checks results by schemas, and answers by them', async () => {
  const client = await linked(greeter(), { mode: 'legacy' });
  const wanted = { name: 'greet', arguments: { name: 'Ada' } };
  assert.equal(textOf(await client.callTool(wanted, CallToolResultSchema)), 'Hello Ada');
  assert.equal(textOf(await client.callTool(wanted, undefined, { timeout: 5000 })), 'Hello Ada');
  assert.deepEqual(await client.callTool(wanted, z.object({ content: z.array(z.unknown()).transform((all) => all.length) })), { content: 1 });
  await assert.rejects(client.callTool(wanted, z.object({ content: z.string() })), { kind: 'protocol', message: /content/ });
  await assert.rejects(client.request({ method: 'tools/list' }, z3.object({ tools: z3.string() })), { kind: 'protocol', message: /tools/ });
  const heard: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.push(params.level));
  await client.close();
});

test('a handler of initialize is told of each handshake, which the core answers', async () => {
  const server = new Server(INFO, { capabilities: { tools: {} } });
  const told: unknown[] = [];
  server.setRequestHandler(InitializeRequestSchema, ({ params }, extra) => {
    told.push([params.clientInfo.name, params.protocolVersion, extra.signal.aborted]);
    return { protocolVersion: 'its own', capabilities: {}, serverInfo: INFO };
  });
  const client = await linked(server, { mode: 'legacy' });
  assert.deepEqual(told, [['test', '2025-11-25', false]]);
  assert.equal(client.getNegotiatedProtocolVersion(), '2025-11-25');
  await client.close();
});

test('what is not declared has no handler, and what the core answers cannot be replaced', () => {
  const server = new Server(INFO, { capabilities: { resources: {} } });
  const cases: [schema: never, hint: RegExp][] = [
    [ListToolsRequestSchema as never, /capabilities: \{ tools: \{\} \}/],
    [GetPromptRequestSchema as never, /prompts: \{\}/],
    [CompleteRequestSchema as never, /completions: \{\}/],
    [SetLevelRequestSchema as never, /logging: \{\}/],
    [SubscribeRequestSchema as never, /resources: \{ subscribe: true \}/],
    ['server/discover' as never, /answered by the core/],
  ];
  for (const [schema, hint] of cases) {
    assert.throws(() => server.setRequestHandler(schema, () => ({})), (error) => error instanceof UsageError && hint.test(error.message), String(hint));
  }
  server.setRequestHandler(ReadResourceRequestSchema, () => ({ contents: [] }));
  server.registerCapabilities({ tools: {}, resources: { subscribe: true } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [] }));
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
});

test('levels and subscriptions reach the handlers, and count all the same', async () => {
  const server = new Server(INFO, { capabilities: { logging: {}, resources: { subscribe: true } } });
  const seen: string[] = [];
  server.setRequestHandler(SetLevelRequestSchema, ({ params }) => {
    seen.push(params.level);
    return {};
  });
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    seen.push(params.uri);
    return {};
  });
  const client = new Client({ name: 'c', version: '1' }, { mode: 'legacy' });
  const told: unknown[] = [];
  client.fallbackNotificationHandler = ({ method, params }) => void told.push([method, params?.['uri'] ?? params?.['level']]);
  await join(client, server as never);
  await client.setLoggingLevel('error');
  await client.subscribeResource({ uri: 'x://1' });
  await server.sendLoggingMessage({ level: 'info', data: 1 });
  await server.sendLoggingMessage({ level: 'alert', data: 1 });
  await server.sendResourceUpdated({ uri: 'x://1' });
  await server.sendResourceUpdated({ uri: 'x://2' });
  await client.ping();
  assert.deepEqual(seen, ['error', 'x://1']);
  assert.deepEqual(told, [
    ['notifications/message', 'alert'],
    ['notifications/resources/updated', 'x://1'],
  ]);
  await client.close();
});

test('a server asks once the client is initialized', async () => {
  const server = new Server(INFO);
  const asked: unknown[] = [];
  const done = new Promise<void>((resolve) => {
    server.oninitialized = async () => {
      asked.push(server.getClientVersion()?.name, server.getClientCapabilities()?.roots, (await server.listRoots()).roots);
      asked.push((await server.elicitInput({ message: 'm', requestedSchema: { type: 'object', properties: {} } })).action);
      asked.push((await server.createMessage({ messages: [], maxTokens: 1 })).model);
      asked.push((await server.request({ method: 'roots/list' }, z.object({ roots: z.array(z.unknown()).length(1) }))).roots.length);
      await assert.rejects(server.request({ method: 'roots/list' }, z.object({ roots: z.string() })), { kind: 'protocol', message: /roots/ });
      await server.ping();
      resolve();
    };
  });
  const initialized: string[] = [];
  server.setNotificationHandler(InitializedNotificationSchema, ({ method }) => void initialized.push(method));
  const client = new Client({ name: 'asked', version: '1' }, { mode: 'legacy', capabilities: { roots: {}, elicitation: {}, sampling: {} } });
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///x' }] }));
  client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }));
  client.setRequestHandler('sampling/createMessage', () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }));
  await join(client, server as never);
  await done;
  assert.deepEqual(asked, ['asked', {}, [{ uri: 'file:///x' }], 'decline', 'm', 1]);
  assert.deepEqual(initialized, ['notifications/initialized']);
  await client.close();
});

test('a question that a client could only refuse is not sent', async () => {
  const server = new Server(INFO);
  const client = new Client({ name: 'c', version: '1' }, { mode: 'legacy', capabilities: { elicitation: { form: {}, url: {} }, sampling: {} } });
  await join(client, server as never);
  await client.ping();
  const cases: [params: never, what: RegExp][] = [
    [{ requestedSchema: { type: 'object', properties: {} } } as never, /"message" must be a string/],
    [{ message: 'm', requestedSchema: { type: 'object', properties: { a: { type: 'object' } } } } as never, /the property "a" of the form is an object/],
    [{ mode: 'url', message: 'm', url: 'not a url' } as never, /"url" must be an absolute URL.*it is "not a url"/],
  ];
  for (const [params, message] of cases) await assert.rejects(server.elicitInput(params), { kind: 'usage', message });
  await assert.rejects(server.createMessage({ messages: 5 } as never), { kind: 'usage', message: /"messages" must be an array/ });
  assertIdle(client);
  await client.close();
});

describe('the server of an McpServer', () => {
  test('replaces what is registered, and gives it back', async () => {
    const server = new McpServer(INFO);
    server.registerTool('one', {}, () => 'one');
    const low = server.server;
    assert.equal(server.server, low);
    low.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [TOOL] }));
    const client = await linked(server);
    assert.deepEqual((await client.listTools(undefined, { fresh: true })).tools, [TOOL]);
    assert.equal(textOf(await client.callTool({ name: 'one' })), 'one');
    low.removeRequestHandler('tools/list');
    assert.deepEqual((await client.request({ method: 'tools/list' }, ListToolsResultSchema, { fresh: true })).tools.map(({ name }) => name), ['one']);
    await client.close();
  });

  test('has the same connections and functions', async () => {
    const server = new McpServer(INFO);
    const closed: string[] = [];
    server.server.onclose = () => closed.push('closed');
    const heard: unknown[] = [];
    server.server.setNotificationHandler(RootsListChangedNotificationSchema, ({ method }) => void heard.push(method));
    const client = await linked(server, { mode: 'legacy', capabilities: { roots: { listChanged: true } } });
    assert.equal(server.server.getNegotiatedProtocolVersion(), '2025-11-25');
    assert.notEqual(server.server.transport, undefined);
    await client.notification({ method: 'notifications/roots/list_changed' });
    await client.ping();
    assert.deepEqual(heard, ['notifications/roots/list_changed']);
    await client.close();
    while (server.isConnected()) await turn();
    assert.deepEqual(closed, ['closed']);
    assert.equal(server.server.transport, undefined);
  });
});
