// The official TypeScript SDK over HTTP, as its documentation shows it: createMcpHandler for requests that stand for themselves,
// a transport of its own for each session of older clients.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const json = process.argv.includes('json');

function bench() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  server.registerTool(
    'echo',
    { description: 'Answers with the text it was given.', inputSchema: z.object({ text: z.string() }) },
    async ({ text }) => ({ content: [{ type: 'text', text }] }),
  );
  return server;
}

const modern = toNodeHandler(createMcpHandler(bench, { legacy: 'reject', responseMode: json ? 'auto' : 'sse' }));
const sessions = new Map();

async function legacy(request, response) {
  let transport = sessions.get(request.headers['mcp-session-id']);
  if (!transport) {
    transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: json,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    transport.onclose = () => sessions.delete(transport.sessionId);
    await bench().connect(transport);
  }
  await transport.handleRequest(request, response);
}

const server = createServer((request, response) => {
  const isModern = request.headers['mcp-protocol-version'] === '2026-07-28';
  return isModern ? modern(request, response) : legacy(request, response);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
