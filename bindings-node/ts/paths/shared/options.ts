/**
 * Options that the official SDK has types for.
 */

import type { ServerOptions } from '../../server-options.js';

/** Options that clients and servers share. */
export type ProtocolOptions = Pick<ServerOptions, 'enforceStrictCapabilities' | 'debouncedNotificationMethods'>;

/** Options of a notification. */
export interface NotificationOptions {
  readonly relatedRequestId?: string | number | undefined;
}
