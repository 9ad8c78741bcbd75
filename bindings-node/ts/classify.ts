/**
 * Which requests over HTTP are those of 2026-07-28, for programs that serve some of them by other means.
 */

import type { WebRequest } from './http-types.js';
import type { JSONRPCNotification, JSONRPCRequest } from './spec/messages.js';

/** The revision in which each request stands for itself, and where a request names its own. Internal. */
export const MODERN = '2026-07-28';
export const VERSION = 'mcp-protocol-version';

/** A request over HTTP, as far as it tells the eras apart. */
export interface InboundHttpRequest {
  readonly httpMethod: string;
  readonly protocolVersionHeader?: string | undefined;
  readonly mcpMethodHeader?: string | undefined;
  readonly mcpNameHeader?: string | undefined;
  /** Its body, as read from JSON. */
  readonly body?: unknown;
}

/** What a request is. Whether it is right in all else, the core checks. */
export type InboundClassificationOutcome =
  | { readonly kind: 'legacy'; readonly requestedVersion?: string | undefined }
  | {
      readonly kind: 'modern';
      readonly messageKind: 'request' | 'notification';
      readonly message: JSONRPCRequest | JSONRPCNotification;
      readonly classification: { readonly era: 'modern'; readonly revision: string };
    };

/** Tells which era a request is of: by its message, or else by its header fields. */
export function classifyInboundRequest(request: InboundHttpRequest): InboundClassificationOutcome {
  const { httpMethod, protocolVersionHeader, body } = request;
  const claimed = claimOf(body) ?? (protocolVersionHeader === MODERN ? MODERN : undefined);
  if (httpMethod !== 'POST' || claimed === undefined || typeof body !== 'object' || body === null) {
    return { kind: 'legacy', requestedVersion: protocolVersionHeader };
  }
  const message = body as JSONRPCRequest | JSONRPCNotification;
  const messageKind = 'id' in message ? 'request' : 'notification';
  return { kind: 'modern', messageKind, message, classification: { era: 'modern', revision: claimed } };
}

/**
 * Whether a request is one of a revision with a handshake.
 *
 * @param parsedBody its body, if something has read it already
 */
export async function isLegacyRequest(request: WebRequest, parsedBody?: unknown): Promise<boolean> {
  if (request.headers.get(VERSION) === MODERN) return false;
  if (request.method !== 'POST') return true;
  try {
    return claimOf(parsedBody ?? JSON.parse(await request.clone().text())) === undefined;
  } catch {
    return true;
  }
}

/** The revision that a message names. */
function claimOf(body: unknown): string | undefined {
  const { params } = (body ?? {}) as { readonly params?: { readonly _meta?: Readonly<Record<string, unknown>> } };
  const claimed = params?._meta?.['io.modelcontextprotocol/protocolVersion'];
  return typeof claimed === 'string' ? claimed : undefined;
}
