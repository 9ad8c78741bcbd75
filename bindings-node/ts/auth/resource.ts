/**
 * Servers as the resources that tokens are for (RFC 8707), and where they say what they want (RFC 9728).
 */

import type { Url } from '../registered.js';

/** The name of a server as a resource: its URL without a fragment. */
export function resourceUrlFromServerUrl(url: Url | string): Url {
  const resource = new URL(typeof url === 'string' ? url : url.href);
  resource.hash = '';
  return resource;
}

/** Whether a token for `configuredResource` is good for `requestedResource`: the same origin, and the same path or one below it. */
export function checkResourceAllowed(resources: {
  readonly requestedResource: Url | string;
  readonly configuredResource: Url | string;
}): boolean {
  const [requested, configured] = [resources.requestedResource, resources.configuredResource].map((one) => new URL(String(one))) as [URL, URL];
  return requested.origin === configured.origin && folderOf(requested).startsWith(folderOf(configured));
}

/** Whether two texts name one resource: a fragment and a slash at the end make no difference. Internal. */
export function isSameResource(one: Url | string, other: Url | string): boolean {
  return nameOf(one) === nameOf(other);
}

/** Where a server tells what tokens it wants: the well-known URL for its own. */
export function getOAuthProtectedResourceMetadataUrl(serverUrl: Url): string {
  return new URL(resourcePath(serverUrl), serverUrl.href).href;
}

/** The path of that URL. Internal. */
export function resourcePath({ href }: Url): string {
  const { pathname } = new URL(href);
  return `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`;
}

function folderOf({ pathname }: URL): string {
  return pathname.endsWith('/') ? pathname : `${pathname}/`;
}

function nameOf(resource: Url | string): string {
  return String(resource).replace(/#.*$/s, '').replace(/\/$/, '');
}
