// Our Node package and the official TypeScript SDKs on either side, with servers that are real processes.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { Client as OfficialClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as OfficialTransport } from '@modelcontextprotocol/client/stdio';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as OurClient, StdioClientTransport as OurTransport } from 'oxmcp';

import { exercise, heard } from './exercise.mjs';

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
      const said = heard(transport.stderr);
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
