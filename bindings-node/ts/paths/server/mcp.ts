/**
 * `oxmcp/server/mcp.js`: what the official SDK has at this path.
 *
 * @packageDocumentation
 */

export type { CompleteCallback as CompleteResourceTemplateCallback } from '../../completable.js';
export {
  type ListResourcesCallback,
  type PromptCallback,
  type ReadResourceCallback,
  type ReadResourceTemplateCallback,
  type RegisteredPrompt,
  type RegisteredResource,
  type RegisteredResourceTemplate,
  type RegisteredTool,
  type ResourceMetadata,
  ResourceTemplate,
  type ToolCallback,
} from '../../registered.js';
export { McpServer } from '../../server.js';
