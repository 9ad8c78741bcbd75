/**
 * `oxmcp/server` and `oxmcp/server/index.js`: what the official SDK has at these paths, in both of its versions.
 *
 * @packageDocumentation
 */

export * from '../../index.js';
export { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode } from '../newer-errors.js';
export * from '../../spec/constants.js';
export { isInitializeRequest } from '../../spec/requests.js';
export type * from '../../spec/messages.js';
export { fromJsonSchema } from '../../from-json-schema.js';
export type { ResourceTemplateDescription as ResourceTemplateType } from '../../types.js';
