/**
 * `oxmcp/server/auth/types.js`.
 *
 * @packageDocumentation
 */

export type { AuthInfo } from '../../../origin.js';
