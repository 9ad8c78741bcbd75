/**
 * What a guarded server says of the tokens that it wants (RFC 9728), and whose they are (RFC 8414).
 */

import { type Known, checkOptions } from '../check-options.js';
import { usage } from '../errors.js';
import type { NodeRequest, NodeResponse } from '../http-types.js';
import type { Url } from '../registered.js';
import type { OAuthMetadata, OAuthProtectedResourceMetadata } from './documents.js';
import { OAuthError } from './errors.js';
import { resourcePath } from './resource.js';

/** Settings of {@link mcpAuthMetadataRouter}. */
export interface AuthMetadataOptions {
  /** What the authorization server says of itself; passed on as it is. */
  readonly oauthMetadata: OAuthMetadata;
  /** The URL of the guarded server. */
  readonly resourceServerUrl: Url;
  /** A page about it. */
  readonly serviceDocumentationUrl?: Url | undefined;
  /** What tokens may allow. */
  readonly scopesSupported?: readonly string[] | undefined;
  /** Its name, for a person. */
  readonly resourceName?: string | undefined;
  /** Takes an authorization server without TLS that is not on this machine, for tests. */
  readonly dangerouslyAllowInsecureIssuerUrl?: boolean | undefined;
}

/** Middleware of Express; for Node's `http` it gives whether the request was none of its own. */
export type MetadataRouter = (request: NodeRequest, response: NodeResponse, next?: () => void) => boolean;

const KNOWN: Known = {
  oauthMetadata: 'object',
  resourceServerUrl: 'object',
  serviceDocumentationUrl: 'object',
  scopesSupported: 'list',
  resourceName: 'text',
  dangerouslyAllowInsecureIssuerUrl: 'flag',
};

const AUTHORIZATION_SERVER = '/.well-known/oauth-authorization-server';
const LOCAL = ['localhost', '127.0.0.1', '[::1]'];
const ALLOWED = 'GET, HEAD, OPTIONS';

/**
 * Serves the two documents by which a client finds the authorization server of a guarded one, to pages of any origin. It belongs at the
 * root of an app.
 *
 * @throws {@link UsageError} when the authorization server's `issuer` is no `https:` URL, or has a query or a fragment (RFC 8414)
 */
export function mcpAuthMetadataRouter(options: AuthMetadataOptions): MetadataRouter {
  checkOptions('mcpAuthMetadataRouter', options, KNOWN);
  const { oauthMetadata, resourceServerUrl, scopesSupported, resourceName, serviceDocumentationUrl } = options;
  checkIssuer(oauthMetadata.issuer, options.dangerouslyAllowInsecureIssuerUrl === true);
  const resource: OAuthProtectedResourceMetadata = {
    resource: resourceServerUrl.href,
    authorization_servers: [oauthMetadata.issuer],
    ...(scopesSupported !== undefined && { scopes_supported: [...scopesSupported] }),
    ...(resourceName !== undefined && { resource_name: resourceName }),
    ...(serviceDocumentationUrl !== undefined && { resource_documentation: serviceDocumentationUrl.href }),
  };
  const documents = new Map<string, string>([
    [resourcePath(resourceServerUrl).replace(/\/$/, ''), JSON.stringify(resource)],
    [AUTHORIZATION_SERVER, JSON.stringify(oauthMetadata)],
  ]);
  return (request, response, next) => {
    const target = request.originalUrl ?? request.url ?? '/';
    const document = documents.get(target.replace(/\?.*$/s, '').replace(/\/$/, ''));
    if (document !== undefined) {
      serve(request, response, document);
      return false;
    }
    next?.();
    return true;
  };
}

function serve({ method = 'GET', headers }: NodeRequest, response: NodeResponse, document: string): void {
  const fields = ['access-control-allow-origin', '*'];
  if (method === 'OPTIONS') {
    const asked = headers['access-control-request-headers'];
    fields.push('access-control-allow-methods', ALLOWED, ...(asked === undefined ? [] : ['access-control-allow-headers', String(asked)]));
    response.writeHead(204, fields);
    response.end();
  } else if (method === 'GET' || method === 'HEAD') {
    response.writeHead(200, [...fields, 'content-type', 'application/json']);
    response.end(method === 'GET' ? document : undefined);
  } else {
    response.writeHead(405, [...fields, 'content-type', 'application/json', 'allow', ALLOWED]);
    const error = new OAuthError('method_not_allowed', `The method ${method} is not allowed for this endpoint`);
    response.end(JSON.stringify(error.toResponseObject()));
  }
}

function checkIssuer(issuer: unknown, isAnyAllowed: boolean): void {
  const url = typeof issuer === 'string' && URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url === undefined) throw usage('the "issuer" of oauthMetadata must be a URL');
  if (url.protocol !== 'https:' && !LOCAL.includes(url.hostname) && !isAnyAllowed) throw usage(`the issuer ${url.href} must be an https: URL`);
  if (url.hash !== '' || url.search !== '') throw usage(`the issuer ${url.href} must have no query and no fragment`);
}
