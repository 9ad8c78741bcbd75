/**
 * `oxmcp/server/auth/router.js`: for guarded servers. The router of an authorization server is not here.
 *
 * @packageDocumentation
 */

export { type AuthMetadataOptions, type MetadataRouter, mcpAuthMetadataRouter } from '../../../auth/metadata.js';
export { getOAuthProtectedResourceMetadataUrl } from '../../../auth/resource.js';
