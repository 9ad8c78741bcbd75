/**
 * `oxmcp/client/websocket.js`.
 *
 * @packageDocumentation
 */

export { WebSocketClientTransport } from '../../web-socket.js';
