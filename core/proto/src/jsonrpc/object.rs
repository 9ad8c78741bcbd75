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

    /// One whose first members are written already, perhaps in an inner value that is [closed](Self::closing) later.
    pub(crate) fn starting(text: &str) -> Self {
        let mut writer = Self::new();
        writer.text.clear();
        writer.text.extend_from_slice(text.as_bytes());
        writer
    }

    /// Closes an inner value.
    pub(crate) fn closing(mut self, text: &str) -> Self {
        self.text.extend_from_slice(text.as_bytes());
        self
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

    /// Adds what another object has, given as its text.
    pub(crate) fn members_of(mut self, object: &str) -> Self {
        self.text.reserve(object.len() + 1);
        let inner = object.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let inner = inner.unwrap_or_default().trim();
        if self.text.len() > 1 && !inner.is_empty() {
            self.text.push(b',');
        }
        self.text.extend_from_slice(inner.as_bytes());
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
