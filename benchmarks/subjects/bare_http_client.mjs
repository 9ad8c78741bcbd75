// The least an MCP client over HTTP in Node can do: node:http with connections that are kept, one POST per request.

import { Agent, request as post } from 'node:http';

import { listening, measure, plan } from './measure.mjs';

const settings = plan();
const url = await listening(settings);
const begin = performance.now();
const agent = new Agent({ keepAlive: true });
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
let lastId = -1;

function send(message) {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(message);
    const sent = post(url, { method: 'POST', agent, headers: { ...headers, 'content-length': Buffer.byteLength(body) } });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve(text));
    });
    sent.end(body);
  });
}

async function request(method, params) {
  const { result, error } = JSON.parse(await send({ jsonrpc: '2.0', id: ++lastId, method, params }));
  if (error) throw new Error(error.message);
  return result;
}

const { protocolVersion } = await request('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1.0.0' },
});
headers['mcp-protocol-version'] = protocolVersion;
await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
const connectMs = performance.now() - begin;

await measure(
  settings,
  connectMs,
  (text) => request('tools/call', { name: 'echo', arguments: { text } }),
  (result) => result.content[0].text,
);
agent.destroy();
