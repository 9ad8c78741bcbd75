//! Numbers that keep their text.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::jsonrpc::Json;

/// A JSON number as its text: `1`, `1.0` and `1e3` pass through as they are, and so does an integer
/// of any size.
///
/// ```
/// use oxmcp_proto::types::Number;
///
/// let number: Number = serde_json::from_str("9007199254740993")?;
/// assert_eq!(number.as_i64(), Some(9_007_199_254_740_993));
/// assert_eq!(serde_json::from_str::<Number>("1e3")?.as_i64(), Some(1000));
/// assert_eq!(Number::from(5).to_string(), "5");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Number(Box<str>);

impl Number {
    /// The number as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number if it is whole and fits, however it is written.
    pub fn as_i64(&self) -> Option<i64> {
        // Beyond 2^53 a double stands for its neighbours too.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        self.0.parse().ok().or_else(|| {
            let value = self.as_f64();
            (value.fract() == 0.0 && value.abs() < EXACT).then_some(value as i64)
        })
    }

    /// The nearest double; infinite when the number is larger than any.
    pub fn as_f64(&self) -> f64 {
        // The grammar of JSON's numbers is a part of Rust's.
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// A number from a double; `None` for those that JSON cannot write.
    pub fn from_f64(value: f64) -> Option<Self> {
        serde_json::Number::from_f64(value).map(|number| Self(number.to_string().into()))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Number {
            fn from(value: $integer) -> Self {
                Self(value.to_string().into())
            }
        }
    )*};
}

from_integers!(i32, i64, u32, u64, usize);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        match json.get().as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => Ok(Self(json.get().into())),
            _ => Err(D::Error::custom("expected a number")),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<Json>(&self.0)
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn text_survives() {
        for text in ["0", "-0", "1.0", "1e3", "0.50", "18446744073709551617", "1E+2"] {
            assert_eq!(serde_json::to_string(&number(text)).unwrap(), text);
        }
    }

    #[test]
    fn whole_numbers_are_whole_however_written() {
        for (text, whole) in [
            ("7", Some(7)),
            ("7.0", Some(7)),
            ("7e1", Some(70)),
            ("7.5", None),
            ("9007199254740993.0", None),
            ("18446744073709551617", None),
        ] {
            assert_eq!(number(text).as_i64(), whole, "{text}");
        }
        assert_eq!(number("0.1").as_f64(), 0.1);
        assert_eq!(Number::from_f64(0.5).unwrap().as_str(), "0.5");
        assert_eq!(Number::from_f64(f64::NAN), None);
    }

    #[test]
    fn only_numbers_are_numbers() {
        for text in ["\"1\"", "null", "true", "[1]", "{}"] {
            let error = serde_json::from_str::<Number>(text).unwrap_err();
            assert!(error.to_string().starts_with("expected a number"), "{error}");
        }
    }
}
