// What is beside tools, between our Node package and the others: resources, prompts, completion, questions, log messages.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { Client as OfficialClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as OfficialTransport } from '@modelcontextprotocol/client/stdio';
import { Client, StdioClientTransport } from 'oxmcp';

import { CAPABILITIES, exerciseSurface } from './exercise.mjs';

const program = (name) => fileURLToPath(new URL(`programs/${name}`, import.meta.url));
const { OXMCP_PYTHON: ours, OXMCP_PEER_PYTHON: theirs, OXMCP_NODE: node } = process.env;

const servers = {
  'our Node server': { command: node, args: [program('surface.mjs')] },
  'our Python server': { command: ours, args: [program('surface.py')] },
  'official Python server': { command: theirs, args: [program('official_surface_server.py')] },
};

for (const serverName of Object.keys(servers)) {
  for (const mode of ['auto', 'legacy']) {
    test(`our Node client (${mode}), ${serverName}`, { timeout: 60_000 }, async () => {
      const client = new Client({ name: 'interop', version: '1.0.0' }, { mode, capabilities: CAPABILITIES });
      await exerciseSurface(client, new StdioClientTransport({ ...servers[serverName], stderr: 'ignore' }));
      // The official server does not tell of as much.
      if (!serverName.startsWith('official')) await checkChanges(serverName, mode);
    });
  }
}

test('official TypeScript client, our Node server', { timeout: 60_000 }, async () => {
  const client = new OfficialClient({ name: 'interop', version: '1.0.0' }, { capabilities: CAPABILITIES });
  await exerciseSurface(client, new OfficialTransport({ ...servers['our Node server'], stderr: 'ignore' }));
});

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
