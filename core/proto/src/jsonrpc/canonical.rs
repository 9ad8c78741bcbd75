//! One text for each JSON value, whoever wrote it: to compare values, or to bind something to one.
//!
//! Members stand sorted by the text of their keys as written here, without white space; of members
//! with the same key the last one counts. Strings are decoded and written anew, with no escape that
//! is not needed. Half of a surrogate pair is no text and stays the escape it was, in lower case.
//! Numbers keep their text: `1`, `1.0` and `1e0` are different.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 128;

/// The canonical text of `raw`; `None` when `raw` is not exactly one JSON value, or nested deeper
/// than 128 levels.
pub(crate) fn canonical(raw: &str) -> Option<String> {
    canonical_without(raw, &[])
}

/// [`canonical`], without the top-level members named in `skip`.
pub(crate) fn canonical_without(raw: &str, skip: &[&str]) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(raw).ok()?;
    let mut node = Reader { rest: raw, depth: 0 }.value()?;
    if let Node::Object(members) = &mut node {
        for key in skip {
            members.remove(&written(key));
        }
    }
    let mut text = String::with_capacity(raw.len());
    node.write(&mut text);
    Some(text)
}

enum Node<'a> {
    /// A number or a word.
    Plain(&'a str),
    /// A string as it is to be written.
    Text(String),
    Array(Vec<Node<'a>>),
    Object(BTreeMap<String, Node<'a>>),
}

impl Node<'_> {
    fn write(&self, text: &mut String) {
        match self {
            Node::Plain(plain) => text.push_str(plain),
            Node::Text(written) => text.push_str(written),
            Node::Array(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    item.write(text);
                }
                text.push(']');
            }
            Node::Object(members) => {
                text.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    text.push_str(key);
                    text.push(':');
                    value.write(text);
                }
                text.push('}');
            }
        }
    }
}

/// Reads text that is known to be JSON; `None` would mean that it is not.
struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Option<Node<'a>> {
        match self.peek()? {
            b'"' => self.string().map(Node::Text),
            b'[' => self.nested(Self::array),
            b'{' => self.nested(Self::object),
            _ => Some(Node::Plain(self.plain())),
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<Node<'a>>) -> Option<Node<'a>> {
        self.depth += 1;
        let node = if self.depth > MAX_DEPTH { None } else { read(self) };
        self.depth -= 1;
        node
    }

    fn array(&mut self) -> Option<Node<'a>> {
        let mut items = Vec::new();
        self.skip(1);
        while self.peek()? != b']' {
            items.push(self.value()?);
            if self.peek()? == b',' {
                self.skip(1);
            }
        }
        self.skip(1);
        Some(Node::Array(items))
    }

    fn object(&mut self) -> Option<Node<'a>> {
        let mut members = BTreeMap::new();
        self.skip(1);
        while self.peek()? != b'}' {
            self.peek()?;
            let key = self.string()?;
            self.peek()?;
            self.skip(1);
            members.insert(key, self.value()?);
            if self.peek()? == b',' {
                self.skip(1);
            }
        }
        self.skip(1);
        Some(Node::Object(members))
    }

    /// The string that begins here, as it is to be written.
    fn string(&mut self) -> Option<String> {
        self.skip(1);
        let mut text = String::from("\"");
        loop {
            let end = self.rest.find(['"', '\\'])?;
            text.push_str(&self.rest[..end]);
            let closes = self.rest.as_bytes()[end] == b'"';
            self.skip(end + 1);
            if closes {
                text.push('"');
                return Some(text);
            }
            self.escape(&mut text)?;
        }
    }

    /// What stands after a `\`.
    fn escape(&mut self, text: &mut String) -> Option<()> {
        let kind = self.rest.chars().next()?;
        self.skip(kind.len_utf8());
        let decoded = match kind {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(text),
            other => other,
        };
        push(text, decoded);
        Some(())
    }

    /// What stands after `\u`: one unit, or both units of a pair.
    fn unicode(&mut self, text: &mut String) -> Option<()> {
        let unit = hex(self.rest)?;
        self.skip(4);
        let second = self.rest.strip_prefix("\\u").and_then(hex);
        let units = [unit, second.unwrap_or_default()];
        let pair = matches!(unit, 0xd800..0xdc00) && second.is_some();
        match char::decode_utf16(units.into_iter().take(1 + usize::from(pair))).next()? {
            Ok(decoded) => {
                if decoded.len_utf16() == 2 {
                    self.skip(6);
                }
                push(text, decoded);
            }
            Err(half) => text.push_str(&format!("\\u{:04x}", half.unpaired_surrogate())),
        }
        Some(())
    }

    fn plain(&mut self) -> &'a str {
        let end = self
            .rest
            .find([',', ']', '}', ' ', '\t', '\n', '\r'])
            .unwrap_or(self.rest.len());
        let (plain, rest) = self.rest.split_at(end);
        self.rest = rest;
        plain
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.rest.bytes().next()
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }
}

fn hex(text: &str) -> Option<u16> {
    u16::from_str_radix(text.get(..4)?, 16).ok()
}

fn written(text: &str) -> String {
    let mut written = String::from("\"");
    for decoded in text.chars() {
        push(&mut written, decoded);
    }
    written.push('"');
    written
}

fn push(text: &mut String, decoded: char) {
    match decoded {
        '"' => text.push_str("\\\""),
        '\\' => text.push_str("\\\\"),
        '\u{8}' => text.push_str("\\b"),
        '\u{c}' => text.push_str("\\f"),
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        '\0'..' ' => text.push_str(&format!("\\u{:04x}", u32::from(decoded))),
        other => text.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_value_gives_the_same_text() {
        for (raw, want) in [
            (
                r#" { "b" : [ 1 , 2.0 , -1e5 ] ,"a":null, "c":{} , "d" : [ ] } "#,
                r#"{"a":null,"b":[1,2.0,-1e5],"c":{},"d":[]}"#,
            ),
            (r#"{"b":1,"a":2,"b":3}"#, r#"{"a":2,"b":3}"#),
            (r#"{"\u0061":1,"a":2}"#, r#"{"a":2}"#),
            (r#""\u0041\/\u000a\t\u0001\"\\""#, r#""A/\n\t\u0001\"\\""#),
            (r#""\uD83D\uDE00""#, "\"\u{1f600}\""),
            (r#""\u00e9é""#, "\"éé\""),
            ("true", "true"),
            (" 9007199254740993 ", "9007199254740993"),
            ("[[],[[]],{}]", "[[],[[]],{}]"),
        ] {
            assert_eq!(canonical(raw).as_deref(), Some(want), "{raw}");
        }
    }

    #[test]
    fn halves_of_surrogate_pairs_stay_escapes_of_their_own() {
        for (raw, want) in [
            (r#"{"\uD800":"\uDC00"}"#, r#"{"\ud800":"\udc00"}"#),
            (r#""\ud800\ud83d\ude00""#, "\"\\ud800\u{1f600}\""),
            (r#""\ud800\u0041""#, r#""\ud800A""#),
            (r#""\ud800\\""#, r#""\ud800\\""#),
            (r#""\\ud800""#, r#""\\ud800""#),
        ] {
            assert_eq!(canonical(raw).as_deref(), Some(want), "{raw}");
        }
    }

    #[test]
    fn what_is_no_json_has_no_text() {
        let deep = "[".repeat(MAX_DEPTH + 1) + &"]".repeat(MAX_DEPTH + 1);
        assert!(canonical(&deep[1..deep.len() - 1]).is_some());
        for raw in ["", "{", "[1,]", "{\"a\":1}x", "\"\\x\"", "\"\\ud8\"", "01", &deep] {
            assert_eq!(canonical(raw), None, "{raw}");
        }
    }

    #[test]
    fn members_can_be_left_out_at_the_top_only() {
        let raw = r#"{"_meta":1,"x":{"_meta":2},"\u005fmeta":3}"#;
        assert_eq!(canonical_without(raw, &["_meta"]).unwrap(), r#"{"x":{"_meta":2}}"#);
        assert_eq!(canonical_without("[1]", &["_meta"]).unwrap(), "[1]");
    }

    proptest::proptest! {
        #[test]
        fn it_is_its_own_canonical_text_and_the_same_value(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec!["{", "}", "[", "]", ",", ":", "\"a\"", "\"\\ud800\"", "1", " ", "\"\\u0062\"", "null"]),
                0..12,
            ),
        ) {
            let raw = pieces.concat();
            if let Some(text) = canonical(&raw) {
                proptest::prop_assert_eq!(canonical(&text), Some(text.clone()));
                if let Ok(value) = serde_json::from_str::<serde_json::Value>(&raw) {
                    proptest::prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
                }
            } else {
                proptest::prop_assert!(serde_json::from_str::<serde_json::Value>(&raw).is_err());
            }
        }

        #[test]
        fn any_string_is_written_as_the_json_writer_would(text in "\\PC*|[\\x00-\\x7f]*") {
            let written = serde_json::to_string(&text).unwrap();
            proptest::prop_assert_eq!(canonical(&written), Some(written));
        }
    }
}
