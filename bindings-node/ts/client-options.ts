/**
 * What a program can say about a client.
 */

import { type Known, checkOptions } from './check-options.js';
import { usage } from './errors.js';
import type { Problem } from './options.js';
import type { ClientCapabilities } from './types.js';

/** Settings of a client, all optional. */
export interface ClientOptions {
  /**
   * `'auto'`, the default, asks a server first whether it speaks 2026-07-28, and shakes hands if it does not. That costs
   * an older server one round trip, once: the process remembers command lines that were of the handshake. Some leave when they are
   * asked, and are started once more. `'legacy'` shakes hands at once.
   */
  readonly mode?: 'legacy' | 'auto' | undefined;
  /** What this client can do for its server: `roots`, `sampling`, `elicitation`, `extensions`, `experimental`. */
  readonly capabilities?: ClientCapabilities | undefined;
  /** The revisions of the protocol to speak; all that are known by default. */
  readonly supportedProtocolVersions?: readonly string[] | undefined;
  /** Notifications without params that are sent once per turn, however often they are asked for. */
  readonly debouncedNotificationMethods?: readonly string[] | undefined;
  /** Results that the server calls fresh are kept and given again for as long as it said (2026-07-28). On by default. */
  readonly responseCache?: boolean | undefined;
  /**
   * Structured content is checked against the output schema of its tool, once {@link Client.listTools} has seen that. On
   * by default.
   */
  readonly validateResults?: boolean | undefined;
  /** How often a server may ask for input before it serves a call (2026-07-28). 16 rounds by default. */
  readonly inputRequired?: { readonly maxRounds?: number | undefined } | undefined;
  /** How long each call may go without an answer, in milliseconds. 60,000 by default; `Infinity` for no limit. */
  readonly timeout?: number | undefined;
  /** Called for anything odd the server sends. Without it, `client.onerror` gets the same as a {@link ProtocolError}. */
  readonly onproblem?: ((problem: Problem) => void) | undefined;
  /**
   * Called with each line on the wire, as it is sent or after it was received: for a look at the protocol. It costs
   * more than the call itself, so leave it out of programs that do real work.
   */
  readonly ontrace?: ((direction: 'sent' | 'received', line: string) => void) | undefined;
  /** How many pages a whole list may have before {@link Client.listTools} and the others fail. 1000 by default. */
  readonly listMaxPages?: number | undefined;
  /** Bounds on what a server can make this program hold. */
  readonly limits?:
    | {
        /** Bytes per message; 16 MiB by default. A larger one is dropped and reported. */
        readonly message?: number | undefined;
        /** How deep the JSON of a message may nest; 128 by default. */
        readonly depth?: number | undefined;
      }
    | undefined;
  /** Of the official SDK, and without effect: what is not declared is never sent. */
  readonly enforceStrictCapabilities?: boolean | undefined;
  /** Of the official SDK, and without effect: JSON Schema is checked by the core. */
  readonly jsonSchemaValidator?: object | undefined;
}

const CLIENT: Known = {
  mode: 'anything',
  capabilities: 'object',
  supportedProtocolVersions: 'list',
  debouncedNotificationMethods: 'list',
  responseCache: 'flag',
  validateResults: 'flag',
  inputRequired: { maxRounds: 'count' },
  timeout: 'milliseconds',
  onproblem: 'function',
  ontrace: 'function',
  listMaxPages: 'count',
  limits: { message: 'count', depth: 'count' },
  enforceStrictCapabilities: 'flag',
  jsonSchemaValidator: 'object',
};

/** @throws {@link UsageError} for an option that there is not, or that is something else. Internal. */
export function checkClientOptions(options: ClientOptions): void {
  checkOptions('Client', options, CLIENT);
  const { mode } = options;
  if (mode !== undefined && mode !== 'legacy' && mode !== 'auto') {
    throw usage(`the option "mode" of Client must be 'legacy' or 'auto'; it is ${String(mode)}`);
  }
}
