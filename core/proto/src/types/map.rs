//! Maps that keep the order of their keys, and objects' members beyond the known ones.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::MemberInfo;
use crate::jsonrpc::Json;

/// A JSON object whose keys are data, in the order they came. Small: a look-up walks it.
///
/// ```
/// use oxmcp_proto::types::Map;
///
/// let map: Map<u8> = serde_json::from_str(r#"{"z":1,"a":2}"#)?;
/// assert_eq!(map.get("a"), Some(&2));
/// assert_eq!(serde_json::to_string(&map)?, r#"{"z":1,"a":2}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map<T>(Vec<(String, T)>);

/// A JSON object whose values stay text.
pub type Members = Map<Json>;

impl<T> Map<T> {
    /// An empty map.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The value of a key; the first one where a peer sent the key twice.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// Sets the value of a key, in its old place if it has one; gives the old value back.
    pub fn insert(&mut self, key: impl Into<String>, value: T) -> Option<T> {
        let key = key.into();
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                self.0.push((key, value));
                None
            }
        }
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &str) -> Option<T> {
        let at = self.0.iter().position(|(known, _)| known == key)?;
        Some(self.0.remove(at).1)
    }

    /// All keys with their values, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, K: Into<String>> FromIterator<(K, T)> for Map<T> {
    /// A key that comes twice has the later value.
    fn from_iter<I: IntoIterator<Item = (K, T)>>(entries: I) -> Self {
        let mut map = Self::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl<T> IntoIterator for Map<T> {
    type Item = (String, T);
    type IntoIter = std::vec::IntoIter<(String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Map<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Map<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Map(entries))
            }
        }

        deserializer.deserialize_map(Entries(PhantomData))
    }
}

impl<T: Serialize> Serialize for Map<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// The members of an object that its type does not name, and the order in which all members came.
///
/// ```
/// use oxmcp_proto::types::Tool;
///
/// let text = r#"{"x-cost":1.50,"inputSchema":{},"name":"add"}"#;
/// let mut tool: Tool = serde_json::from_str(text)?;
/// assert_eq!(tool.extra.get("x-cost").unwrap().get(), "1.50");
/// assert_eq!(serde_json::to_string(&tool)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Extra {
    members: Members,
    /// Indices of the known members in the order they came, [`Self::OTHER`] for each one unknown.
    /// Empty when that is the order they are written in anyway.
    order: Vec<u8>,
}

impl Extra {
    const OTHER: u8 = u8::MAX;

    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&RawValue> {
        self.members.get(name).map(|value| &**value)
    }

    /// Sets a member. One that the type has a field for is not written from here: set the field.
    pub fn insert(&mut self, name: impl Into<String>, value: Json) -> Option<Json> {
        self.members.insert(name, value)
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        self.members.remove(name)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &RawValue)> {
        self.members.iter().map(|(name, value)| (name, &**value))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(super) fn read_known(&mut self, index: usize) -> bool {
        let index = index as u8;
        let is_new = !self.order.contains(&index);
        self.order.push(index);
        is_new
    }

    pub(super) fn has_read(&self, index: usize) -> bool {
        self.order.contains(&(index as u8))
    }

    pub(super) fn read_other(&mut self, name: String, value: Json) {
        self.order.push(Self::OTHER);
        self.members.0.push((name, value));
    }

    pub(super) fn read_all(&mut self) {
        if self.order.is_sorted() {
            self.order = Vec::new();
        }
    }

    /// Writes every member once: those that came in their order, then the rest, then what is unknown.
    pub(super) fn write<M: SerializeMap>(
        &self,
        known: &[MemberInfo],
        map: &mut M,
        mut write_known: impl FnMut(&'static str, &mut M) -> Result<(), M::Error>,
    ) -> Result<(), M::Error> {
        let is_other = |(name, _): &(&str, &Json)| known.iter().all(|member| member.name != *name);
        let mut others = self.members.iter().filter(is_other);
        let mut written = 0_u64;
        for &index in &self.order {
            if index == Self::OTHER {
                if let Some((name, value)) = others.next() {
                    map.serialize_entry(name, value)?;
                }
            } else if let Some(member) = known.get(usize::from(index)) {
                written |= 1 << index;
                write_known(member.name, map)?;
            }
        }
        for (index, member) in known.iter().enumerate() {
            if written & (1 << index) == 0 {
                write_known(member.name, map)?;
            }
        }
        others.try_for_each(|(name, value)| map.serialize_entry(name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::json;
    use crate::types::{PromptReference, Root};

    #[test]
    fn a_map_replaces_in_place_and_removes() {
        let mut map: Map<i32> = [("z", 1), ("a", 2)].into_iter().collect();
        assert_eq!(map.insert("z", 3), Some(1));
        assert_eq!(map.iter().collect::<Vec<_>>(), [("z", &3), ("a", &2)]);
        assert_eq!((map.remove("z"), map.remove("z"), map.len()), (Some(3), None, 1));
    }

    #[test]
    fn keys_sent_twice_are_kept_and_the_first_is_found() {
        let text = r#"{"a":1,"a":2}"#;
        let map: Map<i32> = serde_json::from_str(text).unwrap();
        assert_eq!(map.get("a"), Some(&1));
        assert_eq!(serde_json::to_string(&map).unwrap(), text);
    }

    #[test]
    fn what_is_set_or_taken_out_after_reading_is_written_once() {
        let mut root: Root = serde_json::from_str(r#"{"b":1,"uri":"x:","a":2}"#).unwrap();
        root.name = Some("n".to_owned());
        root.extra.remove("b");
        root.extra.insert("c", json("3").unwrap());
        root.extra.insert("name", json("4").unwrap());
        assert_eq!(
            serde_json::to_string(&root).unwrap(),
            r#"{"a":2,"uri":"x:","c":3,"name":"n"}"#
        );
    }

    #[test]
    fn the_order_of_one_type_cannot_break_another() {
        let root: Root = serde_json::from_str(r#"{"b":1,"name":"n","uri":"x:","_meta":{}}"#).unwrap();
        let mut reference = PromptReference::new("p");
        reference.extra = root.extra;
        assert_eq!(
            serde_json::to_string(&reference).unwrap(),
            r#"{"b":1,"name":"p","type":"ref/prompt"}"#
        );
    }
}
