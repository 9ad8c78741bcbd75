//! Values that come in more than one form.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::InputRequiredResult;
use crate::jsonrpc::{Json, decode_str, members};

/// One value or a list of them, written as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OneOrMany<T> {
    /// The value alone.
    One(T),
    /// A list.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// The values, one or many.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

impl<T> From<T> for OneOrMany<T> {
    fn from(value: T) -> Self {
        Self::One(value)
    }
}

impl<T> From<Vec<T>> for OneOrMany<T> {
    fn from(values: Vec<T>) -> Self {
        Self::Many(values)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        if json.get().starts_with('[') {
            serde_json::from_str(json.get()).map(Self::Many)
        } else {
            serde_json::from_str(json.get()).map(Self::One)
        }
        .map_err(D::Error::custom)
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(value) => value.serialize(serializer),
            Self::Many(values) => values.serialize(serializer),
        }
    }
}

/// What a request that may need input comes back with. Its `resultType` says which; without one it is complete.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome<T> {
    /// The result.
    Complete(T),
    /// The server wants answers first, and the request again with them.
    InputRequired(InputRequiredResult),
    /// A result of a kind that an extension defines, as it came.
    Other(Json),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Outcome<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        let all = members(&json).ok_or_else(|| D::Error::custom("expected an object"))?;
        let kind = all.iter().find(|(name, _)| name == "resultType");
        match kind.map(|(_, value)| decode_str(value).unwrap_or_default()).as_deref() {
            None | Some("complete") => serde_json::from_str(json.get()).map(Self::Complete),
            Some("input_required") => serde_json::from_str(json.get()).map(Self::InputRequired),
            Some(_) => Ok(Self::Other(json)),
        }
        .map_err(D::Error::custom)
    }
}

impl<T: Serialize> Serialize for Outcome<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Complete(result) => result.serialize(serializer),
            Self::InputRequired(result) => result.serialize(serializer),
            Self::Other(json) => json.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::CompleteResult;

    #[test]
    fn one_stays_one_and_a_list_stays_a_list() {
        for (text, len) in [("1", 1), ("[1]", 1), ("[]", 0)] {
            let value: OneOrMany<u8> = serde_json::from_str(text).unwrap();
            assert_eq!(value.as_slice().len(), len);
            assert_eq!(serde_json::to_string(&value).unwrap(), text);
        }
    }

    #[test]
    fn the_result_type_decides() {
        let read = |text: &str| serde_json::from_str::<Outcome<CompleteResult>>(text);
        let complete = r#"{"completion":{"values":[]}}"#;
        assert!(matches!(read(complete), Ok(Outcome::Complete(_))));
        let more = r#"{"resultType":"input_required","requestState":"s"}"#;
        assert!(matches!(read(more), Ok(Outcome::InputRequired(_))));
        let other = r#"{"resultType":"task","taskId":"1"}"#;
        assert!(matches!(read(other), Ok(Outcome::Other(_))));
        for text in [complete, more, other] {
            assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
        }
        assert!(read("[]").unwrap_err().to_string().starts_with("expected an object"));
        assert!(read("{}").unwrap_err().to_string().contains("`completion`"));
    }
}
