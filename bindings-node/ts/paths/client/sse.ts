/**
 * `oxmcp/client/sse.js`: the HTTP+SSE transport of revision 2024-11-05.
 *
 * @packageDocumentation
 */

export { SSEClientTransport } from '../../http-client.js';
export { SseError } from '../http-errors.js';
