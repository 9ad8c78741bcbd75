/**
 * What clients, guarded servers and authorization servers say of themselves, and what they give each other: types, and schemas by the
 * names of the official SDK. Members that are not listed stay as they are.
 */

import { Schema, array, boolean, number, object, type ObjectSchema, string, unknown } from '../spec/kit.js';
import type { OAuthErrorResponse } from './errors.js';

/** A guarded server (RFC 9728). */
export interface OAuthProtectedResourceMetadata {
  resource: string;
  authorization_servers?: string[];
  jwks_uri?: string;
  scopes_supported?: string[];
  bearer_methods_supported?: string[];
  resource_signing_alg_values_supported?: string[];
  resource_name?: string;
  resource_documentation?: string;
  resource_policy_uri?: string;
  resource_tos_uri?: string;
  tls_client_certificate_bound_access_tokens?: boolean;
  authorization_details_types_supported?: string[];
  dpop_signing_alg_values_supported?: string[];
  dpop_bound_access_tokens_required?: boolean;
  [other: string]: unknown;
}

/** What authorization servers say by either standard. */
interface ServerMetadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  registration_endpoint?: string;
  scopes_supported?: string[];
  response_types_supported: string[];
  response_modes_supported?: string[];
  grant_types_supported?: string[];
  token_endpoint_auth_methods_supported?: string[];
  token_endpoint_auth_signing_alg_values_supported?: string[];
  service_documentation?: string;
  code_challenge_methods_supported?: string[];
  client_id_metadata_document_supported?: boolean;
  [other: string]: unknown;
}

/** An authorization server (RFC 8414). */
export interface OAuthMetadata extends ServerMetadata {
  revocation_endpoint?: string;
  revocation_endpoint_auth_methods_supported?: string[];
  revocation_endpoint_auth_signing_alg_values_supported?: string[];
  introspection_endpoint?: string;
  introspection_endpoint_auth_methods_supported?: string[];
  introspection_endpoint_auth_signing_alg_values_supported?: string[];
}

/** An authorization server (OpenID Connect Discovery 1.0). */
export interface OpenIdProviderMetadata extends ServerMetadata {
  userinfo_endpoint?: string;
  jwks_uri: string;
  subject_types_supported: string[];
  id_token_signing_alg_values_supported: string[];
  claims_supported?: string[];
}

/** The same. */
export type OpenIdProviderDiscoveryMetadata = OpenIdProviderMetadata;

/** An authorization server, whichever document it has. */
export type AuthorizationServerMetadata = OAuthMetadata | OpenIdProviderDiscoveryMetadata;

/** Tokens (RFC 6749). */
export interface OAuthTokens {
  access_token: string;
  id_token?: string;
  token_type: string;
  /** In seconds. */
  expires_in?: number;
  scope?: string;
  refresh_token?: string;
}

/** What a client says of itself (RFC 7591). */
export interface OAuthClientMetadata {
  redirect_uris: string[];
  token_endpoint_auth_method?: string;
  grant_types?: string[];
  response_types?: string[];
  client_name?: string;
  client_uri?: string;
  logo_uri?: string;
  scope?: string;
  contacts?: string[];
  tos_uri?: string;
  policy_uri?: string;
  jwks_uri?: string;
  jwks?: unknown;
  software_id?: string;
  software_version?: string;
  software_statement?: string;
}

/** What a client is known by. */
export interface OAuthClientInformation {
  client_id: string;
  client_secret?: string;
  /** In seconds since 1970, as the next one, whose 0 is never. */
  client_id_issued_at?: number;
  client_secret_expires_at?: number;
}

/** All that is known of a client that has registered. */
export type OAuthClientInformationFull = OAuthClientMetadata & OAuthClientInformation;

/** A client, by either. */
export type OAuthClientInformationMixed = OAuthClientInformation | OAuthClientInformationFull;

/** Why a client could not register (RFC 7591). */
export type OAuthClientRegistrationError = Pick<OAuthErrorResponse, 'error' | 'error_description'>;

/** A token that is to be good no more (RFC 7009). */
export interface OAuthTokenRevocationRequest {
  token: string;
  token_type_hint?: string;
}

/** URLs that a browser would run. */
const RUN = ['javascript:', 'data:', 'vbscript:'];

const text = string.optional();
const texts = array(string).optional();
const flag = boolean.optional();
const url: Schema<string> = new Schema((value, path, issues) => {
  if (typeof value !== 'string' || !URL.canParse(value)) issues.push({ path, message: 'must be a URL' });
  return value;
});
const someUrl = url.optional();

/** A URL that a browser only goes to. */
export const SafeUrlSchema: Schema<string> = new Schema((value, path, issues) => {
  const before = issues.length;
  url.run(value, path, issues);
  if (issues.length === before && RUN.includes(new URL(String(value)).protocol)) issues.push({ path, message: `must not be a ${RUN.join(' or ')} URL` });
  return value;
});
const safe = SafeUrlSchema.optional();

/** Such a URL, or none; an empty text counts as none. */
export const OptionalSafeUrlSchema: Schema<string | undefined> = new Schema((value, path, issues) => {
  return value === '' || value === undefined ? undefined : SafeUrlSchema.run(value, path, issues);
}, true);

/** Some servers write it as text. */
const seconds: Schema<number | undefined> = new Schema((value, path, issues) => {
  const made = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return made === undefined ? made : number.run(Number.isNaN(made) ? value : made, path, issues);
}, true);

export const OAuthProtectedResourceMetadataSchema: ObjectSchema<OAuthProtectedResourceMetadata> = object({
  resource: url,
  authorization_servers: array(SafeUrlSchema).optional(),
  jwks_uri: someUrl,
  scopes_supported: texts,
  bearer_methods_supported: texts,
  resource_signing_alg_values_supported: texts,
  resource_name: text,
  resource_documentation: text,
  resource_policy_uri: someUrl,
  resource_tos_uri: someUrl,
  tls_client_certificate_bound_access_tokens: flag,
  authorization_details_types_supported: texts,
  dpop_signing_alg_values_supported: texts,
  dpop_bound_access_tokens_required: flag,
});

const server = {
  issuer: string,
  authorization_endpoint: SafeUrlSchema,
  token_endpoint: SafeUrlSchema,
  registration_endpoint: safe,
  scopes_supported: texts,
  response_types_supported: array(string),
  response_modes_supported: texts,
  grant_types_supported: texts,
  token_endpoint_auth_methods_supported: texts,
  token_endpoint_auth_signing_alg_values_supported: texts,
  code_challenge_methods_supported: texts,
  client_id_metadata_document_supported: flag,
};

export const OAuthMetadataSchema: ObjectSchema<OAuthMetadata> = object({
  ...server,
  service_documentation: safe,
  revocation_endpoint: safe,
  revocation_endpoint_auth_methods_supported: texts,
  revocation_endpoint_auth_signing_alg_values_supported: texts,
  introspection_endpoint: text,
  introspection_endpoint_auth_methods_supported: texts,
  introspection_endpoint_auth_signing_alg_values_supported: texts,
});

export const OpenIdProviderMetadataSchema: ObjectSchema<OpenIdProviderMetadata> = object({
  ...server,
  service_documentation: text,
  userinfo_endpoint: safe,
  jwks_uri: SafeUrlSchema,
  subject_types_supported: array(string),
  id_token_signing_alg_values_supported: array(string),
  claims_supported: texts,
});
export const OpenIdProviderDiscoveryMetadataSchema: ObjectSchema<OpenIdProviderDiscoveryMetadata> = OpenIdProviderMetadataSchema;

export const OAuthTokensSchema: ObjectSchema<OAuthTokens> = object({
  access_token: string,
  id_token: text,
  token_type: string,
  expires_in: seconds,
  scope: text,
  refresh_token: text,
});

export const OAuthErrorResponseSchema: ObjectSchema<OAuthErrorResponse> = object({ error: string, error_description: text, error_uri: text });
export const OAuthClientRegistrationErrorSchema: ObjectSchema<OAuthClientRegistrationError> = object({ error: string, error_description: text });

const client = {
  redirect_uris: array(SafeUrlSchema),
  token_endpoint_auth_method: text,
  grant_types: texts,
  response_types: texts,
  client_name: text,
  client_uri: safe,
  logo_uri: OptionalSafeUrlSchema,
  scope: text,
  contacts: texts,
  tos_uri: OptionalSafeUrlSchema,
  policy_uri: text,
  jwks_uri: safe,
  jwks: unknown,
  software_id: text,
  software_version: text,
  software_statement: text,
};
const information = {
  client_id: string,
  client_secret: text,
  client_id_issued_at: number.optional(),
  client_secret_expires_at: number.optional(),
};
export const OAuthClientMetadataSchema: ObjectSchema<OAuthClientMetadata> = object(client);
export const OAuthClientInformationSchema: ObjectSchema<OAuthClientInformation> = object(information);
export const OAuthClientInformationFullSchema: ObjectSchema<OAuthClientInformationFull> = object({ ...client, ...information });
export const OAuthTokenRevocationRequestSchema: ObjectSchema<OAuthTokenRevocationRequest> = object({ token: string, token_type_hint: text });
