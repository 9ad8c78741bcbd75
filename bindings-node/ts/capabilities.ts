/**
 * Capabilities, put together.
 */

import type { ServerCapabilitiesInput } from './server-options.js';
import type { ClientCapabilities } from './types.js';

/** Both, with those of the second where both have a capability: its members join those of the first. */
export function mergeCapabilities(base: ServerCapabilitiesInput, additional: ServerCapabilitiesInput): ServerCapabilitiesInput;
export function mergeCapabilities(base: ClientCapabilities, additional: ClientCapabilities): ClientCapabilities;
export function mergeCapabilities(base: object, additional: object): object {
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(additional)) {
    const before = merged[name];
    merged[name] = isObject(before) && isObject(value) ? { ...before, ...value } : (value ?? before);
  }
  return merged;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
