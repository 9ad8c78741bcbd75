/**
 * `oxmcp/shared/uriTemplate.js`.
 *
 * @packageDocumentation
 */

export type { Variables } from '../../registered.js';
