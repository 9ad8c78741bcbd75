// The least an MCP server over HTTP in Node can do: node:http, look at the method and the id, answer. No sessions, no validation, no
// look at the header fields but one.

import { createServer } from 'node:http';

const TOOLS = {
  tools: [
    {
      name: 'echo',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    },
  ],
};

function answer({ id, method, params }) {
  switch (method) {
    case 'tools/call':
      return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: params.arguments.text }] } };
    case 'initialize': {
      const { protocolVersion } = params;
      const serverInfo = { name: 'bare', version: '1.0.0' };
      return { jsonrpc: '2.0', id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } };
    }
    case 'tools/list':
      return { jsonrpc: '2.0', id, result: TOOLS };
    case 'ping':
      return { jsonrpc: '2.0', id, result: {} };
    default:
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
  }
}

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    const message = JSON.parse(body);
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const text = JSON.stringify(answer(message));
    if (request.headers.accept === 'text/event-stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${text}\n\n`);
    } else {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      response.end(text);
    }
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
