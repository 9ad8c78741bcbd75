// Starts a server, shows what it offers, and calls one of its tools. When the tool asks the user, so does this program.
//
//   node client.mjs COMMAND [ARGUMENT...] [-- TOOL [JSON]]
//   node client.mjs node server.mjs -- write '{"name":"today","text":"Buy milk"}'

import { createInterface } from 'node:readline/promises';
import { Client, McpError } from 'oxmcp';

const words = process.argv.slice(2);
const split = words.indexOf('--');
const [command, ...args] = split < 0 ? words : words.slice(0, split);
const [tool, json = '{}'] = split < 0 ? [] : words.slice(split + 1);
if (command === undefined) {
  console.error('usage: node client.mjs COMMAND [ARGUMENT...] [-- TOOL [JSON]]');
  process.exit(2);
}

const client = new Client({ name: 'example-client', version: '1.0.0' }, { capabilities: { elicitation: {} } });

client.setRequestHandler('elicitation/create', async ({ params }, ctx) => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    console.log(params.message);
    const content = {};
    for (const [name, { title = name, type }] of Object.entries(params.requestedSchema.properties)) {
      const answer = await terminal.question(`${title} `, { signal: ctx.mcpReq.signal });
      content[name] = type === 'boolean' ? /^y/i.test(answer) : type === 'string' ? answer : Number(answer);
    }
    return { action: 'accept', content };
  } finally {
    terminal.close();
  }
});

try {
  await client.connect({ command, args });
  const { name, version } = client.getServerVersion();
  console.log(`connected to ${name} ${version}, revision ${client.getNegotiatedProtocolVersion()}`);

  const { tools } = await client.listTools();
  for (const { name, description = '' } of tools) console.log(`tool ${name}: ${description}`);
  if (client.getServerCapabilities().prompts) {
    const { prompts } = await client.listPrompts();
    for (const { name, description = '' } of prompts) console.log(`prompt ${name}: ${description}`);
  }

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
