/**
 * `oxmcp/server/stdio.js`.
 *
 * @packageDocumentation
 */

export { StdioServerTransport } from '../../stdio-server.js';
export { type ServeStdioOptions, type StdioServerHandle, serveStdio } from '../../serve-stdio.js';
