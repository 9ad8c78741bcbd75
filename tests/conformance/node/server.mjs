// The server that the public conformance suite is run against: it offers what the suite's scenarios call.
// `node server.mjs [PORT]` prints its address.

import { setTimeout as sleep } from 'node:timers/promises';

import { McpServer, version } from 'oxmcp';

import * as asking from './asking.mjs';
import * as content from './content.mjs';
import * as rounds from './rounds.mjs';

async function progress(ctx) {
  for (const done of [0, 50, 100]) {
    ctx.mcpReq.progress({ progress: done, total: 100 });
    await sleep(50);
  }
  return 'done';
}

async function logging(ctx) {
  for (const stage of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await ctx.mcpReq.log('info', stage);
    await sleep(50);
  }
  return 'logged';
}

async function reconnection(ctx) {
  ctx.http?.closeSSE();
  await sleep(100);
  return 'The client came back for this.';
}

const CONTACT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const REGION = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  required: ['region'],
};

const server = new McpServer(
  { name: 'oxmcp conformance server', version },
  { capabilities: { resources: { subscribe: true } }, onproblem: ({ message }) => console.error(`problem: ${message}`) },
);
content.add(server);
server.registerTool('test_tool_with_progress', { description: 'Reports its progress.' }, progress);
server.registerTool('test_tool_with_logging', { description: 'Logs what it does.' }, logging);
server.registerTool('test_logging_tool', { description: 'Logs what it does.' }, logging);
server.registerTool('test_reconnection', { description: 'Ends its stream before it is done.' }, reconnection);
const told = (args) => `called with ${JSON.stringify(args)}`;
const described = { description: 'Has a schema of many keywords.', inputSchema: CONTACT };
server.registerTool('json_schema_2020_12_tool', described, told);
server.registerTool('test_x_mcp_header', { description: 'Has a parameter in a header.', inputSchema: REGION }, told);
asking.add(server);
rounds.add(server);

// Something that comes and goes, so that clients are told.
const passing = { description: 'Comes and goes.' };
server.registerTool('test_trigger_tool_change', { description: 'Changes the list of tools.' }, () => {
  server.registerTool('test_passing', passing, content.simpleText).remove();
  return 'changed';
});
server.registerTool('test_trigger_prompt_change', { description: 'Changes the list of prompts.' }, () => {
  server.registerPrompt('test_passing', passing, content.simplePrompt).remove();
  return 'changed';
});

const http = await server.listen({ port: Number(process.argv[2] ?? 0) });
console.log(`http://localhost:${http.port}/mcp`);
