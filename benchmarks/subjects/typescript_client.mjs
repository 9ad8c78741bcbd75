// The official TypeScript SDK, as its documentation shows it: Client over StdioClientTransport, or with `http` over HTTP.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

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
