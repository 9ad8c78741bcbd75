//! Places in a JSON text while it is read: serde tells what stands in it, but not where.
//!
//! With them the text of an object is had in the same pass as its members.

use serde_json::value::RawValue;

/// Where a value of a text begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Place<'a> {
    pub(super) fn in_text(text: &'a str, offset: usize) -> Self {
        Self { text, offset }
    }

    /// The value of a member. `key` is a part of the same text.
    pub(super) fn value_of(self, key: &RawValue) -> Self {
        let end = self.end_of(key.get());
        let between = self.text.as_bytes()[end..].iter();
        // A colon, and perhaps blanks around it.
        let skipped = between.take_while(|byte| **byte == b':' || byte.is_ascii_whitespace());
        Self {
            offset: end + skipped.count(),
            ..self
        }
    }

    pub(super) fn is_object(self) -> bool {
        self.text.as_bytes().get(self.offset) == Some(&b'{')
    }

    /// The text of the object that begins here. `last` is its last value, a part of the same text.
    pub(super) fn object(self, last: Option<&str>) -> &'a str {
        let inside = last.map_or(self.offset, |last| self.end_of(last));
        // Only blanks are between.
        let close = self.text[inside..].find('}');
        &self.text[self.offset..close.map_or(self.text.len(), |close| inside + close + 1)]
    }

    fn end_of(self, part: &str) -> usize {
        part.as_ptr() as usize - self.text.as_ptr() as usize + part.len()
    }
}
