//! Building the text of a JSON object, member by member.

use super::write;

/// The text of a JSON object in the making.
#[derive(Debug)]
pub(crate) struct ObjectWriter {
    text: Vec<u8>,
}

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        let mut text = Vec::with_capacity(128);
        text.push(b'{');
        Self { text }
    }

    /// Adds a member whose value is JSON already.
    pub(crate) fn json(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        self.text.extend_from_slice(value.as_bytes());
        self
    }

    pub(crate) fn string(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        write::string(&mut self.text, value);
        self
    }

    pub(crate) fn integer(mut self, key: &str, value: i64) -> Self {
        self.key(key);
        write::integer(&mut self.text, value);
        self
    }

    pub(crate) fn number(mut self, key: &str, value: f64) -> Self {
        self.key(key);
        write::number(&mut self.text, value);
        self
    }

    pub(crate) fn finish(mut self) -> String {
        self.text.push(b'}');
        String::from_utf8(self.text).unwrap_or_else(|error| unreachable!("made of whole strings: {error}"))
    }

    fn key(&mut self, key: &str) {
        if self.text.len() > 1 {
            self.text.push(b',');
        }
        write::string(&mut self.text, key);
        self.text.push(b':');
    }
}
