/**
 * What functions give: results that are none are refused with the name of what is wrong, and those of an output schema go out as the
 * schema has made them.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { type CallToolResult, McpServer, type RegisteredTool, ResourceTemplate } from 'oxmcp';
import * as z from 'zod';
import * as z3 from 'zod3';

import { ERAS, linked, played, textOf, turn } from './support.js';

const MODERN = ERAS[0];
const LEGACY = ERAS[1];

interface Served {
  readonly server: McpServer;
  readonly errors: string[];
}

function newServer(): Served {
  const server = new McpServer({ name: 'results', version: '1' });
  const errors: string[] = [];
  server.onerror = ({ message }) => errors.push(message);
  return { server, errors };
}

/** A tool that gives what would not be typed so. */
function gives(server: McpServer, name: string, value: unknown, config: object = {}): RegisteredTool {
  return server.registerTool(name, config, () => value as never);
}

const WRONG: readonly (readonly [name: string, result: unknown, why: RegExp])[] = [
  ['null', { content: [null] }, /content\[0\] must be a block of content, such as \{ type: 'text', text: '…' \}; it is null/],
  ['string', { content: ['x'] }, /content\[0\] must be a block .* it is "x"/],
  ['untyped', { content: [{ text: 'x' }] }, /content\[0\] needs a string "type"/],
  ['no text', { content: [{ type: 'text', text: 'a' }, { type: 'text' }] }, /content\[1\], of type "text", needs a string "text"; it is undefined/],
  ['number', { content: [{ type: 'text', text: 5 }] }, /needs a string "text"; it is 5/],
  ['no bytes', { content: [{ type: 'image', data: {}, mimeType: 'image/png' }] }, /needs "data", bytes or a string of base64; it is an object/],
  ['no type', { content: [{ type: 'audio', data: '' }] }, /of type "audio", needs a string "mimeType"/],
  ['no link', { content: [{ type: 'resource_link', uri: 'x:1' }] }, /needs a string "name"/],
  ['no resource', { content: [{ type: 'resource', resource: { uri: 'x:1' } }] }, /content\[0\]\.resource needs a string "text", or a "blob"/],
  ['annotations', { content: [{ type: 'text', text: 'x', annotations: 5 }] }, /needs an object as its "annotations"/],
  ['isError', { content: [], isError: 'true' }, /needs true or false as its "isError"; it is "true"/],
  ['_meta', { content: [], _meta: 5 }, /needs an object as its "_meta"/],
  ['NaN', { content: [], structuredContent: { a: [1, { b: NaN }] } }, /its member structuredContent\.a\[1\]\.b is NaN, which JSON has no number for/],
  ['Infinity', { structuredContent: { a: -Infinity } }, /its member a is -Infinity/],
  ['no date', { structuredContent: { a: new Date(NaN) } }, /its member a is a Date without a time/],
  ['Map', { structuredContent: { a: new Map([[1, 2]]) } }, /its member a is a Map; give an object/],
  ['Set', { content: [], structuredContent: { a: [new Set([1])] } }, /structuredContent\.a\[0\] is a Set; give an array/],
  ['promise', { structuredContent: { a: Promise.resolve(1) } }, /its member a is a promise; wait for it/],
];

describe('results of tools', () => {
  test('one that is none names what is wrong, to both sides', async () => {
    const { server, errors } = newServer();
    for (const [name, value] of WRONG) gives(server, name, value);
    const client = await linked(server);
    for (const [name, , why] of WRONG) {
      await assert.rejects(client.callTool({ name }), ({ code, message }) => code === -32603 && message.includes(`"${name}"`) && why.test(message), name);
      assert.match(errors.at(-1) ?? '', why);
    }
    assert.equal(errors.length, WRONG.length);
    await client.close();
  });

  test('what JSON can hold goes out, whatever it looks like', async () => {
    const { server, errors } = newServer();
    const structuredContent = { none: null, empty: {}, text: 'null {}', at: new Date(0), when: { toJSON: () => ({}) }, left: undefined };
    gives(server, 'all', { content: [{ type: 'hologram', data: null }, { type: 'image', data: new Uint16Array([1]), mimeType: 'x/y' }], structuredContent });
    gives(server, 'buffer', { content: [{ type: 'image', data: new ArrayBuffer(2), mimeType: 'x/y' }] });
    const client = await linked(server);
    const all = await client.callTool({ name: 'all' });
    assert.deepEqual(all.content, [{ type: 'hologram', data: null }, { type: 'image', data: 'AQA=', mimeType: 'x/y' }]);
    assert.deepEqual(all.structuredContent, { none: null, empty: {}, text: 'null {}', at: '1970-01-01T00:00:00.000Z', when: {} });
    assert.deepEqual((await client.callTool({ name: 'buffer' })).content, [{ type: 'image', data: 'AAA=', mimeType: 'x/y' }]);
    assert.deepEqual(errors, []);
    await client.close();
  });

  test('a number that is none is refused in arguments as well', async () => {
    const { server } = newServer();
    server.registerTool('any', { inputSchema: { type: 'object' } }, () => 'x');
    const client = await linked(server);
    await assert.rejects(client.callTool({ name: 'any', arguments: { a: NaN } }), { kind: 'usage', message: /arguments has no JSON form: its member a is NaN/ });
    await client.close();
  });

  test('what a tool throws is told by its message', async () => {
    const { server } = newServer();
    const thrown: readonly (readonly [unknown, string])[] = [
      [new AggregateError([new Error('a'), 'b', new AggregateError([new Error('c')], 'd')]), 'a; b; d: c'],
      [new AggregateError(Array.from({ length: 12 }, (_, index) => new Error(`${index}`)), 'all'), 'all: 0; 1; 2; 3; 4; 5; 6; 7; 8; 9; and 2 more'],
      [{ message: 'a plain object' }, 'a plain object'],
      [Object.create(null), 'object that has no text'],
      ['text', 'text'],
    ];
    thrown.forEach(([value], index) => server.registerTool(`${index}`, {}, () => { throw value; }));
    const client = await linked(server);
    for (const [index, [, text]] of thrown.entries()) assert.equal(textOf(await client.callTool({ name: `${index}` })), text);
    await client.close();
  });
});

describe('output schemas', () => {
  const member = { n: z.number().default(4) };
  const SCHEMAS: readonly (readonly [string, unknown])[] = [
    ['zod', z.object(member)],
    ['a shape of zod', member],
    ['zod 3', z3.object({ n: z3.number().default(4) })],
    ['a shape of zod 3', { n: z3.number().default(4) }],
  ];
  for (const [name, outputSchema] of SCHEMAS) {
    test(`${name}: what is sent is what the schema made of it, and fits what is shown`, async () => {
      const { server } = newServer();
      gives(server, 'more', { structuredContent: { n: 1, extra: 2 } }, { outputSchema });
      gives(server, 'default', { content: [], structuredContent: {} }, { outputSchema });
      for (const { mode } of ERAS) {
        const client = await linked(server, { mode });
        // From now on the client checks by what it was shown.
        await client.listTools();
        const more = await client.callTool({ name: 'more' });
        assert.deepEqual([more.structuredContent, textOf(more)], [{ n: 1 }, '{"n":1}']);
        assert.deepEqual((await client.callTool({ name: 'default' })).structuredContent, { n: 4 });
        await client.close();
      }
    });
  }

  test('text alone is no result of them, by whatever schema', async () => {
    const { server, errors } = newServer();
    gives(server, 'zod', 'text', { outputSchema: z.object({}) });
    gives(server, 'json', 'text', { outputSchema: { type: 'object' } });
    gives(server, 'failed', { content: [{ type: 'text', text: 'no' }], isError: true }, { outputSchema: z.object({ n: z.number() }) });
    const client = await linked(server);
    for (const name of ['zod', 'json']) {
      await assert.rejects(client.callTool({ name }), { code: -32603, message: /does not fit its output schema: it is text alone/ });
    }
    assert.equal(errors.length, 2);
    assert.equal((await client.callTool({ name: 'failed' })).isError, true);
    await client.close();
  });

  for (const { mode } of ERAS) {
    test(`of what is no object are ${mode === 'legacy' ? 'not shown in' : 'part of'} this revision, and checked (${mode})`, async () => {
      const { server } = newServer();
      gives(server, 'array', { structuredContent: [1, 2] }, { outputSchema: z.array(z.number()) });
      gives(server, 'string', { structuredContent: 'x' }, { outputSchema: z.string() });
      gives(server, 'union', { structuredContent: 'u' }, { outputSchema: z.union([z.string(), z.object({ a: z.string() })]) });
      gives(server, 'json', { structuredContent: [1] }, { outputSchema: { type: 'array', items: { type: 'integer' } } });
      gives(server, 'wrong', { structuredContent: ['x'] }, { outputSchema: z3.array(z3.number()) });
      gives(server, 'wrong json', { structuredContent: ['x'] }, { outputSchema: { type: 'array', items: { type: 'integer' } } });
      gives(server, 'objects', { structuredContent: { a: 1 } }, { outputSchema: z.union([z.object({ a: z.number() }), z.object({ b: z.number() })]) });
      const client = await linked(server, { mode });
      const { tools } = await client.listTools();
      const shown = Object.fromEntries(tools.map(({ name, outputSchema }) => [name, outputSchema && (outputSchema.type ?? 'anyOf')]));
      const older = { array: undefined, string: undefined, union: undefined, json: undefined, wrong: undefined, 'wrong json': undefined };
      const newer = { array: 'array', string: 'string', union: 'anyOf', json: 'array', wrong: 'array', 'wrong json': 'array' };
      assert.deepEqual(shown, { ...(mode === 'legacy' ? older : newer), objects: 'object' });
      const values: readonly (readonly [string, unknown])[] = [['array', [1, 2]], ['string', 'x'], ['union', 'u'], ['json', [1]]];
      for (const [name, value] of values) {
        const result = await client.callTool({ name });
        assert.deepEqual([result.structuredContent, textOf(result)], [mode === 'legacy' ? undefined : value, JSON.stringify(value)]);
      }
      assert.deepEqual((await client.callTool({ name: 'objects' })).structuredContent, { a: 1 });
      for (const name of ['wrong', 'wrong json']) await assert.rejects(client.callTool({ name }), { code: -32603, message: /does not fit its output schema/ });
      await client.close();
    });
  }

  test('structured content that is no object goes to clients of 2026-07-28 alone; the others have its text', async () => {
    const { server } = newServer();
    const values = [[1], 'x', 5, null];
    values.forEach((structuredContent, index) => gives(server, `${index}`, { structuredContent }));
    gives(server, 'object', { structuredContent: { a: 1 } });
    for (const { mode } of [MODERN, LEGACY]) {
      const client = await linked(server, { mode });
      for (const [index, value] of values.entries()) {
        const result: CallToolResult = await client.callTool({ name: `${index}` });
        assert.equal(textOf(result), JSON.stringify(value));
        assert.deepEqual('structuredContent' in result ? result.structuredContent : 'absent', mode === 'legacy' ? 'absent' : value);
      }
      assert.deepEqual((await client.callTool({ name: 'object' })).structuredContent, { a: 1 });
      await client.close();
    }
  });
});

describe('results of resources and prompts', () => {
  test('one that is none names what is wrong, to both sides', async () => {
    const { server, errors } = newServer();
    const resources: readonly (readonly [unknown, RegExp])[] = [
      [{}, /needs an array "contents"; it is undefined/],
      [{ contents: [{ type: 'text', text: 'x' }] }, /contents\[0\] needs a string "uri"/],
      [{ contents: [{ uri: 'a:1' }] }, /contents\[0\] needs a string "text", or a "blob"/],
      [{ contents: [{ uri: 'a:1', text: 'x' }, { uri: 'a:2', text: 5 }] }, /contents\[1\] needs a string "text"; it is 5/],
      [{ contents: [{ uri: 'a:1', blob: {} }] }, /contents\[0\] needs "blob", bytes/],
      [{ contents: [null] }, /contents\[0\] must be an object/],
    ];
    const prompts: readonly (readonly [unknown, RegExp])[] = [
      [{}, /needs an array "messages"/],
      [{ messages: [null] }, /messages\[0\] must be a message/],
      [{ messages: [{ role: 'system', content: { type: 'text', text: 'x' } }] }, /needs the role "user" or "assistant"; it has "system"/],
      [{ messages: [{ role: 'user', content: 'x' }] }, /messages\[0\]\.content must be a block of content/],
      [{ messages: [{ role: 'user', content: { type: 'text' } }] }, /messages\[0\]\.content, of type "text", needs a string "text"/],
    ];
    resources.forEach(([value], index) => server.registerResource('r', `r://${index}`, {}, () => value as never));
    prompts.forEach(([value], index) => server.registerPrompt(`${index}`, {}, () => value as never));
    const client = await linked(server);
    for (const [index, [, message]] of resources.entries()) await assert.rejects(client.readResource({ uri: `r://${index}` }), { code: -32603, message });
    for (const [index, [, message]] of prompts.entries()) await assert.rejects(client.getPrompt({ name: `${index}` }), { code: -32603, message });
    assert.equal(errors.length, resources.length + prompts.length);
    await client.close();
  });

  test('bytes are written in base64, in prompts as well', async () => {
    const { server } = newServer();
    const image = { type: 'image', data: new Uint8Array([1, 2]), mimeType: 'x/y' };
    server.registerPrompt('image', {}, () => ({ messages: [{ role: 'user', content: image }] }) as never);
    server.registerResource('blob', 'r://blob', {}, ({ href }) => ({ contents: [{ uri: href, blob: new Uint8Array([3]) }] }));
    const client = await linked(server);
    assert.deepEqual((await client.getPrompt({ name: 'image' })).messages[0]?.content, { type: 'image', data: 'AQI=', mimeType: 'x/y' });
    assert.deepEqual((await client.readResource({ uri: 'r://blob' })).contents, [{ uri: 'r://blob', blob: 'Aw==' }]);
    await client.close();
  });

  test('a template that cannot list its resources costs the client no others', async () => {
    const { server, errors } = newServer();
    server.registerResource('static', 'r://static', {}, () => ({ contents: [] }));
    const read = (): { contents: [] } => ({ contents: [] });
    const listing = (name: string, list: () => unknown): void => {
      server.registerResource(name, new ResourceTemplate(`${name}://{x}`, { list: list as never }), {}, read);
    };
    listing('throws', () => { throw new Error('out of order'); });
    listing('nothing', () => undefined);
    listing('nameless', () => ({ resources: [{ uri: 'nameless://1' }] }));
    listing('good', () => ({ resources: [{ uri: 'good://1', name: 'one' }] }));
    const client = await linked(server);
    const { resources } = await client.listResources();
    assert.deepEqual(resources.map(({ uri }) => uri), ['r://static', 'good://1']);
    assert.deepEqual(errors.length, 3);
    assert.match(errors.join('\n'), /out of order/);
    assert.match(errors.join('\n'), /must give \{ resources/);
    assert.match(errors.join('\n'), /resources\[0\] needs a string "name"/);
    await client.close();
  });
});

describe('registering', () => {
  test('what lists could not show is refused by its name', () => {
    const { server } = newServer();
    const tools: readonly (readonly [unknown, RegExp])[] = [
      [null, /registerTool\('x', …\) needs an object as its second argument.*; it is null/],
      [undefined, /needs an object as its second argument.*; it is undefined/],
      [{ title: 5 }, /"title" of the tool "x" must be a string; it is 5/],
      [{ icons: ['x'] }, /"icons\[0\]" of the tool "x" must be an object with a URL as "src"; it is "x"/],
      [{ icons: [{ src: 'x', sizes: '48x48' }] }, /"icons\[0\]\.sizes" .* must be an array of strings/],
      [{ annotations: 5 }, /"annotations" .* must be an object/],
      [{ annotations: { readOnlyHint: 'yes' } }, /"annotations\.readOnlyHint" .* must be true or false; it is "yes"/],
    ];
    for (const [config, message] of tools) assert.throws(() => server.registerTool('x', config as never, () => 'x'), { kind: 'usage', message });
    const metadata: readonly (readonly [unknown, RegExp])[] = [
      [5, /the metadata of the resource "x" must be an object; it is 5/],
      [{ title: 5 }, /"title" of the resource "x" must be a string/],
      [{ size: '5' }, /"size" .* must be a number/],
      [{ annotations: { audience: 'user' } }, /"annotations\.audience" .* must be an array/],
      [{ _meta: 5 }, /"_meta" .* must be an object/],
    ];
    for (const [given, message] of metadata) {
      assert.throws(() => server.registerResource('x', 'x://1', given as never, () => ({ contents: [] })), { kind: 'usage', message });
    }
    assert.throws(() => server.registerPrompt('x', { icons: {} } as never, () => ({ messages: [] })), { kind: 'usage', message: /"icons" .* must be an array/ });
    for (const name of [5, null, undefined]) assert.throws(() => server.registerTool(name as never, {}, () => 'x'), { kind: 'usage', message: /needs a name that is a string/ });
  });

  test('arguments that JSON cannot carry are refused, with what would be right', () => {
    const { server } = newServer();
    const at = new Date(0);
    const schemas: readonly (readonly [unknown, RegExp])[] = [
      [z.object({ when: z.date() }), /its member "when" is a date; use z\.iso\.datetime\(\), or z\.coerce\.date\(\)/],
      [{ n: z.bigint().optional() }, /its member "n" is a big integer/],
      [z.object({ a: z.object({ b: z.array(z.map(z.string(), z.number())) }) }), /its member "a\.b\.\[\]" is a Map/],
      [z.object({ a: z.set(z.string()).default(new Set()) }), /"a" is a Set/],
      [z3.object({ when: z3.date().nullable() }), /its member "when" is a date/],
      [{ n: z3.bigint() }, /its member "n" is a big integer/],
      [z.string(), /must be a schema of an object, since arguments have names; it is one of string/],
      [z.array(z.string()), /it is one of array/],
    ];
    for (const [inputSchema, message] of schemas) assert.throws(() => server.registerTool('x', { inputSchema } as never, () => 'x'), { kind: 'usage', message });
    const node = z.object({ value: z.coerce.date(), get next() { return node.optional(); } });
    const fine: readonly unknown[] = [
      z.object({ when: z.coerce.date(), n: z.coerce.bigint(), at: z.date().or(z.string()), then: z.preprocess((text) => new Date(String(text)), z.date()) }),
      z.object({ when: z.string().transform(() => at).pipe(z.date()) }),
      z3.object({ when: z3.coerce.date(), then: z3.preprocess(() => at, z3.date()) }),
      node,
    ];
    fine.forEach((inputSchema, index) => server.registerTool(`fine ${index}`, { inputSchema } as never, () => 'x'));
  });
});

describe('what is said meanwhile', () => {
  test('a report of progress that is none says what is wrong', async () => {
    const { server } = newServer();
    const reports: readonly (readonly [unknown, RegExp])[] = [
      [{ progress: 'x' }, /progress needs a number "progress", such as .*; it is "x"/],
      [undefined, /progress needs an object, such as \{ progress: 1, total: 3 \}; it is undefined/],
      [{ progress: 1, total: '2' }, /the "total" of progress must be a number; it is "2"/],
      [{ progress: 1, message: 5 }, /the "message" of progress must be a string; it is 5/],
    ];
    reports.forEach(([report], index) => server.registerTool(`${index}`, {}, (ctx) => {
      ctx.mcpReq.progress(report as never);
      return 'reported';
    }));
    const client = await linked(server);
    for (const [index, [, why]] of reports.entries()) {
      const result = await client.callTool({ name: `${index}` }, { onprogress: () => {} });
      assert.equal(result.isError, true);
      assert.match(textOf(result) ?? '', why);
    }
    await client.close();
  });

  test('a path to listen on begins with a slash', async () => {
    const { server } = newServer();
    for (const path of ['mcp', '/mcp?x', '/a b']) {
      await assert.rejects(server.listen({ path }), { kind: 'usage', message: /the path of listen must begin with "\/", as in "\/mcp"/ });
    }
  });
});

describe('a client', () => {
  test('gets content also where the server left it out', async () => {
    const { client, server } = await played();
    for (const params of [{ name: 'x' }, { name: 'x', _meta: { a: 1 } }]) {
      const call = client.callTool(params);
      await turn();
      server.say({ id: server.last['id'], result: { structuredContent: { a: 1 } } });
      assert.deepEqual(await call, { structuredContent: { a: 1 }, content: [] });
    }
    const raw = client.callTool({ name: 'x' }, { rawJson: true });
    await turn();
    server.say({ id: server.last['id'], result: { a: 1 } });
    assert.equal(await raw, '{"a":1}');
    await client.close();
  });
});
