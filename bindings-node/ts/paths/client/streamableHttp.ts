/**
 * `oxmcp/client/streamableHttp.js`.
 *
 * @packageDocumentation
 */

export { StreamableHTTPClientTransport } from '../../on-demand.js';
export type { ReconnectionOptions as StreamableHTTPReconnectionOptions, StreamableHTTPClientTransportOptions } from '../../http-client.js';
export { StreamableHTTPError } from '../http-errors.js';
