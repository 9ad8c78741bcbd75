// oxmcp from Node.

import { Client } from 'oxmcp';

import { measure, plan } from './measure.mjs';

const settings = plan();
const begin = performance.now();
const client = new Client({ name: 'bench', version: '1.0.0' });
await client.connect({ command: settings.command, args: settings.args });
const connectMs = performance.now() - begin;

await measure(
  settings,
  connectMs,
  (text) => client.callTool({ name: 'echo', arguments: { text } }),
  (result) => result.content[0].text,
);
await client.close();
