/**
 * `oxmcp/server/express.js`.
 *
 * @packageDocumentation
 */

export { type CreateMcpExpressAppOptions, createMcpExpressApp } from '../../express-app.js';
