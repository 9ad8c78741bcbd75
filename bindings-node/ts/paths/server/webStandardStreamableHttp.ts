/**
 * `oxmcp/server/webStandardStreamableHttp.js`.
 *
 * @packageDocumentation
 */

export {
  type StreamableHTTPServerTransportOptions as WebStandardStreamableHTTPServerTransportOptions,
  WebStandardStreamableHTTPServerTransport,
} from '../../http-transport.js';
