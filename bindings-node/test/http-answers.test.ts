/**
 * How answers reach their calls over HTTP: those of one turn cross the border together.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Client, type HttpServer, McpServer, StreamableHTTPClientTransport } from 'oxmcp';
import { z } from 'zod';

import { endpointsOf } from '../dist/server.js';
import { ERAS, assertIdle, textOf, turn } from './support.js';

/** Ways in which functions give the text that they get. */
const WAYS: Readonly<Record<string, (text: string) => unknown>> = {
  object: (text) => ({ content: [{ type: 'text', text }] }),
  text: (text) => text,
  annotated: (text) => ({ content: [{ type: 'text', text, annotations: { priority: 1 } }] }),
  later: async (text) => ({ content: [{ type: 'text', text }] }),
  'much later': async (text) => {
    await turn();
    return text;
  },
  thrown: (text) => {
    throw new Error(text);
  },
};

const TEXTS = ['plain', '', 'two\nlines', 'a "quote" and a \\', 'grüße 👋', '\u0000\u2028', '123 r4 5'];

describe('answers over HTTP', { timeout: 60_000 }, () => {
  const server = new McpServer({ name: 'fixture', version: '1.0.0' });
  let http: HttpServer;

  before(async () => {
    for (const [name, give] of Object.entries(WAYS)) {
      server.registerTool(name, { inputSchema: { text: z.string() } }, ({ text }) => give(text) as never);
    }
    server.registerTool('half', {}, () => ({ content: [{ type: 'text', text: 'half \ud800 a pair' }] }));
    server.registerTool('own form', {}, () => {
      const content = [{ type: 'text', text: 'hidden', toJSON: () => ({ type: 'text', text: 'shown' }) }];
      return { content } as never;
    });
    server.registerTool('break', {}, (context) => {
      const connection = endpointsOf(server)[0]?.connectionOf(context.sessionId ?? '');
      assert.throws(() => connection?.session.provokeFault(), { kind: 'internal' });
      return 'never seen';
    });
    server.onerror = () => {};
    http = await server.listen();
  });
  after(() => server.close());

  async function connected(mode: 'auto' | 'legacy'): Promise<Client> {
    const client = new Client({ name: 'test', version: '1.0.0' }, { mode });
    await client.connect(new StreamableHTTPClientTransport(http.url));
    return client;
  }

  for (const { mode, revision } of ERAS) {
    test(`each call gets its own, in ${revision}`, async () => {
      const client = await connected(mode);
      const calls = Object.keys(WAYS).flatMap((name) => TEXTS.map((text) => ({ name, text: `${text} ${name}` })));
      const results = await Promise.all(calls.map(({ name, text }) => client.callTool({ name, arguments: { text } })));
      assert.deepEqual(results.map(textOf), calls.map(({ text }) => text));
      assert.deepEqual(results.map(({ isError }) => isError === true), calls.map(({ name }) => name === 'thrown'));
      const [block] = (await client.callTool({ name: 'annotated', arguments: { text: 'x' } })).content;
      assert.deepEqual(block, { type: 'text', text: 'x', annotations: { priority: 1 } });
      assertIdle(client);
      await client.close();
    });

    test(`a result is what JSON makes of it, in ${revision}`, async () => {
      const client = await connected(mode);
      assert.equal(textOf(await client.callTool({ name: 'half' })), 'half \ud800 a pair');
      assert.equal(textOf(await client.callTool({ name: 'own form' })), 'shown');
      await client.close();
    });
  }

  test('a fault inside the core ends its session, and no other', async () => {
    const [broken, other] = await Promise.all([connected('legacy'), connected('legacy')]);
    await assert.rejects(broken.callTool({ name: 'break' }));
    assert.equal(textOf(await other.callTool({ name: 'text', arguments: { text: 'goes on' } })), 'goes on');
    await Promise.all([broken.close(), other.close()]);
    for (const endpoint of endpointsOf(server)) {
      while (endpoint.stats.connections > 0) await turn();
    }
  });
});
