//! Makes a schema ready for the validator: checks its bounds, its dialect and where its references
//! lead, and sees to it that each visit to a subschema looks at the value, so that it is charged.

use std::borrow::Cow;

use jsonschema::Draft;
use serde_json::{Map, Value, json};

/// Most subschemas in one schema.
const MAX_SUBSCHEMAS: usize = 10_000;
/// Most regular expressions in one schema. Each may take 256 KiB when compiled.
const MAX_PATTERNS: usize = 256;
/// Most `true` and `false` that stand for schemas in lists. They look at no value.
const MAX_BARE: usize = 256;
/// Most draft-07 references to something that is itself a reference. They look at no value either.
const MAX_LINKS: usize = 256;

/// Keywords whose value is an object of subschemas by name.
const MAPS: [&str; 6] = [
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// Keywords whose value holds no subschema.
const DATA: [&str; 7] = [
    "$vocabulary",
    "const",
    "default",
    "dependentRequired",
    "discriminator",
    "enum",
    "examples",
];

const SUPPORTED: &str = "supported are https://json-schema.org/draft/2020-12/schema, \
    https://json-schema.org/draft/2019-09/schema and http://json-schema.org/draft-07/schema#";

/// What the validator is told beside the schema.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) draft: Draft,
    pub(super) patterns: bool,
    /// Some pattern has look-around or a back reference.
    pub(super) backtracks: bool,
}

/// Checks `schema` and prepares it, or says what is wrong with it.
pub(super) fn prepare(schema: &mut Value) -> Result<Facts, String> {
    let draft = dialect(schema)?;
    let mut survey = Survey::default();
    survey.visit(schema)?;
    if survey.draft_07 {
        survey.count_links(schema)?;
    }
    Ok(Facts {
        draft,
        patterns: survey.patterns > 0,
        backtracks: survey.backtracks,
    })
}

fn dialect(schema: &Value) -> Result<Draft, String> {
    match schema.get("$schema") {
        None => Ok(Draft::Draft202012),
        Some(Value::String(declared)) => draft_of(declared),
        Some(other) => Err(format!("$schema is a URI, not {}", short(other))),
    }
}

pub(super) fn draft_of(declared: &str) -> Result<Draft, String> {
    let name = declared.strip_suffix('#').unwrap_or(declared);
    let name = name.strip_prefix("https://").or_else(|| name.strip_prefix("http://"));
    match name {
        Some("json-schema.org/draft/2020-12/schema") => Ok(Draft::Draft202012),
        Some("json-schema.org/draft/2019-09/schema") => Ok(Draft::Draft201909),
        Some("json-schema.org/draft-07/schema") => Ok(Draft::Draft7),
        _ => Err(format!(
            "the dialect {} is not supported; {SUPPORTED}",
            short(&json!(declared))
        )),
    }
}

#[derive(Default)]
struct Survey {
    subschemas: usize,
    patterns: usize,
    bare: usize,
    backtracks: bool,
    draft_07: bool,
    references: Vec<String>,
}

impl Survey {
    /// Visits whatever may be a subschema: a reference can lead into a keyword nobody knows.
    fn visit(&mut self, value: &mut Value) -> Result<(), String> {
        match value {
            Value::Object(members) => self.subschema(members),
            Value::Array(items) => items.iter_mut().try_for_each(|item| {
                if item.is_boolean() {
                    self.bare += 1;
                    bound(self.bare, MAX_BARE, "subschemas that are only true or false, in lists")?;
                }
                self.visit(item)
            }),
            _ => Ok(()),
        }
    }

    fn subschema(&mut self, members: &mut Map<String, Value>) -> Result<(), String> {
        self.subschemas += 1;
        bound(self.subschemas, MAX_SUBSCHEMAS, "subschemas")?;
        for (keyword, value) in members.iter_mut() {
            match value {
                Value::String(text) => self.text(keyword, text)?,
                Value::Object(named) if MAPS.contains(&keyword.as_str()) => {
                    if keyword == "patternProperties" {
                        named.keys().try_for_each(|pattern| self.pattern(pattern))?;
                    }
                    named.values_mut().try_for_each(|value| self.visit(value))?;
                }
                _ if DATA.contains(&keyword.as_str()) => {}
                other => self.visit(other)?,
            }
        }
        // Allows everything. The validator looks at the type of a value before all else.
        members
            .entry("type")
            .or_insert_with(|| json!(["array", "boolean", "null", "number", "object", "string"]));
        Ok(())
    }

    fn text(&mut self, keyword: &str, text: &str) -> Result<(), String> {
        match keyword {
            "$schema" => {
                self.draft_07 |= draft_of(text)? == Draft::Draft7;
                Ok(())
            }
            "$ref" | "$dynamicRef" | "$recursiveRef" => self.reference(text),
            "pattern" => self.pattern(text),
            _ => Ok(()),
        }
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), String> {
        self.patterns += 1;
        bound(self.patterns, MAX_PATTERNS, "patterns")?;
        let mut escaped = false;
        for byte in pattern.bytes() {
            self.backtracks |= escaped && matches!(byte, b'1'..=b'9' | b'k');
            escaped = byte == b'\\' && !escaped;
        }
        self.backtracks |= ["(?=", "(?!", "(?<"].iter().any(|start| pattern.contains(start));
        Ok(())
    }

    /// Refuses references to what is no subschema.
    fn reference(&mut self, reference: &str) -> Result<(), String> {
        let pointer = reference.split_once('#').map_or("", |(_, fragment)| fragment);
        let mut in_map = false;
        for segment in pointer.split('/').skip(1) {
            if in_map {
                in_map = false;
                continue;
            }
            let segment = decoded(segment);
            in_map = MAPS.contains(&segment.as_ref());
            if DATA.contains(&segment.as_ref()) {
                return Err(no_schema(reference));
            }
        }
        if in_map {
            return Err(no_schema(reference));
        }
        self.references.push(reference.to_owned());
        Ok(())
    }

    /// Counts the references whose target is a reference, or is not found by its pointer alone.
    fn count_links(&self, root: &Value) -> Result<(), String> {
        let links = self.references.iter().filter(|reference| {
            let pointer = reference.strip_prefix('#').map(decoded);
            let target = pointer.and_then(|pointer| root.pointer(&pointer));
            target.is_none_or(|target| target.get("$ref").is_some())
        });
        bound(links.count(), MAX_LINKS, "references to other references")
    }
}

fn bound(count: usize, most: usize, what: &str) -> Result<(), String> {
    if count > most {
        return Err(format!("it has more than {most} {what}"));
    }
    Ok(())
}

fn no_schema(reference: &str) -> String {
    format!("$ref {} leads to no schema", short(&json!(reference)))
}

/// The text of `value`, cut.
pub(super) fn short(value: &Value) -> String {
    const MOST: usize = 100;
    match value {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => match text.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", json!(&text[..end])),
            None => json!(text).to_string(),
        },
        plain => plain.to_string(),
    }
}

/// `text` with its percent signs decoded, where they are right.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = (*first == b'%')
            .then(|| tail.get(..2))
            .flatten()
            .and_then(|digits| str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}
