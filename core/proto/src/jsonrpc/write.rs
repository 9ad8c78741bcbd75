//! Writing messages: each one ends up on one line of the outgoing buffer.

use memchr::{memchr, memchr2};

use super::message::string_length;
use super::{ErrorObject, RequestId};

/// About what a response has besides its result.
const FRAME: usize = 64;

/// Appends `{"jsonrpc":"2.0","id":…,"result":…}` and LF.
pub(crate) fn result(wire: &mut Vec<u8>, id: &RequestId, result: &str) {
    wire.reserve(result.len() + FRAME);
    wire.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    request_id(wire, id);
    wire.extend_from_slice(b",\"result\":");
    payload(wire, result);
    wire.extend_from_slice(b"}\n");
}

/// Appends the response that has a `CallToolResult` of one block of text, after the members of another object.
pub(crate) fn text_result(wire: &mut Vec<u8>, id: &RequestId, members: &str, text: &str) {
    wire.reserve(members.len() + text.len() + 3 * FRAME);
    wire.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    request_id(wire, id);
    wire.extend_from_slice(b",\"result\":{");
    let inner = members.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
        payload(wire, inner);
        wire.push(b',');
    }
    wire.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
    string(wire, text);
    wire.extend_from_slice(b"}]}}\n");
}

/// Appends an error response. Without an id the member is left out: MCP has no null ids.
pub(crate) fn error(wire: &mut Vec<u8>, id: Option<&RequestId>, error: &ErrorObject) {
    wire.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
    if let Some(id) = id {
        wire.extend_from_slice(b"\"id\":");
        request_id(wire, id);
        wire.push(b',');
    }
    wire.extend_from_slice(b"\"error\":{\"code\":");
    integer(wire, error.code.0);
    wire.extend_from_slice(b",\"message\":");
    string(wire, &error.message);
    if let Some(data) = &error.data {
        wire.extend_from_slice(b",\"data\":");
        payload(wire, data.get());
    }
    wire.extend_from_slice(b"}}\n");
}

/// Appends a request we make. Our ids are integers.
pub(crate) fn request(wire: &mut Vec<u8>, id: i64, method: &str, params: Option<&str>) {
    wire.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    integer(wire, id);
    wire.push(b',');
    method_and_params(wire, method, params);
}

/// Appends a notification.
pub(crate) fn notification(wire: &mut Vec<u8>, method: &str, params: Option<&str>) {
    wire.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
    method_and_params(wire, method, params);
}

fn method_and_params(wire: &mut Vec<u8>, method: &str, params: Option<&str>) {
    wire.extend_from_slice(b"\"method\":");
    string(wire, method);
    if let Some(params) = params {
        wire.extend_from_slice(b",\"params\":");
        payload(wire, params);
    }
    wire.extend_from_slice(b"}\n");
}

/// Whether a message that was written here is a response. Only those have something other than a method after the id.
pub(crate) fn is_response(line: &[u8]) -> bool {
    const START: &[u8] = b"{\"jsonrpc\":\"2.0\",";
    let Some(rest) = line.strip_prefix(START) else {
        return false;
    };
    let Some(id) = rest.strip_prefix(b"\"id\":") else {
        return rest.starts_with(b"\"error\"");
    };
    let end = match id.first() {
        Some(b'"') => string_length(id),
        _ => memchr(b',', id),
    };
    let after = end.and_then(|end| id.get(end..)).unwrap_or_default();
    !after.starts_with(b",\"method\"")
}

/// Appends an id as JSON.
pub(crate) fn request_id(wire: &mut Vec<u8>, id: &RequestId) {
    match id {
        RequestId::Integer(number) => integer(wire, *number),
        RequestId::Large(digits) => wire.extend_from_slice(digits.as_bytes()),
        RequestId::Text(text) => string(wire, text),
    }
}

/// Appends an integer.
pub(crate) fn integer(wire: &mut Vec<u8>, number: i64) {
    serialize(wire, &number);
}

/// Appends a string as JSON.
pub(crate) fn string(wire: &mut Vec<u8>, text: &str) {
    serialize(wire, &text);
}

/// Appends a number; whole ones without a fraction, as a person would write them.
pub(crate) fn number(wire: &mut Vec<u8>, value: f64) {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        integer(wire, value as i64);
    } else {
        serialize(wire, &value);
    }
}

/// Appends the text of a JSON value. A line break in valid JSON is white space, and would cut the
/// message in two on the wire, so it becomes a space.
pub(crate) fn payload(wire: &mut Vec<u8>, json: &str) {
    let mut rest = json.as_bytes();
    while let Some(at) = memchr2(b'\n', b'\r', rest) {
        wire.extend_from_slice(&rest[..at]);
        wire.push(b' ');
        rest = &rest[at + 1..];
    }
    wire.extend_from_slice(rest);
}

/// Appends any value whose serialisation cannot fail.
fn serialize(wire: &mut Vec<u8>, value: &impl serde::Serialize) {
    serde_json::to_writer(&mut *wire, value)
        .unwrap_or_else(|error| unreachable!("numbers and strings always serialise, into memory: {error}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::ErrorCode;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut wire = Vec::new();
        write(&mut wire);
        String::from_utf8(wire).unwrap()
    }

    #[test]
    fn a_pretty_payload_stays_on_one_line() {
        let text = written(|wire| result(wire, &RequestId::from("x"), "{\n  \"a\": 1\r\n}"));
        assert_eq!(text, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{   \"a\": 1  }}\n");
    }

    #[test]
    fn a_result_of_text_is_written_after_what_comes_before_it() {
        for (members, before) in [("{}", ""), ("{\"a\":\n1}", "\"a\": 1,")] {
            let text = written(|wire| text_result(wire, &RequestId::from(7), members, "a\n\"b\""));
            let content = r#""content":[{"type":"text","text":"a\n\"b\""}]"#;
            let want = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{{{before}{content}}}}}\n");
            assert_eq!(text, want);
        }
    }

    #[test]
    fn responses_are_told_from_other_messages() {
        let error = ErrorObject::new(ErrorCode::PARSE_ERROR, "no JSON");
        for id in [
            RequestId::from(7),
            RequestId::from("a\",\"method\":\\"),
            RequestId::from(""),
        ] {
            assert!(is_response(written(|wire| result(wire, &id, "{}")).as_bytes()), "{id}");
            let text = written(|wire| super::error(wire, Some(&id), &error));
            assert!(is_response(text.as_bytes()), "{text}");
        }
        assert!(is_response(written(|wire| super::error(wire, None, &error)).as_bytes()));
        assert!(!is_response(
            written(|wire| request(wire, 7, "result", None)).as_bytes()
        ));
        assert!(!is_response(
            written(|wire| notification(wire, "error", Some("{}"))).as_bytes()
        ));
    }

    #[test]
    fn whole_numbers_have_no_fraction() {
        for (value, text) in [(3.0, "3"), (0.5, "0.5"), (-2.0, "-2"), (1e300, "1e+300"), (0.1, "0.1")] {
            assert_eq!(written(|wire| number(wire, value)), text);
        }
    }

    #[test]
    fn an_error_without_id_has_no_id_member() {
        let parse = ErrorObject::new(ErrorCode::PARSE_ERROR, "no JSON");
        assert_eq!(
            written(|wire| error(wire, None, &parse)),
            "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"no JSON\"}}\n"
        );
    }
}
