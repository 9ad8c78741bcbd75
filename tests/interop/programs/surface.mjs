// What is beside tools, on our Node package: resources, a template, a prompt, completion, questions, log messages.

import { pathToFileURL } from 'node:url';

import { McpServer, ResourceTemplate, StdioServerTransport, completable } from 'oxmcp';
import * as z from 'zod';

export const server = new McpServer({ name: 'surface', version: '1.0.0' }, { capabilities: { resources: { subscribe: true } } });
const user = (text) => ({ role: 'user', content: { type: 'text', text } });

server.registerResource('config', 'config://app', { description: 'The settings.', mimeType: 'text/plain' }, (uri) => ({
  contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'on' }],
}));

const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
server.registerResource('all_bytes', 'bytes://all', { mimeType: 'application/octet-stream' }, (uri) => ({
  contents: [{ uri: uri.href, mimeType: 'application/octet-stream', blob: bytes }],
}));

server.registerResource('note', new ResourceTemplate('note://{id}'), {}, (uri, { id }) => ({
  contents: [{ uri: uri.href, text: `note ${id}` }],
}));

const names = completable(z.string(), (value) => ['Ada', 'Alan', 'Grace'].filter((name) => name.startsWith(value)));
server.registerPrompt(
  'greet',
  { description: 'Greets a person.', argsSchema: z.object({ name: names, tone: z.string().default('warm') }) },
  ({ name, tone }) => ({
    messages: [user(`Greet ${name} in a ${tone} way.`), { role: 'assistant', content: { type: 'text', text: 'Hello.' } }],
  }),
);

server.registerTool('ask', {}, async ({ mcpReq }) => {
  const properties = { name: { type: 'string' }, age: { type: 'integer', default: 30 } };
  const requestedSchema = { type: 'object', properties, required: ['name'] };
  const { action, content } = await mcpReq.elicitInput({ message: 'Who are you?', requestedSchema });
  return content === undefined ? action : `${action} ${content.name} ${content.age}`;
});

server.registerTool('think', {}, async ({ mcpReq }) => {
  const { content } = await mcpReq.requestSampling({ messages: [user('Think.')], maxTokens: 10 });
  return content.text;
});

server.registerTool('folders', {}, async ({ mcpReq }) => {
  const { roots } = await mcpReq.send({ method: 'roots/list' });
  return roots.map((root) => root.uri).join(' ');
});

const logs = async ({ mcpReq }) => {
  await mcpReq.log('warning', { n: 1 }, 'part');
  return 'logged';
};
server.registerTool('logs', {}, logs);

server.registerTool('grow', {}, async () => {
  server.registerTool('grown', {}, logs);
  await server.sendResourceUpdated({ uri: 'config://app' });
  return 'grown';
});

if (import.meta.url === pathToFileURL(process.argv[1]).href) await server.connect(new StdioServerTransport());
