/**
 * What a program can say about a server.
 */

import { type Known, checkOptions } from './check-options.js';
import type { Problem } from './options.js';
import type { JsonObject } from './types.js';

/** Settings of a server, all optional. */
export interface ServerOptions {
  /** How to use the server, for a model. */
  readonly instructions?: string | undefined;
  /**
   * What to declare beyond what is registered, or otherwise: `{ tools: { listChanged: false } }` tells of no changes,
   * `{ resources: { subscribe: true } }` takes subscriptions, `{ extensions: { 'com.example/x': {} } }` offers an
   * extension. What is registered is declared by itself.
   */
  readonly capabilities?: ServerCapabilitiesInput | undefined;
  /** Whether log messages are sent to clients. On by default. */
  readonly logging?: boolean | undefined;
  /** The revisions of the protocol to speak; all that are known by default. */
  readonly supportedProtocolVersions?: readonly string[] | undefined;
  /** A client that asks for a revision we lack is refused, and not offered another. Off by default. */
  readonly strict?: boolean | undefined;
  /** Notifications without params that are sent once per turn; those that say that a list changed by default. */
  readonly debouncedNotificationMethods?: readonly string[] | undefined;
  /** How long a question to a client may go without an answer, in milliseconds. 60,000 by default. */
  readonly timeout?: number | undefined;
  /** How many entries a page of a list has; all of them by default. */
  readonly pageSize?: number | undefined;
  /** For how many milliseconds clients may keep a list, and whether for all their users (2026-07-28). */
  readonly cache?: { readonly ttl: number; readonly public?: boolean } | undefined;
  /**
   * Secrets that `requestState` is sealed with (2026-07-28), each a text of at least 32 bytes; the first seals, all open.
   * Random by default: give the same to several processes that are one server.
   */
  readonly stateKeys?: readonly string[] | undefined;
  /** How long a client may take to come back with answers, in milliseconds (2026-07-28). One hour by default. */
  readonly stateTtl?: number | undefined;
  /** Called for anything odd a client sends. Without it, `server.onerror` gets the same as an error. */
  readonly onproblem?: ((problem: Problem) => void) | undefined;
  /** Called with each line on the wire, for a look at the protocol. It costs more than the call itself. */
  readonly ontrace?: ((direction: 'sent' | 'received', line: string) => void) | undefined;
  /** Bounds on what a client can make this program hold. */
  readonly limits?: ServerLimits | undefined;
  /** Of the official SDK, and without effect: what is not declared is never sent. */
  readonly enforceStrictCapabilities?: boolean | undefined;
  /** Of the official SDK, and without effect: JSON Schema is checked by the core. */
  readonly jsonSchemaValidator?: object | undefined;
}

/** Bounds on what a client can make a server hold. */
export interface ServerLimits {
  /** Bytes per message; 16 MiB by default. */
  readonly message?: number | undefined;
  /** How deep the JSON of a message may nest; 128 by default. */
  readonly depth?: number | undefined;
  /** Calls that wait for an answer at the same time; 65,536 by default. */
  readonly inFlight?: number | undefined;
  /** How long accepted calls may go on after the client has left, in milliseconds; 5000 by default. */
  readonly drain?: number | undefined;
  /** Streams and subscriptions of one client; 1024 by default. */
  readonly subscriptions?: number | undefined;
}

/** What a server declares. */
export interface ServerCapabilitiesInput {
  readonly tools?: { readonly listChanged?: boolean | undefined } | undefined;
  readonly prompts?: { readonly listChanged?: boolean | undefined } | undefined;
  readonly resources?: { readonly subscribe?: boolean | undefined; readonly listChanged?: boolean | undefined } | undefined;
  readonly logging?: JsonObject | undefined;
  readonly completions?: JsonObject | undefined;
  readonly experimental?: JsonObject | undefined;
  readonly extensions?: JsonObject | undefined;
}

const KNOWN: Known = {
  instructions: 'text',
  capabilities: 'object',
  logging: 'flag',
  supportedProtocolVersions: 'list',
  strict: 'flag',
  debouncedNotificationMethods: 'list',
  timeout: 'milliseconds',
  pageSize: 'count',
  cache: { ttl: 'milliseconds', public: 'flag' },
  stateKeys: 'list',
  stateTtl: 'milliseconds',
  onproblem: 'function',
  ontrace: 'function',
  limits: { message: 'count', depth: 'count', inFlight: 'count', drain: 'milliseconds', subscriptions: 'count' },
  enforceStrictCapabilities: 'flag',
  jsonSchemaValidator: 'object',
};

/** @throws {@link UsageError} for an option that there is not, or that is something else. Internal. */
export function checkServerOptions(options: ServerOptions): void {
  checkOptions('McpServer', options, KNOWN);
}

/** A capability that is named tells of changes, unless it says that it does not. Internal. */
export function declared(capabilities: ServerCapabilitiesInput | undefined): JsonObject | undefined {
  if (capabilities === undefined) return undefined;
  const whole: Record<string, unknown> = { ...capabilities };
  for (const name of ['tools', 'prompts', 'resources'] as const) {
    if (capabilities[name]) whole[name] = { listChanged: true, ...capabilities[name] };
  }
  return whole;
}
