//! Which revision has what: tables made from the specification's schemas.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Extra;
use super::generated::{METHODS, OBJECTS, REVISIONS};

/// A set of the protocol's revisions, by their names on the wire.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Revisions(u8);

impl Revisions {
    /// Bit 0 stands for the oldest revision.
    pub(super) const fn of(bits: u8) -> Self {
        Self(bits)
    }

    /// Whether the revision of this name is one of them.
    pub fn contains(self, name: &str) -> bool {
        self.iter().any(|known| known == name)
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Their names, oldest first.
    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        let is_in = move |index: &usize| self.0 & (1 << index) != 0;
        (0..REVISIONS.len()).filter(is_in).map(|index| REVISIONS[index])
    }
}

impl fmt::Debug for Revisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A request or a notification of the protocol.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MethodInfo {
    /// Its name on the wire.
    pub name: &'static str,
    /// Whether it gets no answer.
    pub is_notification: bool,
    /// The revisions in which a client sends it.
    pub from_client: Revisions,
    /// The revisions in which a server sends it.
    pub from_server: Revisions,
    /// The revisions in which a server puts it into an `input_required` result instead of sending it.
    pub in_result: Revisions,
    /// The type of its parameters.
    pub params: Option<&'static str>,
    /// The type of its result; none for notifications.
    pub result: Option<&'static str>,
    /// The capability it rests on, in revisions that have it.
    pub capability: Option<CapabilityInfo>,
}

/// Where a capability is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CapabilityInfo {
    /// Declared by servers, in `ServerCapabilities`; else by clients, in `ClientCapabilities`.
    pub of_server: bool,
    /// The members that lead to it, such as `resources.subscribe`.
    pub path: &'static str,
}

impl CapabilityInfo {
    pub(super) const fn server(path: &'static str) -> Option<Self> {
        Some(Self { of_server: true, path })
    }

    pub(super) const fn client(path: &'static str) -> Option<Self> {
        Some(Self { of_server: false, path })
    }
}

/// An object type of the protocol.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TypeInfo {
    /// Its name in the specification.
    pub name: &'static str,
    /// The revisions that have it.
    pub revisions: Revisions,
    /// Its members, in the order they are written unless they came in another.
    pub members: &'static [MemberInfo],
}

impl TypeInfo {
    /// The member of this name.
    pub fn member(&self, name: &str) -> Option<&'static MemberInfo> {
        self.members.iter().find(|member| member.name == name)
    }
}

/// A member of an object type.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MemberInfo {
    /// Its name on the wire.
    pub name: &'static str,
    /// The revisions that have it.
    pub revisions: Revisions,
    /// Those of them that require it.
    pub required: Revisions,
}

impl TypeInfo {
    pub(super) const fn new(name: &'static str, revisions: u8, members: &'static [MemberInfo]) -> Self {
        Self {
            name,
            revisions: Revisions::of(revisions),
            members,
        }
    }
}

impl MemberInfo {
    pub(super) const fn new(name: &'static str, revisions: u8, required: u8) -> Self {
        Self {
            name,
            revisions: Revisions::of(revisions),
            required: Revisions::of(required),
        }
    }
}

/// Every request and notification of every revision, by name.
///
/// ```
/// let all = oxmcp_proto::types::methods();
/// let discover = all.iter().find(|method| method.name == "server/discover").unwrap();
/// assert_eq!(discover.from_client.iter().collect::<Vec<_>>(), ["2026-07-28"]);
/// assert_eq!(discover.result, Some("DiscoverResult"));
/// ```
pub fn methods() -> &'static [MethodInfo] {
    METHODS
}

/// The method of this name; `None` for methods of extensions and users.
pub fn method(name: &str) -> Option<&'static MethodInfo> {
    let at = METHODS.binary_search_by(|method| method.name.cmp(name)).ok()?;
    Some(&METHODS[at])
}

/// Every object type, by name.
///
/// ```
/// let tool = oxmcp_proto::types::objects().iter().find(|info| info.name == "Tool").unwrap();
/// let schema = tool.member("outputSchema").unwrap();
/// assert!(schema.revisions.contains("2025-06-18") && !schema.revisions.contains("2025-03-26"));
/// ```
pub fn objects() -> &'static [&'static TypeInfo] {
    OBJECTS
}

/// The revisions these types can read and write, oldest first.
pub fn revisions() -> &'static [&'static str] {
    &REVISIONS
}

/// An object type: what is known of it, and how a value stands to a revision.
///
/// ```
/// use oxmcp_proto::types::{ListToolsResult, Object};
///
/// let result = ListToolsResult::new(vec![]);
/// assert!(result.missing_in("2025-11-25").is_empty());
/// assert_eq!(result.missing_in("2026-07-28"), ["cacheScope", "resultType", "ttlMs"]);
/// assert!(result.surplus_in("2025-11-25").is_empty());
/// ```
pub trait Object: Serialize + DeserializeOwned {
    /// Its row of [`objects`].
    const INFO: &'static TypeInfo;

    /// The members that the type has no field for.
    fn extra(&self) -> &Extra;

    /// Whether a member that the type knows would be written.
    fn has(&self, name: &str) -> bool;

    /// What a revision requires and the value lacks. Only the value's own members, not those of its parts.
    fn missing_in(&self, revision: &str) -> Vec<&'static str> {
        let required = Self::INFO
            .members
            .iter()
            .filter(|member| member.required.contains(revision));
        required
            .map(|member| member.name)
            .filter(|name| !self.has(name))
            .collect()
    }

    /// What the value has and a revision does not know. A peer of that revision ignores it.
    fn surplus_in(&self, revision: &str) -> Vec<&'static str> {
        let unknown = Self::INFO
            .members
            .iter()
            .filter(|member| !member.revisions.contains(revision));
        unknown
            .map(|member| member.name)
            .filter(|name| self.has(name))
            .collect()
    }
}

/// A request: its method, and the types that go with it.
///
/// ```
/// use oxmcp_proto::types::{CallToolRequest, Request};
///
/// fn decode<R: Request>(result: &str) -> serde_json::Result<R::Result> {
///     serde_json::from_str(result)
/// }
///
/// assert_eq!(CallToolRequest::METHOD, "tools/call");
/// assert_eq!(decode::<CallToolRequest>(r#"{"content":[]}"#)?.content.len(), 0);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub trait Request: Object {
    /// Its name on the wire.
    const METHOD: &'static str;
    /// What it takes: an object, or a union of objects.
    type Params: Serialize + DeserializeOwned;
    /// What it returns once complete.
    type Result: Object;
}

/// A notification: its method, and its parameters.
pub trait Notification: Object {
    /// Its name on the wire.
    const METHOD: &'static str;
    /// What it says.
    type Params: Object;
}
