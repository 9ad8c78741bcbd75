// Our Node package and the official TypeScript SDKs on either side, with servers that are real processes.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { Client as OfficialClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as OfficialTransport } from '@modelcontextprotocol/client/stdio';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as OurClient, StdioClientTransport as OurTransport } from 'oxmcp';

const program = (name) => fileURLToPath(new URL(`programs/${name}`, import.meta.url));
const { OXMCP_PYTHON: ours, OXMCP_PEER_PYTHON: theirs, OXMCP_NODE: node } = process.env;

const servers = {
  'our Python server': { command: ours, args: [program('our_server.py')] },
  'official Python server': { command: theirs, args: [program('official_server.py')] },
  'our Node server': { command: node, args: [program('our_server.mjs')] },
  'official TypeScript server': { command: node, args: [program('official_server.mjs')] },
};
const clients = {
  'official TypeScript client': { Client: OfficialClient, Transport: OfficialTransport },
  'official TypeScript client, v1': { Client: V1Client, Transport: V1Transport, resultSchema: [undefined] },
  'our Node client, by the handshake': {
    Client: OurClient,
    Transport: OurTransport,
    servers: Object.keys(servers),
    options: { mode: 'legacy' },
    revision: '2025-11-25',
  },
  'our Node client': {
    Client: OurClient,
    Transport: OurTransport,
    servers: Object.keys(servers),
    revision: '2026-07-28',
  },
};

for (const [clientName, { Client, Transport, resultSchema = [], servers: names, options, revision }] of Object.entries(clients)) {
  // The official SDKs among themselves are not our business.
  for (const serverName of names ?? ['our Python server', 'our Node server']) {
    test(`${clientName}, ${serverName}`, { timeout: 60_000 }, async () => {
      const transport = new Transport({ ...servers[serverName], stderr: 'pipe' });
      const said = lines(transport.stderr);
      const client = new Client({ name: 'interop', version: '1.0.0' }, options);
      const callTool = (params, options) => client.callTool(params, ...resultSchema, options);
      await client.connect(transport);
      try {
        if (revision !== undefined) assert.equal(client.getNegotiatedProtocolVersion(), revision);
        await exercise(client, callTool, said);
      } finally {
        await client.close();
      }
    });
  }
}

async function exercise(client, callTool, said) {
  assert.equal(client.getServerVersion().name, 'interop');
  assert.equal(client.getInstructions(), 'For tests.');
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ['add', 'count', 'wait', 'fail'],
  );
  const sum = await callTool({ name: 'add', arguments: { a: 2, b: 3 } });
  assert.equal(sum.content[0].text, '5');

  const progress = [];
  const counted = await callTool(
    { name: 'count', arguments: { to: 3 } },
    { onprogress: (report) => progress.push([report.progress, report.total, report.message]) },
  );
  assert.equal(counted.content[0].text, 'counted');
  assert.deepEqual(
    progress,
    [1, 2, 3].map((step) => [step, 3, `step ${step}`]),
  );

  const failed = await callTool({ name: 'fail', arguments: {} });
  assert.equal(failed.isError, true);
  assert.match(failed.content[0].text, /on purpose/);

  const controller = new AbortController();
  const call = callTool({ name: 'wait', arguments: {} }, { signal: controller.signal });
  const rejected = assert.rejects(call);
  await said('waiting');
  controller.abort(new Error('enough'));
  await rejected;
  await said('cancelled');

  const again = await callTool({ name: 'add', arguments: { a: 1, b: 1 } });
  assert.equal(again.content[0].text, '2');
}

/** Waits until a stream has said something. */
function lines(stream) {
  let text = '';
  let wake = () => {};
  stream.on('data', (chunk) => {
    text += new TextDecoder().decode(chunk);
    wake();
  });
  return async (what) => {
    while (!text.includes(what)) await new Promise((resolve) => (wake = resolve));
  };
}
