// oxmcp from Node. Arguments are described by JSON Schema, which the core checks, or with `zod` by that.

import { McpServer, StdioServerTransport } from 'oxmcp';

const inputSchema = process.argv.includes('zod')
  ? await import('zod').then(({ z }) => z.object({ text: z.string() }))
  : { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

const server = new McpServer({ name: 'bench', version: '1.0.0' });
server.registerTool('echo', { description: 'Answers with the text it was given.', inputSchema }, ({ text }) => ({
  content: [{ type: 'text', text }],
}));
await server.connect(new StdioServerTransport());
