// oxmcp from Node, arguments described by zod.

import { McpServer, StdioServerTransport } from 'oxmcp';
import { z } from 'zod';

const server = new McpServer({ name: 'bench', version: '1.0.0' });
server.registerTool(
  'echo',
  { description: 'Answers with the text it was given.', inputSchema: z.object({ text: z.string() }) },
  ({ text }) => ({ content: [{ type: 'text', text }] }),
);
await server.connect(new StdioServerTransport());
