//! What a client's transport must know of the messages it carries.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::Revision;
use crate::jsonrpc::{
    ErrorCode, ErrorObject, Json, Message, ObjectWriter, Params, RequestId, decode_str, members, parse_batch, peek,
    write,
};

/// Where a request says its revision.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A handshake of a transport's own is complete.
pub const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The revision that a request names in its `_meta`, which is one without a handshake.
///
/// ```
/// use oxmcp_proto::Revision;
/// use oxmcp_proto::http::client::stated_revision;
/// use oxmcp_proto::jsonrpc::Params;
///
/// let params = Params::read(Some(r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#));
/// assert_eq!(stated_revision(&params), Some(Revision::V2026_07_28));
/// assert_eq!(stated_revision(&Params::default()), None);
/// ```
pub fn stated_revision(params: &Params<'_>) -> Option<Revision> {
    Revision::named(&decode_str(params.own(VERSION).ok()??)?)
}

/// The request that a `notifications/cancelled` with these params is about.
pub fn cancelled_request(params: Option<&RawValue>) -> Option<RequestId> {
    RequestId::read(member(params?, "requestId")?)
}

/// The string that is this member of the params.
pub fn string_param<'a>(params: &Params<'a>, name: &str) -> Option<Cow<'a, str>> {
    decode_str(params.member(name).ok()??)
}

/// Whether a message of the server, or one of a batch, answers the request of this id; a string stands for the
/// number it writes.
///
/// ```
/// use oxmcp_proto::http::client::answers;
///
/// assert!(answers(br#"{"jsonrpc":"2.0","id":"7","result":{}}"#, &7.into()));
/// assert!(!answers(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, &7.into()));
/// ```
pub fn answers(text: &[u8], request: &RequestId) -> bool {
    let answers_it = |text: &[u8]| match peek(text) {
        (Some(id), crate::jsonrpc::Meant::Response) => is_same(&id, request),
        _ => false,
    };
    match parse_batch(text) {
        Some(messages) => messages.iter().any(|message| answers_it(message.get().as_bytes())),
        None => answers_it(text),
    }
}

/// Whether a message answers the request of this id.
pub fn is_answer(message: &Message<'_>, request: &RequestId) -> bool {
    match message {
        Message::Result { id, .. } | Message::Error { id: Some(id), .. } => is_same(id, request),
        Message::Error { id: None, .. } | Message::Request { .. } | Message::Notification { .. } => false,
    }
}

fn is_same(id: &RequestId, request: &RequestId) -> bool {
    id == request
        || id
            .canonical_decimal()
            .is_some_and(|number| *request == RequestId::Integer(number))
}

/// Which request the start of a message too large to be taken in was meant to answer.
pub fn answered_by_start(start: &[u8]) -> Option<RequestId> {
    match peek(start) {
        (Some(id), crate::jsonrpc::Meant::Response) => Some(id),
        _ => None,
    }
}

/// The revision in the result of an `initialize`.
pub fn negotiated(result: &RawValue) -> Option<Revision> {
    Revision::named(&decode_str(member(result, "protocolVersion")?)?)
}

/// The answer that a session is given when its probe found a server with a handshake, in whatever way that server
/// said so.
pub fn says_it_has_a_handshake(probe: &RequestId) -> Vec<u8> {
    let error = ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "the server has a handshake");
    error_line(probe, &error)
}

/// The answer that a session is given when its probe met a server without a handshake that does not know
/// `server/discover`, which it must: nobody knows what it offers, so that everything may be asked of it.
pub fn assumed_discovery(probe: &RequestId, tried: Revision) -> Vec<u8> {
    let capabilities = concat!(
        r#"{"completions":{},"logging":{},"prompts":{"listChanged":true},"#,
        r#""resources":{"subscribe":true,"listChanged":true},"tools":{"listChanged":true}}"#,
    );
    let result = ObjectWriter::new()
        .string("resultType", "complete")
        .json("supportedVersions", &format!("[\"{}\"]", tried.name()))
        .json("capabilities", capabilities)
        .finish();
    result_line(probe, &result)
}

/// An error response as a line.
pub fn error_line(request: &RequestId, error: &ErrorObject) -> Vec<u8> {
    let mut line = Vec::new();
    write::error(&mut line, Some(request), error);
    line
}

/// A result response as a line.
pub(super) fn result_line(request: &RequestId, result: &str) -> Vec<u8> {
    let mut line = Vec::with_capacity(result.len() + 64);
    write::result(&mut line, request, result);
    line
}

/// The error in a body that is an error response.
pub fn error_in(body: &[u8]) -> Option<ErrorObject> {
    match Message::parse(body.trim_ascii(), 128) {
        Ok(Message::Error { error, .. }) => Some(error),
        _ => None,
    }
}

/// A `tools/list` of a transport's own, which says of itself what the call with these params said.
pub fn list_tools_like(id: &RequestId, params: &Params<'_>, cursor: Option<&str>) -> Vec<u8> {
    let mut meta = ObjectWriter::new();
    for (key, value) in params.all_own().iter().filter(|(key, _)| key != "progressToken") {
        meta = meta.json(key, value.get());
    }
    let mut params = ObjectWriter::new().json("_meta", &meta.finish());
    if let Some(cursor) = cursor {
        params = params.string("cursor", cursor);
    }
    let line = ObjectWriter::new()
        .string("jsonrpc", "2.0")
        .json("id", &id.to_string())
        .string("method", "tools/list")
        .json("params", &params.finish());
    line.finish().into_bytes()
}

/// Where the next page of a list begins.
pub fn next_cursor(result: &RawValue) -> Option<String> {
    decode_str(member(result, "nextCursor")?).map(Cow::into_owned)
}

/// The result in a body that is the answer to a request.
pub fn result_in(body: &[u8], request: &RequestId) -> Option<Json> {
    match Message::parse(body.trim_ascii(), 128) {
        Ok(Message::Result { id, result }) if is_same(&id, request) => Some(result.to_owned()),
        _ => None,
    }
}

fn member<'a>(object: &'a RawValue, wanted: &str) -> Option<&'a RawValue> {
    members(object)?
        .into_iter()
        .find(|(key, _)| key == wanted)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::json;

    #[test]
    fn only_a_response_with_the_id_answers() {
        for (text, is_answer) in [
            (r#"{"jsonrpc":"2.0","id":3,"result":{}}"#, true),
            (r#"{"jsonrpc":"2.0","id":"3","error":{"code":1,"message":"m"}}"#, true),
            (
                r#"[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":3,"result":{}}]"#,
                true,
            ),
            (r#"{"jsonrpc":"2.0","id":4,"result":{}}"#, false),
            (r#"{"jsonrpc":"2.0","id":"03","result":{}}"#, false),
            (r#"{"jsonrpc":"2.0","id":3,"method":"roots/list"}"#, false),
            ("<html>", false),
            ("", false),
        ] {
            assert_eq!(answers(text.as_bytes(), &3.into()), is_answer, "{text}");
        }
    }

    #[test]
    fn a_list_of_our_own_says_what_the_call_said_but_asks_for_no_progress() {
        let params = Params::read(Some(r#"{"name":"t","_meta":{"progressToken":3,"a/b":{"c":1}}}"#));
        let line = list_tools_like(&RequestId::from("x"), &params, Some("next"));
        assert_eq!(
            String::from_utf8(line).unwrap(),
            r#"{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"_meta":{"a/b":{"c":1}},"cursor":"next"}}"#
        );
    }

    #[test]
    fn what_is_cancelled_and_what_is_called_is_read_from_the_params() {
        let params = json(r#"{"requestId":9,"reason":"x","name":"t"}"#).unwrap();
        assert_eq!(cancelled_request(Some(&params)), Some(9.into()));
        let read = Params::read(Some(params.get()));
        assert_eq!(string_param(&read, "name").as_deref(), Some("t"));
        assert_eq!(string_param(&read, "requestId"), None);
        assert_eq!(cancelled_request(None), None);
    }
}
