/**
 * `oxmcp/express`.
 *
 * @packageDocumentation
 */

export { type BearerAuthMiddlewareOptions, type BearerGuard, type OAuthTokenVerifier, requireBearerAuth } from '../auth/bearer.js';
export { type AuthMetadataOptions, type MetadataRouter, mcpAuthMetadataRouter } from '../auth/metadata.js';
export { getOAuthProtectedResourceMetadataUrl } from '../auth/resource.js';
export { type CreateMcpExpressAppOptions, createMcpExpressApp } from '../express-app.js';
export { hostHeaderValidation, localhostHostValidation, localhostOriginValidation, originValidation } from '../host-guard.js';
