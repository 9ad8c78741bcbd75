/**
 * What the second version of the official SDK has in its client and in its server.
 */

export { OAuthError, OAuthErrorCode, type OAuthErrorResponse } from '../auth/errors.js';
export { mergeCapabilities } from '../capabilities.js';
export {
  type InputRequest,
  type InputRequiredSpec,
  type InputResponseView,
  acceptedContent,
  inputRequired,
  inputResponse,
  isInputRequiredResult,
} from '../input-required.js';
export { ReadBuffer, deserializeMessage, serializeMessage } from '../read-buffer.js';
export { UriTemplate } from '../uri-template.js';
