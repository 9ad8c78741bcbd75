/**
 * `oxmcp/types.js`: the protocol's schemas, messages, objects and errors, as the official SDK has them at this path.
 *
 * @packageDocumentation
 */

export { ErrorCode, McpError, UrlElicitationRequiredError } from '../errors.js';
export type * from '../spec/messages.js';
export * from '../spec/objects.js';
export * from '../spec/requests.js';
export { Schema, SchemaError } from '../spec/kit.js';
export type { Notification } from '../options.js';
export type { Request } from '../client.js';
export type * from '../types.js';
export type { ResourceTemplateDescription as ResourceTemplate } from '../types.js';
export {
  DEFAULT_NEGOTIATED_PROTOCOL_VERSION,
  JSONRPC_VERSION,
  LATEST_PROTOCOL_VERSION,
  RELATED_TASK_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '../spec/constants.js';
