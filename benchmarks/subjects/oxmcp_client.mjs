// oxmcp from Node, over stdio, or with `http` over HTTP.

import { Client, StreamableHTTPClientTransport } from 'oxmcp';

import { listening, measure, plan } from './measure.mjs';

const settings = plan();
const url = settings.http ? await listening(settings) : undefined;
const begin = performance.now();
const client = new Client({ name: 'bench', version: '1.0.0' });
await client.connect(url ? new StreamableHTTPClientTransport(url) : { command: settings.command, args: settings.args });
const connectMs = performance.now() - begin;

await measure(
  settings,
  connectMs,
  (text) => client.callTool({ name: 'echo', arguments: { text } }),
  (result) => result.content[0].text,
);
await client.close();
