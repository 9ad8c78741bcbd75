//! How a request is turned down: a status, and a JSON-RPC error that says why.

use std::borrow::Cow;
use std::fmt;

use crate::jsonrpc::{ErrorCode, ErrorObject, ObjectWriter, RequestId};

/// A request that is not served.
///
/// The body is a JSON-RPC error response. It carries the id of the request where one was read; the
/// specification lets errors without an id stand in the body of an HTTP error (2025-11-25 transports,
/// Sending Messages).
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// Header fields beside `Content-Type: application/json`.
    pub fields: Vec<(&'static str, Cow<'static, str>)>,
    /// The id of the request, where one was read.
    pub id: Option<RequestId>,
    /// What was wrong, and what would be right.
    pub error: ErrorObject,
}

impl Refusal {
    pub(crate) fn new(status: u16, code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self::because(status, ErrorObject::new(code, message))
    }

    pub(crate) fn because(status: u16, error: ErrorObject) -> Self {
        Self {
            status,
            fields: Vec::new(),
            id: None,
            error,
        }
    }

    /// The same refusal, of the request with this id.
    #[must_use]
    pub fn with_id(mut self, id: Option<&RequestId>) -> Self {
        self.id = id.cloned();
        self
    }

    pub(crate) fn with_field(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// The session of a request is unknown, or has ended: the client has to begin anew
    /// (2025-11-25 transports, Session Management).
    pub fn no_such_session() -> Self {
        let message = "the session is unknown or has ended; begin a new one with \"initialize\"";
        Self::new(404, ErrorCode::INVALID_REQUEST, message)
    }

    /// No more sessions fit; the client may try again later.
    pub fn too_many_sessions() -> Self {
        let message = "the server holds as many sessions as it may; try again later";
        Self::new(503, ErrorCode::INTERNAL_ERROR, message).with_field("Retry-After", "10")
    }

    /// The body is larger than `limit` bytes.
    pub fn body_too_large(limit: usize) -> Self {
        let message = format!("the body is larger than {limit} bytes");
        Self::new(413, ErrorCode::INVALID_REQUEST, message)
    }

    /// The events after a `Last-Event-ID` can not be replayed, so that going on from there would lose some.
    pub fn cannot_resume() -> Self {
        let message = "the stream of this Last-Event-ID is unknown here, or its later events are no longer kept";
        Self::new(400, ErrorCode::INVALID_REQUEST, message)
    }

    /// The text of the body.
    ///
    /// ```
    /// let refusal = oxmcp_proto::http::Refusal::body_too_large(1024);
    /// assert_eq!(refusal.status, 413);
    /// assert!(refusal.body().starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32600,"#));
    /// ```
    pub fn body(&self) -> String {
        let mut error = ObjectWriter::new()
            .integer("code", self.error.code.0)
            .string("message", &self.error.message);
        if let Some(data) = &self.error.data {
            error = error.json("data", data.get());
        }
        let mut whole = ObjectWriter::new().string("jsonrpc", "2.0");
        if let Some(id) = &self.id {
            whole = whole.json("id", &id.to_string());
        }
        whole.json("error", &error.finish()).finish()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP {}: {}", self.status, self.error)
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_an_error_response_with_the_id_that_was_read() {
        let refusal = Refusal::no_such_session();
        assert!(!refusal.body().contains("\"id\""));
        let text = refusal.with_id(Some(&RequestId::from("a\"b"))).body();
        assert!(
            text.starts_with(r#"{"jsonrpc":"2.0","id":"a\"b","error":{"code":-32600,"message":"the session"#),
            "{text}"
        );
    }
}
