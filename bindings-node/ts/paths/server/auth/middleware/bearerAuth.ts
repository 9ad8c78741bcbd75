/**
 * `oxmcp/server/auth/middleware/bearerAuth.js`.
 *
 * @packageDocumentation
 */

export { type BearerAuthMiddlewareOptions, type BearerGuard, requireBearerAuth } from '../../../../auth/bearer.js';
