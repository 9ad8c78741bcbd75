// Our Node client on a server of the interop tests: `client.mjs PACKAGE URL` or `client.mjs PACKAGE COMMAND…`, where PACKAGE
// is the entry of our package. Prints what it saw as one line of JSON.

const [entry, ...server] = process.argv.slice(2);
const { Client, StdioClientTransport, StreamableHTTPClientTransport } = await import(entry);

const [command, ...args] = server;
const isUrl = command.startsWith('http');
const transport = isUrl
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args, stderr: 'inherit' });
const client = new Client({ name: 'interop', version: '1.0.0' });
await client.connect(transport);

const { tools } = await client.listTools();
const seen = { tools: tools.map((tool) => tool.name) };
seen.add = (await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })).content[0].text;
const progress = [];
const onprogress = (it) => progress.push([it.progress, it.total, it.message]);
const counted = await client.callTool({ name: 'count', arguments: { to: 3 } }, { onprogress });
Object.assign(seen, { count: counted.content[0].text, progress });
const failed = await client.callTool({ name: 'fail', arguments: {} });
seen.fail = [failed.isError, failed.content[0].text];
const controller = new AbortController();
const call = client.callTool(
  { name: 'wait', arguments: {} },
  { signal: controller.signal, onprogress: () => controller.abort(new Error('enough')) },
);
seen.cancelled = await call.then(
  () => false,
  () => true,
);
seen.note = (await client.readResource({ uri: 'note://00123' })).contents[0].text;
await client.close();
console.log(JSON.stringify(seen));
