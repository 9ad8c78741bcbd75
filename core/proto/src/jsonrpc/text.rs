//! JSON kept as text: payloads pass through the core undecoded, so that unknown members, the
//! digits of numbers and the order of keys survive.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
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

/// The string in `raw`, unescaped; `None` when `raw` is no string.
pub(crate) fn decode_str(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(raw.get()).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
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
