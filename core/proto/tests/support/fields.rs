//! One line of a transcript, its members taken one by one so that a misspelt one is found.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object, in their order.
#[derive(Debug)]
pub(crate) struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|error| error.to_string())
    }

    /// The first member: it names the step.
    pub(crate) fn verb(&mut self) -> Result<(String, Box<RawValue>), String> {
        if self.0.is_empty() {
            return Err("a step needs a member".to_owned());
        }
        Ok(self.0.remove(0))
    }

    /// Whether a member is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// Takes a member out as its JSON text.
    pub(crate) fn raw(&mut self, name: &str) -> Option<Box<RawValue>> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(at).1)
    }

    /// Takes a member out, decoded.
    pub(crate) fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, String> {
        self.raw(name).map(|raw| decode(&raw)).transpose()
    }

    /// Takes out a payload, which is JSON (`name`) or a string that holds its text (`name_text`).
    pub(crate) fn payload(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take::<String>(&format!("{name}_text"))? {
            Some(text) => Ok(Some(text)),
            None => Ok(self.raw(name).map(|raw| raw.get().to_owned())),
        }
    }

    pub(crate) fn empty() -> Self {
        Self(Vec::new())
    }

    /// Adds a member, if there is one.
    pub(crate) fn extend(&mut self, name: &str, value: Option<Box<RawValue>>) {
        self.0.extend(value.map(|value| (name.to_owned(), value)));
    }

    /// The members as the text of an object, with one more.
    pub(crate) fn write(&self, more: Option<(&str, String)>) -> String {
        let own = self
            .0
            .iter()
            .map(|(key, value)| format!("{}:{value}", serde_json::Value::from(key.as_str())));
        let more = more.map(|(key, value)| format!("\"{key}\":{value}"));
        format!("{{{}}}", own.chain(more).collect::<Vec<_>>().join(","))
    }

    /// Fails when a member was not taken: nobody knows it.
    pub(crate) fn finish(&self) -> Result<(), String> {
        match self.0.first() {
            Some((name, _)) => Err(format!("the member \"{name}\" is not known here")),
            None => Ok(()),
        }
    }
}

pub(crate) fn decode<T: DeserializeOwned>(raw: &RawValue) -> Result<T, String> {
    serde_json::from_str(raw.get()).map_err(|error| format!("{error} in {raw}"))
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(Fields(all))
            }
        }

        deserializer.deserialize_map(Members)
    }
}
