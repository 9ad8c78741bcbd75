// oxmcp from Node, over HTTP: on the core's own port, or with `mounted` in a server of Node's. How it answers is the client's choice.

import { createServer } from 'node:http';

import { McpServer } from 'oxmcp';

const server = new McpServer({ name: 'bench', version: '1.0.0' });
const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
server.registerTool('echo', { description: 'Answers with the text it was given.', inputSchema }, ({ text }) => ({
  content: [{ type: 'text', text }],
}));

if (process.argv.includes('mounted')) {
  const app = createServer(server.httpHandler({ maxSessions: 20_000 }).node);
  app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${app.address().port}/mcp`));
} else {
  const http = await server.listen({ maxSessions: 20_000 });
  console.log(http.url);
}
