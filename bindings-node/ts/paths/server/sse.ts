/**
 * `oxmcp/server/sse.js`: the HTTP+SSE transport of revision 2024-11-05.
 *
 * @packageDocumentation
 */

export { SSEServerTransport, type SSEServerTransportOptions } from '../../sse-transport.js';
