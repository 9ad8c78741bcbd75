// The official TypeScript SDKs and our Rust crate over HTTP, with servers that are real processes.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { CAPABILITIES, exercise, exerciseSurface, heard } from './exercise.mjs';

const { OXMCP_HTTP_SERVER: program } = process.env;

const info = { name: 'interop', version: '1.0.0' };
const v1Schemas = {
  'elicitation/create': ElicitRequestSchema,
  'sampling/createMessage': CreateMessageRequestSchema,
  'roots/list': ListRootsRequestSchema,
  'notifications/message': LoggingMessageNotificationSchema,
  'notifications/tools/list_changed': ToolListChangedNotificationSchema,
};
const clients = {
  'official TypeScript client, v1': {
    connect: (options) => new V1Client(info, options),
    transport: (url, options) => new V1Transport(url, options),
    callTool: (client) => (params, options) => client.callTool(params, undefined, options),
    naming: (method) => v1Schemas[method],
  },
  'official TypeScript client': {
    connect: (options) => new Client(info, options),
    transport: (url, options) => new StreamableHTTPClientTransport(url, options),
    revision: '2025-11-25',
  },
  'official TypeScript client, auto': {
    connect: (options) => new Client(info, { ...options, versionNegotiation: { mode: 'auto' } }),
    transport: (url, options) => new StreamableHTTPClientTransport(url, options),
    revision: '2026-07-28',
  },
};

for (const [name, { connect, transport, callTool, naming, revision }] of Object.entries(clients)) {
  test(`${name}, tools over HTTP`, { timeout: 60_000 }, async () => {
    await serving('tools', async (url, said) => {
      const client = connect();
      await client.connect(transport(url));
      if (revision) assert.equal(client.getNegotiatedProtocolVersion(), revision);
      await exercise(client, callTool?.(client) ?? client.callTool.bind(client), said);
      await client.close();
    });
  });

  test(`${name}, the surface over HTTP`, { timeout: 60_000 }, async () => {
    await serving('surface', async (url) => {
      const client = connect({ capabilities: CAPABILITIES });
      await exerciseSurface(client, transport(url), naming);
    });
  });

  test(`${name}, streams and sessions over HTTP`, { timeout: 60_000 }, async () => {
    await serving('surface', async (url) => {
      const requests = new Set();
      const watching = async (input, init) => {
        const response = await fetch(input, init);
        const cameBack = new Headers(init?.headers).has('last-event-id') ? ' for the rest' : '';
        requests.add(`${init?.method ?? 'GET'}${cameBack} ${response.status}`);
        return response;
      };
      const client = connect({ capabilities: CAPABILITIES });
      const next = (method) =>
        new Promise((resolve) => client.setNotificationHandler(naming?.(method) ?? method, resolve));
      const changed = next('notifications/tools/list_changed');
      const logged = next('notifications/message');
      const connection = transport(url, { fetch: watching });
      await client.connect(connection);

      const rejoined = await client.callTool({ name: 'rejoin', arguments: {} });
      assert.equal(rejoined.content[0].text, 'rejoined');
      const isModern = revision === '2026-07-28';
      if (!isModern) await client.setLoggingLevel('info');
      const _meta = isModern ? { 'io.modelcontextprotocol/logLevel': 'info' } : undefined;
      await client.callTool({ name: 'logs', arguments: {}, _meta });
      assert.deepEqual((await logged).params.data, { n: 1 });
      const subscription = isModern ? await client.listen({ toolsListChanged: true }) : undefined;
      await client.callTool({ name: 'grow', arguments: {} });
      await changed;
      await subscription?.close();

      const session = connection.sessionId;
      if (!isModern) await connection.terminateSession();
      await client.close();
      if (isModern) {
        // It ends a subscription by closing its stream, and by saying so as well.
        assert.deepEqual([...requests].toSorted(), ['POST 200', 'POST 202']);
      } else {
        assert.deepEqual(
          [...requests].toSorted(),
          ['DELETE 204', 'GET 200', 'GET for the rest 200', 'POST 200', 'POST 202'],
        );
        assert.equal(await ping(url, session), 404, 'the session has ended');
      }
    });
  });
}

/** Runs our server meanwhile: `use` gets its address, and what waits until it has said something. */
async function serving(kind, use) {
  const server = spawn(program, [kind], { stdio: ['pipe', 'pipe', 'pipe'] });
  try {
    const said = heard(server.stderr);
    const [url] = await once(createInterface(server.stdout), 'line');
    await use(new URL(url), said);
    server.stdin.end();
    const [code] = await once(server, 'exit');
    assert.equal(code, 0);
  } finally {
    server.kill();
  }
}

/** The status of a ping in a session. */
async function ping(url, session) {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
    'mcp-session-id': session,
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const response = await fetch(url, { method: 'POST', headers, body });
  await response.text();
  return response.status;
}
