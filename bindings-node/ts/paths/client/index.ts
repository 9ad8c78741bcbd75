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
export { mergeCapabilities } from '../../capabilities.js';
export {
  type InputRequest,
  type InputRequiredSpec,
  type InputResponseView,
  acceptedContent,
  inputRequired,
  inputResponse,
  isInputRequiredResult,
} from '../../input-required.js';
export { ReadBuffer, deserializeMessage, serializeMessage } from '../../read-buffer.js';
export { UriTemplate } from '../../uri-template.js';
export { SdkHttpError } from '../http-errors.js';
export { SseError } from '../http-errors.js';
export { SSEClientTransport } from '../../http-client.js';
export { fromJsonSchema } from '../../from-json-schema.js';
