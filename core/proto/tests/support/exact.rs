//! JSON compared without loss: numbers by their text, objects whatever the order of their keys.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// One JSON value. `1`, `1.0` and `"1"` are three different values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exact {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Exact>),
    Object(BTreeMap<String, Exact>),
}

impl Exact {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|error| format!("{error} in {text}"))?;
        Self::read(raw).map_err(|error| format!("{error} in {text}"))
    }

    fn read(raw: &RawValue) -> Result<Self, serde_json::Error> {
        let text = raw.get();
        Ok(match text.as_bytes()[0] {
            b'n' => Self::Null,
            b't' | b'f' => Self::Bool(text == "true"),
            b'"' => Self::Text(serde_json::from_str(text)?),
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text)?;
                Self::List(items.into_iter().map(Self::read).collect::<Result<_, _>>()?)
            }
            b'{' => {
                let members: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
                let read = members.into_iter().map(|(key, value)| Ok((key, Self::read(value)?)));
                Self::Object(read.collect::<Result<_, serde_json::Error>>()?)
            }
            _ => Self::Number(text.to_owned()),
        })
    }

    /// Whether `actual` is what this expects: the same value, except that
    /// `{"$contains": "part"}` stands for any string with that part in it.
    pub(crate) fn matches(&self, actual: &Self) -> bool {
        match (self, actual) {
            (Self::Object(wanted), actual) if wanted.len() == 1 && wanted.contains_key("$contains") => {
                let part = &wanted["$contains"];
                matches!((part, actual), (Self::Text(part), Self::Text(text)) if text.contains(part.as_str()))
            }
            (Self::Object(wanted), Self::Object(found)) => {
                wanted.len() == found.len()
                    && wanted
                        .iter()
                        .all(|(key, value)| found.get(key).is_some_and(|found| value.matches(found)))
            }
            (Self::List(wanted), Self::List(found)) => {
                wanted.len() == found.len() && wanted.iter().zip(found).all(|(wanted, found)| wanted.matches(found))
            }
            (wanted, found) => wanted == found,
        }
    }
}

#[test]
fn numbers_are_compared_as_text_and_key_order_is_free() {
    let parse = |text| Exact::parse(text).unwrap();
    assert!(parse(r#"{"a":1,"b":[2]}"#).matches(&parse(r#"{"b":[2],"a":1}"#)));
    for (wanted, found) in [
        ("1", "1.0"),
        ("1", "\"1\""),
        ("{\"a\":null}", "{}"),
        ("[1]", "[1,2]"),
        ("9007199254740993", "9007199254740992"),
        (r#"{"$contains":"x"}"#, "\"abc\""),
    ] {
        assert!(!parse(wanted).matches(&parse(found)), "{wanted} is not {found}");
    }
    assert!(parse(r#"[{"$contains":"b"}]"#).matches(&parse("[\"abc\"]")));
}
