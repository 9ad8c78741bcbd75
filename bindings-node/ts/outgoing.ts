/**
 * A call of ours that waits for the other side. Internal.
 */

import type { Progress } from './types.js';

export interface Call {
  resolve(result: unknown): void;
  reject(reason: unknown): void;
  readonly onprogress: ((progress: Progress) => void) | undefined;
  /** Its result is one of a tool. */
  readonly isTool: boolean;
  /** Stops listening for the call's abort. */
  release: (() => void) | undefined;
}
