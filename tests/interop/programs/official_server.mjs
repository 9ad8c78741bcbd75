// The tools that every server of these tests offers, on the official TypeScript SDK.

import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = (text) => ({ content: [{ type: 'text', text }] });

serveStdio(() => {
  const server = new McpServer({ name: 'interop', version: '1.0.0' }, { instructions: 'For tests.' });
  server.registerTool(
    'add',
    { description: 'Adds two numbers.', inputSchema: z.object({ a: z.number(), b: z.number() }) },
    async ({ a, b }) => text(String(a + b)),
  );
  server.registerTool(
    'count',
    { description: 'Counts, and reports progress.', inputSchema: z.object({ to: z.number() }) },
    async ({ to }, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      for (let step = 1; progressToken !== undefined && step <= to; step++) {
        const params = { progressToken, progress: step, total: to, message: `step ${step}` };
        await ctx.mcpReq.notify({ method: 'notifications/progress', params });
      }
      return text('counted');
    },
  );
  server.registerTool('wait', { description: 'Waits for its cancel.' }, async (ctx) => {
    console.error('waiting');
    await new Promise((resolve) => ctx.mcpReq.signal.addEventListener('abort', resolve));
    console.error('cancelled');
    return text('never');
  });
  server.registerTool('fail', { description: 'Fails.' }, async () => ({ ...text('on purpose'), isError: true }));
  return server;
});
