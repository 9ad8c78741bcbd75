// Starts a server, shows what it offers, and calls one of its tools.
//
//   node client.mjs COMMAND [ARGUMENT...] [-- TOOL [JSON]]
//   node client.mjs python3 ../python/server.py -- greet '{"name":"Ada"}'

import { Client, McpError } from 'oxmcp';

const words = process.argv.slice(2);
const split = words.indexOf('--');
const [command, ...args] = split < 0 ? words : words.slice(0, split);
const [tool, json = '{}'] = split < 0 ? [] : words.slice(split + 1);
if (command === undefined) {
  console.error('usage: node client.mjs COMMAND [ARGUMENT...] [-- TOOL [JSON]]');
  process.exit(2);
}

const client = new Client({ name: 'example-client', version: '1.0.0' });
try {
  await client.connect({ command, args });
  const { name, version } = client.getServerVersion();
  console.log(`connected to ${name} ${version}, revision ${client.getNegotiatedProtocolVersion()}`);

  const { tools } = await client.listTools();
  for (const { name, description = '' } of tools) console.log(`tool ${name}: ${description}`);

  if (tool !== undefined) {
    const result = await client.callTool(
      { name: tool, arguments: JSON.parse(json) },
      {
        signal: AbortSignal.timeout(60_000),
        onprogress: ({ progress, total }) => console.log(`progress ${progress} of ${total ?? '?'}`),
      },
    );
    for (const block of result.content) console.log(result.isError ? 'failed:' : 'result:', block.type === 'text' ? block.text : block);
  }
} catch (error) {
  if (!(error instanceof McpError)) throw error;
  console.error(`${error.name}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await client.close();
}
