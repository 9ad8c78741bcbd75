//! Which capability each message rests on.
//!
//! A name with a dot is a member of a capability: `resources.subscribe` is declared by
//! `{"resources":{"subscribe":true}}`.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;

use crate::session::Role;

/// A capability that one side declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    /// Who has to declare it.
    pub declared_by: Role,
    /// Its name, with a dot before a member of it.
    pub name: &'static str,
}

const SERVER: Role = Role::Server;
const CLIENT: Role = Role::Client;

/// Methods that the revisions without a handshake no longer have (2026-07-28 changelog).
pub(crate) const REMOVED: [&str; 5] = [
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "notifications/roots/list_changed",
];

/// Requests, with the side that answers them and what it declares for that.
const REQUESTS: &[(&str, Role, &str)] = &[
    ("tools/list", SERVER, "tools"),
    ("tools/call", SERVER, "tools"),
    ("prompts/list", SERVER, "prompts"),
    ("prompts/get", SERVER, "prompts"),
    ("resources/list", SERVER, "resources"),
    ("resources/read", SERVER, "resources"),
    ("resources/templates/list", SERVER, "resources"),
    ("resources/subscribe", SERVER, "resources.subscribe"),
    ("resources/unsubscribe", SERVER, "resources.subscribe"),
    ("completion/complete", SERVER, "completions"),
    ("logging/setLevel", SERVER, "logging"),
    ("roots/list", CLIENT, "roots"),
    ("sampling/createMessage", CLIENT, "sampling"),
    ("elicitation/create", CLIENT, "elicitation"),
];

/// Notifications that only a side which declared something sends.
const NOTIFICATIONS: &[(&str, Role, &str)] = &[
    ("notifications/message", SERVER, "logging"),
    ("notifications/tools/list_changed", SERVER, "tools.listChanged"),
    ("notifications/prompts/list_changed", SERVER, "prompts.listChanged"),
    ("notifications/resources/list_changed", SERVER, "resources.listChanged"),
    ("notifications/resources/updated", SERVER, "resources.subscribe"),
    ("notifications/roots/list_changed", CLIENT, "roots.listChanged"),
];

/// What a request needs; `None` for methods without a capability and for those of users.
///
/// Some params need more than their method does: an elicitation by URL, and a sampling request with
/// tools (2025-11-25 elicitation and sampling, Capabilities).
pub(crate) fn need_of_request(method: &str, params: Option<&str>) -> Option<Need> {
    let (_, declared_by, name) = *REQUESTS.iter().find(|(known, ..)| *known == method)?;
    let name = match (method, params) {
        ("elicitation/create", _) if is_by_url(params) => "elicitation.url",
        ("elicitation/create", _) => "elicitation.form",
        ("sampling/createMessage", Some(params)) => sampling_need(params),
        _ => name,
    };
    Some(Need { declared_by, name })
}

/// What a notification needs its sender to have declared.
pub(crate) fn need_of_notification(method: &str) -> Option<Need> {
    let (_, declared_by, name) = *NOTIFICATIONS.iter().find(|(known, ..)| *known == method)?;
    Some(Need { declared_by, name })
}

fn is_by_url(params: Option<&str>) -> bool {
    #[derive(Deserialize)]
    struct Mode<'a> {
        #[serde(borrow, default)]
        mode: Option<Cow<'a, str>>,
    }
    params
        .and_then(|params| serde_json::from_str::<Mode<'_>>(params).ok())
        .is_some_and(|it| it.mode.as_deref() == Some("url"))
}

fn sampling_need(params: &str) -> &'static str {
    #[derive(Deserialize)]
    struct Wants {
        #[serde(default)]
        tools: Option<serde::de::IgnoredAny>,
        #[serde(default, rename = "toolChoice")]
        tool_choice: Option<serde::de::IgnoredAny>,
    }
    // Messages may be long, and few requests bring tools.
    if memmem::find(params.as_bytes(), b"\"tool").is_none() {
        return "sampling";
    }
    match serde_json::from_str::<Wants>(params) {
        Ok(wants) if wants.tools.is_some() || wants.tool_choice.is_some() => "sampling.tools",
        _ => "sampling",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_can_need_more_than_their_method() {
        for (method, params, need) in [
            ("elicitation/create", r#"{"message":"m"}"#, "elicitation.form"),
            ("elicitation/create", r#"{"mode":"form"}"#, "elicitation.form"),
            ("elicitation/create", r#"{"mode":"url"}"#, "elicitation.url"),
            ("sampling/createMessage", r#"{"messages":[]}"#, "sampling"),
            ("sampling/createMessage", r#"{"tools":[]}"#, "sampling.tools"),
            (
                "sampling/createMessage",
                r#"{"messages":[{"text":"\"tools\""}]}"#,
                "sampling",
            ),
            ("sampling/createMessage", r#"{"toolChoice":{}}"#, "sampling.tools"),
        ] {
            assert_eq!(need_of_request(method, Some(params)).unwrap().name, need, "{params}");
        }
    }
}
