//! Request ids, echoed exactly as they came.

use std::fmt;

use serde_json::value::RawValue;

use super::text::decode_str;

/// The id of a request: a string or an integer. `1` and `"1"` are different ids.
///
/// JSON-RPC 2.0 §4 and §5: a response carries the id of its request, type included. Integers that
/// do not fit 64 bits keep their digits. A number like `1.0` is an integer too, and is written as `1`.
///
/// ```
/// use oxmcp_proto::jsonrpc::RequestId;
///
/// assert_ne!(RequestId::from(1), RequestId::from("1"));
/// assert_eq!(RequestId::from("a\"b").to_string(), r#""a\"b""#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequestId {
    /// An integer.
    Integer(i64),
    /// An integer outside the range of `i64`, as its digits.
    Large(Box<str>),
    /// A string, unescaped.
    Text(Box<str>),
}

impl RequestId {
    /// Reads an id from its JSON text; `None` when it is neither a string nor an integer.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        if let Some(string) = decode_str(raw) {
            return Some(Self::Text(string.into()));
        }
        if let Ok(integer) = text.parse() {
            return Some(Self::Integer(integer));
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return (!digits.is_empty()).then(|| Self::Large(text.into()));
        }
        // `1.0` and `1e0` are ways to write an integer too. Beyond these bounds a double tells no integers apart.
        let number = text.parse::<f64>().ok()?;
        let is_exact = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
        is_exact.then_some(Self::Integer(number as i64))
    }

    /// The number in a string that is the canonical decimal form of a number we may have sent.
    ///
    /// Some peers answer id `0` with `"0"`; nothing looser than that is accepted.
    pub(crate) fn canonical_decimal(&self) -> Option<i64> {
        let Self::Text(text) = self else { return None };
        let number: i64 = text.parse().ok()?;
        (number.to_string() == **text).then_some(number)
    }
}

impl fmt::Display for RequestId {
    /// Writes the id as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Large(digits) => f.write_str(digits),
            // Writing a string as JSON cannot fail.
            Self::Text(text) => f.write_str(&serde_json::to_string(text).unwrap_or_default()),
        }
    }
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<RequestId> {
        RequestId::read(&RawValue::from_string(json.to_owned()).unwrap())
    }

    #[test]
    fn ids_keep_their_type_and_digits() {
        for id in [
            "1",
            "\"1\"",
            "-7",
            "18446744073709551616",
            "\"00\"",
            "\"\"",
            "\"a\\n\\\"\"",
        ] {
            assert_eq!(read(id).unwrap().to_string(), id);
        }
    }

    #[test]
    fn null_fractions_and_structures_are_no_ids() {
        for id in [
            "null",
            "1.5",
            "-0.1",
            "1e-1",
            "1e300",
            "9007199254740992.0",
            "true",
            "[1]",
            "{}",
        ] {
            assert_eq!(read(id), None, "{id}");
        }
    }

    #[test]
    fn a_whole_number_is_an_integer_however_it_is_written() {
        for (id, integer) in [
            ("1.0", 1),
            ("1e3", 1000),
            ("-2.0E0", -2),
            ("9007199254740991.0", (1 << 53) - 1),
        ] {
            assert_eq!(read(id), Some(RequestId::Integer(integer)), "{id}");
        }
    }

    #[test]
    fn only_canonical_decimals_stand_for_numbers() {
        assert_eq!(RequestId::from("0").canonical_decimal(), Some(0));
        assert_eq!(RequestId::from("-3").canonical_decimal(), Some(-3));
        for loose in ["00", "+1", " 1", "1.0", "-0", "x", ""] {
            assert_eq!(RequestId::from(loose).canonical_decimal(), None, "{loose}");
        }
        assert_eq!(RequestId::from(1).canonical_decimal(), None);
    }
}
