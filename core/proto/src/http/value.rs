//! Values of the body in header fields: plain where they can be, else in Base64 between two marks.
//!
//! | value | field |
//! | --- | --- |
//! | `us-west1` | `us-west1` |
//! | `Hello, 世界` | `=?base64?SGVsbG8sIOS4lueVjA==?=` |
//! | ` padded ` | `=?base64?IHBhZGRlZCA=?=` |
//! | `=?base64?literal?=` | `=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=` |
//!
//! (2026-07-28 streamable-http, Value Encoding. The marks are case-sensitive; a value with only one of
//! them is plain.)

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// The field value that stands for `value`.
///
/// ```
/// use oxmcp_proto::http::{decode_value, encode_value};
///
/// assert_eq!(encode_value("us west 1"), "us west 1");
/// assert_eq!(encode_value("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?=");
/// assert_eq!(decode_value("=?base64?bGluZTEKbGluZTI=?=").as_deref(), Some("line1\nline2"));
/// ```
pub fn encode_value(value: &str) -> Cow<'_, str> {
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let is_padded = value.starts_with(' ') || value.ends_with(' ');
    let is_marked = value.starts_with(PREFIX) && value.ends_with(SUFFIX);
    if is_plain && !is_padded && !is_marked {
        return Cow::Borrowed(value);
    }
    let mut field = String::with_capacity(PREFIX.len() + value.len() * 4 / 3 + 4 + SUFFIX.len());
    field.push_str(PREFIX);
    STANDARD.encode_string(value, &mut field);
    field.push_str(SUFFIX);
    Cow::Owned(field)
}

/// The value that a field stands for; `None` when what is between the marks is not Base64 with padding,
/// or not UTF-8.
pub fn decode_value(field: &str) -> Option<Cow<'_, str>> {
    let marked = field.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    let Some(encoded) = marked else {
        return Some(Cow::Borrowed(field));
    };
    let bytes = STANDARD.decode(encoded).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_only_where_a_field_could_not_carry_them() {
        for (value, field) in [
            ("us-west1", "us-west1"),
            ("us west 1", "us west 1"),
            ("", ""),
            ("file:///path/to/file%20name.txt", "file:///path/to/file%20name.txt"),
            ("Hello, \u{4e16}\u{754c}", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            (" us-west1", "=?base64?IHVzLXdlc3Qx?="),
            ("us-west1 ", "=?base64?dXMtd2VzdDEg?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="),
            ("\tindented", "=?base64?CWluZGVudGVk?="),
            ("a\tb", "=?base64?YQli?="),
            ("\u{7f}", "=?base64?fw==?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
            ("=?base64?x", "=?base64?x"),
            ("=?BASE64?eA==?=", "=?BASE64?eA==?="),
        ] {
            assert_eq!(encode_value(value), field, "{value:?}");
            assert_eq!(decode_value(field).as_deref(), Some(value), "{field}");
        }
    }

    #[test]
    fn a_field_without_both_marks_is_plain() {
        for field in [
            "SGVsbG8=",
            "=?base64?SGVsbG8=",
            "SGVsbG8=?=",
            "=?BASE64?SGVsbG8=?=",
            "=?base64?=",
        ] {
            assert_eq!(decode_value(field).as_deref(), Some(field));
        }
    }

    #[test]
    fn broken_base64_between_the_marks_is_no_value() {
        for field in [
            "=?base64?SGVsbG8?=",
            "=?base64?SGVs!!!bG8=?=",
            "=?base64?SGVsbG8==?=",
            "=?base64?SGVsbG9=?=",
            "=?base64?SGVs bG8=?=",
            "=?base64?_-8=?=",
            "=?base64?/w==?=",
        ] {
            assert_eq!(decode_value(field), None, "{field}");
        }
        assert_eq!(decode_value("=?base64??=").as_deref(), Some(""));
    }

    proptest::proptest! {
        #[test]
        fn any_text_comes_back_from_a_field_that_can_stand_in_a_header(
            value in "\\PC{0,20}|[ -~]{0,20}|=\\?base64\\?.{0,9}\\?=",
        ) {
            let field = encode_value(&value);
            let stands = field.bytes().all(|byte| matches!(byte, b' '..=b'~')) && field.trim() == field;
            proptest::prop_assert!(stands, "{}", field);
            let back = decode_value(&field);
            proptest::prop_assert_eq!(back.as_deref(), Some(&*value));
        }
    }
}
