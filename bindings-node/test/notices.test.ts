/**
 * What a server tells without being asked: that lists changed, that resources were updated, and to whom.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { CapabilityError, McpServer, ResourceTemplate } from 'oxmcp';
import * as z from 'zod';

import { ERAS, Wire, assertIdle, linked, turn } from './support.js';

const INFO = { name: 'telling', version: '1' };
const TOOLS = 'notifications/tools/list_changed';
const RESOURCES = 'notifications/resources/list_changed';
const PROMPTS = 'notifications/prompts/list_changed';
const UPDATED = 'notifications/resources/updated';

/** A server of which a client is told all there is to tell, in its own way. */
async function told(server: McpServer, mode: 'auto' | 'legacy', uris: readonly string[] = []) {
  const wire = new Wire();
  const client = await linked(server, { mode, ontrace: wire.ontrace });
  const filter = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions: uris };
  const stream = mode === 'auto' ? await client.listen(filter) : undefined;
  if (mode === 'legacy') for (const uri of uris) await client.subscribeResource({ uri });
  wire.messages.length = 0;
  return { client, wire, stream };
}

/** All that was on its way has come. */
async function settled(client: Awaited<ReturnType<typeof linked>>): Promise<void> {
  await turn();
  await client.ping();
}

function withOneOfEach(options?: ConstructorParameters<typeof McpServer>[1]): McpServer {
  const server = new McpServer(INFO, options);
  server.registerTool('first', {}, () => 'x');
  server.registerPrompt('first', {}, () => ({ messages: [] }));
  server.registerResource('first', 'x://first', {}, (uri) => ({ contents: [{ uri: uri.href, text: '' }] }));
  return server;
}

for (const { mode, revision } of ERAS) {
  describe(`in ${revision}`, { timeout: 60_000 }, () => {
    test('two hundred tools in one loop are one notification, and the list has them all', async () => {
      const server = withOneOfEach();
      const { client, wire } = await told(server, mode);
      for (let index = 0; index < 200; index++) server.registerTool(`t${index}`, { inputSchema: z.object({ a: z.string() }) }, () => 'x');
      await settled(client);
      assert.deepEqual(wire.notifications, [TOOLS]);
      assert.equal((await client.listTools(undefined, { fresh: true })).tools.length, 201);
      await client.close();
    });

    test('each change of a handle is told: off, on, another text, another name, gone', async () => {
      const server = withOneOfEach();
      const tool = server.registerTool('tool', { description: 'old' }, () => 'old');
      const { client, wire } = await told(server, mode);
      const names = async (): Promise<string[]> => {
        await settled(client);
        return (await client.listTools(undefined, { fresh: true })).tools.map(({ name, description }) => `${name} ${description ?? ''}`.trim());
      };
      assert.deepEqual(await names(), ['first', 'tool old']);
      const steps: [change: () => void, names: string[]][] = [
        [() => tool.disable(), ['first']],
        [() => tool.enable(), ['first', 'tool old']],
        [() => tool.update({ description: 'new', callback: () => 'new' }), ['first', 'tool new']],
        [() => tool.update({ name: 'renamed' }), ['first', 'renamed new']],
        [() => tool.update({ enabled: false }), ['first']],
        [() => tool.update({ name: 'hidden' }), ['first']],
        [() => tool.update({ enabled: true }), ['first', 'hidden new']],
        [() => tool.remove(), ['first']],
      ];
      for (const [index, [change, wanted]] of steps.entries()) {
        wire.messages.length = 0;
        change();
        assert.deepEqual(await names(), wanted, `step ${index}`);
        // What is hidden may change unseen.
        const changes = wire.notifications.filter((method) => method === TOOLS).length;
        if (index !== 5) assert.equal(changes, 1, `step ${index}`);
      }
      assert.throws(() => tool.update({ description: 'again' }), { kind: 'usage', message: /was removed/ });
      await client.close();
    });

    test('a hidden tool cannot be called, and a changed one runs its new function', async () => {
      const server = withOneOfEach();
      const tool = server.registerTool('tool', {}, () => 'old');
      const { client } = await told(server, mode);
      tool.disable();
      await assert.rejects(client.callTool({ name: 'tool' }), { code: -32602 });
      tool.enable();
      tool.update({ callback: ((args: object) => JSON.stringify(args)) as never, paramsSchema: z.object({ n: z.coerce.number() }) });
      const { content } = await client.callTool({ name: 'tool', arguments: { n: '5' } });
      assert.deepEqual(content, [{ type: 'text', text: '{"n":5}' }]);
      await client.close();
    });

    test('prompts, resources and templates tell of theirs', async () => {
      const server = withOneOfEach();
      const { client, wire } = await told(server, mode);
      const prompt = server.registerPrompt('p', {}, () => ({ messages: [] }));
      const resource = server.registerResource('r', 'x://r', {}, () => ({ contents: [] }));
      const template = server.registerResource('t', new ResourceTemplate('y://{a}'), {}, () => ({ contents: [] }));
      await settled(client);
      assert.deepEqual(wire.notifications.toSorted(), [PROMPTS, RESOURCES]);
      wire.messages.length = 0;
      prompt.update({ title: 'P' });
      resource.update({ name: 'renamed', title: 'R' });
      template.update({ template: new ResourceTemplate('z://{a}'), metadata: { description: 'd' } });
      await settled(client);
      assert.deepEqual(wire.notifications.toSorted(), [PROMPTS, RESOURCES]);
      assert.deepEqual((await client.listPrompts(undefined, { fresh: true })).prompts[1], { name: 'p', title: 'P' });
      assert.deepEqual((await client.listResources(undefined, { fresh: true })).resources[1], { uri: 'x://r', name: 'renamed', title: 'R' });
      assert.deepEqual((await client.listResourceTemplates(undefined, { fresh: true })).resourceTemplates, [
        { uriTemplate: 'z://{a}', name: 't', description: 'd' },
      ]);
      for (const one of [prompt, resource, template]) one.remove();
      await settled(client);
      assert.deepEqual((await client.listPrompts(undefined, { fresh: true })).prompts.length, 1);
      await client.close();
    });

    test('a change is told before the answer of the call that made it', async () => {
      const server = withOneOfEach();
      server.registerTool('grow', {}, () => {
        server.registerTool('grown', {}, () => 'x');
        server.sendToolListChanged();
        return 'grown';
      });
      const { client, wire } = await told(server, mode);
      await client.callTool({ name: 'grow' });
      const came = wire.messages.filter(({ direction }) => direction === 'received').map(({ method }) => method ?? 'answer');
      assert.deepEqual(came, [TOOLS, 'answer']);
      await client.close();
    });

    test('what is declared not to be told is not, and saying so by hand is an error', async () => {
      const server = withOneOfEach({ capabilities: { tools: { listChanged: false } } });
      const { client, wire } = await told(server, mode);
      assert.deepEqual(client.getServerCapabilities()?.tools, { listChanged: false });
      server.registerTool('more', {}, () => 'x');
      await settled(client);
      assert.deepEqual(wire.notifications, []);
      assert.throws(() => server.sendToolListChanged(), CapabilityError);
      await client.close();
    });

    test('an update reaches those who subscribed, and them alone', async () => {
      const server = withOneOfEach({ capabilities: { resources: { subscribe: true } } });
      const one = await told(server, mode, ['x://first']);
      const other = await told(server, mode, ['x://second']);
      const seen: unknown[] = [];
      one.client.setNotificationHandler(UPDATED, ({ params }) => void seen.push(params?.['uri']));
      await server.sendResourceUpdated({ uri: 'x://first' });
      await settled(one.client);
      await settled(other.client);
      assert.deepEqual([seen, other.wire.notifications], [['x://first'], []]);
      if (mode === 'auto') await one.stream?.close();
      else await one.client.unsubscribeResource({ uri: 'x://first' });
      await settled(one.client);
      await server.sendResourceUpdated({ uri: 'x://first' });
      await settled(one.client);
      assert.deepEqual(seen, ['x://first']);
      await other.client.close();
      await turn();
      await server.sendResourceUpdated({ uri: 'x://second' });
      await settled(one.client);
      assertIdle(one.client, server);
      await one.client.close();
    });

    test('an update without the capability is an error that names it', async () => {
      const server = withOneOfEach();
      const { client } = await told(server, mode);
      await assert.rejects(server.sendResourceUpdated({ uri: 'x://first' }), {
        kind: 'not_negotiated',
        message: /resources\.subscribe/,
      });
      await client.close();
    });

    test('equal notifications are one, but those with params are each their own', async () => {
      const server = withOneOfEach();
      const { client, wire } = await told(server, mode);
      if (mode === 'auto') server.registerTool('x', {}, () => 'x');
      else {
        for (let index = 0; index < 3; index++) {
          server.sendToolListChanged();
          await server.notification({ method: 'notifications/tools/list_changed', params: { _meta: { index } } });
        }
      }
      await settled(client);
      const indices = wire.messages.filter(({ method }) => method === TOOLS).map(({ params }) => params?.['_meta']?.index);
      if (mode === 'legacy') {
        assert.deepEqual(indices.filter((index) => index !== undefined), [0, 1, 2]);
        assert.ok(indices.includes(undefined));
      } else assert.equal(indices.length, 1);
      await client.close();
    });
  });
}

test('a progress report right before the result is never lost', async () => {
  const server = new McpServer(INFO);
  server.registerTool('last', {}, ({ mcpReq }) => {
    mcpReq.progress({ progress: 1, total: 1 });
    return 'x';
  });
  const client = await linked(server);
  for (let round = 0; round < 100; round++) {
    let seen = 0;
    await client.callTool({ name: 'last' }, { onprogress: ({ progress }) => (seen = progress) });
    assert.equal(seen, 1);
  }
  await client.close();
});

describe('a stream of 2026-07-28', () => {
  test('says what the server honours, and its notifications are its own', async () => {
    const server = withOneOfEach();
    const client = await linked(server);
    const seen: unknown[] = [];
    const stream = await client.listen(
      { toolsListChanged: true, resourceSubscriptions: ['x://first'] },
      { onnotification: ({ method }) => void seen.push(method) },
    );
    // This server takes no subscriptions.
    assert.deepEqual(stream.honoredFilter, { toolsListChanged: true });
    const second = await client.listen({ promptsListChanged: true }, { onnotification: ({ method }) => void seen.push(`2 ${method}`) });
    server.registerTool('x', {}, () => 'x');
    server.registerPrompt('x', {}, () => ({ messages: [] }));
    await settled(client);
    assert.deepEqual(seen.toSorted(), [`2 ${PROMPTS}`, TOOLS]);
    await stream.close();
    await second.close();
    assert.deepEqual([await stream.closed, await second.closed], ['local', 'local']);
    await client.ping();
    assertIdle(client, server);
    await client.close();
  });

  test('tells how it ended', async () => {
    const server = withOneOfEach();
    const first = await linked(server);
    const controller = new AbortController();
    const aborted = await first.listen({ toolsListChanged: true }, { signal: controller.signal });
    controller.abort();
    assert.equal(await aborted.closed, 'local');
    const graceful = await first.listen({ toolsListChanged: true });
    await server.close();
    assert.equal(await graceful.closed, 'graceful');
    const second = await linked(server);
    const remote = await second.listen({ toolsListChanged: true });
    await second.close();
    assert.equal(await remote.closed, 'remote');
  });

  test('does not exist in revisions with a handshake, and their subscriptions not in this one', async () => {
    const server = withOneOfEach({ capabilities: { resources: { subscribe: true } } });
    const [modern, legacy] = [await linked(server), await linked(server, { mode: 'legacy' })];
    await assert.rejects(legacy.listen({ toolsListChanged: true }), { kind: 'not_negotiated' });
    await assert.rejects(modern.subscribeResource({ uri: 'x://first' }), { kind: 'not_negotiated' });
    await assert.rejects(modern.setLoggingLevel('info'), { kind: 'not_negotiated' });
    await assert.rejects(legacy.discover(), { kind: 'not_negotiated' });
    assert.ok((await modern.discover()).supportedVersions.includes('2026-07-28'));
    await modern.close();
    await legacy.close();
  });
});

test('log messages without a call reach clients of the handshake from their level on', async () => {
  const server = new McpServer(INFO);
  const client = await linked(server, { mode: 'legacy' });
  const seen: unknown[] = [];
  client.setNotificationHandler('notifications/message', ({ params }) => void seen.push(params));
  await client.setLoggingLevel('warning');
  await server.sendLoggingMessage({ level: 'info', data: 'mild' });
  await server.sendLoggingMessage({ level: 'error', logger: 'db', data: undefined });
  await client.ping();
  assert.deepEqual(seen, [{ level: 'error', logger: 'db', data: null }]);
  await assert.rejects(client.setLoggingLevel('loud' as never), { code: -32602 });
  await client.close();

  const silent = new McpServer(INFO, { logging: false });
  const other = await linked(silent, { mode: 'legacy' });
  await assert.rejects(silent.sendLoggingMessage({ level: 'error', data: 1 }), { kind: 'not_negotiated', message: /logging/ });
  await assert.rejects(other.setLoggingLevel('info'), { kind: 'not_negotiated' });
  await other.close();
});
