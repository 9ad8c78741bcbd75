/**
 * `oxmcp/server/auth/provider.js`: what a guarded server needs of a program. Authorization servers are not here.
 *
 * @packageDocumentation
 */

export type { OAuthTokenVerifier } from '../../../auth/bearer.js';
