/**
 * `oxmcp/client/auth.js`: access tokens. What gets them from an authorization server is not here.
 *
 * @packageDocumentation
 */

export type { AuthProvider, OAuthClientProvider, OAuthTokens, TokenProvider } from '../../auth-provider.js';
export { UnauthorizedError } from '../../errors.js';
