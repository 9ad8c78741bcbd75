/**
 * `oxmcp/shared/protocol.js`: the types that the official SDK has at this path.
 *
 * @packageDocumentation
 */

import type { ServerContext } from '../../context.js';
import type { Progress } from '../../types.js';

export type { NotificationOptions, ProtocolOptions } from './options.js';
export type { RequestOptions } from '../../options.js';
export { mergeCapabilities } from '../../capabilities.js';
export { DEFAULT_REQUEST_TIMEOUT_MSEC } from '../../spec/constants.js';

/** What a handler gets beside its request. The kinds of requests and notifications it may send are not told apart. */
// oxlint-disable-next-line no-unused-vars
export type RequestHandlerExtra<_Request = unknown, _Notification = unknown> = ServerContext;

/** Called for each report of progress. */
export type ProgressCallback = (progress: Progress) => void;
