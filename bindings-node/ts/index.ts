/**
 * The Model Context Protocol for Node, on a Rust core.
 *
 * Start with {@link Client}.
 *
 * @packageDocumentation
 */

import manifest = require('../package.json');

export { getDefaultEnvironment } from './child/environment.js';
export { Client, type CallToolParams, type NotificationHandler, type Request } from './client.js';
export {
  AddonError,
  CancelledError,
  CapabilityError,
  ConnectionClosedError,
  ErrorCode,
  type ErrorDetails,
  type ErrorKind,
  type Fault,
  InternalError,
  McpError,
  type ProcessEnd,
  ProtocolError,
  RequestTimeoutError,
  ResponseError,
  ServerStartError,
  UsageError,
} from './errors.js';
export type { AbortSignalLike, ClientOptions, ConnectOptions, Notification, Problem, RequestOptions } from './options.js';
export { type ByteStream, StdioClientTransport, type StdioServerParameters } from './stdio.js';
export type * from './types.js';

/** The version of this package, which is the version of its Rust core. */
export const version: string = manifest.version;
