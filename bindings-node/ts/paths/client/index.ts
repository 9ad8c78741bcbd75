/**
 * `oxmcp/client` and `oxmcp/client/index.js`: what the official SDK has at these paths, in both of its versions.
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
export * from '../both.js';
export { SdkHttpError } from '../http-errors.js';
export { SseError } from '../http-errors.js';
export { SSEClientTransport } from '../../http-client.js';
export { fromJsonSchema } from '../../from-json-schema.js';
