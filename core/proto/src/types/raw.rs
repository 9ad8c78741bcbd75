//! Parts of messages that stay text.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::jsonrpc::{Json, RequestId, json};

/// A JSON object kept as its text: arguments of tools, schemas, whatever is the business of others.
///
/// ```
/// use oxmcp_proto::types::JsonObject;
///
/// let arguments = JsonObject::parse(r#"{"z":9007199254740993,"a":1.0}"#)?;
/// assert_eq!(arguments.get(), r#"{"z":9007199254740993,"a":1.0}"#);
/// assert!(JsonObject::parse("[]").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct JsonObject(Json);

impl JsonObject {
    /// Checks that `text` is one JSON object and keeps it.
    ///
    /// # Errors
    /// When it is not JSON, or JSON of another kind.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        Self::check(json(text)?).map_err(serde_json::Error::custom)
    }

    /// The text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The object as a type of yours.
    ///
    /// # Errors
    /// When it does not fit `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }

    fn check(json: Json) -> Result<Self, &'static str> {
        // The text of a raw value begins with the value, not with white space.
        if json.get().starts_with('{') {
            Ok(Self(json))
        } else {
            Err("expected an object")
        }
    }
}

impl Default for JsonObject {
    /// `{}`
    fn default() -> Self {
        Self::parse("{}").unwrap_or_else(|error| unreachable!("an empty object is an object: {error}"))
    }
}

impl From<JsonObject> for Json {
    fn from(object: JsonObject) -> Self {
        object.0
    }
}

impl PartialEq for JsonObject {
    /// Whether the texts are the same.
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::check(Json::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Serialize for JsonObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        Self::read(&json).ok_or_else(|| D::Error::custom("expected a string or an integer"))
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(number) => number.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::Large(digits) => serde_json::from_str::<Json>(digits)
                .map_err(serde::ser::Error::custom)?
                .serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_an_object_wherever_its_text_begins() {
        let spaced: JsonObject = serde_json::from_str(" {\"a\": 1} ").unwrap();
        assert_eq!(spaced.get(), "{\"a\": 1}");
        assert_eq!(JsonObject::parse("  {}").unwrap(), JsonObject::default());
        for text in ["[]", "null", "\"{}\"", "{", "{} {}"] {
            assert!(JsonObject::parse(text).is_err(), "{text}");
        }
        assert_eq!(
            spaced.decode::<std::collections::HashMap<String, u8>>().unwrap()["a"],
            1
        );
    }

    #[test]
    fn ids_round_trip_through_serde() {
        for text in ["1", "\"1\"", "-5", "18446744073709551616", "\"a\\n\""] {
            let id: RequestId = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&id).unwrap(), text);
        }
        let error = serde_json::from_str::<RequestId>("1.5").unwrap_err();
        assert!(
            error.to_string().starts_with("expected a string or an integer"),
            "{error}"
        );
    }
}
