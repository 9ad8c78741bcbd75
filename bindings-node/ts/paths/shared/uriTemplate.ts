/**
 * `oxmcp/shared/uriTemplate.js`.
 *
 * @packageDocumentation
 */

export { UriTemplate } from '../../uri-template.js';
export type { Variables } from '../../registered.js';
