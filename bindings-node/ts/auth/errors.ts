/**
 * The errors of OAuth 2.0 by their codes (RFC 6749, 6750, 7009, 7591, 8707), as an authorization server or a guarded server answers
 * with them.
 */

/** The body of such an answer. */
export interface OAuthErrorResponse {
  /** The code. */
  error: string;
  /** What is wrong, for a person. */
  error_description?: string;
  /** A page about it. */
  error_uri?: string;
}

/** The codes of {@link OAuthError}. */
export const OAuthErrorCode = {
  InvalidRequest: 'invalid_request',
  InvalidClient: 'invalid_client',
  InvalidGrant: 'invalid_grant',
  UnauthorizedClient: 'unauthorized_client',
  UnsupportedGrantType: 'unsupported_grant_type',
  InvalidScope: 'invalid_scope',
  AccessDenied: 'access_denied',
  ServerError: 'server_error',
  TemporarilyUnavailable: 'temporarily_unavailable',
  UnsupportedResponseType: 'unsupported_response_type',
  UnsupportedTokenType: 'unsupported_token_type',
  InvalidToken: 'invalid_token',
  MethodNotAllowed: 'method_not_allowed',
  TooManyRequests: 'too_many_requests',
  InvalidRedirectUri: 'invalid_redirect_uri',
  InvalidClientMetadata: 'invalid_client_metadata',
  InsufficientScope: 'insufficient_scope',
  InvalidTarget: 'invalid_target',
} as const;
export type OAuthErrorCode = (typeof OAuthErrorCode)[keyof typeof OAuthErrorCode];

/** An error of OAuth: its message is told to whoever made the request. */
export class OAuthError extends Error {
  /** One of {@link OAuthErrorCode}, or of an extension. */
  readonly code: OAuthErrorCode | (string & {});
  /** A page about it. */
  readonly errorUri: string | undefined;

  constructor(code: OAuthErrorCode | (string & {}), message: string, errorUri?: string) {
    super(message);
    this.name = new.target.name;
    this.code = code;
    this.errorUri = errorUri;
  }

  /** The error that an answer stands for. */
  static fromResponse({ error, error_description, error_uri }: OAuthErrorResponse): OAuthError {
    return new OAuthError(error, error_description ?? error, error_uri);
  }

  /** {@link code}, by its name in the first version of the official SDK. */
  get errorCode(): string {
    return this.code;
  }

  /** The body of the answer. */
  toResponseObject(): OAuthErrorResponse {
    const { code, message, errorUri } = this;
    return { error: code, error_description: message, ...(errorUri !== undefined && { error_uri: errorUri }) };
  }
}
