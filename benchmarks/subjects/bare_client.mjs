// The least a stdio MCP client in Node can do: a child process, a map of pending ids, one JSON line per request.

import { spawn } from 'node:child_process';

import { measure, plan } from './measure.mjs';

const settings = plan();
const begin = performance.now();
const child = spawn(settings.command, settings.args, { stdio: ['pipe', 'pipe', 'inherit'] });
const pending = new Map();
let lastId = -1;

function request(method, params) {
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject });
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  });
}

let rest = '';
child.stdout.setEncoding('utf8');
child.stdout.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, result, error } = JSON.parse(line);
    const waiting = pending.get(id);
    pending.delete(id);
    if (error) waiting.reject(new Error(error.message));
    else waiting.resolve(result);
  }
});

await request('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1.0.0' },
});
child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
const connectMs = performance.now() - begin;

await measure(
  settings,
  connectMs,
  (text) => request('tools/call', { name: 'echo', arguments: { text } }),
  (result) => result.content[0].text,
);
child.stdin.end();
