/**
 * Schemas of programs: how they are shown, how they are checked, and that one that is bad spoils no other tool.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { McpServer, type StandardSchema, type Tool } from 'oxmcp';
import * as z from 'zod';

import { linked, textOf } from './support.js';

const newServer = (): McpServer => new McpServer({ name: 'schemas', version: '1' });

/** What the list says of the tools, in their order. */
async function shown(server: McpServer): Promise<readonly Tool[]> {
  const client = await linked(server);
  const { tools } = await client.listTools();
  await client.close();
  return tools;
}

describe('what lists show', () => {
  test('zod, a shape of zod schemas, JSON Schema and nothing', async () => {
    const server = newServer();
    server.registerTool('zod', { inputSchema: z.object({ a: z.string().optional() }) }, () => 'x');
    server.registerTool('shape', { inputSchema: { a: z.string(), b: z.number().optional() } }, () => 'x');
    server.registerTool('json', { inputSchema: { type: 'object', properties: { a: { type: 'string' } } } }, () => 'x');
    server.registerTool('empty', { inputSchema: {} }, () => 'x');
    server.registerTool('nothing', {}, () => 'x');
    const tools = await shown(server);
    const parts = tools.map(({ inputSchema }) => [inputSchema.type, Object.keys(inputSchema['properties'] ?? {}), inputSchema['required']]);
    assert.deepEqual(parts, [
      ['object', ['a'], undefined],
      ['object', ['a', 'b'], ['a']],
      ['object', ['a'], undefined],
      ['object', [], undefined],
      ['object', [], undefined],
    ]);
  });

  test('a union of objects says at its root that it is one', async () => {
    const server = newServer();
    server.registerTool('union', { inputSchema: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) }, (args) => JSON.stringify(args));
    const [tool] = await shown(server);
    assert.equal(tool?.inputSchema.type, 'object');
    assert.equal((tool?.inputSchema['anyOf'] as unknown[]).length, 2);
  });

  test('the dialect, unknown keywords and the order of members stay', async () => {
    const inputSchema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { z: { type: 'string', 'x-mine': { deep: [1, null] } }, a: { type: 'array', items: [{ type: 'string' }] } },
    } as const;
    const server = newServer();
    server.registerTool('old', { inputSchema }, () => 'x');
    const [tool] = await shown(server);
    assert.equal(JSON.stringify(tool?.inputSchema), JSON.stringify(inputSchema));
  });

  test('a schema without a JSON form is reported, its tool takes what its library takes, and the list has all', async () => {
    const server = newServer();
    const errors: Error[] = [];
    server.onerror = (error) => errors.push(error);
    server.registerTool('good', { inputSchema: z.object({ a: z.string() }) }, () => 'good');
    server.registerTool('date', { inputSchema: z.object({ when: z.date().or(z.coerce.date()) }) }, ({ when }) => String(when.getUTCFullYear()));
    const library: StandardSchema<unknown, { ok: true }> = {
      '~standard': { version: 1, vendor: 'mine', validate: async (value) => (value ? { value: { ok: true } } : { issues: [{ message: 'no' }] }) },
    };
    server.registerTool('other', { inputSchema: library }, ({ ok }) => String(ok));
    const client = await linked(server);
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), ['good', 'date', 'other']);
    // What JSON cannot hold may be anything there; zod decides.
    assert.deepEqual(tools[1]?.inputSchema['properties'], { when: { anyOf: [{}, {}] } });
    assert.deepEqual(tools[2]?.inputSchema, { type: 'object' });
    assert.equal(errors.length, 1);
    assert.match(errors[0]?.message ?? '', /this version of mine does not write JSON Schema/);
    assert.equal(textOf(await client.callTool({ name: 'date', arguments: { when: '2020-02-03' } })), '2020');
    assert.equal(textOf(await client.callTool({ name: 'other', arguments: {} })), 'true');
    await client.close();
  });
});

describe('checks', () => {
  test('a schema that cannot be used is refused where it is registered, and spoils nothing else', async () => {
    const broken = { type: 'object', properties: { a: { $ref: '#/$defs/X' } } } as const;
    const server = newServer();
    const refusal = (name: string): object => ({ kind: 'usage', message: new RegExp(`"x": its "${name}": the schema cannot be used: .*/\\$defs/X`) });
    assert.throws(() => server.registerTool('x', { inputSchema: broken }, () => 'never'), refusal('inputSchema'));
    assert.throws(() => server.registerTool('x', { outputSchema: broken }, () => ({ structuredContent: {} })), refusal('outputSchema'));
    const tool = server.registerTool('x', { inputSchema: { type: 'object' } }, () => 'one');
    assert.throws(() => tool.update({ inputSchema: broken }), refusal('inputSchema'));
    const client = await linked(server);
    assert.deepEqual((await client.listTools()).tools, [{ name: 'x', inputSchema: { type: 'object' } }]);
    assert.equal(textOf(await client.callTool({ name: 'x' })), 'one');
    await client.close();
  });

  test('a server of others may have schemas that do not resolve: only their own tools suffer', async () => {
    const server = new McpServer({ name: 'others', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({
      tools: [{ name: 'bad', inputSchema: { type: 'object' }, outputSchema: { $ref: '#/$defs/X' } }, { name: 'good', inputSchema: { type: 'object' } }],
    }));
    server.setRequestHandler('tools/call', () => ({ content: [], structuredContent: { a: 1 } }));
    const client = await linked(server);
    assert.equal((await client.listTools()).tools.length, 2);
    assert.deepEqual((await client.callTool({ name: 'good' })).structuredContent, { a: 1 });
    await assert.rejects(client.callTool({ name: 'bad' }), { kind: 'protocol', message: /\$defs\/X/ });
    await client.close();
  });

  test('a draft-07 schema is judged by its own rules', async () => {
    const inputSchema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { p: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] } },
    } as const;
    const server = newServer();
    server.registerTool('pair', { inputSchema }, () => 'ok');
    const client = await linked(server);
    const call = (p: unknown[]): Promise<boolean | undefined> => client.callTool({ name: 'pair', arguments: { p } }).then(({ isError }) => isError);
    assert.equal(await call(['a', 1]), undefined);
    assert.equal(await call([1, 'a']), true);
    await client.close();
  });

  test('what a library makes of the arguments is what the function gets', async () => {
    const server = newServer();
    const seen: unknown[] = [];
    server.registerTool(
      'parse',
      { inputSchema: z.object({ id: z.string(), n: z.coerce.number().default(4), tags: z.string().transform((text) => text.split(',')) }) },
      (args) => {
        seen.push(args);
        return 'x';
      },
    );
    const client = await linked(server);
    await client.callTool({ name: 'parse', arguments: { id: '00123', n: '5', tags: 'a,b' } });
    await client.callTool({ name: 'parse', arguments: { id: '1e3', tags: '' } });
    assert.deepEqual(seen, [
      { id: '00123', n: 5, tags: ['a', 'b'] },
      { id: '1e3', n: 4, tags: [''] },
    ]);
    const refused = textOf(await client.callTool({ name: 'parse', arguments: { n: 'x' } })) ?? '';
    for (const part of [/id: /, /n: /, /tags: /]) assert.match(refused, part);
    await client.close();
  });

  test('text stays text, whatever it looks like, and what is left out is missing', async () => {
    const seen: unknown[] = [];
    const server = new McpServer({ name: 's', version: '1' });
    const zod = z.object({ id: z.string(), note: z.string().optional() });
    const json = { type: 'object', properties: { id: { type: 'string' }, note: { type: 'string' } }, required: ['id'] } as const;
    server.registerTool('zod', { inputSchema: zod }, (args) => `${seen.push(args)}`);
    server.registerTool('json', { inputSchema: json }, (args) => `${seen.push(args)}`);
    const client = await linked(server);
    for (const { inputSchema } of (await client.listTools()).tools) {
      assert.deepEqual([inputSchema.required, (inputSchema.properties as Record<string, object>)['note']], [['id'], { type: 'string' }]);
    }
    for (const name of ['zod', 'json']) {
      for (const id of ['00123', '1e5', 'true', 'null', '{"a":1}']) await client.callTool({ name, arguments: { id } });
    }
    const ids = ['00123', '1e5', 'true', 'null', '{"a":1}'].map((id) => ({ id }));
    assert.deepEqual(seen, [...ids, ...ids]);
    await client.close();
  });

  test('a check may take its time, and its failure is no answer of the tool', async () => {
    const server = newServer();
    const taken = z.object({ name: z.string().refine(async (name) => name !== 'taken', 'is taken') });
    server.registerTool('name', { inputSchema: taken, outputSchema: z.object({ ok: z.literal(true) }) }, () => ({ structuredContent: { ok: true } }));
    const client = await linked(server);
    assert.deepEqual((await client.callTool({ name: 'name', arguments: { name: 'free' } })).structuredContent, { ok: true });
    const refused = await client.callTool({ name: 'name', arguments: { name: 'taken' } });
    assert.equal(refused.isError, true);
    assert.match(textOf(refused) ?? '', /name: is taken/);
    await client.close();
  });

  test('a client checks structured content against the schema it was shown', async () => {
    const server = newServer();
    const outputSchema = z.object({ n: z.number() });
    const tool = server.registerTool('n', { outputSchema }, () => ({ structuredContent: { n: 1 } }));
    const client = await linked(server, { mode: 'legacy' });
    await client.listTools();
    tool.update({ outputSchema: z.object({ n: z.string() }), callback: () => ({ structuredContent: { n: 'text' } }) });
    await assert.rejects(client.callTool({ name: 'n' }), { kind: 'protocol', message: /n/ });
    // The new list has the new schema.
    await client.listTools(undefined, { fresh: true });
    assert.deepEqual((await client.callTool({ name: 'n' })).structuredContent, { n: 'text' });
    await client.close();
  });

  test('content of any kind passes, with bytes in the standard alphabet', async () => {
    const server = newServer();
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    server.registerTool('all', {}, () => ({
      content: [
        { type: 'image', data: bytes, mimeType: 'image/png' } as never,
        { type: 'resource', resource: { uri: 'x://1', blob: bytes } } as never,
        { type: 'resource_link', uri: 'x://2', name: 'two' },
        { type: 'hologram', x: 1 } as never,
      ],
    }));
    const client = await linked(server);
    const { content } = await client.callTool({ name: 'all' });
    const base64 = Buffer.from(bytes).toString('base64');
    assert.deepEqual(content, [
      { type: 'image', data: base64, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'x://1', blob: base64 } },
      { type: 'resource_link', uri: 'x://2', name: 'two' },
      { type: 'hologram', x: 1 },
    ]);
    await client.close();
  });

  test('a proxy passes arguments and results on, digits and all', async () => {
    const server = newServer();
    const properties = { id: { type: 'integer' } } as const;
    server.registerTool('echo', { inputSchema: { type: 'object', properties, required: ['id'] }, rawJson: true }, (args) => {
      return `{"content":[],"structuredContent":\n${args}}`;
    });
    server.registerTool('broken', { rawJson: true }, (args) => args.slice(1));
    assert.throws(() => server.registerTool('zod', { inputSchema: z.object({}), rawJson: true }, (args) => args), { kind: 'usage', message: /JSON Schema/ });
    const client = await linked(server);
    const text = await client.callTool({ name: 'echo', arguments: { id: 9007199254740993n, text: '"ü' } }, { rawJson: true });
    assert.match(text, /"structuredContent":\s*\{"id":9007199254740993,"text":"\\"ü"\}/);
    assert.equal((await client.callTool({ name: 'echo', arguments: { id: 'x' } })).isError, true);
    await assert.rejects(client.callTool({ name: 'broken' }), { code: -32603, message: /JSON text of an object/ });
    await client.close();
  });

  test('large integers keep their digits in results, as bigints', async () => {
    const server = newServer();
    server.registerTool('next', {}, () => ({ structuredContent: { id: 9007199254740993n } }));
    const client = await linked(server);
    const text = await client.callTool({ name: 'next' }, { rawJson: true });
    assert.match(text, /"structuredContent":\{"id":9007199254740993\}/);
    await client.close();
  });
});
