/**
 * `oxmcp/inMemory.js`.
 *
 * @packageDocumentation
 */

export { InMemoryTransport } from '../memory.js';
