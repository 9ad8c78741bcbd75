/**
 * `oxmcp/client/stdio.js`.
 *
 * @packageDocumentation
 */

export { getDefaultEnvironment } from '../../child/environment.js';
export { StdioClientTransport, type StdioServerParameters } from '../../stdio.js';
