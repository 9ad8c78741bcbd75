// The official TypeScript SDKs over HTTP: `v1` has sessions, `v2` none. Prints its address, and ends when its standard
// input does.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { McpServer as V1Server } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';

import { create } from './official_server.mjs';

const text = (text) => ({ content: [{ type: 'text', text }] });

/** The same tools as of the other version, which has another context. */
function createV1() {
  const server = new V1Server({ name: 'interop', version: '1.0.0' }, { instructions: 'For tests.' });
  const report = async ({ _meta, sendNotification }, progress) => {
    if (_meta?.progressToken === undefined) return;
    const params = { progressToken: _meta.progressToken, ...progress };
    await sendNotification({ method: 'notifications/progress', params });
  };
  server.registerTool(
    'add',
    { description: 'Adds two numbers.', inputSchema: { a: z.number(), b: z.number() } },
    async ({ a, b }) => text(String(a + b)),
  );
  server.registerTool(
    'count',
    { description: 'Counts, and reports progress.', inputSchema: { to: z.number() } },
    async ({ to }, extra) => {
      for (let step = 1; step <= to; step++) await report(extra, { progress: step, total: to, message: `step ${step}` });
      return text('counted');
    },
  );
  server.registerTool('wait', { description: 'Waits for its cancel.' }, async (extra) => {
    console.error('waiting');
    await report(extra, { progress: 1, message: 'waiting' });
    await new Promise((resolve) => extra.signal.addEventListener('abort', resolve));
    console.error('cancelled');
    return text('never');
  });
  server.registerTool('fail', { description: 'Fails.' }, async () => ({ ...text('on purpose'), isError: true }));
  return server;
}

const sessions = new Map();

async function serveV1(request, response) {
  const id = request.headers['mcp-session-id'];
  let transport = sessions.get(id);
  if (id !== undefined && transport === undefined) {
    response.writeHead(404).end();
    return;
  }
  if (transport === undefined) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => sessions.set(session, transport),
      onsessionclosed: (session) => {
        sessions.delete(session);
        console.error('closed');
      },
    });
    await createV1().connect(transport);
  }
  await transport.handleRequest(request, response);
}

const handler = createMcpHandler(create);

async function serveV2(request, response) {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const hasBody = request.method === 'POST';
  const answer = await handler.fetch(
    new Request(`http://${request.headers.host}${request.url}`, {
      method: request.method,
      headers: request.headers,
      body: hasBody ? Readable.toWeb(request) : undefined,
      duplex: hasBody ? 'half' : undefined,
      signal: gone.signal,
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body), response).catch(() => {});
}

const serve = process.argv[2] === 'v1' ? serveV1 : serveV2;
const server = createServer((request, response) => {
  serve(request, response).catch((error) => console.error(`problem: ${error}`));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
process.stdin.on('end', () => process.exit(0)).resume();
