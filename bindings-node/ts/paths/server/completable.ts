/**
 * `oxmcp/server/completable.js`.
 *
 * @packageDocumentation
 */

export { type CompleteCallback, completable, isCompletable } from '../../completable.js';
