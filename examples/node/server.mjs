// A server that keeps notes: a tool, resources of a template, a prompt whose argument is completed, and a question to
// the user before anything is thrown away. It needs `oxmcp` and `zod`.
//
//   node client.mjs node server.mjs -- write '{"name":"today","text":"Buy milk"}'

import { McpServer, ResourceTemplate, StdioServerTransport, completable } from 'oxmcp';
import * as z from 'zod';

const notes = new Map([['welcome', 'This is a note.']]);
const uriOf = (name) => `note://${encodeURIComponent(name)}`;
const namesFrom = (start) => [...notes.keys()].filter((name) => name.startsWith(start));

const server = new McpServer(
  { name: 'notes', version: '1.0.0' },
  { instructions: 'Keeps notes by name.', capabilities: { resources: { subscribe: true } } },
);

server.registerTool(
  'write',
  {
    description: 'Writes a note',
    inputSchema: z.object({ name: z.string().min(1), text: z.string() }),
    outputSchema: z.object({ uri: z.string(), length: z.number() }),
  },
  async ({ name, text }) => {
    notes.set(name, text);
    await server.sendResourceUpdated({ uri: uriOf(name) });
    return { structuredContent: { uri: uriOf(name), length: text.length } };
  },
);

server.registerTool(
  'clear',
  { description: 'Throws all notes away, if the user agrees', annotations: { destructiveHint: true } },
  async (ctx) => {
    const properties = { sure: { type: 'boolean', title: 'Throw all notes away?' } };
    const answer = await ctx.mcpReq.elicitInput({
      message: `Notes that are kept: ${notes.size}.`,
      requestedSchema: { type: 'object', properties, required: ['sure'] },
    });
    if (answer.action !== 'accept' || !answer.content.sure) return 'Nothing was thrown away.';
    notes.clear();
    return 'All notes are gone.';
  },
);

server.registerTool(
  'search',
  { description: 'Finds the notes that have a text', inputSchema: z.object({ text: z.string() }) },
  async ({ text }, ctx) => {
    const found = [];
    let progress = 0;
    for (const [name, note] of notes) {
      // Lets other calls run, and a cancel arrive.
      await new Promise(setImmediate);
      if (ctx.mcpReq.signal.aborted) return 'cancelled';
      ctx.mcpReq.progress({ progress: ++progress, total: notes.size, message: name });
      if (note.includes(text)) found.push({ type: 'resource_link', uri: uriOf(name), name });
    }
    return { content: found };
  },
);

server.registerResource(
  'note',
  new ResourceTemplate('note://{name}', { complete: { name: namesFrom } }),
  { title: 'A note', mimeType: 'text/plain' },
  (uri, { name }) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: notes.get(name) ?? '' }] }),
);

server.registerPrompt(
  'summarise',
  { description: 'Sums a note up', argsSchema: z.object({ name: completable(z.string(), namesFrom) }) },
  ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Sum this up:\n\n${notes.get(name) ?? '(there is no such note)'}` } }],
  }),
);

await server.connect(new StdioServerTransport());
