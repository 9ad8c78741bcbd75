/**
 * `oxmcp/shared/stdio.js`.
 *
 * @packageDocumentation
 */

export { ReadBuffer, deserializeMessage, serializeMessage } from '../../read-buffer.js';
