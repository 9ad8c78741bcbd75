/**
 * `oxmcp/shared/transport.js`.
 *
 * @packageDocumentation
 */

export type { MessageTransport as Transport } from '../../messages.js';
