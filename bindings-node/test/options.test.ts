/**
 * Options that are none, or are something else, are told so by their names.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client, McpServer, Server, StdioClientTransport } from 'oxmcp';

import { linked } from './support.js';

const INFO = { name: 'n', version: '1' };

test('an option that there is not', () => {
  const cases: [run: () => unknown, message: RegExp][] = [
    [() => new McpServer(INFO, { instruction: 'x' } as never), /McpServer has no option "instruction"\. Did you mean "instructions"\? There are: instructions, capabilities/],
    [() => new Server(INFO, { pagesize: 1 } as never), /no option "pagesize"\. Did you mean "pageSize"\?/],
    [() => new McpServer(INFO, { limits: { inflight: 1 } } as never), /no option "limits\.inflight"\. Did you mean "inFlight"\?/],
    [() => new Client(INFO, { timeoutMs: 1 } as never), /Client has no option "timeoutMs"\. Did you mean "timeout"\?/],
    [() => new Client(INFO, { zzz: 1 } as never), /Client has no option "zzz"\. There are: mode, /],
    [() => new StdioClientTransport({ command: 'x', arg: [] } as never), /StdioClientTransport has no option "arg"\. There are: command, args/],
    [() => new McpServer(INFO).registerTool('t', { inputschema: {} } as never, () => ''), /the tool "t" has no option "inputschema"\. Did you mean "inputSchema"\?/],
    [() => new McpServer(INFO).registerPrompt('p', { arguments: {} } as never, () => ({ messages: [] })), /the prompt "p" has no option "arguments"/],
  ];
  for (const [run, message] of cases) assert.throws(run, { kind: 'usage', message }, String(message));
});

test('an option that is something else', () => {
  const cases: [run: () => unknown, message: RegExp][] = [
    [() => new McpServer(INFO, { instructions: 5 } as never), /the option "instructions" of McpServer must be a string; it is 5/],
    [() => new McpServer(INFO, { cache: { ttl: 'x' } } as never), /"cache\.ttl" of McpServer must be a number of milliseconds.*it is "x"/],
    [() => new McpServer(INFO, { limits: 5 } as never), /"limits" of McpServer must be an object; it is 5/],
    [() => new McpServer(INFO, 'x' as never), /the options of McpServer must be an object/],
    [() => new Client(INFO, { timeout: -1 }), /"timeout" of Client must be a number of milliseconds from 0 up, or Infinity; it is -1/],
    [() => new Client(INFO, { timeout: NaN }), /"timeout" of Client/],
    [() => new Client(INFO, { listMaxPages: 0 }), /"listMaxPages" of Client must be a whole number from 1 up; it is 0/],
    [() => new Client(INFO, { mode: 'modern' } as never), /"mode" of Client must be 'legacy' or 'auto'; it is modern/],
    [() => new Client(INFO, { onproblem: {} } as never), /"onproblem" of Client must be a function; it is an object/],
  ];
  for (const [run, message] of cases) assert.throws(run, { kind: 'usage', message }, String(message));
});

test('an option of a call', async () => {
  const server = new McpServer(INFO);
  server.registerTool('t', {}, (ctx) => ctx.mcpReq.log('info', 1).then(() => 'x'));
  const client = await linked(server);
  await assert.rejects(client.callTool({ name: 't' }, { timeOut: 5 } as never), { kind: 'usage', message: /a call has no option "timeOut"\. Did you mean "timeout"\?/ });
  await assert.rejects(client.callTool({ name: 't' }, { logLevel: 'loud' } as never), { kind: 'usage', message: /logLevel.*loud/ });
  await assert.rejects(client.listTools(undefined, { timeout: 'x' } as never), { kind: 'usage', message: /timeout must be a number/ });
  await client.callTool({ name: 't' }, { relatedRequestId: 1 } as never);
  await client.close();
});

test('what the core refuses speaks of what the program wrote', async () => {
  const server = new McpServer(INFO);
  server.registerTool('t', {}, () => '');
  const client = await linked(server, { mode: 'legacy' });
  const said: string[] = [];
  for (const run of [
    () => server.sendLoggingMessage({ level: 'loud', data: 1 } as never),
    () => client.listTools(undefined, { logLevel: 'loud' } as never),
    async () => server.registerTool('t', {}, () => ''),
    async () => linked(new McpServer(INFO, { supportedProtocolVersions: ['1999-01-01'] })),
    async () => linked(new McpServer(INFO, { stateKeys: ['short'] })),
  ]) {
    await assert.rejects(run, (error: Error) => said.push(error.message) > 0);
  }
  for (const message of said) assert.doesNotMatch(message, /line \d|column|command is wrong|expected struct|variant/, message);
  assert.match(said[0] ?? '', /"loud" is none of debug, info/);
  await client.close();
});
