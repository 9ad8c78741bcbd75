//! Which capability of the answering side each method rests on.

use crate::session::Role;

/// A capability that one side declares at the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capability {
    /// Who has to declare it.
    pub declared_by: Role,
    /// Its member in that side's `capabilities`.
    pub name: &'static str,
}

const SERVER: Role = Role::Server;
const CLIENT: Role = Role::Client;

/// Requests of the handshake revisions that need a capability of the side that answers them.
const REQUESTS: &[(&str, Role, &str)] = &[
    ("tools/list", SERVER, "tools"),
    ("tools/call", SERVER, "tools"),
    ("prompts/list", SERVER, "prompts"),
    ("prompts/get", SERVER, "prompts"),
    ("resources/list", SERVER, "resources"),
    ("resources/read", SERVER, "resources"),
    ("resources/templates/list", SERVER, "resources"),
    ("resources/subscribe", SERVER, "resources"),
    ("resources/unsubscribe", SERVER, "resources"),
    ("completion/complete", SERVER, "completions"),
    ("logging/setLevel", SERVER, "logging"),
    ("roots/list", CLIENT, "roots"),
    ("sampling/createMessage", CLIENT, "sampling"),
    ("elicitation/create", CLIENT, "elicitation"),
];

/// What `method` needs; `None` for methods without a capability and for those of users.
pub(crate) fn requirement(method: &str) -> Option<Capability> {
    let (_, declared_by, name) = *REQUESTS.iter().find(|(known, ..)| *known == method)?;
    Some(Capability { declared_by, name })
}
