/**
 * `oxmcp/server/auth/errors.js`.
 *
 * @packageDocumentation
 */

export type { OAuthErrorResponse } from '../../../auth/errors.js';
export * from '../../../auth/older-errors.js';
