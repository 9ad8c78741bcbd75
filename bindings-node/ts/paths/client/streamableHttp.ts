/**
 * `oxmcp/client/streamableHttp.js`.
 *
 * @packageDocumentation
 */

export { StreamableHTTPClientTransport, type StreamableHTTPClientTransportOptions } from '../../http-client.js';
