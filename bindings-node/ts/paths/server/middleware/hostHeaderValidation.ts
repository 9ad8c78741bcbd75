/**
 * `oxmcp/server/middleware/hostHeaderValidation.js`.
 *
 * @packageDocumentation
 */

export { hostHeaderValidation, localhostHostValidation } from '../../../host-guard.js';
