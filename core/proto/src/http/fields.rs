//! Header fields, however the caller keeps them.
//!
//! RFC 9110 §5: names compare without case, white space around a value is not part of it, and only
//! fields whose value is a list may stand more than once. A field that two parts of a network could
//! read in two ways (twice there, or not plain text) is never guessed at.

use std::borrow::Cow;
use std::fmt;

/// The header fields of a request or a response.
///
/// Implemented for lists of pairs; a shell over another kind of map wraps it.
///
/// ```
/// use oxmcp_proto::http::Fields;
///
/// let fields = [("Content-Type", "application/json")];
/// let mut seen = Vec::new();
/// Fields::each(&fields, "content-type", &mut |value| seen.push(value));
/// assert_eq!(seen, [b"application/json"]);
/// ```
pub trait Fields: Sync {
    /// Hands each value of the fields called `name` to `found`, in their order.
    fn each<'a>(&'a self, name: &str, found: &mut dyn FnMut(&'a [u8]));
}

impl<N: AsRef<str> + Sync, V: AsRef<[u8]> + Sync> Fields for &[(N, V)] {
    fn each<'a>(&'a self, name: &str, found: &mut dyn FnMut(&'a [u8])) {
        for (key, value) in *self {
            if key.as_ref().eq_ignore_ascii_case(name) {
                found(value.as_ref());
            }
        }
    }
}

impl<N: AsRef<str> + Sync, V: AsRef<[u8]> + Sync, const COUNT: usize> Fields for [(N, V); COUNT] {
    fn each<'a>(&'a self, name: &str, found: &mut dyn FnMut(&'a [u8])) {
        for (key, value) in self {
            if key.as_ref().eq_ignore_ascii_case(name) {
                found(value.as_ref());
            }
        }
    }
}

impl<N: AsRef<str> + Sync, V: AsRef<[u8]> + Sync> Fields for Vec<(N, V)> {
    fn each<'a>(&'a self, name: &str, found: &mut dyn FnMut(&'a [u8])) {
        for (key, value) in self {
            if key.as_ref().eq_ignore_ascii_case(name) {
                found(value.as_ref());
            }
        }
    }
}

/// A field that cannot be read in one way only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadField {
    name: &'static str,
    twice: bool,
}

impl fmt::Display for BadField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = if self.twice {
            "stands twice"
        } else {
            "contains characters other than visible ASCII, space and tab"
        };
        write!(f, "the {} header {why}", self.name)
    }
}

/// The value of a field that may stand once.
///
/// # Errors
/// When it stands twice, or holds anything but visible ASCII, space and tab.
pub(crate) fn single<'a>(fields: &'a dyn Fields, name: &'static str) -> Result<Option<&'a str>, BadField> {
    let (mut value, mut count) = (None, 0);
    fields.each(name, &mut |bytes| {
        value = Some(bytes);
        count += 1;
    });
    let Some(bytes) = value else { return Ok(None) };
    if count > 1 {
        return Err(BadField { name, twice: true });
    }
    match text(bytes) {
        Some(text) => Ok(Some(text)),
        None => Err(BadField { name, twice: false }),
    }
}

/// Whether a field stands there once, and says just this. Quicker to tell than what else it says.
pub(crate) fn says(fields: &dyn Fields, name: &str, wanted: &str) -> bool {
    let (mut same, mut count) = (false, 0);
    fields.each(name, &mut |bytes| {
        same = bytes == wanted.as_bytes();
        count += 1;
    });
    same && count == 1
}

/// The value of a field that is a list: however often it stands, it reads as one list.
pub(crate) fn list<'a>(fields: &'a dyn Fields, name: &str) -> Option<Cow<'a, str>> {
    let mut whole: Option<Cow<'a, str>> = None;
    fields.each(name, &mut |bytes| {
        let value = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        whole = Some(match whole.take() {
            None => value,
            Some(before) => Cow::Owned(format!("{before},{value}")),
        });
    });
    whole
}

/// `bytes` without the white space around them, if they may stand in a field (RFC 9110 §5.5).
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    // To the end, whatever is found: so it is a loop of vectors.
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t');
    let plain = bytes.iter().fold(true, |plain, byte| plain & is_plain(byte));
    let text = std::str::from_utf8(bytes).ok().filter(|_| plain)?;
    Some(text.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_without_case_and_white_space_is_no_part_of_a_value() {
        let fields = [("MCP-METHOD", "  tools/list\t ")];
        assert_eq!(single(&fields, "Mcp-Method"), Ok(Some("tools/list")));
        assert_eq!(single(&fields, "Mcp-Name"), Ok(None));
        assert_eq!(single(&[("Mcp-Name", "")], "Mcp-Name"), Ok(Some("")));
    }

    #[test]
    fn a_field_that_reads_in_two_ways_is_refused() {
        let twice = vec![("Host", "localhost"), ("host", "evil.test")];
        assert!(single(&twice, "Host").unwrap_err().to_string().contains("twice"));
        for bytes in [&b"R\xe9gion"[..], b"a\x01b", b"a\x7f", "\u{672c}".as_bytes()] {
            let error = single(&[("Mcp-Name", bytes)], "Mcp-Name").unwrap_err();
            assert!(error.to_string().contains("Mcp-Name header contains"), "{bytes:?}");
        }
    }

    #[test]
    fn what_a_field_says_counts_if_it_stands_there_once() {
        assert!(says(&[("accept", "a")], "Accept", "a"));
        assert!(!says(&[("Accept", "a "), ("Host", "a")], "Accept", "a"));
        assert!(!says(&[("Accept", "b"), ("Accept", "a")], "Accept", "a"));
    }

    #[test]
    fn a_list_reads_as_one_however_often_it_stands() {
        let fields = [("Accept", "application/json"), ("accept", "text/event-stream;q=0.5")];
        assert_eq!(
            list(&fields, "Accept").as_deref(),
            Some("application/json,text/event-stream;q=0.5")
        );
        assert_eq!(list(&fields, "Vary"), None);
    }
}
