/**
 * `oxmcp/shared/auth.js`.
 *
 * @packageDocumentation
 */

export type { OAuthErrorResponse } from '../../auth/errors.js';
export * from '../../auth/documents.js';
