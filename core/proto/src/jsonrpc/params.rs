//! The params of a request, read once for all who ask for something in them.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::text::{Needle, members};

/// The members of an object, in their order.
pub(crate) type Members<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// What the protocol's own names in a `_meta` have in common, whichever way a slash is written.
static OWN: Needle = Needle::new("io.modelcontextprotocol");
/// An escape could hide a name.
static ESCAPE: Needle = Needle::new("\\u");

/// The params of a request, with their members.
#[derive(Debug, Default)]
pub struct Params<'a> {
    raw: Option<&'a RawValue>,
    members: Members<'a>,
    /// Those of `_meta`, where it says something of the protocol's own.
    meta: Members<'a>,
}

/// A member that stands twice: who reads the first and who reads the last would see different values.
pub(crate) struct Twice(pub String);

impl<'a> Params<'a> {
    /// Reads the params of a request.
    pub fn read(raw: Option<&'a RawValue>) -> Self {
        let all = raw.and_then(members).unwrap_or_default();
        let mut params = Self {
            raw,
            members: all,
            meta: Members::new(),
        };
        if Self::may_state(raw)
            && let Ok(Some(meta)) = params.member("_meta")
        {
            params.meta = members(meta).unwrap_or_default();
        }
        params
    }

    /// Whether `_meta` may say something of the protocol's own: most requests of revisions with a handshake need not
    /// be read for it.
    pub(crate) fn may_state(raw: Option<&RawValue>) -> bool {
        raw.is_some_and(|raw| OWN.is_in(raw.get()) || ESCAPE.is_in(raw.get()))
    }

    /// The text, where there are any params.
    pub fn raw(&self) -> Option<&'a RawValue> {
        self.raw
    }

    pub(crate) fn text(&self) -> &'a str {
        self.raw.map_or("{}", RawValue::get)
    }

    /// The member called `key`.
    ///
    /// # Errors
    /// When it stands twice.
    pub(crate) fn member(&self, key: &str) -> Result<Option<&'a RawValue>, Twice> {
        only(&self.members, key)
    }

    /// The member of `_meta` called `key`, one of the protocol's own.
    ///
    /// # Errors
    /// When it stands twice.
    pub(crate) fn own(&self, key: &str) -> Result<Option<&'a RawValue>, Twice> {
        only(&self.meta, key)
    }
}

fn only<'a>(all: &Members<'a>, wanted: &str) -> Result<Option<&'a RawValue>, Twice> {
    let mut found = all.iter().filter(|(key, _)| key == wanted);
    let first = found.next().map(|(_, value)| *value);
    match found.next() {
        Some(_) => Err(Twice(format!("\"{wanted}\" stands twice in the body"))),
        None => Ok(first),
    }
}
