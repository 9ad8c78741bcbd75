/**
 * Servers of Node's `http` that last as long as their test file.
 */

import { once } from 'node:events';
import { type IncomingMessage, type Server as App, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

const opened: App[] = [];

after(() => {
  for (const app of opened) {
    app.closeAllConnections();
    app.close();
  }
});

/** Serves by a function of Node's `http`, and gives the address. */
export async function appOf(serve: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const app = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  opened.push(app);
  await once(app, 'listening');
  return `http://127.0.0.1:${(app.address() as AddressInfo).port}/mcp`;
}
