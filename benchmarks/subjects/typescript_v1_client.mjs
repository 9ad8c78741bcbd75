// The first generation of the official TypeScript SDK: Client over StdioClientTransport, or with `http` over HTTP.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { listening, measure, plan } from './measure.mjs';

const settings = plan();
const url = settings.http ? await listening(settings) : undefined;
const begin = performance.now();
const client = new Client({ name: 'bench', version: '1.0.0' });
const stdio = () => new StdioClientTransport({ command: settings.command, args: settings.args });
await client.connect(url ? new StreamableHTTPClientTransport(url) : stdio());
const connectMs = performance.now() - begin;

await measure(
  settings,
  connectMs,
  (text) => client.callTool({ name: 'echo', arguments: { text } }),
  (result) => result.content[0].text,
);
await client.close();
