// Access tokens: the official SDK's parts for them, before our server and behind our client.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import express from 'express';
import { Client, McpServer, StreamableHTTPClientTransport, UnauthorizedError } from 'oxmcp';

const info = { name: 'interop', version: '1.0.0' };

/** An authorization server with one client, and our server that takes its tokens, on one port. */
async function guarded() {
  const issued = new Map();
  const verifier = {
    async verifyAccessToken(token) {
      const clientId = issued.get(token);
      if (clientId === undefined) throw new InvalidTokenError('no such token');
      return { token, clientId, scopes: ['mcp'], expiresAt: Math.floor(Date.now() / 1000) + 3600 };
    },
  };
  const server = new McpServer({ name: 'guarded', version: '1.0.0' });
  server.registerTool('whoami', {}, ({ http }) => `${http?.authInfo?.clientId} ${http?.authInfo?.scopes}`);
  const mcp = server.httpHandler();

  const app = express();
  app.use(express.json(), express.urlencoded({ extended: false }));
  const listener = createServer(app).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const origin = `http://127.0.0.1:${listener.address().port}`;
  app.get(/^\/\.well-known\/oauth-protected-resource/, (_, response) => {
    response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
  });
  app.get(/^\/\.well-known\/oauth-authorization-server/, (_, response) => {
    response.json({
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      response_types_supported: ['code'],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
    });
  });
  app.post('/token', (request, response) => {
    const [id] = Buffer.from(request.headers.authorization.slice('Basic '.length), 'base64').toString().split(':');
    const access_token = `token-${issued.size}`;
    issued.set(access_token, id);
    response.json({ access_token, token_type: 'Bearer', expires_in: 3600 });
  });
  const resourceMetadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`;
  app.all('/mcp', requireBearerAuth({ verifier, requiredScopes: ['mcp'], resourceMetadataUrl }), (request, response) => mcp.node(request, response));

  const close = async () => {
    await server.close();
    listener.closeAllConnections();
    listener.close();
  };
  return { url: `${origin}/mcp`, resourceMetadataUrl, close };
}

for (const mode of ['auto', 'legacy']) {
  test(`the official middleware guards our server, and the official client gets tokens for ours (${mode})`, { timeout: 60_000 }, async () => {
    const { url, resourceMetadataUrl, close } = await guarded();
    try {
      const provider = new ClientCredentialsProvider({ clientId: 'ada', clientSecret: 'secret' });
      const client = new Client(info, { mode });
      const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
      await assert.rejects(client.connect(transport), (error) => {
        assert.ok(error instanceof UnauthorizedError, String(error));
        assert.ok(error.data.wwwAuthenticate.includes(resourceMetadataUrl), error.data.wwwAuthenticate);
        return true;
      });
      assert.equal(await auth(provider, { serverUrl: url }), 'AUTHORIZED');
      await client.connect(transport);
      const { content } = await client.callTool({ name: 'whoami' });
      assert.equal(content[0].text, 'ada mcp');
      await client.close();
    } finally {
      await close();
    }
  });
}
