// A client on our Node package: `our_client.mjs tools|surface auto|legacy COMMAND…|URL` exercises a server. What the server
// says on its standard error, it is told on its standard input.

import { Client, StdioClientTransport, StreamableHTTPClientTransport } from 'oxmcp';

import { CAPABILITIES, exercise, exerciseSurface, heard } from '../exercise.mjs';

const [kind, mode, target, ...args] = process.argv.slice(2);
const transport = target.startsWith('http:')
  ? new StreamableHTTPClientTransport(target)
  : new StdioClientTransport({ command: target, args });
const client = new Client({ name: 'interop', version: '1.0.0' }, { mode, capabilities: kind === 'tools' ? {} : CAPABILITIES });
if (kind === 'tools') {
  const said = heard(process.stdin);
  await client.connect(transport);
  await exercise(client, client.callTool.bind(client), said);
  await client.close();
} else {
  await exerciseSurface(client, transport);
}
console.log('"as it should be"');
process.exit(0);
