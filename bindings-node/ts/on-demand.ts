/**
 * Classes that a server over stdio does without, for the package's root: it does not read them.
 */

import type * as client from './client.js';
import type * as http from './http-client.js';
import { lazily } from './lazily.js';
import type * as low from './low-level.js';
import type * as memory from './memory.js';
import type * as stdio from './stdio.js';

/** A client: connects to a server, and calls its tools. */
export const Client: typeof client.Client = lazily('Client', () => (require('./client.js') as typeof client).Client);
export type Client = client.Client;

/** A server to start as a child process, for {@link Client.connect}. */
export const StdioClientTransport: typeof stdio.StdioClientTransport = lazily(
  'StdioClientTransport',
  () => (require('./stdio.js') as typeof stdio).StdioClientTransport,
);
export type StdioClientTransport = stdio.StdioClientTransport;

/** A server over HTTP, for {@link Client.connect}. */
export const StreamableHTTPClientTransport: typeof http.StreamableHTTPClientTransport = lazily(
  'StreamableHTTPClientTransport',
  () => (require('./http-client.js') as typeof http).StreamableHTTPClientTransport,
);
export type StreamableHTTPClientTransport = http.StreamableHTTPClientTransport;

/** One end of a connection in memory: one for a {@link Client}, the other for a server. */
export const InMemoryTransport: typeof memory.InMemoryTransport = lazily(
  'InMemoryTransport',
  () => (require('./memory.js') as typeof memory).InMemoryTransport,
);
export type InMemoryTransport = memory.InMemoryTransport;

/** A server that answers each method by a function of its own, for programs that come from the official SDK. */
export const Server: typeof low.Server = lazily('Server', () => (require('./low-level.js') as typeof low).Server);
export type Server = low.Server;
