/**
 * Schemas of zod 3, which writes no JSON Schema itself.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { McpServer } from 'oxmcp';
import { z } from 'zod3';

import { zod3ToJson } from '../dist/zod3.js';
import { linked, textOf } from './support.js';

enum Colour {
  Red,
  Blue = 'blue',
}

const text = { type: 'string' };

describe('as JSON Schema', () => {
  interface Tree {
    name: string;
    children: Tree[];
  }
  const tree: z.ZodType<Tree> = z.lazy(() => z.object({ name: z.string(), children: z.array(tree) }));
  const cases: [name: string, schema: unknown, json: object, output?: object][] = [
    ['text', z.string().min(1).max(5).describe('d'), { type: 'string', minLength: 1, maxLength: 5, description: 'd' }],
    ['text of a length', z.string().length(3), { type: 'string', minLength: 3, maxLength: 3 }],
    ['text in a form', z.string().email(), { type: 'string', format: 'email' }],
    ['text of a pattern', z.string().regex(/^a+$/), { type: 'string', pattern: '^a+$' }],
    ['text of a pattern that JSON Schema has not', z.string().regex(/^a+$/i), text],
    ['integers', z.number().int().min(1).lt(9).multipleOf(2), { type: 'integer', minimum: 1, exclusiveMaximum: 9, multipleOf: 2 }],
    ['booleans', z.boolean(), { type: 'boolean' }],
    ['nothing', z.null(), { type: 'null' }],
    ['anything', z.unknown(), {}],
    ['dates', z.date(), {}],
    ['one value', z.literal(5), { type: 'number', const: 5 }],
    ['one of several', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['an enum', z.nativeEnum(Colour), { enum: [0, 'blue'] }],
    ['one of several values', z.union([z.literal('a'), z.literal('b')]), { type: 'string', enum: ['a', 'b'] }],
    ['one of several kinds', z.string().or(z.number()), { anyOf: [text, { type: 'number' }] }],
    ['both', z.intersection(z.object({ a: z.string() }), z.object({})), {
      allOf: [{ type: 'object', properties: { a: text }, required: ['a'] }, { type: 'object', properties: {} }],
    }],
    ['told apart', z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b') })]), {
      anyOf: ['a', 'b'].map((k) => ({ type: 'object', properties: { k: { type: 'string', const: k } }, required: ['k'] })),
    }],
    ['nullable', z.string().nullable(), { anyOf: [text, { type: 'null' }] }],
    ['lists', z.array(z.string()).min(1).max(2), { type: 'array', items: text, minItems: 1, maxItems: 2 }],
    ['lists of a length', z.array(z.string()).length(2), { type: 'array', items: text, minItems: 2, maxItems: 2 }],
    ['sets', z.set(z.string()), { type: 'array', uniqueItems: true, items: text }],
    ['tuples', z.tuple([z.string()]), { type: 'array', prefixItems: [text], minItems: 1, items: false }],
    ['records', z.record(z.number()), { type: 'object', additionalProperties: { type: 'number' } }],
    ['objects', z.object({ a: z.string(), b: z.string().optional(), c: z.string().default('x') }).strict(), {
      type: 'object',
      properties: { a: text, b: text, c: { ...text, default: 'x' } },
      required: ['a'],
      additionalProperties: false,
    }, {
      type: 'object',
      properties: { a: text, b: text, c: { ...text, default: 'x' } },
      required: ['a', 'c'],
      additionalProperties: false,
    }],
    ['objects with others', z.object({}).catchall(z.string()), { type: 'object', properties: {}, additionalProperties: text }],
    ['refined', z.string().refine(() => true), text],
    ['preprocessed', z.preprocess(String, z.string()), text],
    ['transformed', z.string().transform(Number), text, {}],
    ['piped', z.string().pipe(z.coerce.number()), text, { type: 'number' }],
    ['branded, read-only, caught', z.string().catch('y').brand('x').readonly(), text],
    ['recursive', tree, {
      $ref: '#/$defs/schema0',
      $defs: {
        schema0: {
          type: 'object',
          properties: { name: text, children: { type: 'array', items: { $ref: '#/$defs/schema0' } } },
          required: ['name', 'children'],
        },
      },
    }],
  ];
  for (const [name, schema, json, output] of cases) {
    test(name, () => {
      assert.deepEqual(zod3ToJson(schema as never, 'input'), json);
      assert.deepEqual(zod3ToJson(schema as never, 'output'), output ?? json);
    });
  }
});

/** As zod was before 3.24, without the Standard Schema. */
function old<Schema extends object>(schema: Schema): Schema {
  delete (schema as Record<string, unknown>)['~standard'];
  return schema;
}

describe('in tools', () => {
  const shapes: readonly [name: string, schema: () => never][] = [
    ['an object', () => z.object({ a: z.coerce.number(), b: z.string().default('x') }) as never],
    ['an object of an old zod', () => old(z.object({ a: z.coerce.number(), b: z.string().default('x') })) as never],
    ['a shape', () => ({ a: z.coerce.number(), b: z.string().default('x') }) as never],
    ['a shape of an old zod', () => ({ a: old(z.coerce.number()), b: old(z.string().default('x')) }) as never],
  ];
  for (const [name, schema] of shapes) {
    test(name, async () => {
      const server = new McpServer({ name: 's', version: '1' });
      const seen: unknown[] = [];
      server.registerTool('t', { inputSchema: schema(), outputSchema: z.object({ sum: z.number() }) }, (args: never) => {
        seen.push(args);
        return { structuredContent: { sum: (args as { a: number }).a } };
      });
      const client = await linked(server);
      assert.deepEqual((await client.listTools()).tools[0]?.inputSchema, {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'string', default: 'x' } },
        required: ['a'],
      });
      assert.deepEqual((await client.callTool({ name: 't', arguments: { a: '5', other: 1 } })).structuredContent, { sum: 5 });
      assert.deepEqual(seen, [{ a: 5, b: 'x' }]);
      assert.match(textOf(await client.callTool({ name: 't', arguments: { a: 'x', b: 1 } })) ?? '', /a: .*; b: /);
      await client.close();
    });
  }
});
