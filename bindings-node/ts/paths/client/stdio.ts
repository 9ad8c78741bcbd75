/**
 * `oxmcp/client/stdio.js`.
 *
 * @packageDocumentation
 */

export { getDefaultEnvironment } from '../../child/environment.js';
export { StdioClientTransport } from '../../on-demand.js';
export type { StdioServerParameters } from '../../stdio.js';
