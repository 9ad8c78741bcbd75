// A client on the official TypeScript SDKs: `official_client.mjs tools|surface v1|auto|legacy COMMAND…|URL` exercises a server.
// `v1` is the older of the two SDKs. What the server says on its standard error, it is told on its standard input.

import assert from 'node:assert/strict';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as V1Stdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as V1Http } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { CAPABILITIES, exercise, exerciseSurface, heard } from '../exercise.mjs';

const info = { name: 'interop', version: '1.0.0' };
const v1Schemas = {
  'elicitation/create': ElicitRequestSchema,
  'sampling/createMessage': CreateMessageRequestSchema,
  'roots/list': ListRootsRequestSchema,
};
const v1 = {
  create: (options) => new V1Client(info, options),
  http: (url) => new V1Http(url),
  stdio: (server) => new V1Stdio(server),
  callTool: (client) => (params, options) => client.callTool(params, undefined, options),
  naming: (method) => v1Schemas[method],
};
const v2 = (mode) => ({
  create: (options) => new Client(info, { ...options, versionNegotiation: { mode } }),
  http: (url) => new StreamableHTTPClientTransport(url),
  stdio: (server) => new StdioClientTransport(server),
  callTool: (client) => client.callTool.bind(client),
});

const [kind, version, target, ...args] = process.argv.slice(2);
const sdk = version === 'v1' ? v1 : v2(version);
const transport = target.startsWith('http:')
  ? sdk.http(new URL(target))
  : sdk.stdio({ command: target, args, env: { ...process.env }, stderr: 'inherit' });
const client = sdk.create({ capabilities: kind === 'tools' ? {} : CAPABILITIES });
if (kind === 'tools') {
  const said = heard(process.stdin);
  await client.connect(transport);
  if (version === 'auto') assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
  await exercise(client, sdk.callTool(client), said);
  await client.close();
} else {
  await exerciseSurface(client, transport, sdk.naming);
}
console.log('"as it should be"');
process.exit(0);
