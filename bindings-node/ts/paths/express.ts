/**
 * `oxmcp/express`.
 *
 * @packageDocumentation
 */

export { type CreateMcpExpressAppOptions, createMcpExpressApp } from '../express-app.js';
export { hostHeaderValidation, localhostHostValidation, localhostOriginValidation, originValidation } from '../host-guard.js';
