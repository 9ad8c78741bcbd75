//! The params of a request, read once for all who ask for something in them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::place::Place;
use super::text::decode_str;

/// The members of an object, in their order.
pub(crate) type Members<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// The params of a request, with their members and those of `_meta`.
#[derive(Debug, Default)]
pub struct Params<'a> {
    text: Option<&'a str>,
    /// All but `_meta`.
    members: Members<'a>,
    meta: Meta<'a>,
    /// `_meta` stands in it, whatever it is.
    has_meta: bool,
}

#[derive(Debug, Default)]
enum Meta<'a> {
    /// Or `null`.
    #[default]
    Absent,
    Object {
        text: &'a str,
        members: Members<'a>,
    },
    NoObject,
    Twice,
}

/// A member that stands twice: who reads the first and who reads the last would see different values.
#[derive(Debug)]
pub(crate) struct Twice(pub String);

impl Twice {
    fn of(member: &str) -> Self {
        Self(format!("\"{member}\" stands twice in the body"))
    }
}

impl<'a> Params<'a> {
    /// Reads the text of params, which is valid JSON. What is no object has no members.
    pub fn read(text: Option<&'a str>) -> Self {
        let Some(text) = text else { return Self::default() };
        let whole = ParamsAt(Place::in_text(text, 0));
        let read = whole.deserialize(&mut serde_json::Deserializer::from_str(text));
        Self {
            text: Some(text),
            ..read.unwrap_or_default()
        }
    }

    /// The text, where there are any params.
    pub fn text(&self) -> Option<&'a str> {
        self.text
    }

    /// The text; that of an empty object where there are no params.
    pub(crate) fn text_or_empty(&self) -> &'a str {
        self.text.unwrap_or("{}")
    }

    /// The member called `key`, which is any but `_meta`.
    ///
    /// # Errors
    /// When it stands twice.
    pub(crate) fn member(&self, key: &str) -> Result<Option<&'a RawValue>, Twice> {
        only(&self.members, key)
    }

    /// Whether `_meta` can be read.
    ///
    /// # Errors
    /// When it stands twice.
    pub(crate) fn check_meta(&self) -> Result<(), Twice> {
        match self.meta {
            Meta::Twice => Err(Twice::of("_meta")),
            Meta::Absent | Meta::Object { .. } | Meta::NoObject => Ok(()),
        }
    }

    /// The text of `_meta`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn meta(&self) -> Result<Option<&'a str>, String> {
        match &self.meta {
            Meta::Absent => Ok(None),
            Meta::Object { text, .. } => Ok(Some(text)),
            Meta::NoObject => Err("\"_meta\" must be an object".to_owned()),
            Meta::Twice => Err(Twice::of("_meta").0),
        }
    }

    /// The members of `_meta`.
    pub(crate) fn all_own(&self) -> &[(Cow<'a, str>, &'a RawValue)] {
        match &self.meta {
            Meta::Object { members, .. } => members,
            Meta::Absent | Meta::NoObject | Meta::Twice => &[],
        }
    }

    /// The member of `_meta` called `key`.
    ///
    /// # Errors
    /// When it stands twice.
    pub(crate) fn own(&self, key: &str) -> Result<Option<&'a RawValue>, Twice> {
        only(self.all_own(), key)
    }
}

fn only<'a>(all: &[(Cow<'a, str>, &'a RawValue)], wanted: &str) -> Result<Option<&'a RawValue>, Twice> {
    let mut found = all.iter().filter(|(key, _)| key == wanted);
    let first = found.next().map(|(_, value)| *value);
    match found.next() {
        Some(_) => Err(Twice::of(wanted)),
        None => Ok(first),
    }
}

/// The params that begin at a place.
pub(super) struct ParamsAt<'a>(pub Place<'a>);

impl<'a> DeserializeSeed<'a> for ParamsAt<'a> {
    type Value = Params<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Params<'a>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for ParamsAt<'a> {
    type Value = Params<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Params<'a>, A::Error> {
        let mut params = Params::default();
        let mut last = None;
        while let Some(key) = map.next_key::<&RawValue>()? {
            let name = decode_str(key).unwrap_or_default();
            let value = self.0.value_of(key);
            if name != "_meta" {
                let value = map.next_value::<&RawValue>()?;
                params.members.push((name, value));
                last = Some(value.get());
                continue;
            }
            let (meta, text) = if value.is_object() {
                let (text, members) = map.next_value_seed(ObjectAt(value))?;
                (Meta::Object { text, members }, text)
            } else {
                let text = map.next_value::<&RawValue>()?.get();
                let meta = if text == "null" { Meta::Absent } else { Meta::NoObject };
                (meta, text)
            };
            params.meta = if params.has_meta { Meta::Twice } else { meta };
            params.has_meta = true;
            last = Some(text);
        }
        params.text = Some(self.0.object(last));
        Ok(params)
    }
}

/// The object that begins at a place: its text and its members.
struct ObjectAt<'a>(Place<'a>);

impl<'a> DeserializeSeed<'a> for ObjectAt<'a> {
    type Value = (&'a str, Members<'a>);

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for ObjectAt<'a> {
    type Value = (&'a str, Members<'a>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members::new();
        while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            members.push((decode_str(key).unwrap_or_default(), value));
        }
        let last = members.last().map(|(_, value)| value.get());
        Ok((self.0.object(last), members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_that_of_the_whole_object() {
        for text in [
            "{}",
            "{ }",
            r#"{"a":1}"#,
            r#" { "a" : [ "}" ] , "b" : "\"}{" } "#,
            r#"{"_meta":{}}"#,
            r#"{"_meta" : { } }"#,
            r#"{"a":{"b":{}},"_meta":{"c":{"d":"}"} } }"#,
            r#"{"_meta":null}"#,
            r#"{"_meta":"}"}"#,
            r#"{"_meta":{"a":1},"b":2}"#,
            r#"{"\u005fmeta":{"a":"ä"},"ß":"ö"}"#,
        ] {
            let around = format!("[{text}]");
            let start = around.find('{').unwrap();
            let mut reader = serde_json::Deserializer::from_str(&around[start..]);
            let params = ParamsAt(Place::in_text(&around, start))
                .deserialize(&mut reader)
                .unwrap();
            assert_eq!(params.text(), Some(text.trim()), "{text}");
            assert_eq!(Params::read(Some(text)).text(), Some(text), "{text}");
        }
    }

    #[test]
    fn meta_is_read_with_the_rest() {
        let read = |text: &'static str| Params::read(Some(text));
        let params = read(r#"{"a":1,"_meta":{"x":{"y":2}},"b":3}"#);
        assert_eq!(params.meta(), Ok(Some(r#"{"x":{"y":2}}"#)));
        assert_eq!(params.own("x").unwrap().unwrap().get(), r#"{"y":2}"#);
        assert_eq!(params.member("b").unwrap().unwrap().get(), "3");
        assert!(params.member("c").unwrap().is_none());
        assert_eq!(read(r#"{"_meta":null}"#).meta(), Ok(None));
        assert!(read(r#"{"_meta":[]}"#).meta().is_err());
        assert!(read(r#"{"_meta":{},"_meta":{}}"#).meta().is_err());
        assert!(read(r#"{"_meta":null,"_meta":{}}"#).check_meta().is_err());
        assert!(read(r#"{"a":1,"a":1}"#).member("a").is_err());
        assert!(read(r#"{"_meta":{"a":1,"a":1}}"#).own("a").is_err());
    }
}
