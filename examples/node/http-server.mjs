// A server over HTTP: a counter that all clients share. Each change is told to those that listen. It needs `oxmcp`.
//
//   node http-server.mjs [PORT]
//   node http-client.mjs http://127.0.0.1:8000/mcp 3

import { McpServer } from 'oxmcp';

let count = 0;

const server = new McpServer(
  { name: 'counter', version: '1.0.0' },
  { instructions: 'Counts for everyone.', capabilities: { resources: { subscribe: true } } },
);

server.registerTool(
  'count',
  {
    description: 'Counts up, one by one',
    inputSchema: { type: 'object', properties: { by: { type: 'integer', minimum: 1, maximum: 1000 } }, required: ['by'] },
    outputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
  },
  async ({ by }, ctx) => {
    for (let step = 1; step <= by; step++) {
      // Lets other calls run, and a cancel arrive.
      await new Promise(setImmediate);
      if (ctx.mcpReq.signal.aborted) break;
      count++;
      ctx.mcpReq.progress({ progress: step, total: by });
    }
    await server.sendResourceUpdated({ uri: 'counter://count' });
    return { structuredContent: { count } };
  },
);

server.registerResource('count', 'counter://count', { mimeType: 'text/plain' }, (uri) => ({
  contents: [{ uri: uri.href, mimeType: 'text/plain', text: String(count) }],
}));

const http = await server.listen({ port: Number(process.argv[2] ?? 8000) });
console.log(http.url);

// Streams end, and calls under way finish.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => http.close());
