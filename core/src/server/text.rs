//! Values that come as text, read as the types a handler wants: the variables of a URI template and the
//! arguments of a prompt.
//!
//! | the type wants | the text must be |
//! | --- | --- |
//! | a string | anything |
//! | a number, a `bool` | one as Rust writes it |
//! | an enum | the name of a variant without fields |
//! | a list | a list, or one text, which is a list of one |
//! | a map, an option, a newtype | what their parts want |

use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Error as _, IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use serde_json::value::RawValue;

use oxmcp_proto::types::Map;

/// Reads an object of texts as a `T`.
///
/// # Errors
/// What does not fit, and where.
pub(super) fn read<T: DeserializeOwned>(object: Option<&RawValue>) -> Result<T, String> {
    let members: Map<Text> =
        serde_json::from_str(object.map_or("{}", RawValue::get)).map_err(|error| error.to_string())?;
    let members = MapDeserializer::<_, Failure>::new(members.into_iter());
    serde_path_to_error::deserialize(members).map_err(|error| {
        let path = error.path().to_string();
        match &*path {
            "." => error.inner().0.clone(),
            path => format!("`{path}`: {}", error.inner().0),
        }
    })
}

/// What a text template or a prompt gives for one name.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    One(String),
    List(Vec<String>),
    Map(Map<String>),
}

#[derive(Debug)]
struct Failure(String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl serde::de::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl IntoDeserializer<'_, Failure> for Text {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl Text {
    fn one(self) -> Result<String, Failure> {
        match self {
            Self::One(text) => Ok(text),
            Self::List(_) => Err(Failure::custom("expected one value, not a list")),
            Self::Map(_) => Err(Failure::custom("expected one value, not a map")),
        }
    }

    fn parse<T: std::str::FromStr>(self, wanted: &str) -> Result<T, Failure> {
        let text = self.one()?;
        text.parse()
            .map_err(|_| Failure::custom(format_args!("expected {wanted}, not {text:?}")))
    }
}

macro_rules! parsed {
    ($($method:ident: $type:ty => $visit:ident as $wanted:literal,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            visitor.$visit(self.parse::<$type>($wanted)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Text {
    type Error = Failure;

    parsed! {
        deserialize_bool: bool => visit_bool as "true or false",
        deserialize_i8: i8 => visit_i8 as "a whole number from -128 to 127",
        deserialize_i16: i16 => visit_i16 as "a whole number of 16 bits",
        deserialize_i32: i32 => visit_i32 as "a whole number of 32 bits",
        deserialize_i64: i64 => visit_i64 as "a whole number of 64 bits",
        deserialize_i128: i128 => visit_i128 as "a whole number of 128 bits",
        deserialize_u8: u8 => visit_u8 as "a whole number from 0 to 255",
        deserialize_u16: u16 => visit_u16 as "a whole number from 0 to 65535",
        deserialize_u32: u32 => visit_u32 as "a whole number from 0 up, of 32 bits",
        deserialize_u64: u64 => visit_u64 as "a whole number from 0 up, of 64 bits",
        deserialize_u128: u128 => visit_u128 as "a whole number from 0 up, of 128 bits",
        deserialize_f32: f32 => visit_f32 as "a number",
        deserialize_f64: f64 => visit_f64 as "a number",
        deserialize_char: char => visit_char as "one character",
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self {
            Self::One(text) => visitor.visit_string(text),
            Self::List(list) => visitor.visit_seq(SeqDeserializer::new(list.into_iter().map(Self::One))),
            Self::Map(map) => visitor.visit_map(MapDeserializer::new(
                map.into_iter().map(|(key, value)| (key, Self::One(value))),
            )),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self {
            Self::One(text) => visitor.visit_seq(SeqDeserializer::new(std::iter::once(Self::One(text)))),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_enum(self.one()?.into_deserializer())
    }

    forward_to_deserialize_any! {
        str string bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        Fast,
        Slow,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Id(u32);

    #[derive(Debug, Deserialize, PartialEq)]
    struct All {
        id: Id,
        name: String,
        on: bool,
        mode: Option<Mode>,
        path: Vec<u8>,
        #[serde(default)]
        rest: Option<f64>,
    }

    fn all(text: &str) -> Result<All, String> {
        read(Some(&RawValue::from_string(text.to_owned()).unwrap()))
    }

    #[test]
    fn texts_become_what_the_type_wants() {
        let read = all(r#"{"id":"7","name":"00123","on":"true","mode":"slow","path":["1","2"],"unknown":"x"}"#);
        let wanted = All {
            id: Id(7),
            name: "00123".into(),
            on: true,
            mode: Some(Mode::Slow),
            path: vec![1, 2],
            rest: None,
        };
        assert_eq!(read.unwrap(), wanted);
        let one = all(r#"{"id":"7","name":"n","on":"false","path":"9","rest":"0.5"}"#).unwrap();
        assert_eq!((one.path, one.rest, one.mode), (vec![9], Some(0.5), None));
    }

    #[test]
    fn what_does_not_fit_is_named_with_what_would_be_right() {
        for (text, part) in [
            (r#"{"id":"x"}"#, "`id`: expected a whole number"),
            (r#"{"id":"1","name":"n"}"#, "missing field `on`"),
            (r#"{"id":"1","name":["a","b"]}"#, "`name`: invalid type: sequence"),
            (r#"{"mode":"medium"}"#, "`mode`: unknown variant `medium`"),
            (
                r#"{"path":["1","300"]}"#,
                "`path[1]`: expected a whole number from 0 to 255",
            ),
        ] {
            let error = all(text).unwrap_err();
            assert!(error.starts_with(part), "{text}: {error}");
        }
    }
}
