//! From the outcome of a request to the status of its response.
//!
//! | outcome | 2026-07-28 | before |
//! | --- | --- | --- |
//! | a result | 200 | 200 |
//! | `-32601`, no such method | 404 | 200 |
//! | `-32020`, `-32021`, `-32022` | 400 | 200 |
//! | any other error of a handler, a tool or a list | 200 | 200 |
//! | a notification or a response was taken in | 202 | 202 |
//!
//! (2026-07-28 streamable-http, Protocol Version Header and Server Validation; basic, `_meta`.)
//!
//! Ordinary errors stay in a 200: a client that looks for a server's era takes a 400 or a 404 without
//! one of the codes above for the answer of an older server. What is refused before any handler sees it
//! carries its status in its [`Refusal`](super::Refusal). A stream that has begun has sent its status.

use crate::Revision;
use crate::jsonrpc::ErrorCode;

/// A notification or a response was taken in; there is no body.
pub const ACCEPTED: u16 = 202;

/// Codes that only servers without a handshake send, each a sign of one (2026-07-28 versioning).
pub(super) const MODERN_ERRORS: [ErrorCode; 3] = [
    ErrorCode::HEADER_MISMATCH,
    ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
    ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
];

/// The status of a response that answers a request with `error`, or with a result when there is none.
///
/// ```
/// use oxmcp_proto::Revision;
/// use oxmcp_proto::http::status_of_answer;
/// use oxmcp_proto::jsonrpc::ErrorCode;
///
/// let unknown = Some(ErrorCode::METHOD_NOT_FOUND);
/// assert_eq!(status_of_answer(Revision::V2026_07_28, unknown), 404);
/// assert_eq!(status_of_answer(Revision::V2025_11_25, unknown), 200);
/// ```
pub fn status_of_answer(revision: Revision, error: Option<ErrorCode>) -> u16 {
    match error {
        Some(ErrorCode::METHOD_NOT_FOUND) if !revision.has_handshake() => 404,
        Some(code) if !revision.has_handshake() && MODERN_ERRORS.contains(&code) => 400,
        _ => 200,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_has_the_status_its_revision_gives_it() {
        for (code, modern) in [
            (Some(ErrorCode::METHOD_NOT_FOUND), 404),
            (Some(ErrorCode::HEADER_MISMATCH), 400),
            (Some(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY), 400),
            (Some(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION), 400),
            (Some(ErrorCode::INVALID_PARAMS), 200),
            (Some(ErrorCode::INTERNAL_ERROR), 200),
            (Some(ErrorCode(7)), 200),
            (None, 200),
        ] {
            assert_eq!(status_of_answer(Revision::V2026_07_28, code), modern, "{code:?}");
            for revision in Revision::ALL.into_iter().filter(|it| it.has_handshake()) {
                assert_eq!(status_of_answer(revision, code), 200, "{code:?} {revision}");
            }
        }
    }
}
