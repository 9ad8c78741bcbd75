//! Reading a response.
//!
//! | status | to a request | to a notification or a response | to a GET | to a DELETE |
//! | --- | --- | --- | --- | --- |
//! | 2xx | the body is the answer, or a stream | taken in, whatever the body | a stream, or there is none | done |
//! | 401, or 403 with a challenge | access is denied | the same | the same | the same |
//! | 404, with a session | the session is lost | the same | the same | done |
//! | 405 | failed | failed | there is no stream | done: not allowed |
//! | 3xx with a place | to be followed, or not | the same | the same | the same |
//! | else | the answer, if the body is an error with an id; else failed | failed | failed | failed |
//!
//! Deployed servers answer notifications with 200, 204, an empty body or a needless one; none of it is a
//! fault. (2025-11-25 and 2026-07-28 transports.)

use std::time::Duration;

use super::super::fields::{Fields, list, single};
use super::super::media::{EVENT_STREAM, JSON, is_media_type};
use crate::jsonrpc::{ErrorCode, ErrorObject, Message};

/// How much of the text of an unexpected body is shown.
const SHOWN: usize = 200;

/// What a response is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A POST with a request.
    Request,
    /// A POST with notifications or responses only.
    Notification,
    /// A GET, for a new stream or one that is resumed.
    Listen,
    /// A DELETE.
    Delete,
}

/// What to do with a response after its head.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// Its body is an event stream: each event with data is a message.
    Stream,
    /// Read the whole body, up to a limit, and give it to [`read_body`].
    Body,
    /// The outcome is known. The body is read to its end or let go, so that the connection can be used again.
    Done(Outcome),
}

/// What a response means.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The body is a message, or a batch of them: the answer.
    Answer,
    /// It was taken in.
    Accepted {
        /// There was a body, which nobody asked for.
        ignored_body: bool,
    },
    /// The server offers no stream of this kind.
    NoStream,
    /// The session is unknown there: a new one is to be begun, without its id.
    SessionLost,
    /// Access is denied; with 401, or a challenge, it may be asked for.
    Denied {
        /// 401 or 403.
        status: u16,
        /// The values of `WWW-Authenticate`.
        challenge: Option<String>,
    },
    /// It is elsewhere.
    Moved {
        /// 301, 302, 303, 307 or 308.
        status: u16,
        /// The value of `Location`.
        location: String,
    },
    /// It failed.
    Failed(Failure),
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The status of the response.
    pub status: u16,
    /// One sentence for a person.
    pub message: String,
    /// The error in the body, if there was one.
    pub error: Option<ErrorObject>,
    /// Whether the same request may succeed later.
    pub transient: bool,
    /// How long the server asks to wait before that.
    pub retry_after: Option<Duration>,
}

/// Reads the head of a response. `had_session` tells whether the request carried a session.
///
/// ```
/// use oxmcp_proto::http::client::{Outcome, Reading, Sent, read_head};
///
/// let none = [("Content-Length", "0")];
/// let accepted = Outcome::Accepted { ignored_body: false };
/// assert_eq!(read_head(Sent::Notification, false, 204, &none), Reading::Done(accepted));
/// assert_eq!(read_head(Sent::Listen, true, 405, &none), Reading::Done(Outcome::NoStream));
/// ```
pub fn read_head(sent: Sent, had_session: bool, status: u16, fields: &dyn Fields) -> Reading {
    let kind = single(fields, "Content-Type").ok().flatten();
    let is_stream = kind.is_some_and(|kind| is_media_type(kind, EVENT_STREAM));
    let is_empty = status == 204 || single(fields, "Content-Length") == Ok(Some("0"));
    let challenge = list(fields, "WWW-Authenticate").map(String::from);
    let failed = |message: String| Reading::Done(Outcome::Failed(failure(status, message, fields)));
    match (status, sent) {
        (200..=299, Sent::Request) if is_stream => Reading::Stream,
        (200..=299, Sent::Request) if is_empty => failed(no_answer(status)),
        (200..=299, Sent::Request) if kind.is_none_or(|kind| is_media_type(kind, JSON)) => Reading::Body,
        (200..=299, Sent::Request) => {
            let kind = kind.unwrap_or_default();
            failed(format!(
                "the server answered with \"{kind}\" instead of JSON or an event stream"
            ))
        }
        (200..=299, Sent::Listen) if is_stream => Reading::Stream,
        (200..=299, Sent::Listen) => Reading::Done(Outcome::NoStream),
        (200..=299, _) => {
            let ignored_body = !is_empty && (is_stream || status != 202 && kind.is_some());
            Reading::Done(Outcome::Accepted { ignored_body })
        }
        (404 | 405, Sent::Delete) => Reading::Done(Outcome::Accepted { ignored_body: false }),
        (405, Sent::Listen) => Reading::Done(Outcome::NoStream),
        (404, Sent::Listen | Sent::Notification) if had_session => Reading::Done(Outcome::SessionLost),
        (401 | 403, _) if status == 401 || challenge.is_some() => Reading::Done(Outcome::Denied { status, challenge }),
        (301 | 302 | 303 | 307 | 308, _) => match single(fields, "Location").ok().flatten() {
            Some(location) => Reading::Done(Outcome::Moved {
                status,
                location: location.to_owned(),
            }),
            None => failed(format!("the server answered with status {status} and no place to go")),
        },
        _ => Reading::Body,
    }
}

/// Reads the body of a response where [`read_head`] asked for it.
pub fn read_body(sent: Sent, had_session: bool, status: u16, fields: &dyn Fields, body: &[u8]) -> Outcome {
    let is_success = (200..=299).contains(&status);
    let text = body.trim_ascii();
    if is_success && !text.is_empty() {
        return Outcome::Answer;
    }
    if is_success {
        return Outcome::Failed(failure(status, no_answer(status), fields));
    }
    let error = match Message::parse(text, 128) {
        Ok(Message::Error { id, error }) => Some((id, error)),
        _ => None,
    };
    // A session that is lost may be told with the id of the request; an unknown method is told by a session.
    let is_answer = error.as_ref().is_some_and(|(id, error)| {
        id.is_some() && (status != 404 || !had_session || error.code == ErrorCode::METHOD_NOT_FOUND)
    });
    if sent == Sent::Request && is_answer {
        return Outcome::Answer;
    }
    if status == 404 && had_session {
        return Outcome::SessionLost;
    }
    let error = error.map(|(_, error)| error);
    let said = match &error {
        Some(error) => format!(": {}", error.message),
        None => shown(text),
    };
    let mut failure = failure(
        status,
        format!("the server answered with status {status}{said}"),
        fields,
    );
    failure.error = error;
    Outcome::Failed(failure)
}

fn failure(status: u16, message: String, fields: &dyn Fields) -> Failure {
    Failure {
        status,
        message,
        error: None,
        transient: matches!(status, 408 | 425 | 429 | 502..=504),
        retry_after: retry_after(fields),
    }
}

/// How long the server asks to wait: seconds, or a date by its own clock (RFC 9110 §10.2.3).
fn retry_after(fields: &dyn Fields) -> Option<Duration> {
    let value = single(fields, "Retry-After").ok()??;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let now = httpdate::parse_http_date(single(fields, "Date").ok()??).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

fn no_answer(status: u16) -> String {
    format!("the server answered a request with status {status} and no response in it")
}

/// The start of a text, as half a sentence: what a proxy says is often the only clue.
fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(SHOWN * 4)]);
    let plain: String = text
        .chars()
        .map(|it| if it.is_control() { ' ' } else { it })
        .take(SHOWN)
        .collect();
    if plain.is_empty() { plain } else { format!(": {plain}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON_TYPE: (&str, &str) = ("Content-Type", "application/json");
    const STREAM_TYPE: (&str, &str) = ("Content-Type", "text/event-stream; charset=utf-8");

    fn outcome(sent: Sent, had_session: bool, status: u16, fields: &[(&str, &str)], body: &str) -> Outcome {
        match read_head(sent, had_session, status, &fields) {
            Reading::Done(outcome) => outcome,
            Reading::Body => read_body(sent, had_session, status, &fields, body.as_bytes()),
            Reading::Stream => panic!("a stream"),
        }
    }

    #[test]
    fn any_success_takes_in_a_notification_or_a_delete() {
        for sent in [Sent::Notification, Sent::Delete] {
            for (status, fields, ignored_body) in [
                (202, &[][..], false),
                (202, &[("Content-Length", "0")], false),
                (200, &[("Content-Length", "0"), JSON_TYPE], false),
                (200, &[], false),
                (204, &[], false),
                (200, &[JSON_TYPE], true),
                (200, &[STREAM_TYPE], true),
            ] {
                let accepted = Outcome::Accepted { ignored_body };
                assert_eq!(
                    outcome(sent, true, status, fields, ""),
                    accepted,
                    "{sent:?} {status} {fields:?}"
                );
            }
        }
        for status in [404, 405] {
            let accepted = Outcome::Accepted { ignored_body: false };
            assert_eq!(outcome(Sent::Delete, true, status, &[], ""), accepted);
        }
    }

    #[test]
    fn a_request_gets_json_or_a_stream_or_has_failed() {
        for fields in [
            &[JSON_TYPE][..],
            &[("content-type", "Application/JSON;charset=UTF-8")],
            &[],
        ] {
            assert_eq!(
                outcome(Sent::Request, true, 200, fields, r#"{"id":1}"#),
                Outcome::Answer
            );
        }
        assert_eq!(read_head(Sent::Request, true, 200, &[STREAM_TYPE]), Reading::Stream);
        for (status, fields, body) in [
            (200, &[JSON_TYPE][..], " \n"),
            (202, &[], ""),
            (204, &[], ""),
            (200, &[("Content-Length", "0")], ""),
            (200, &[("Content-Type", "text/html")], "<html>"),
        ] {
            let Outcome::Failed(failure) = outcome(Sent::Request, true, status, fields, body) else {
                panic!("{status} {fields:?}")
            };
            assert!(!failure.transient);
        }
    }

    #[test]
    fn a_get_without_a_stream_is_no_failure() {
        assert_eq!(read_head(Sent::Listen, true, 200, &[STREAM_TYPE]), Reading::Stream);
        assert_eq!(outcome(Sent::Listen, true, 405, &[], ""), Outcome::NoStream);
        assert_eq!(
            outcome(Sent::Listen, true, 200, &[("Content-Type", "text/html")], ""),
            Outcome::NoStream
        );
    }

    #[test]
    fn only_a_404_to_a_request_with_a_session_means_that_it_is_lost() {
        let not_found = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#;
        for sent in [Sent::Request, Sent::Notification, Sent::Listen] {
            for body in ["", not_found, "<html>"] {
                assert_eq!(
                    outcome(sent, true, 404, &[JSON_TYPE], body),
                    Outcome::SessionLost,
                    "{sent:?} {body}"
                );
            }
            assert!(matches!(outcome(sent, false, 404, &[], ""), Outcome::Failed(_)));
            assert!(matches!(outcome(sent, true, 400, &[], not_found), Outcome::Failed(_)));
        }
        let with_id = not_found.replace("null", "7");
        assert_eq!(
            outcome(Sent::Request, true, 404, &[JSON_TYPE], &with_id),
            Outcome::SessionLost
        );
        let no_method = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no such method"}}"#;
        for had_session in [true, false] {
            assert_eq!(
                outcome(Sent::Request, had_session, 404, &[JSON_TYPE], no_method),
                Outcome::Answer
            );
        }
    }

    #[test]
    fn an_error_response_in_an_error_status_is_the_answer() {
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"Header mismatch"}}"#;
        assert_eq!(outcome(Sent::Request, false, 400, &[JSON_TYPE], error), Outcome::Answer);
        let Outcome::Failed(failure) = outcome(Sent::Request, false, 400, &[], &error.replace("\"id\":1,", "")) else {
            panic!()
        };
        assert_eq!(failure.error.unwrap().code, ErrorCode::HEADER_MISMATCH);
        assert!(failure.message.contains("Header mismatch"));
    }

    #[test]
    fn access_and_servers_in_trouble_are_told_apart_from_other_failures() {
        let fields = [
            ("WWW-Authenticate", "Bearer scope=\"a\""),
            ("www-authenticate", "Basic"),
        ];
        let both = Some("Bearer scope=\"a\",Basic");
        for (status, fields, challenge) in [(401, &fields[..], both), (403, &fields, both), (401, &[], None)] {
            let denied = Outcome::Denied {
                status,
                challenge: challenge.map(str::to_owned),
            };
            assert_eq!(outcome(Sent::Request, true, status, fields, ""), denied);
        }
        for (status, transient) in [(500, false), (502, true), (503, true), (429, true), (403, false)] {
            let fields = [("Retry-After", "7")];
            let Outcome::Failed(failure) = outcome(Sent::Request, true, status, &fields, "upstream\r\nfell over")
            else {
                panic!()
            };
            assert_eq!((failure.transient, failure.status), (transient, status));
            assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
            assert!(
                failure.message.ends_with(": upstream  fell over"),
                "{}",
                failure.message
            );
        }
    }
}
