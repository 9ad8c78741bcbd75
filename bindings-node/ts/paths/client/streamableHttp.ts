/**
 * `oxmcp/client/streamableHttp.js`.
 *
 * @packageDocumentation
 */

export {
  type ReconnectionOptions as StreamableHTTPReconnectionOptions,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '../../http-client.js';
export { StreamableHTTPError } from '../http-errors.js';
