/**
 * Guards against web pages that let a name of their own point to this machine, by the names of the official SDK.
 */

import { respond } from './http-body.js';
import type { NodeRequest, NodeResponse } from './http-types.js';

/**
 * Lets a request through or refuses it: as middleware of Express it calls `next`, and for Node's `http` it gives whether the
 * request may go on.
 */
export type Guard = (request: NodeRequest, response: NodeResponse, next?: () => void) => boolean;

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

/** Lets requests through that are for one of these hosts, whatever the port. An IPv6 address stands in brackets. */
export function hostHeaderValidation(allowedHostnames: readonly string[]): Guard {
  return guard((request) => {
    const { host } = request.headers;
    if (typeof host !== 'string') return 'Missing Host header';
    return allowedHostnames.includes(nameOf(`http://${host}`) ?? '') ? undefined : `Invalid Host: ${host}`;
  });
}

/** Lets requests through that are for this machine. */
export function localhostHostValidation(): Guard {
  return hostHeaderValidation(LOCAL);
}

/** Lets requests through that come from no web page, or from one of these hosts. */
export function originValidation(allowedOriginHostnames: readonly string[]): Guard {
  return guard((request) => {
    const { origin } = request.headers;
    if (origin === undefined) return undefined;
    return allowedOriginHostnames.includes(nameOf(String(origin)) ?? '') ? undefined : `Invalid Origin: ${String(origin)}`;
  });
}

/** Lets requests through that come from no web page, or from one of this machine. */
export function localhostOriginValidation(): Guard {
  return originValidation(LOCAL);
}

function guard(refused: (request: NodeRequest) => string | undefined): Guard {
  return (request, response, next) => {
    const why = refused(request);
    if (why === undefined) {
      next?.();
      return true;
    }
    respond(response, 403, JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message: why }, id: null }));
    return false;
  };
}

function nameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}
