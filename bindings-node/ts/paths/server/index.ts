/**
 * `oxmcp/server` and `oxmcp/server/index.js`: what the official SDK has at these paths, in both of its versions.
 *
 * @packageDocumentation
 */

export * from '../../index.js';
export { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode } from '../newer-errors.js';
export * from '../../spec/constants.js';
export { isCallToolResult } from '../../spec/objects.js';
export {
  isInitializeRequest,
  isInitializedNotification,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  isJSONRPCResultResponse,
} from '../../spec/requests.js';
export type * from '../../spec/messages.js';
export {
  type CreateMcpHandlerOptions,
  InMemoryServerEventBus,
  type McpHttpHandler,
  type McpRequestContext,
  type McpServerFactory,
  type ServerEvent,
  type ServerEventBus,
  type ServerNotifier,
  createMcpHandler,
} from '../../mcp-handler.js';
export {
  type InboundClassificationOutcome,
  type InboundHttpRequest,
  classifyInboundRequest,
  isLegacyRequest,
} from '../../classify.js';
export {
  type StreamableHTTPServerTransportOptions as WebStandardStreamableHTTPServerTransportOptions,
  WebStandardStreamableHTTPServerTransport,
} from '../../http-transport.js';
export type { OAuthTokenVerifier } from '../../auth/bearer.js';
export { getOAuthProtectedResourceMetadataUrl } from '../../auth/resource.js';
export { fromJsonSchema } from '../../from-json-schema.js';
export type { ResourceTemplateDescription as ResourceTemplateType } from '../../types.js';
export * from '../both.js';
export { SdkHttpError } from '../http-errors.js';
