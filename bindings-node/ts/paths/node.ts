/**
 * `oxmcp/node`: servers in Node's `http`, by the names of the official SDK's second version.
 *
 * @packageDocumentation
 */

export { type Guard, hostHeaderValidation, localhostHostValidation, localhostOriginValidation, originValidation } from '../host-guard.js';
export {
  StreamableHTTPServerTransport as NodeStreamableHTTPServerTransport,
  type StreamableHTTPServerTransportOptions,
} from '../http-transport.js';
export {
  type FetchLikeMcpHandler,
  type NodeMcpRequestHandler,
  type ToNodeHandlerOptions,
  type ToWebRequestOptions,
  toNodeHandler,
  toWebRequest,
} from '../node-handler.js';
