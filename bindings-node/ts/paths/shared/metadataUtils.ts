/**
 * `oxmcp/shared/metadataUtils.js`.
 *
 * @packageDocumentation
 */

export { getDisplayName } from '../../display-name.js';
