/**
 * The same errors with a class for each code, as the first version of the official SDK has them.
 */

import { OAuthError as AnyOAuthError } from './errors.js';

/** An error of OAuth whose code is that of its class: `static errorCode = '…'`. */
export class OAuthError extends AnyOAuthError {
  static errorCode: string = 'server_error';

  constructor(message: string, errorUri?: string) {
    super(new.target.errorCode, message, errorUri);
  }
}

/** A parameter is missing, is wrong, or is there twice. */
export class InvalidRequestError extends OAuthError {
  static override errorCode = 'invalid_request';
}

/** The client is unknown, or has not proved who it is. */
export class InvalidClientError extends OAuthError {
  static override errorCode = 'invalid_client';
}

/** The code or the refresh token is wrong, expired, revoked, or another client's. */
export class InvalidGrantError extends OAuthError {
  static override errorCode = 'invalid_grant';
}

/** The client may not use this kind of grant. */
export class UnauthorizedClientError extends OAuthError {
  static override errorCode = 'unauthorized_client';
}

/** There is no such kind of grant. */
export class UnsupportedGrantTypeError extends OAuthError {
  static override errorCode = 'unsupported_grant_type';
}

/** The scope is wrong, or more than what was granted. */
export class InvalidScopeError extends OAuthError {
  static override errorCode = 'invalid_scope';
}

/** The owner or the authorization server refused. */
export class AccessDeniedError extends OAuthError {
  static override errorCode = 'access_denied';
}

/** The server failed. */
export class ServerError extends OAuthError {}

/** The server is busy, or is being maintained. */
export class TemporarilyUnavailableError extends OAuthError {
  static override errorCode = 'temporarily_unavailable';
}

/** Codes are not to be had in this way. */
export class UnsupportedResponseTypeError extends OAuthError {
  static override errorCode = 'unsupported_response_type';
}

/** Tokens of this kind cannot be revoked. */
export class UnsupportedTokenTypeError extends OAuthError {
  static override errorCode = 'unsupported_token_type';
}

/** The token is wrong, expired, or revoked. */
export class InvalidTokenError extends OAuthError {
  static override errorCode = 'invalid_token';
}

/** The method of the request is not served here. */
export class MethodNotAllowedError extends OAuthError {
  static override errorCode = 'method_not_allowed';
}

/** The client asks too often. */
export class TooManyRequestsError extends OAuthError {
  static override errorCode = 'too_many_requests';
}

/** What the client says of itself is wrong. */
export class InvalidClientMetadataError extends OAuthError {
  static override errorCode = 'invalid_client_metadata';
}

/** The token allows less than is needed. */
export class InsufficientScopeError extends OAuthError {
  static override errorCode = 'insufficient_scope';
}

/** The resource that a token was asked for is wrong, or is unknown. */
export class InvalidTargetError extends OAuthError {
  static override errorCode = 'invalid_target';
}

/** An error of any other code. */
export class CustomOAuthError extends AnyOAuthError {}

const ALL = [
  InvalidRequestError,
  InvalidClientError,
  InvalidGrantError,
  UnauthorizedClientError,
  UnsupportedGrantTypeError,
  InvalidScopeError,
  AccessDeniedError,
  ServerError,
  TemporarilyUnavailableError,
  UnsupportedResponseTypeError,
  UnsupportedTokenTypeError,
  InvalidTokenError,
  MethodNotAllowedError,
  TooManyRequestsError,
  InvalidClientMetadataError,
  InsufficientScopeError,
  InvalidTargetError,
];

/** The classes by their codes. */
export const OAUTH_ERRORS: Readonly<Record<string, typeof OAuthError>> = Object.fromEntries(ALL.map((kind) => [kind.errorCode, kind]));
