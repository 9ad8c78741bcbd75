//! The members of a JSON object as they came.

use std::fmt;

use oxmcp_proto::jsonrpc::Json;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Members of a JSON object in their order, their values kept as text. Read and written by
/// `serde_json`.
///
/// ```
/// let members: oxmcp::Members = serde_json::from_str(r#"{"b":1.50,"a":[]}"#)?;
/// assert_eq!(members.get("b").unwrap().get(), "1.50");
/// assert_eq!(serde_json::to_string(&members)?, r#"{"b":1.50,"a":[]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Members(Vec<(String, Json)>);

impl Members {
    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&RawValue> {
        self.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All members, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// Adds a member, in the place of one of the same name.
    pub fn insert(&mut self, name: impl Into<String>, value: Json) {
        let name = name.into();
        match self.0.iter_mut().find(|(key, _)| *key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// Takes a member out and reads it; `None` when it is absent or null.
    pub(super) fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, String> {
        let Some(at) = self.0.iter().position(|(key, _)| key == name) else {
            return Ok(None);
        };
        let (_, value) = self.0.remove(at);
        serde_json::from_str(value.get()).map_err(|error| format!("`{name}`: {error}"))
    }

    pub(super) fn require<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, String> {
        self.take(name)?.ok_or_else(|| format!("missing field `{name}`"))
    }

    pub(super) fn serialize_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0
            .iter()
            .try_for_each(|(key, value)| map.serialize_entry(key, value))
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(Members(all))
            }
        }

        deserializer.deserialize_map(All)
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.serialize_into(&mut map)?;
        map.end()
    }
}
