//! What a program is told of a response that is a failure in place of an answer.
//!
//! | the response | kind, fault | can a retry help |
//! | --- | --- | --- |
//! | 401, or 403 with a challenge | `Response`, the peer's | no: credentials are missing, or too weak |
//! | 408, 425, 429, 502, 503, 504 | `Response`, the peer's | yes |
//! | any other 4xx or 5xx | `Response`, the peer's | no |
//! | a success without an answer in it | `Protocol`, the peer's | no |
//! | a redirect that is not followed | `Response`, the peer's | no |
//! | 404 to a request of a session | `Closed`, the transport's | yes, in a new session |
//!
//! [`Error::http_status`] has the status, and [`Error::data`] an object:
//!
//! | member | is |
//! | --- | --- |
//! | `status` | the status |
//! | `wwwAuthenticate` | the challenge, where there was one |
//! | `retryAfter` | how many seconds the server asks to wait |
//! | `error` | the JSON-RPC error in the body, where it was one without an id; its code is that of the failure too |

use super::response::{Failure, Outcome};
use crate::jsonrpc::{ErrorObject, ObjectWriter, json, write};
use crate::{Error, ErrorKind};

/// The failure that an outcome is for the call of `method`; `None` when it is none.
///
/// ```
/// use oxmcp_proto::ErrorKind;
/// use oxmcp_proto::http::client::{Outcome, failure};
///
/// let denied = Outcome::Denied { status: 401, challenge: Some("Bearer".to_owned()) };
/// let error = failure("tools/list", &denied).unwrap();
/// assert_eq!((error.kind(), error.http_status()), (ErrorKind::Response, Some(401)));
/// assert_eq!(error.data(), Some(r#"{"status":401,"wwwAuthenticate":"Bearer"}"#));
/// assert!(failure("tools/list", &Outcome::Answer).is_none());
/// ```
pub fn failure(method: &str, outcome: &Outcome) -> Option<Error> {
    let plain = |kind, status, message: String| Error::new(kind, message).with_http_status(status);
    Some(match outcome {
        Outcome::Answer | Outcome::Accepted { .. } => return None,
        Outcome::NoStream => {
            let message = format!("{method} failed: the server offers no event stream here");
            Error::new(ErrorKind::Protocol, message).from_transport(false, None)
        }
        Outcome::SessionLost => {
            let message = format!("{method} failed: the session has expired, the server does not know it any more");
            plain(ErrorKind::Closed, 404, message).from_transport(true, data(404, &[]))
        }
        Outcome::Denied { status, challenge } => {
            let hint = match status {
                401 => "give it credentials that it takes, in a header",
                _ => "it wants credentials that allow more",
            };
            let message = format!("{method} failed: the server denied access with status {status}; {hint}");
            let challenge = challenge.as_ref().map(|challenge| ("wwwAuthenticate", text(challenge)));
            let data = data(*status, challenge.as_slice());
            plain(ErrorKind::Response, *status, message).from_transport(false, data)
        }
        Outcome::Moved { status, location } => {
            let message = format!("{method} failed: the server redirects with status {status} to {location}");
            plain(ErrorKind::Response, *status, message).from_transport(false, data(*status, &[]))
        }
        Outcome::Failed(failure) => failed(method, failure),
    })
}

fn failed(method: &str, failure: &Failure) -> Error {
    let kind = match failure.status {
        200..=299 => ErrorKind::Protocol,
        _ => ErrorKind::Response,
    };
    let wait = failure
        .retry_after
        .map(|wait| ("retryAfter", wait.as_secs().to_string()));
    let told = failure.error.as_ref().map(|error| ("error", object(error)));
    let more: Vec<_> = wait.into_iter().chain(told).collect();
    let error = Error::new(kind, format!("{method} failed: {}", failure.message))
        .with_http_status(failure.status)
        .from_transport(failure.transient, data(failure.status, &more));
    match &failure.error {
        Some(told) => error.with_code(told.code),
        None => error,
    }
}

fn data(status: u16, more: &[(&str, String)]) -> Option<crate::jsonrpc::Json> {
    let all = ObjectWriter::new().integer("status", status.into());
    let all = more.iter().fold(all, |all, (key, value)| all.json(key, value));
    json(all.finish()).ok()
}

fn text(text: &str) -> String {
    let mut json = Vec::new();
    write::string(&mut json, text);
    String::from_utf8(json).unwrap_or_default()
}

fn object(error: &ErrorObject) -> String {
    let whole = ObjectWriter::new()
        .integer("code", error.code.0)
        .string("message", &error.message);
    match &error.data {
        Some(data) => whole.json("data", data.get()).finish(),
        None => whole.finish(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Reading, Sent, read_body, read_head};
    use super::*;
    use crate::Fault;
    use crate::jsonrpc::ErrorCode;

    fn told(status: u16, fields: &[(&str, &str)], body: &str) -> Error {
        let outcome = match read_head(Sent::Request, false, status, &fields) {
            Reading::Done(outcome) => outcome,
            Reading::Body => read_body(Sent::Request, false, status, &fields, body.as_bytes()),
            Reading::Stream => panic!("a stream"),
        };
        failure("tools/call", &outcome).unwrap()
    }

    #[test]
    fn a_failure_tells_status_fault_and_whether_to_retry() {
        for (status, kind, retryable) in [
            (400, ErrorKind::Response, false),
            (403, ErrorKind::Response, false),
            (429, ErrorKind::Response, true),
            (500, ErrorKind::Response, false),
            (503, ErrorKind::Response, true),
            (204, ErrorKind::Protocol, false),
        ] {
            let error = told(status, &[], "out of order");
            assert_eq!((error.kind(), error.is_retryable()), (kind, retryable), "{status}");
            assert_eq!(
                (error.fault(), error.http_status()),
                (Fault::Peer, Some(status)),
                "{status}"
            );
            assert!(error.message().starts_with("tools/call failed: "), "{error}");
        }
        assert!(told(500, &[], "out of order").message().ends_with(": out of order"));
    }

    #[test]
    fn what_else_is_known_is_in_the_data() {
        let error = told(503, &[("Retry-After", "7")], "");
        assert_eq!(error.data(), Some(r#"{"status":503,"retryAfter":7}"#));
        let body = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no \"way\"","data":[1]}}"#;
        let error = told(400, &[], body);
        assert_eq!(error.code(), Some(ErrorCode(-32000)));
        let data = r#"{"status":400,"error":{"code":-32000,"message":"no \"way\"","data":[1]}}"#;
        assert_eq!(error.data(), Some(data));
        let error = told(401, &[("WWW-Authenticate", "Bearer realm=\"x\"")], "");
        assert_eq!(
            error.data(),
            Some(r#"{"status":401,"wwwAuthenticate":"Bearer realm=\"x\""}"#)
        );
    }

    #[test]
    fn a_lost_session_is_over_and_a_new_one_may_help() {
        let error = failure("ping", &Outcome::SessionLost).unwrap();
        assert_eq!((error.kind(), error.fault()), (ErrorKind::Closed, Fault::Transport));
        assert!(error.is_retryable() && error.message().contains("expired"));
        let failure = Failure {
            status: 429,
            message: "busy".to_owned(),
            error: None,
            transient: true,
            retry_after: Some(Duration::from_secs(3)),
        };
        assert!(failed("ping", &failure).data().unwrap().contains("\"retryAfter\":3"));
    }
}
