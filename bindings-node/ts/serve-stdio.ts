/**
 * A server over standard input and output in one call.
 */

import type { McpServer } from './server.js';
import type { Server } from './low-level.js';
import type { MessageTransport } from './messages.js';
import { StdioServerTransport } from './stdio-server.js';

/** How {@link serveStdio} serves. */
export interface ServeStdioOptions {
  /** Another transport. */
  readonly transport?: MessageTransport | undefined;
  /** Called when the server cannot be made or started. */
  readonly onerror?: ((error: Error) => void) | undefined;
}

/** A server that {@link serveStdio} started. */
export interface StdioServerHandle {
  /** Ends the connection. */
  close(): Promise<void>;
}

/**
 * Makes a server and serves the client that started this process, in every revision of the protocol.
 *
 * @example
 * ```ts
 * import { McpServer } from 'oxmcp';
 * import { serveStdio } from 'oxmcp/server/stdio';
 *
 * serveStdio(() => {
 *   const server = new McpServer({ name: 'example', version: '1.0.0' });
 *   server.registerTool('greet', { description: 'Greets' }, () => 'Hello');
 *   return server;
 * });
 * ```
 */
export function serveStdio(
  factory: (context: { readonly era: 'legacy' | 'modern' }) => McpServer | Server | Promise<McpServer | Server>,
  { transport = new StdioServerTransport(), onerror }: ServeStdioOptions = {},
): StdioServerHandle {
  const started = (async () => {
    // One server serves both; and what one of the earlier revisions may do, such as asking the client, works in all.
    const server = await factory({ era: 'legacy' });
    await server.connect(transport);
    return server;
  })();
  const ended = started.catch((error: unknown) => {
    if (onerror === undefined) throw error;
    onerror(error as Error);
    return undefined;
  });
  return {
    async close() {
      await (await ended)?.close();
    },
  };
}
