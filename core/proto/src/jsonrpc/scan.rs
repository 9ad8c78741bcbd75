//! Reading the JSON of a message once, from front to back: it is checked, and cut into the texts of its members.
//!
//! Every message passes here, so this does only what that needs. What it refuses is read again by a parser that can say
//! what is wrong; the two agree on what JSON is, which the tests see to.

use std::borrow::Cow;

use super::text::decode_quoted;

/// Where a text is read.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// How many more levels it may nest.
    levels: usize,
}

/// The name of a member. `None` in it when it is no text.
pub(super) type Name<'a> = Option<Cow<'a, str>>;

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, levels: usize) -> Self {
        Self { text, at: 0, levels }
    }

    /// The text from a place up to here.
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    /// Where it is.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    pub(super) fn is_at_object(&self) -> bool {
        self.byte() == Some(b'{')
    }

    /// Nothing but blanks is left.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.blanks();
        self.at == self.text.len()
    }

    /// Reads an object. `member` has to read the value of each member.
    pub(super) fn object(&mut self, mut member: impl FnMut(&mut Self, Name<'a>) -> Option<()>) -> Option<()> {
        self.levels = self.levels.checked_sub(1)?;
        self.expect(b'{')?;
        self.blanks();
        if !self.has(b'}') {
            loop {
                let name = self.name()?;
                member(self, name)?;
                self.blanks();
                if self.has(b'}') {
                    break;
                }
                self.expect(b',')?;
                self.blanks();
            }
        }
        self.levels += 1;
        Some(())
    }

    /// The text of any value.
    pub(super) fn value(&mut self) -> Option<&'a str> {
        let start = self.at;
        let mut open = Open::default();
        loop {
            match self.byte()? {
                b'"' => drop(self.string()?),
                b'{' => {
                    self.open(&mut open, true)?;
                    if !self.has(b'}') {
                        self.member()?;
                        continue;
                    }
                    open.pop();
                }
                b'[' => {
                    self.open(&mut open, false)?;
                    if !self.has(b']') {
                        continue;
                    }
                    open.pop();
                }
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => return None,
            }
            if !self.close(&mut open)? {
                return Some(self.since(start));
            }
        }
    }

    /// Goes into an object or an array.
    fn open(&mut self, open: &mut Open, is_object: bool) -> Option<()> {
        (open.levels < self.levels).then_some(())?;
        open.push(is_object);
        self.at += 1;
        self.blanks();
        Some(())
    }

    /// After a value: goes out of what ends here, and to the next value. False when all is closed.
    fn close(&mut self, open: &mut Open) -> Option<bool> {
        while open.levels > 0 {
            self.blanks();
            let is_object = open.is_object();
            match self.byte()? {
                b',' => {
                    self.at += 1;
                    self.blanks();
                    if is_object {
                        self.member()?;
                    }
                    return Some(true);
                }
                b'}' if is_object => {}
                b']' if !is_object => {}
                _ => return None,
            }
            self.at += 1;
            open.pop();
        }
        Some(false)
    }

    /// Reads the name of a member, up to its value.
    fn name(&mut self) -> Option<Name<'a>> {
        let start = self.at;
        let is_plain = self.string()?;
        let quoted = self.since(start);
        self.colon()?;
        Some(match is_plain {
            true => Some(Cow::Borrowed(&quoted[1..quoted.len() - 1])),
            false => decode_quoted(quoted),
        })
    }

    fn colon(&mut self) -> Option<()> {
        self.blanks();
        self.expect(b':')?;
        self.blanks();
        Some(())
    }

    /// Passes the name of a member, up to its value.
    fn member(&mut self) -> Option<()> {
        self.string()?;
        self.colon()
    }

    /// Passes a string. Whether it has no escapes.
    fn string(&mut self) -> Option<bool> {
        self.expect(b'"')?;
        let mut is_plain = true;
        loop {
            self.at = end_of_plain(self.text.as_bytes(), self.at);
            match self.byte()? {
                b'"' => break,
                b'\\' => self.escape()?,
                _ => return None,
            }
            is_plain = false;
        }
        self.at += 1;
        Some(is_plain)
    }

    fn escape(&mut self) -> Option<()> {
        let rest = &self.text.as_bytes()[self.at + 1..];
        self.at += match rest.first()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' if rest.get(1..5)?.iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return None,
        };
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        self.has(b'-');
        if !self.has(b'0') {
            self.digits()?;
        }
        if self.has(b'.') {
            self.digits()?;
        }
        if self.has(b'e') || self.has(b'E') {
            let _ = self.has(b'+') || self.has(b'-');
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.rest().starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    pub(super) fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.has(byte).then_some(())
    }

    fn has(&mut self, byte: u8) -> bool {
        let has = self.byte() == Some(byte);
        self.at += usize::from(has);
        has
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }
}

/// The objects and arrays that are open, the innermost last: a bit for each, in words of which the last is apart.
#[derive(Default)]
struct Open {
    levels: usize,
    bits: u64,
    outer: Vec<u64>,
}

impl Open {
    fn push(&mut self, is_object: bool) {
        if self.levels > 0 && self.levels.is_multiple_of(64) {
            self.outer.push(self.bits);
        }
        self.bits = self.bits << 1 | u64::from(is_object);
        self.levels += 1;
    }

    fn pop(&mut self) {
        self.levels -= 1;
        self.bits >>= 1;
        if self.levels.is_multiple_of(64)
            && let Some(bits) = self.outer.pop()
        {
            self.bits = bits;
        }
    }

    fn is_object(&self) -> bool {
        self.bits & 1 == 1
    }
}

/// Where a string stops being plain: at a quote, a backslash, a control character, or the end of the text.
fn end_of_plain(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // Which bytes are zero, told by their highest bit. Above the first of them some may be wrong.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*eight);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let quote = zeros(word ^ (ONES * u64::from(b'"')));
        let found = control | quote | zeros(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default().iter();
    at + rest.take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count()
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn value(text: &str, levels: usize) -> Option<&str> {
        let mut scanner = Scanner::new(text, levels);
        scanner.blanks();
        let value = scanner.value()?;
        scanner.is_at_end().then_some(value)
    }

    fn object(text: &str) -> Option<Vec<(Name<'_>, &str)>> {
        let (mut scanner, mut members) = (Scanner::new(text, 128), Vec::new());
        scanner.blanks();
        scanner.object(|scanner, name| {
            members.push((name, scanner.value()?));
            Some(())
        })?;
        scanner.is_at_end().then_some(members)
    }

    /// Both must say the same of a text.
    fn agree(text: &str) {
        let theirs = serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get);
        assert_eq!(value(text, 1000), theirs, "{text}");
        let names = theirs.and_then(|_| {
            let map = serde_json::from_str::<Ordered<'_>>(text).ok()?;
            Some(map.0.into_iter().map(|(_, value)| value.get()).collect::<Vec<_>>())
        });
        let ours = object(text).map(|members| members.into_iter().map(|(_, value)| value).collect());
        assert_eq!(ours, names, "{text}");
    }

    /// The members of an object as serde reads them.
    struct Ordered<'a>(Vec<(&'a RawValue, &'a RawValue)>);

    impl<'a> serde::Deserialize<'a> for Ordered<'a> {
        fn deserialize<D: serde::Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visit;
            impl<'a> serde::de::Visitor<'a> for Visit {
                type Value = Ordered<'a>;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                    let mut all = Vec::new();
                    while let Some(entry) = map.next_entry()? {
                        all.push(entry);
                    }
                    Ok(Ordered(all))
                }
            }
            deserializer.deserialize_map(Visit)
        }
    }

    #[test]
    #[rustfmt::skip]
    fn what_is_json_is_what_serde_says() {
        for text in [
            "", " ", "1", "-1", "0", "-0", "01", "1.", "1.5", ".5", "1e5", "1E+5", "1e-05", "1e", "1e+", "-", "+1", "1 2", "0x1",
            "true", "tru", "truee", "false", "null", "nul", "NaN", "Infinity", "\"\"", "\"a", "a\"", "\"\\\"", "\"\\\"\"",
            "\"\\u12aF\"", "\"\\u12g4\"", "\"\\u123\"", "\"\\ud800\"", "\"\\x\"", "\"\\/\\b\\f\\n\\r\\t\"", "\"\u{1}\"",
            "\"\u{1f}\"", "\"\u{7f}\"", "\"\t\"", "\"ä\u{10ffff}\"", "\"12345678\"", "\"1234567\\n89\"", "\"1234567\n\"",
            "[]", "[ ]", "[1]", "[1,]", "[,1]", "[1 , 2]", "[1 2]", "[", "]", "[}", "{}", "{ }", "{\"a\":1}", "{\"a\" : 1 , \"b\" : 2 }",
            "{\"a\":1,}", "{\"a\"}", "{\"a\":}", "{:1}", "{a:1}", "{1:1}", "{\"a\":1 \"b\":2}", "{\"a\":1", "{\"a\":1]", "{\"a\":[1,{\"b\":[]}]}",
            "[[[]],{}]", "[[1},2]", "{} {}", "{}x", "\u{feff}{}", "{\"a\":1}\n", "\u{b}1", "\u{a0}1", "{\"\\u0061\":1}", "{\"\\ud800\":1}",
        ] {
            agree(text);
        }
    }

    #[rustfmt::skip]
    const NEW: &[&str] =
        &["", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", ".", "e", "-", "u", "t", " ", "\n", "\u{1}", "ß"];

    #[test]
    fn texts_with_one_byte_changed_are_judged_as_serde_judges_them() {
        let text = r#" {"a\u00e4b":[1,-2.5e+3,{"x":null,"y":[true,false,"\ud83d\ude00 und \" \\"]}, "" ],"ö":{"":{}} , "z":0} "#;
        for at in text.char_indices().map(|(at, _)| at) {
            let (before, after) = text.split_at(at);
            let rest = &after[after.chars().next().map_or(0, char::len_utf8)..];
            for new in NEW {
                agree(&[before, new, rest].concat());
                agree(&[before, new, after].concat());
            }
            agree(before);
        }
    }

    #[test]
    fn long_and_deep_texts_are_judged_alike() {
        for levels in [1, 63, 64, 65, 127, 128, 129, 200] {
            let text = format!("{}{}{}", "[{\"a\":".repeat(levels), "1", "}]".repeat(levels));
            agree(&text);
            agree(&text.replacen("}]", "]}", 1));
            assert_eq!(value(&text, 2 * levels), Some(&*text));
            assert_eq!(value(&text, 2 * levels - 1), None);
        }
        for length in 0..40 {
            let plain = "x".repeat(length);
            for end in ["", "\\n", "\n", "ä"] {
                agree(&format!("[\"{plain}{end}{plain}\"]"));
            }
        }
    }

    #[test]
    fn names_are_decoded_and_values_are_as_they_stand() {
        let members = object(r#"{ "a" : 1 ,"\u0062":{ "c" : [] }, "\ud800":"" }"#).unwrap();
        let names: Vec<_> = members.iter().map(|(name, _)| name.as_deref()).collect();
        assert_eq!(names, [Some("a"), Some("b"), None]);
        let values: Vec<_> = members.iter().map(|(_, value)| *value).collect();
        assert_eq!(values, ["1", r#"{ "c" : [] }"#, "\"\""]);
    }
}
