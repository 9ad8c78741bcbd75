/**
 * `oxmcp/server/streamableHttp.js`.
 *
 * @packageDocumentation
 */

export { StreamableHTTPServerTransport, type StreamableHTTPServerTransportOptions } from '../../http-transport.js';
