/**
 * `oxmcp/inMemory.js`.
 *
 * @packageDocumentation
 */

export { InMemoryTransport } from '../on-demand.js';
