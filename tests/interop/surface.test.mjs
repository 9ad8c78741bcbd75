// What is beside tools, between our Node package and the others: resources, prompts, completion, questions, log messages.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { Client as OfficialClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as OfficialTransport } from '@modelcontextprotocol/client/stdio';
import { Client, StdioClientTransport } from 'oxmcp';

const program = (name) => fileURLToPath(new URL(`programs/${name}`, import.meta.url));
const { OXMCP_PYTHON: ours, OXMCP_PEER_PYTHON: theirs, OXMCP_NODE: node } = process.env;

const servers = {
  'our Node server': { command: node, args: [program('surface.mjs')] },
  'our Python server': { command: ours, args: [program('surface.py')] },
  'official Python server': { command: theirs, args: [program('official_surface_server.py')] },
};
const CAPABILITIES = { elicitation: { form: {} }, sampling: {}, roots: {} };

for (const serverName of Object.keys(servers)) {
  for (const mode of ['auto', 'legacy']) {
    test(`our Node client (${mode}), ${serverName}`, { timeout: 60_000 }, async () => {
      const client = new Client({ name: 'interop', version: '1.0.0' }, { mode, capabilities: CAPABILITIES });
      // The official Python server has another way to ask in 2026-07-28.
      const asks = mode === 'legacy' || !serverName.startsWith('official');
      await check(client, new StdioClientTransport({ ...servers[serverName], stderr: 'ignore' }), { asks });
      if (asks && !serverName.startsWith('official')) await checkChanges(serverName, mode);
    });
  }
}

test('official TypeScript client, our Node server', { timeout: 60_000 }, async () => {
  const client = new OfficialClient({ name: 'interop', version: '1.0.0' }, { capabilities: CAPABILITIES });
  await check(client, new OfficialTransport({ ...servers['our Node server'], stderr: 'ignore' }), { asks: true });
});

/** The same for any client of this interface. */
async function check(client, transport, { asks }) {
  const forms = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    forms.push(Object.keys(params.requestedSchema.properties));
    return { action: 'accept', content: { name: 'Ada' } };
  });
  client.setRequestHandler('sampling/createMessage', async ({ params }) => {
    const [{ content }] = params.messages;
    const text = `thought of ${(Array.isArray(content) ? content[0] : content).text}`;
    return { role: 'assistant', model: 'm', content: { type: 'text', text } };
  });
  client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///work' }] }));
  await client.connect(transport);
  try {
    const { resources } = await client.listResources();
    assert.deepEqual(resources.map(({ uri }) => uri), ['config://app', 'bytes://all']);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate), ['note://{id}']);
    const read = async (uri) => (await client.readResource({ uri })).contents[0];
    assert.equal((await read('config://app')).text, 'on');
    assert.deepEqual([...Buffer.from((await read('bytes://all')).blob, 'base64')], Array.from({ length: 256 }, (_, index) => index));
    assert.equal((await read('note://00123')).text, 'note 00123');
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts[0].arguments.map(({ name, required }) => [name, required]), [['name', true], ['tone', false]]);
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } });
    assert.deepEqual(messages.map(({ content }) => content.text), ['Greet Ada in a warm way.', 'Hello.']);
    const argument = { name: 'name', value: 'A' };
    const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'greet' }, argument });
    assert.deepEqual(completion.values, ['Ada', 'Alan']);
    if (!asks) return;
    const text = async (name) => (await client.callTool({ name, arguments: {} })).content[0].text;
    assert.match(await text('ask'), /^accept Ada\b/);
    assert.deepEqual(forms, [['name', 'age']]);
    // The official servers have these elsewhere, or not at all.
    if (!(await client.listTools()).tools.some(({ name }) => name === 'think')) return;
    assert.equal(await text('think'), 'thought of Think.');
    assert.equal(await text('folders'), 'file:///work');
  } finally {
    await client.close();
  }
}

/** Changes and log messages, which each era asks for in its own way. */
async function checkChanges(serverName, mode) {
  const client = new Client({ name: 'interop', version: '1.0.0' }, { mode });
  const told = [];
  client.fallbackNotificationHandler = ({ method, params }) => told.push(params?.uri ?? params?.data?.n ?? method);
  await client.connect({ ...servers[serverName], stderr: 'ignore' });
  try {
    if (mode === 'auto') await client.listen({ toolsListChanged: true, resourceSubscriptions: ['config://app'] });
    else await client.subscribeResource({ uri: 'config://app' });
    await client.callTool({ name: 'logs' }, { logLevel: 'info' });
    await client.callTool({ name: 'grow' });
    assert.deepEqual(told.toSorted(), [1, 'config://app', 'notifications/tools/list_changed'].toSorted());
  } finally {
    await client.close();
  }
}
