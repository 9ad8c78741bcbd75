// The tools that every server of these tests offers, on the official TypeScript SDK, over stdio.

import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';

import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = (text) => ({ content: [{ type: 'text', text }] });

export function create() {
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
      for (let step = 1; step <= to; step++) await report(ctx, { progress: step, total: to, message: `step ${step}` });
      return text('counted');
    },
  );
  server.registerTool('wait', { description: 'Waits for its cancel.' }, async (ctx) => {
    console.error('waiting');
    await report(ctx, { progress: 1, message: 'waiting' });
    await new Promise((resolve) => ctx.mcpReq.signal.addEventListener('abort', resolve));
    console.error('cancelled');
    return text('never');
  });
  server.registerTool('fail', { description: 'Fails.' }, async () => ({ ...text('on purpose'), isError: true }));
  return server;
}

async function report({ mcpReq }, progress) {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...progress } });
}

if (import.meta.url === pathToFileURL(argv[1]).href) serveStdio(create);
