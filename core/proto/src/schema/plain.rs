//! The plain schemas that most tools have: an object whose members are of a basic type each.
//!
//! That a value fits one is seen from its text, in a fraction of the time that it takes to read the value and ask the
//! validator. What is not sure here is left to that one, so all that is ever said here is that a value fits.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::prepare::draft_of;

/// As many as there are bits to tell which were there.
const MOST: usize = 64;
/// Numbers of more characters may be beyond what the validator reads.
const LONGEST_NUMBER: usize = 15;

#[derive(Debug)]
pub(super) struct Plain {
    members: Vec<(Box<str>, Option<Basic>)>,
    /// Bits of the members that must be there.
    required: u64,
    /// Whether there may be others.
    open: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Basic {
    Boolean,
    Integer,
    Number,
    String,
}

/// The schema, as far as it is plain. None of its members may be `null`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Object {
    r#type: ObjectType,
    #[serde(default)]
    properties: BTreeMap<String, Member>,
    #[serde(default)]
    required: Vec<String>,
    #[serde(default = "yes")]
    additional_properties: bool,
    #[serde(default, rename = "$schema")]
    dialect: String,
    #[serde(default, rename = "title")]
    _title: String,
    #[serde(default, rename = "description")]
    _description: String,
}

#[derive(Deserialize)]
enum ObjectType {
    #[serde(rename = "object")]
    Object,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    r#type: Basic,
    #[serde(default, rename = "title")]
    _title: String,
    #[serde(default, rename = "description")]
    _description: String,
    #[serde(default, rename = "default")]
    _default: IgnoredAny,
}

fn yes() -> bool {
    true
}

impl Plain {
    /// The plain form of a schema that has one.
    pub(super) fn of(schema: &RawValue) -> Option<Self> {
        let object: Object = serde_json::from_str(schema.get()).ok()?;
        let ObjectType::Object = object.r#type;
        if !object.dialect.is_empty() {
            draft_of(&object.dialect).ok()?;
        }
        let mut members: Vec<_> = object
            .properties
            .into_iter()
            .map(|(name, member)| (name.into_boxed_str(), Some(member.r#type)))
            .collect();
        let mut required = 0;
        for name in object.required {
            let at = members
                .iter()
                .position(|(known, _)| **known == *name)
                .unwrap_or_else(|| {
                    members.push((name.into_boxed_str(), None));
                    members.len() - 1
                });
            let bit = 1_u64.checked_shl(u32::try_from(at).ok()?)?;
            // A name twice is an error, which the validator has words for.
            if required & bit != 0 {
                return None;
            }
            required |= bit;
        }
        (members.len() <= MOST).then_some(Self {
            members,
            required,
            open: object.additional_properties,
        })
    }

    /// Whether the value of this text fits for sure.
    pub(super) fn fits(&self, value: &RawValue) -> bool {
        self.scan(value.get()).is_some()
    }

    fn scan(&self, text: &str) -> Option<()> {
        let mut rest = text.trim_start().strip_prefix('{')?.trim_start();
        let mut seen = 0_u64;
        while !rest.starts_with('}') {
            let (name, after) = string(rest)?;
            if name.contains('\\') {
                return None;
            }
            let (found, after) = basic(after.trim_start().strip_prefix(':')?.trim_start())?;
            match self.members.iter().position(|(known, _)| **known == *name) {
                Some(at) => {
                    let bit = 1_u64.checked_shl(u32::try_from(at).ok()?)?;
                    let wanted = self.members[at].1;
                    let fits = wanted
                        .is_none_or(|wanted| found == wanted || (found, wanted) == (Basic::Integer, Basic::Number));
                    if !fits || seen & bit != 0 {
                        return None;
                    }
                    seen |= bit;
                }
                None if self.open => {}
                None => return None,
            }
            rest = after.trim_start();
            rest = match rest.strip_prefix(',') {
                Some(more) => more.trim_start(),
                None => rest,
            };
        }
        (self.required & !seen == 0).then_some(())
    }
}

/// The inside of a string, and what comes after it.
fn string(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', inside.as_bytes().get(at..)?)?;
        if inside.as_bytes().get(at) == Some(&b'"') {
            return Some((&inside[..at], &inside[at + 1..]));
        }
        // Half a surrogate pair is grammatical, but no text.
        if inside.as_bytes().get(at + 1) == Some(&b'u') {
            return None;
        }
        at += 2;
    }
}

/// The kind of a value, where that is a basic one, and what comes after it.
fn basic(text: &str) -> Option<(Basic, &str)> {
    match text.as_bytes().first()? {
        b'"' => string(text).map(|(_, after)| (Basic::String, after)),
        b't' => text.strip_prefix("true").map(|after| (Basic::Boolean, after)),
        b'f' => text.strip_prefix("false").map(|after| (Basic::Boolean, after)),
        b'-' | b'0'..=b'9' => {
            let end = text.find(|char: char| !matches!(char, '-' | '.' | '0'..='9'))?;
            let (number, after) = text.split_at(end);
            // With an exponent it may be anything, and 1.0 is an integer.
            if end > LONGEST_NUMBER || after.starts_with(['e', 'E']) {
                return None;
            }
            let kind = if number.contains('.') {
                Basic::Number
            } else {
                Basic::Integer
            };
            Some((kind, after))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Schema;
    use super::*;
    use crate::jsonrpc::json;

    fn plain(schema: &str) -> Option<Plain> {
        Plain::of(&json(schema).expect("JSON"))
    }

    #[test]
    fn only_what_is_plain_has_a_plain_form() {
        for schema in [
            r#"{"type":"object"}"#,
            r#"{"type":"object","properties":{"a":{"type":"string","title":"A","description":"an a","default":[1]}},"required":["a","b"]}"#,
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false}"#,
        ] {
            assert!(plain(schema).is_some(), "{schema}");
        }
        for schema in [
            "true",
            r#"{}"#,
            r#"{"type":"object","$schema":"nothing"}"#,
            r#"{"type":"object","title":null}"#,
            r#"{"type":"object","required":["a","a"]}"#,
            r#"{"type":"object","properties":{"a":{}}}"#,
            r#"{"type":"object","properties":{"a":{"type":["string"]}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"string","minLength":1}}}"#,
            r#"{"type":"object","minProperties":1}"#,
        ] {
            assert!(plain(schema).is_none(), "{schema}");
        }
    }

    #[test]
    fn what_fits_for_sure_fits_the_validator_too() {
        let schema = r#"{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"number"},"i":{"type":"integer"},"b":{"type":"boolean"}},"required":["s"]}"#;
        let open = plain(schema).expect("plain");
        let closed = plain(&schema.replacen('{', r#"{"additionalProperties":false,"#, 1)).expect("plain");
        let fits = |text: &str| open.fits(&json(text).expect("JSON"));
        // With a member that is not plain, the same schema goes to the validator.
        let full = json(schema.replacen('{', r#"{"minProperties":0,"#, 1)).expect("JSON");
        let full = Schema::compile(&full).expect("a schema");
        for text in [
            r#"{"s":"x"}"#,
            r#" { "s" : "a\"b\\" , "n" : -1.5 , "i":12,"b":false } "#,
            r#"{"s":"","n":3,"b":true}"#,
        ] {
            assert!(fits(text), "{text}");
            assert!(full.validate(&json(text).expect("JSON")).is_ok(), "{text}");
            assert!(closed.fits(&json(text).expect("JSON")), "{text}");
        }
        assert!(fits(r#"{"s":"x","other":1}"#));
        assert!(!closed.fits(&json(r#"{"s":"x","other":1}"#).expect("JSON")));
        for text in [
            "{}",
            "[]",
            r#"{"s":1}"#,
            r#"{"s":"x","s":"y"}"#,
            r#"{"\u0073":"x"}"#,
            r#"{"s":"\ud800"}"#,
            r#"{"s":"x","i":1.0}"#,
            r#"{"s":"x","n":1e999}"#,
            r#"{"s":"x","n":null}"#,
            r#"{"s":"x","other":{}}"#,
            r#"{"s":"x","n":1234567890123456}"#,
        ] {
            assert!(!fits(text), "{text}");
        }
    }
}
