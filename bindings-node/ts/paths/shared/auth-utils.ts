/**
 * `oxmcp/shared/auth-utils.js`.
 *
 * @packageDocumentation
 */

export { checkResourceAllowed, resourceUrlFromServerUrl } from '../../auth/resource.js';
