//! JSON kept as text: payloads pass through the core undecoded, so that unknown members, the
//! digits of numbers and the order of keys survive.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use memchr::memmem::Finder;
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{Deserialize as _, DeserializeSeed, Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// One JSON value as its text, known to be valid.
pub type Json = Box<RawValue>;

/// Checks `text` and keeps it as [`Json`].
///
/// # Errors
/// When `text` is not exactly one JSON value.
///
/// ```
/// let payload = oxmcp_proto::jsonrpc::json(r#"{"b":1,"a":9007199254740993}"#)?;
/// assert_eq!(payload.get(), r#"{"b":1,"a":9007199254740993}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn json(text: impl Into<String>) -> Result<Json, serde_json::Error> {
    RawValue::from_string(text.into())
}

/// A text that is known to be one JSON value, without blanks around it.
///
/// A raw value can only be had from a deserializer, and that of serde_json would check the text again. Serde passes one as
/// a newtype struct that is a map: of its own name to its text.
pub(crate) fn raw(text: &str) -> &RawValue {
    <&RawValue>::deserialize(Known { text, name: None })
        .unwrap_or_else(|_| serde_json::from_str(text).expect("it is known to be JSON"))
}

struct Known<'a> {
    text: &'a str,
    name: Option<&'static str>,
}

type KnownError = serde::de::value::Error;

impl<'de> serde::Deserializer<'de> for Known<'de> {
    type Error = KnownError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, KnownError> {
        Err(serde::de::Error::custom("only a raw value is known"))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, KnownError> {
        visitor.visit_map(Self {
            name: Some(name),
            ..self
        })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

impl<'a> MapAccess<'a> for Known<'a> {
    type Error = KnownError;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, KnownError> {
        let name = self.name.take();
        name.map(|name| seed.deserialize(StrDeserializer::new(name)))
            .transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, KnownError> {
        seed.deserialize(BorrowedStrDeserializer::new(self.text))
    }
}

/// The string in `raw`, unescaped; `None` when `raw` is no string.
pub(crate) fn decode_str(raw: &RawValue) -> Option<Cow<'_, str>> {
    decode_quoted(raw.get())
}

/// The string that is this JSON text; `None` when it is no string.
pub(crate) fn decode_quoted(text: &str) -> Option<Cow<'_, str>> {
    let [b'"', inner @ .., b'"'] = text.as_bytes() else {
        return None;
    };
    // To the end, whatever is found: names are short, and so it is a loop of vectors.
    if inner.iter().fold(false, |escaped, byte| escaped | (*byte == b'\\')) {
        serde_json::from_str(text).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(&text[1..=inner.len()]))
    }
}

/// The string in `raw`, with U+FFFD for halves of surrogate pairs, which are no text: for what is only
/// shown. `None` when `raw` is no string.
pub(crate) fn decode_str_lossy(raw: &RawValue) -> Option<Cow<'_, str>> {
    decode_str(raw).or_else(|| {
        let mut text = raw.get().to_owned();
        let mut from = 1;
        while let Some(at) = text[from..].find('\\').map(|at| at + from) {
            // An escape is `\u` and four digits, or `\` and one character; two halves make a pair.
            let unit = |at: usize| u16::from_str_radix(text.get(at..)?.strip_prefix("\\u")?.get(..4)?, 16).ok();
            from = match (unit(at), unit(at + 6)) {
                (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => at + 12,
                (Some(0xd800..0xe000), _) => {
                    text.replace_range(at + 2..at + 6, "fffd");
                    at + 6
                }
                (Some(_), _) => at + 6,
                (None, _) => at + 2,
            };
        }
        serde_json::from_str(&text).ok().map(Cow::Owned)
    })
}

/// A text that is looked for in many others, prepared once.
#[derive(Debug)]
pub(crate) struct Needle {
    text: &'static str,
    finder: OnceLock<Finder<'static>>,
}

impl Needle {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self {
            text,
            finder: OnceLock::new(),
        }
    }

    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.after(text).is_some()
    }

    /// What follows its first place in a text.
    pub(crate) fn after<'t>(&self, text: &'t str) -> Option<&'t str> {
        let finder = self.finder.get_or_init(|| Finder::new(self.text));
        let at = finder.find(text.as_bytes())?;
        Some(&text[at + self.text.len()..])
    }
}

/// Reads an object. Serde alone would fill a struct from an array's elements.
pub(crate) fn object<'a, T: serde::Deserialize<'a>>(raw: &'a RawValue) -> Result<T, serde_json::Error> {
    if !raw.get().starts_with('{') {
        return Err(serde::de::Error::custom("an object was expected"));
    }
    serde_json::from_str(raw.get())
}

/// The members of an object in their order; `None` when `raw` is no object.
pub(crate) fn members(raw: &RawValue) -> Option<Vec<(Cow<'_, str>, &RawValue)>> {
    struct Members;

    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                all.push((decode_str(key).unwrap_or_default(), value));
            }
            Ok(all)
        }
    }

    serde_json::Deserializer::from_str(raw.get())
        .deserialize_map(Members)
        .ok()
}

/// Why JSON of the host's could not be read, without the place in it: hosts write it themselves, and their users never
/// see it.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raw_value_is_had_without_reading_the_text_again() {
        for text in ["1", "null", "{ }", "[1, \"a\"]"] {
            let known = <&RawValue>::deserialize(Known { text, name: None });
            assert_eq!(known.map(RawValue::get), Ok(text));
            assert_eq!(raw(text).get(), text);
        }
        assert!(
            bool::deserialize(Known {
                text: "true",
                name: None
            })
            .is_err()
        );
    }

    #[test]
    fn halves_of_surrogate_pairs_are_replaced_and_pairs_are_kept() {
        for (json, text) in [
            (r#""a\ud800b""#, "a\u{fffd}b"),
            (r#""\udc00\ud800""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ude00\ud83d""#, "\u{1f600}\u{fffd}"),
            (r#""\\ud800 \n\"""#, "\\ud800 \n\""),
        ] {
            assert_eq!(
                decode_str_lossy(&super::json(json).unwrap()).as_deref(),
                Some(text),
                "{json}"
            );
        }
        assert_eq!(decode_str_lossy(&super::json("7").unwrap()), None);
    }
}
