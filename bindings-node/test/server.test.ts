/**
 * What a server offers, called by a client in the same program, in both eras.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { InMemoryTransport, McpError, McpServer, ResourceTemplate, UsageError, completable } from 'oxmcp';
import * as z from 'zod';

import { connectionsOf } from '../dist/server.js';
import { ERAS, Wire, assertIdle, linked, textOf, turn } from './support.js';

const INFO = { name: 'served', version: '1.0.0' };
const newServer = (...args: [options?: ConstructorParameters<typeof McpServer>[1]]): McpServer => new McpServer(INFO, ...args);

for (const { mode, revision } of ERAS) {
  describe(`a server in ${revision}`, { timeout: 120_000 }, () => {
    test('is known by what it says of itself', async () => {
      const server = newServer({ instructions: 'Add.', capabilities: { experimental: { x: {} } } });
      server.registerTool('add', {}, () => 'ok');
      const client = await linked(server, { mode });
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
      assert.deepEqual(client.getServerVersion(), INFO);
      assert.equal(client.getInstructions(), 'Add.');
      assert.deepEqual(client.getServerCapabilities(), { experimental: { x: {} }, logging: {}, tools: { listChanged: true } });
      await client.close();
    });

    test('lists tools with all that was said of them, and calls them with checked arguments', async () => {
      const server = newServer();
      server.registerTool(
        'add',
        {
          title: 'Adds',
          description: 'Adds two numbers',
          inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
          outputSchema: z.object({ sum: z.number() }),
          annotations: { readOnlyHint: true },
          icons: [{ src: 'data:,' }],
          _meta: { 'x/y': 1 },
        },
        ({ a, b }) => ({ structuredContent: { sum: a + b } }),
      );
      const client = await linked(server, { mode });
      const { tools } = await client.listTools();
      const { inputSchema, outputSchema, ...rest } = tools[0] ?? assert.fail();
      assert.deepEqual(rest, {
        name: 'add',
        title: 'Adds',
        description: 'Adds two numbers',
        annotations: { readOnlyHint: true },
        icons: [{ src: 'data:,' }],
        _meta: { 'x/y': 1 },
      });
      assert.deepEqual(inputSchema['required'], ['a']);
      assert.deepEqual(outputSchema?.['required'], ['sum']);
      const result = await client.callTool({ name: 'add', arguments: { a: 2 } });
      assert.deepEqual(result.structuredContent, { sum: 3 });
      assert.equal(textOf(result), '{"sum":3}');
      const refused = await client.callTool({ name: 'add', arguments: { a: 'two' } });
      assert.equal(refused.isError, true);
      assert.match(textOf(refused) ?? '', /Invalid arguments for tool add.*a: .*expected number/);
      await client.close();
    });

    test('a tool that throws fails for the model to see; an error of ours, and a fault of the program, do not', async () => {
      const errors: Error[] = [];
      const server = newServer();
      server.onerror = (error) => errors.push(error);
      server.registerTool('throws', {}, () => {
        throw new Error('no such city');
      });
      server.registerTool('rejects', {}, () => Promise.reject(new Error('later')));
      server.registerTool('refuses', {}, () => {
        throw new McpError(-32050, 'not today', { until: 'Monday' });
      });
      server.registerTool('forgets', {}, (() => undefined) as never);
      server.registerTool('lies', { outputSchema: z.object({ n: z.number() }) }, () => ({ structuredContent: { n: 'x' } }));
      server.registerTool('circles', {}, () => {
        const content: unknown[] = [];
        content.push({ type: 'circle', inside: content });
        return { content } as never;
      });
      const client = await linked(server, { mode });
      for (const [name, text] of [['throws', 'no such city'], ['rejects', 'later']] as const) {
        const { isError, content } = await client.callTool({ name });
        assert.deepEqual([isError, content], [true, [{ type: 'text', text }]]);
      }
      await assert.rejects(client.callTool({ name: 'refuses' }), { code: -32050, message: 'not today', data: { until: 'Monday' } });
      const wrong = [
        ['forgets', /must be an object; it is undefined/],
        ['lies', /does not fit its output schema: n: /],
        ['circles', /has no JSON form: .*circular/],
      ] as const;
      for (const [name, message] of wrong) await assert.rejects(client.callTool({ name }), { kind: 'response', code: -32603, message });
      // The program is told of its faults as well.
      assert.equal(errors.length, wrong.length);
      for (const [index, [, message]] of wrong.entries()) assert.match(errors[index]?.message ?? '', message);
      assertIdle(client, server);
      await client.close();
    });

    test('JSON Schema is checked by the core, arguments and results', async () => {
      const server = newServer();
      const inputSchema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const;
      const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;
      server.registerTool('find', { inputSchema, outputSchema }, ({ id }) => ({ structuredContent: { n: id.length > 5 ? 'x' : 1 } }));
      const client = await linked(server, { mode, validateResults: false });
      // A string that looks like a number stays a string.
      assert.deepEqual((await client.callTool({ name: 'find', arguments: { id: '00123' } })).structuredContent, { n: 1 });
      const refused = await client.callTool({ name: 'find', arguments: { id: 7 } });
      assert.equal(refused.isError, true);
      assert.match(textOf(refused) ?? '', /id/);
      await assert.rejects(client.callTool({ name: 'find', arguments: { id: 'longer' } }), { code: -32603, message: /output schema/ });
      await client.close();
    });

    test('unknown names and methods are the caller’s fault, each with its code', async () => {
      const server = newServer();
      server.registerTool('x', {}, () => 'x');
      server.registerResource('r', 'x://1', {}, (uri) => ({ contents: [{ uri: uri.href, text: '' }] }));
      const client = await linked(server, { mode });
      await assert.rejects(client.callTool({ name: 'none' }), { code: -32602, message: /none/ });
      await assert.rejects(client.request({ method: 'no/such' }), { code: -32601 });
      await assert.rejects(client.request({ method: 'tools/call', params: { name: 5 } }), { code: -32602 });
      await assert.rejects(client.readResource({ uri: 'x://2' }), { code: mode === 'auto' ? -32602 : -32002 });
      await client.close();
    });

    test('reads resources, of one URI and of templates, text and bytes', async () => {
      const errors: Error[] = [];
      const server = newServer();
      server.onerror = (error) => errors.push(error);
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      server.registerResource('config', 'app://config', { mimeType: 'text/plain', size: 2 }, (uri) => ({
        contents: [{ uri: uri.href, text: 'on' }],
      }));
      const template = new ResourceTemplate('app://users/{id}/{+rest}', { complete: { id: (value) => [`${value}0`, `${value}1`] } });
      server.registerResource('user', template, { title: 'User' }, (uri, { id, rest }) => ({
        contents: [{ uri: uri.href, text: `${id} ${rest}` }, { uri: uri.href, blob: bytes.subarray(1) }],
      }));
      server.registerResource('broken', 'app://broken', {}, () => {
        throw new Error('the password is 123');
      });
      const client = await linked(server, { mode });
      const { resources } = await client.listResources();
      assert.deepEqual(resources[0], { uri: 'app://config', name: 'config', mimeType: 'text/plain', size: 2 });
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.deepEqual(resourceTemplates, [{ uriTemplate: 'app://users/{id}/{+rest}', name: 'user', title: 'User' }]);
      assert.deepEqual((await client.readResource({ uri: 'app://config' })).contents, [{ uri: 'app://config', text: 'on' }]);
      const { contents } = await client.readResource({ uri: 'app://users/7/a/b' });
      assert.deepEqual(contents[0], { uri: 'app://users/7/a/b', text: '7 a/b' });
      const blob = contents[1] !== undefined && 'blob' in contents[1] ? contents[1].blob : '';
      assert.match(blob, /^[A-Za-z0-9+/]+=*$/);
      assert.deepEqual(Buffer.from(blob, 'base64'), Buffer.from(bytes.subarray(1)));
      // What went wrong inside is for the program alone.
      await assert.rejects(client.readResource({ uri: 'app://broken' }), { code: -32603, message: 'Internal error' });
      assert.deepEqual(errors.map((error) => error.message), ['the password is 123']);
      const { completion } = await client.complete({ ref: { type: 'ref/resource', uri: template.uriTemplate }, argument: { name: 'id', value: '4' } });
      assert.deepEqual(completion.values, ['40', '41']);
      await client.close();
    });

    test('fills in prompts and completes their arguments, also optional ones', async () => {
      const server = newServer();
      const languages = completable(z.string().describe('Which'), (value) => ['rust', 'ruby', 'go'].filter((one) => one.startsWith(value)));
      const region = completable(z.string(), (value, { arguments: { language } }) => [`${language}-${value}`]).optional();
      server.registerPrompt('review', { title: 'R', description: 'Reviews', argsSchema: z.object({ language: languages, region }) }, ({ language, region }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `${language} ${region ?? 'anywhere'}` } }],
      }));
      server.registerPrompt('plain', {}, () => ({ messages: [] }));
      const properties = { size: completable({ type: 'string' }, () => ['s', 'm', 'l']) };
      server.registerPrompt('json', { argsSchema: { type: 'object', properties, required: ['size'] } }, () => ({ messages: [] }));
      const client = await linked(server, { mode });
      const { prompts } = await client.listPrompts();
      assert.deepEqual(prompts, [
        {
          name: 'review',
          title: 'R',
          description: 'Reviews',
          arguments: [
            { name: 'language', description: 'Which', required: true },
            { name: 'region', required: false },
          ],
        },
        { name: 'plain' },
        { name: 'json', arguments: [{ name: 'size', required: true }] },
      ]);
      const { messages } = await client.getPrompt({ name: 'review', arguments: { language: 'go' } });
      assert.deepEqual(messages, [{ role: 'user', content: { type: 'text', text: 'go anywhere' } }]);
      await assert.rejects(client.getPrompt({ name: 'review', arguments: {} }), { code: -32602, message: /language/ });
      const complete = async (prompt: string, name: string, value: string): Promise<readonly string[]> => {
        const context = { arguments: { language: 'go' } };
        return (await client.complete({ ref: { type: 'ref/prompt', name: prompt }, argument: { name, value }, context })).completion.values;
      };
      assert.deepEqual(await complete('review', 'language', 'ru'), ['rust', 'ruby']);
      assert.deepEqual(await complete('review', 'region', 'eu'), ['go-eu']);
      assert.deepEqual(await complete('json', 'size', ''), ['s', 'm', 'l']);
      assert.deepEqual(await complete('review', 'toString', ''), []);
      await client.close();
    });

    test('more than a hundred values are cut, and said to be', async () => {
      const server = newServer();
      const many = completable(z.string(), () => Array.from({ length: 150 }, (_, index) => `${index}`));
      server.registerPrompt('p', { argsSchema: z.object({ many }) }, () => ({ messages: [] }));
      const client = await linked(server, { mode });
      const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'many', value: '' } });
      assert.deepEqual([completion.values.length, completion.total, completion.hasMore], [100, 150, true]);
      await client.close();
    });

    test('gives a whole list, of however many pages', async () => {
      const server = newServer({ pageSize: 7 });
      for (let index = 0; index < 50; index++) server.registerTool(`t${index}`, {}, () => 'x');
      const wire = new Wire();
      const client = await linked(server, { mode, ontrace: wire.ontrace });
      const { tools, nextCursor } = await client.listTools();
      assert.deepEqual(tools.map((tool) => tool.name), Array.from({ length: 50 }, (_, index) => `t${index}`));
      assert.deepEqual([nextCursor, wire.sent('tools/list')], [undefined, 8]);
      const page = await client.listTools({ cursor: wire.messages.find(({ result }) => result?.['nextCursor'])?.result?.['nextCursor'] });
      assert.equal(page.tools[0]?.name, 't7');
      await assert.rejects(client.listTools({ cursor: 'never given' }), { code: -32602 });
      await client.close();
    });

    test('what a function says before its answer is written before it', async () => {
      const server = newServer();
      server.registerTool('report', {}, async (ctx) => {
        const { notify, progress, log, _meta } = ctx.mcpReq;
        progress({ progress: 1, total: 2, message: 'half' });
        // The form of the official SDK; less than before is left out.
        await notify({ method: 'notifications/progress', params: { progressToken: _meta?.['progressToken'], progress: 1 } });
        await notify({ method: 'notifications/progress', params: { progressToken: _meta?.['progressToken'], progress: 2 } });
        await log('info', { rows: 3 }, 'db');
        await log('debug', 'too mild');
        await notify({ method: 'notifications/message', params: { level: 'error', data: 'x' } });
        return 'done';
      });
      const log: unknown[] = [];
      const client = await linked(server, { mode });
      client.setNotificationHandler('notifications/message', ({ params }) => void log.push(params?.['data']));
      if (mode === 'legacy') await client.setLoggingLevel('info');
      const onprogress = ({ progress }: { progress: number }): void => void log.push(progress);
      await client.callTool({ name: 'report' }, { onprogress, logLevel: 'info' });
      assert.deepEqual(log, [1, 2, { rows: 3 }, 'x']);
      // Without being asked for, none of it goes out, but for the connection's own level.
      log.length = 0;
      await client.callTool({ name: 'report' });
      assert.deepEqual(log, mode === 'legacy' ? [{ rows: 3 }, 'x'] : []);
      await client.close();
    });

    test('a cancelled call aborts its signal, and nothing is answered', async () => {
      const server = newServer();
      const reasons: unknown[] = [];
      let started: () => void = () => {};
      const running = new Promise<void>((resolve) => (started = resolve));
      server.registerTool('wait', {}, (ctx) => {
        started();
        return new Promise((_, reject) => ctx.mcpReq.signal.addEventListener('abort', () => reject(ctx.mcpReq.signal.reason)));
      });
      server.registerTool('late', {}, async (ctx) => {
        started();
        await turn();
        while (!ctx.mcpReq.signal.aborted) await turn();
        reasons.push(ctx.mcpReq.signal.reason);
        return 'too late';
      });
      server.onerror = (error) => assert.fail(error);
      const wire = new Wire();
      const client = await linked(server, { mode, ontrace: wire.ontrace });
      for (const name of ['wait', 'late']) {
        const controller = new AbortController();
        const call = client.callTool({ name }, { signal: controller.signal });
        await running;
        while (connectionsOf(server)[0]?.stats.inbound === 0) await turn();
        controller.abort(new Error('enough'));
        await assert.rejects(call, /enough/);
        await client.ping();
        while (name === 'late' && reasons.length === 0) await turn();
      }
      assert.equal(wire.messages.filter(({ direction, result }) => direction === 'received' && result?.['content']).length, 0);
      assert.match(String(reasons[0]), /enough/);
      assertIdle(client, server);
      await client.close();
    });

    test('methods of your own, with their errors', async () => {
      const server = newServer();
      server.setRequestHandler('acme/add', ({ params }) => ({ sum: Number(params?.['a']) + Number(params?.['b']) }));
      server.setRequestHandler('acme/fail', () => {
        throw new McpError(-32099, 'no', [1]);
      });
      server.setRequestHandler('acme/ext', () => ({ ok: true }), { extension: 'com.acme/ext' });
      const client = await linked(server, { mode });
      assert.equal((await client.request<{ sum: number }>({ method: 'acme/add', params: { a: 1, b: 2 } })).sum, 3);
      await assert.rejects(client.request({ method: 'acme/fail' }), { code: -32099, message: 'no', data: [1] });
      await assert.rejects(client.request({ method: 'acme/ext' }), { code: mode === 'auto' ? -32021 : -32601 });
      const extended = await linked(server, { mode, capabilities: { extensions: { 'com.acme/ext': {} } } });
      assert.equal((await extended.request<{ ok: boolean }>({ method: 'acme/ext' })).ok, true);
      assert.throws(() => server.setRequestHandler('tools/list', () => ({})), UsageError);
      await client.close();
      await extended.close();
    });

    test('a function sees who calls', async () => {
      const server = newServer();
      const seen: unknown[] = [];
      server.registerTool('who', {}, ({ mcpReq }) => {
        const { method, protocolVersion, clientInfo, clientCapabilities, _meta } = mcpReq;
        seen.push({ method, protocolVersion, clientInfo, clientCapabilities, mine: _meta?.['x/mine'] });
        return 'you';
      });
      const client = await linked(server, { mode, capabilities: { roots: {} } });
      await client.callTool({ name: 'who', _meta: { 'x/mine': 7 } });
      assert.deepEqual(seen, [
        { method: 'tools/call', protocolVersion: revision, clientInfo: { name: 'test', version: '1.0.0' }, clientCapabilities: { roots: {} }, mine: 7 },
      ]);
      await client.close();
    });

    test('fifty thousand calls, half of them failing, leave nothing behind', { timeout: 120_000 }, async () => {
      const server = newServer();
      server.registerTool('echo', { inputSchema: { type: 'object' } }, ({ fails }) => {
        if (fails) throw new Error('asked to');
        return 'x';
      });
      const client = await linked(server, { mode });
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let index = next++; index < 50_000; index = next++) await client.callTool({ name: 'echo', arguments: { fails: index % 2 } });
      };
      await Promise.all(Array.from({ length: 64 }, worker));
      assertIdle(client, server);
      await client.close();
    });
  });
}

test('a server serves many clients at once, and forgets those that left', async () => {
  const server = newServer();
  server.registerTool('x', {}, () => 'x');
  let closed = 0;
  server.onclose = () => closed++;
  for (let round = 0; round < 50; round++) {
    const clients = await Promise.all(Array.from({ length: 20 }, (_, index) => linked(server, { mode: ERAS[index % 2]?.mode })));
    await Promise.all(clients.map((client) => client.callTool({ name: 'x' })));
    assert.equal(connectionsOf(server).length, 20);
    await Promise.all(clients.map((client) => client.close()));
    while (server.isConnected()) await turn();
  }
  assert.equal(closed, 1000);
});

test('close ends all connections, aborts what runs and rejects what waits', async () => {
  const server = newServer();
  let aborted = 0;
  server.registerTool('wait', {}, (ctx) => {
    ctx.mcpReq.signal.addEventListener('abort', () => aborted++);
    return new Promise(() => {});
  });
  const clients = await Promise.all(ERAS.map(({ mode }) => linked(server, { mode })));
  const calls = clients.map((client) => client.callTool({ name: 'wait' }));
  while (connectionsOf(server).some((connection) => connection.stats.inbound === 0)) await turn();
  await server.close();
  for (const call of calls) await assert.rejects(call, { kind: 'closed' });
  assert.deepEqual([aborted, server.isConnected()], [2, false]);
});

test('the handshake tells the server who came', async () => {
  const server = newServer();
  const seen: unknown[] = [];
  server.oninitialized = () => seen.push(server.getClientVersion(), server.getClientCapabilities());
  const client = await linked(server, { mode: 'legacy', capabilities: { roots: { listChanged: true } } });
  await turn();
  assert.deepEqual(seen, [{ name: 'test', version: '1.0.0' }, { roots: { listChanged: true } }]);
  let told = 0;
  server.setNotificationHandler('notifications/roots/list_changed', () => void told++);
  for (let index = 0; index < 10; index++) await client.sendRootsListChanged();
  await client.ping();
  assert.equal(told, 1);
  await server.ping();
  await assert.rejects(server.request({ method: 'sampling/createMessage', params: {} }), { kind: 'not_negotiated' });
  await client.close();
});

test('what is wrong with a registration is said at once', () => {
  const server = newServer();
  const loose = server as unknown as Record<string, (...args: unknown[]) => unknown>;
  server.registerTool('taken', {}, () => 'x');
  server.registerResource('r', 'x://1', {}, () => ({ contents: [] }));
  const nothing = (): object => ({ contents: [] });
  const cases: [run: () => unknown, message: RegExp][] = [
    [() => server.registerTool('taken', {}, () => 'x'), /"taken" exists already/],
    [() => server.registerTool('', {}, () => 'x'), /a name that is not empty/],
    [() => loose['registerTool']?.('x', {}), /needs a function/],
    [() => loose['registerTool']?.('x', { inputSchema: 5 }, nothing), /inputSchema of the tool "x" must be a schema/],
    [() => loose['registerTool']?.('x', { inputSchema: { a: 5 } }, nothing), /"inputSchema" must have "type": "object"/],
    [() => server.registerResource('again', 'x://1', {}, () => ({ contents: [] })), /"x:\/\/1" exists already/],
    [() => server.registerResource('bad', 'no uri', {}, () => ({ contents: [] })), /needs a whole URI/],
    [() => server.registerResource('bad', new ResourceTemplate('x://{open'), {}, () => ({ contents: [] })), /x:\/\/\{open/],
    [() => new ResourceTemplate('x://{a}', { list: 5 } as never), /the list of the template x:\/\/\{a\} must be a function/],
    [() => loose['setRequestHandler']?.('a/b'), /needs a function/],
    [() => new McpServer({ name: 'x' } as never), /needs a name and a version/],
    [() => new McpServer(INFO, { pageSize: 0 }), /"pageSize" of McpServer must be a whole number from 1 up; it is 0/],
  ];
  for (const [run, message] of cases) assert.throws(run, (error) => error instanceof UsageError && message.test(error.message), String(message));
});

test('an end of a pair connects once', async () => {
  const server = newServer();
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  await assert.rejects(server.connect(far), { kind: 'usage', message: /connected before/ });
  await assert.rejects(server.connect({} as never), { kind: 'usage', message: /needs a transport/ });
  await near.close();
  while (server.isConnected()) await turn();
});
