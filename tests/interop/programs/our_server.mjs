// The tools that every server of these tests offers, on our Node package.

import { pathToFileURL } from 'node:url';

import { McpServer, StdioServerTransport } from 'oxmcp';
import * as z from 'zod';

export const server = new McpServer({ name: 'interop', version: '1.0.0' }, { instructions: 'For tests.' });

server.registerTool(
  'add',
  { description: 'Adds two numbers.', inputSchema: z.object({ a: z.number(), b: z.number() }) },
  ({ a, b }) => String(a + b),
);

server.registerTool(
  'count',
  { description: 'Counts, and reports progress.', inputSchema: z.object({ to: z.number() }) },
  async ({ to }, ctx) => {
    for (let step = 1; step <= to; step++) {
      ctx.mcpReq.progress({ progress: step, total: to, message: `step ${step}` });
      // The official TypeScript client loses reports that arrive in one piece with the result.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return 'counted';
  },
);

server.registerTool('wait', { description: 'Waits for its cancel.' }, async (ctx) => {
  console.error('waiting');
  ctx.mcpReq.progress({ progress: 1, message: 'waiting' });
  await new Promise((resolve) => ctx.mcpReq.signal.addEventListener('abort', resolve));
  console.error('cancelled');
  return 'never';
});

server.registerTool('fail', { description: 'Fails.' }, () => {
  throw new Error('on purpose');
});

if (import.meta.url === pathToFileURL(process.argv[1]).href) await server.connect(new StdioServerTransport());
