//! Which era a server is of, from its answer to a first request in a revision without a handshake.
//!
//! | answer | the server |
//! | --- | --- |
//! | a success with a JSON-RPC response or an event stream | what that response says: see the session |
//! | 4xx with `-32020`, `-32021` or `-32022`; 404 with `-32601` | has no handshake |
//! | 400, 404, 405, 406, 415, 422 with anything else; a success without a response, and a stream that ends without one | has one |
//! | 401, 403, 3xx, any other 4xx, 5xx, no answer | is not known: that is reported, and nothing concluded |
//!
//! A server that has a handshake is sent `initialize`. If that fails with 400, 404 or 405, it may be of the
//! HTTP+SSE transport: a GET then opens a stream whose first event is `endpoint`. (2026-07-28
//! streamable-http and versioning, Backward Compatibility.)

use super::super::address::Origin;
use super::super::status::MODERN_ERRORS;
use crate::jsonrpc::{ErrorCode, Message};

/// What is known of a server after a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It answered: the session reads the response, and decides.
    Answered,
    /// It has no handshake, and the error in the body says what is wrong with the request.
    Modern,
    /// It has a handshake: `initialize` comes next.
    Legacy,
    /// Nothing: the failure is to be reported, and a later attempt asks again.
    Unknown,
}

/// Judges a whole response to a probe, other than an event stream (whose verdict is
/// [`Answered`](Verdict::Answered) if it is a success).
///
/// ```
/// use oxmcp_proto::http::client::{Verdict, judge_probe};
///
/// let no_session = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}"#;
/// assert_eq!(judge_probe(400, no_session), Verdict::Legacy);
/// assert_eq!(judge_probe(401, b""), Verdict::Unknown);
/// ```
pub fn judge_probe(status: u16, body: &[u8]) -> Verdict {
    match status {
        200..=299 => match Message::parse(body, 128) {
            Ok(Message::Result { .. } | Message::Error { .. }) => Verdict::Answered,
            _ => Verdict::Legacy,
        },
        400..=499 if is_modern_error(status, body) => Verdict::Modern,
        400 | 404 | 405 | 406 | 415 | 422 => Verdict::Legacy,
        _ => Verdict::Unknown,
    }
}

/// Whether a server that refused an `initialize` like this may be of the HTTP+SSE transport.
pub fn may_be_http_sse(status: u16, body: &[u8]) -> bool {
    matches!(status, 400 | 404 | 405) && !is_modern_error(status, body)
}

/// The URI, relative to `url`, to which messages are sent, from the first event of an HTTP+SSE stream.
///
/// # Errors
/// When it is another event, or a place of another origin: what is sent there would leave the server
/// that was meant.
///
/// ```
/// use oxmcp_proto::http::client::http_sse_endpoint;
///
/// let url = "https://example.com/sse";
/// assert_eq!(http_sse_endpoint(url, "endpoint", "/messages?id=1"), Ok("/messages?id=1"));
/// assert!(http_sse_endpoint(url, "endpoint", "https://evil.test/").is_err());
/// ```
pub fn http_sse_endpoint<'a>(url: &str, event: &str, data: &'a str) -> Result<&'a str, String> {
    if event != "endpoint" {
        return Err(format!(
            "the first event of the stream must be \"endpoint\", not \"{event}\""
        ));
    }
    // What a reader of URLs would drop or turn must not be there to hide another host.
    let is_plain = !data.is_empty() && data.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let first = data.split(['/', '?', '#']).next().unwrap_or_default();
    let is_relative = !data.starts_with("//") && !first.contains(':');
    let is_same = || Origin::of_url(data).is_some_and(|to| Origin::of_url(url) == Some(to));
    if is_plain && (is_relative || is_same()) {
        return Ok(data);
    }
    Err(format!(
        "the endpoint event names {data:?}, which is no place of the same origin as {url}"
    ))
}

fn is_modern_error(status: u16, body: &[u8]) -> bool {
    match Message::parse(body, 128) {
        Ok(Message::Error { error, .. }) => {
            MODERN_ERRORS.contains(&error.code) || status == 404 && error.code == ErrorCode::METHOD_NOT_FOUND
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: i64) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"m"}}}}"#)
    }

    #[test]
    fn only_the_listed_answers_tell_the_era() {
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned();
        for (status, body, verdict) in [
            (200, result, Verdict::Answered),
            (200, error(-32601), Verdict::Answered),
            (400, error(-32022), Verdict::Modern),
            (400, error(-32020), Verdict::Modern),
            (400, error(-32021), Verdict::Modern),
            (404, error(-32601), Verdict::Modern),
            (400, error(-32601), Verdict::Legacy),
            (400, error(-32602), Verdict::Legacy),
            (400, error(-32000), Verdict::Legacy),
            (400, String::new(), Verdict::Legacy),
            (404, "<html>not here".to_owned(), Verdict::Legacy),
            (405, String::new(), Verdict::Legacy),
            (406, String::new(), Verdict::Legacy),
            (415, String::new(), Verdict::Legacy),
            (422, "{\"detail\":[]}".to_owned(), Verdict::Legacy),
            (202, String::new(), Verdict::Legacy),
            (401, error(-32601), Verdict::Unknown),
            (403, String::new(), Verdict::Unknown),
            (407, String::new(), Verdict::Unknown),
            (408, String::new(), Verdict::Unknown),
            (413, String::new(), Verdict::Unknown),
            (429, String::new(), Verdict::Unknown),
            (500, error(-32603), Verdict::Unknown),
            (503, String::new(), Verdict::Unknown),
            (301, String::new(), Verdict::Unknown),
        ] {
            assert_eq!(judge_probe(status, body.as_bytes()), verdict, "{status} {body}");
        }
    }

    #[test]
    fn the_oldest_transport_is_tried_only_after_the_statuses_it_answers_with() {
        for (status, body, may) in [
            (400, error(-32000), true),
            (404, String::new(), true),
            (405, "Method Not Allowed".to_owned(), true),
            (400, error(-32022), false),
            (404, error(-32601), false),
            (401, String::new(), false),
            (500, String::new(), false),
        ] {
            assert_eq!(may_be_http_sse(status, body.as_bytes()), may, "{status} {body}");
        }
    }

    #[test]
    fn messages_go_to_the_same_origin_only() {
        let url = "https://example.com/sse";
        for (data, good) in [
            ("/messages?sessionId=1", true),
            ("messages", true),
            ("?id=1:2", true),
            ("https://example.com:443/messages", true),
            ("https://example.com/m?x=https://evil.test", true),
            ("http://example.com/messages", false),
            ("https://example.com:8443/", false),
            ("https://example.com@evil.test/", false),
            ("//evil.test/messages", false),
            ("/\\evil.test", false),
            ("\\\\evil.test", false),
            ("/\t/evil.test", false),
            ("javascript:alert(1)", false),
            ("", false),
        ] {
            assert_eq!(http_sse_endpoint(url, "endpoint", data).is_ok(), good, "{data:?}");
        }
        assert!(http_sse_endpoint(url, "message", "/messages").is_err());
    }
}
