//! The header fields of a client's requests.
//!
//! | field | revisions with a handshake | without |
//! | --- | --- | --- |
//! | `Accept` | both types on a POST, an event stream on a GET | both types |
//! | `MCP-Protocol-Version` | the negotiated one, not on `initialize` | the one in `_meta` |
//! | `Mcp-Session-Id` | if the answer to `initialize` had one, never on `initialize` itself | never |
//! | `Mcp-Method`, `Mcp-Name`, `Mcp-Param-…` | never | what the body says |
//! | `Last-Event-ID` | on a GET that resumes | never |

use std::borrow::Cow;

use super::super::agreement::{METHOD_FIELD, NAME_FIELD, VERSION_FIELD, name_source, string};
use super::super::media::{EVENT_STREAM, JSON};
use super::super::param_headers::{Disagreement, ParamHeaders};
use super::super::server::{LAST_EVENT_FIELD, SESSION_FIELD};
use super::super::value::encode_value;
use crate::Revision;
use crate::jsonrpc::{Message, Params};

/// Header fields: name and value.
pub type RequestFields = Vec<(Cow<'static, str>, String)>;

const BOTH: &str = "application/json, text/event-stream";

/// Fields that belong to HTTP or to us, beside all that begin with `Mcp-`.
const OWN: [&str; 9] = [
    "Accept",
    "Connection",
    "Content-Length",
    "Content-Type",
    "Expect",
    "Host",
    LAST_EVENT_FIELD,
    "Transfer-Encoding",
    "Upgrade",
];

/// The fields of a POST. `revision` and `session` are what is known of the server: nothing before the
/// handshake. `annotated` are the parameters of the called tool that are mirrored.
///
/// # Errors
/// When a mirrored argument cannot be sent so that everyone reads the same; nothing is sent then.
///
/// ```
/// use oxmcp_proto::Revision;
/// use oxmcp_proto::http::client::post_fields;
/// use oxmcp_proto::jsonrpc::Message;
///
/// let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather"}}"#;
/// let message = Message::parse(body, 128).map_err(|it| format!("{it:?}"))?;
/// let fields = post_fields(Some(Revision::V2026_07_28), None, &message, None)?;
/// assert!(fields.contains(&("Mcp-Name".into(), "weather".into())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn post_fields(
    revision: Option<Revision>,
    session: Option<&str>,
    message: &Message<'_>,
    annotated: Option<&ParamHeaders>,
) -> Result<RequestFields, Disagreement> {
    let mut fields = vec![field("Content-Type", JSON), field("Accept", BOTH)];
    let call = match message {
        Message::Request { method, params, .. } => Some((&**method, Some(params))),
        Message::Notification { method, .. } => Some((&**method, None)),
        Message::Result { .. } | Message::Error { .. } => None,
    };
    match revision {
        Some(revision) if !revision.has_handshake() => {
            fields.push(field(VERSION_FIELD, revision.name()));
            if let Some((method, params)) = call {
                mirror(&mut fields, method, params, annotated)?;
            }
        }
        _ if call.is_some_and(|(method, _)| method == "initialize") => {}
        _ => push_session(&mut fields, revision, session),
    }
    Ok(fields)
}

/// The fields of a GET that opens a stream, or resumes one after the event `last_event_id`.
pub fn get_fields(revision: Option<Revision>, session: Option<&str>, last_event_id: Option<&str>) -> RequestFields {
    let mut fields = vec![field("Accept", EVENT_STREAM)];
    push_session(&mut fields, revision, session);
    if let Some(id) = last_event_id {
        fields.push(field(LAST_EVENT_FIELD, id));
    }
    fields
}

/// The fields of the DELETE that ends a session.
pub fn delete_fields(revision: Option<Revision>, session: &str) -> RequestFields {
    let mut fields = Vec::new();
    push_session(&mut fields, revision, Some(session));
    fields
}

/// Whether a field is not a program's to set.
pub fn is_own_field(name: &str) -> bool {
    let is_ours = name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("Mcp-"));
    is_ours || OWN.iter().any(|own| own.eq_ignore_ascii_case(name))
}

fn push_session(fields: &mut RequestFields, revision: Option<Revision>, session: Option<&str>) {
    if let Some(revision) = revision {
        fields.push(field(VERSION_FIELD, revision.name()));
    }
    if let Some(id) = session {
        fields.push(field(SESSION_FIELD, id));
    }
}

fn mirror(
    fields: &mut RequestFields,
    method: &str,
    params: Option<&Params<'_>>,
    annotated: Option<&ParamHeaders>,
) -> Result<(), Disagreement> {
    fields.push(field(METHOD_FIELD, method));
    let (Some(source), Some(params)) = (name_source(method), params) else {
        return Ok(());
    };
    if let Some(name) = string(params, source) {
        fields.push(field(NAME_FIELD, &encode_value(&name)));
    }
    if let Some(annotated) = annotated {
        let mirrored = annotated.fields(params.member("arguments").ok().flatten())?;
        fields.extend(mirrored.into_iter().map(|(name, value)| (Cow::Owned(name), value)));
    }
    Ok(())
}

fn field(name: &'static str, value: &str) -> (Cow<'static, str>, String) {
    (Cow::Borrowed(name), value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::json;

    fn post(revision: Option<Revision>, session: Option<&str>, body: &str) -> Vec<(String, String)> {
        let message = Message::parse(body.as_bytes(), 128).unwrap();
        let schema = json(r#"{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#).unwrap();
        let annotated = ParamHeaders::read(&schema).unwrap();
        let fields = post_fields(revision, session, &message, Some(&annotated)).unwrap();
        let beside = fields
            .into_iter()
            .filter(|(name, _)| name != "Content-Type" && name != "Accept");
        beside.map(|(name, value)| (name.into_owned(), value)).collect()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn initialize_never_carries_a_session_or_a_version() {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
        assert_eq!(post(Some(Revision::V2025_06_18), Some("old"), body), []);
        assert_eq!(post(None, None, body), []);
    }

    #[test]
    fn all_else_of_a_session_carries_both() {
        let want = pairs(&[("MCP-Protocol-Version", "2025-11-25"), ("Mcp-Session-Id", "s")]);
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"region":"b"}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert_eq!(post(Some(Revision::V2025_11_25), Some("s"), body), want, "{body}");
        }
        let get = get_fields(Some(Revision::V2025_11_25), Some("s"), Some("e1"));
        assert!(
            get.contains(&("Last-Event-ID".into(), "e1".into()))
                && get.contains(&("Accept".into(), EVENT_STREAM.into()))
        );
        assert_eq!(delete_fields(None, "s"), [("Mcp-Session-Id".into(), "s".to_owned())]);
    }

    #[test]
    fn without_a_handshake_the_fields_say_what_the_body_says() {
        let version = ("MCP-Protocol-Version", "2026-07-28");
        for (method, params, want) in [
            ("tools/list", "{}", &[][..]),
            (
                "tools/call",
                r#"{"name":"my-hyphenated-tool","arguments":{"region":" b"}}"#,
                &[
                    ("Mcp-Name", "my-hyphenated-tool"),
                    ("Mcp-Param-Region", "=?base64?IGI=?="),
                ],
            ),
            (
                "tools/call",
                r#"{"name":"w\u00fc"}"#,
                &[("Mcp-Name", "=?base64?d8O8?=")],
            ),
            (
                "resources/read",
                r#"{"uri":"file:///path/to/file%20name.txt"}"#,
                &[("Mcp-Name", "file:///path/to/file%20name.txt")],
            ),
            ("prompts/get", r#"{"name":"p"}"#, &[("Mcp-Name", "p")]),
            ("tasks/get", r#"{"taskId":"t"}"#, &[("Mcp-Name", "t")]),
        ] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
            let mut all = pairs(&[version, ("Mcp-Method", method)]);
            all.extend(pairs(want));
            assert_eq!(
                post(Some(Revision::V2026_07_28), Some("left over"), &body),
                all,
                "{method}"
            );
        }
    }

    #[test]
    fn a_program_sets_no_fields_that_are_ours() {
        for name in [
            "mcp-session-id",
            "MCP-Anything",
            "content-type",
            "HOST",
            "last-event-id",
        ] {
            assert!(is_own_field(name), "{name}");
        }
        for name in ["Authorization", "X-Api-Key", "Cookie", "Mcp", "\u{e9}\u{e9}"] {
            assert!(!is_own_field(name), "{name}");
        }
    }
}
