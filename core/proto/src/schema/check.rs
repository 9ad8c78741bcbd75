//! Compiling schemas and checking values against them.

use std::fmt;
use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ReferencingError, ValidationError, Validator, options_for};
use serde_json::Value;
use serde_json::value::RawValue;

use super::explain::explain;
use super::meter::{Budget, Spent, within};
use super::node::{Item, Metered};
use super::plain::Plain;
use super::prepare::{Facts, prepare, short};
use crate::jsonrpc::Json;

/// Longest text of a schema, in bytes.
const MAX_TEXT: usize = 1024 * 1024;
/// Largest compiled regular expression, in bytes.
const MAX_PATTERN: usize = 256 * 1024;
/// Most tries of a regular expression that cannot be matched in linear time.
const MAX_TRIES: usize = 2_000;
/// What a check may cost, in looks at nodes: about a second.
const CHECK: u64 = 100_000_000;
/// What finding the reasons of a refusal may cost. It takes memory too.
const EXPLAIN: u64 = 5_000_000;

/// A compiled JSON Schema.
///
/// ```
/// use oxmcp_proto::jsonrpc::json;
/// use oxmcp_proto::schema::Schema;
///
/// let schema = Schema::compile(&json(r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}"#)?)?;
/// assert!(schema.validate(&json(r#"{"id":9007199254740993}"#)?).is_ok());
/// let invalid = schema.validate(&json(r#"{"id":"7"}"#)?).unwrap_err();
/// assert_eq!(invalid.to_string(), r#"at "/id": "7" is not of type "integer""#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Schema(Kind);

enum Kind {
    /// It is valid, as all that are plain are, and compiled when a value does not fit it for sure.
    Plain(Plain, Json, OnceLock<Result<Full, SchemaError>>),
    Full(Full),
}

struct Full {
    validator: Validator<Metered>,
    /// What reading a string costs, and a byte of it.
    text_cost: (u64, u64),
}

impl Schema {
    /// Compiles `schema`. The [module](super) lists what is supported.
    ///
    /// # Errors
    /// When it is no valid schema, is of another dialect, has a `$ref` that is not resolved inside
    /// the document, or is too large.
    pub fn compile(schema: &RawValue) -> Result<Self, SchemaError> {
        if schema.get().len() > MAX_TEXT {
            return Err(SchemaError(format!(
                "its text has {} bytes, and at most {MAX_TEXT} are read",
                schema.get().len()
            )));
        }
        Ok(Self(match Plain::of(schema) {
            Some(plain) => Kind::Plain(plain, schema.to_owned(), OnceLock::new()),
            None => Kind::Full(Full::compile(schema)?),
        }))
    }

    /// Checks `instance`.
    ///
    /// # Errors
    /// When it does not fit, or when the check was given up; the text says where and why.
    pub fn validate(&self, instance: &RawValue) -> Result<(), Invalid> {
        self.check(instance, CHECK)
    }

    pub(super) fn check(&self, instance: &RawValue, looks: u64) -> Result<(), Invalid> {
        match &self.0 {
            Kind::Plain(plain, ..) if plain.fits(instance) => Ok(()),
            Kind::Plain(_, schema, full) => match full.get_or_init(|| Full::compile(schema)) {
                Ok(full) => full.check(instance, looks),
                Err(why) => Err(Invalid(why.to_string())),
            },
            Kind::Full(full) => full.check(instance, looks),
        }
    }
}

impl Full {
    fn compile(schema: &RawValue) -> Result<Self, SchemaError> {
        let mut document = read(schema).map_err(SchemaError)?;
        if !document.is_object() && !document.is_boolean() {
            return Err(SchemaError(format!(
                "a schema is an object or a boolean, not {}",
                short(&document)
            )));
        }
        let facts = prepare(&mut document).map_err(SchemaError)?;
        Ok(Self {
            validator: build(&document, &facts).map_err(|error| SchemaError(why_not(&error)))?,
            text_cost: match (facts.patterns, facts.backtracks) {
                (_, true) => (1_000, 32),
                (true, false) => (1, 32),
                (false, false) => (1, 0),
            },
        })
    }

    fn check(&self, instance: &RawValue, looks: u64) -> Result<(), Invalid> {
        let value = read(instance).map_err(Invalid)?;
        let (per_text, per_byte) = self.text_cost;
        let budget = Budget {
            looks,
            per_text,
            per_byte,
        };
        match within(budget, || self.validator.is_valid(Item(&value))) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.reasons(&value)),
            Err(Spent::Looks) => Err(Invalid(
                "checking it against the schema takes too long, and was given up".to_owned(),
            )),
            Err(Spent::Stack) => Err(Invalid(
                "checking it against the schema goes too deep, and was given up".to_owned(),
            )),
        }
    }

    /// All reasons why `value` does not fit; the first, where all are too many.
    fn reasons(&self, value: &Value) -> Invalid {
        let budget = Budget {
            looks: EXPLAIN,
            per_text: self.text_cost.0.min(100),
            per_byte: self.text_cost.1.min(1),
        };
        let all = within(budget, || explain(self.validator.iter_errors(Item(value)), value));
        let text = all.or_else(|_| within(budget, || explain(self.validator.validate(Item(value)).err(), value)));
        Invalid(text.unwrap_or_else(|_| "it does not fit the schema; to find out where takes too long".to_owned()))
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

/// A schema compiled when it is first needed, once; so that a bad one spoils only what uses it.
///
/// ```
/// use oxmcp_proto::jsonrpc::json;
/// use oxmcp_proto::schema::LazySchema;
///
/// let schema = LazySchema::new(json(r##"{"$ref":"#/$defs/missing"}"##)?);
/// assert_eq!(schema.raw().get(), r##"{"$ref":"#/$defs/missing"}"##);
/// assert!(schema.get().is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct LazySchema {
    raw: Json,
    compiled: OnceLock<Result<Schema, SchemaError>>,
}

impl LazySchema {
    /// Keeps `raw` as it is.
    pub fn new(raw: Json) -> Self {
        Self {
            raw,
            compiled: OnceLock::new(),
        }
    }

    /// The text, unchanged.
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// The compiled schema. The first call compiles it; the others give the same answer.
    ///
    /// # Errors
    /// See [`Schema::compile`].
    pub fn get(&self) -> Result<&Schema, &SchemaError> {
        self.compiled.get_or_init(|| Schema::compile(&self.raw)).as_ref()
    }
}

/// Why a schema cannot be used. Its text goes on from "the schema cannot be used: ".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError(String);

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schema cannot be used: {}", self.0)
    }
}

impl std::error::Error for SchemaError {}

/// Why a value does not pass, in words a model can act on: each violation as `at "/path": what`,
/// at most five of them, and never more than a hundred characters of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(String);

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Invalid {}

fn build(document: &Value, facts: &Facts) -> Result<Validator<Metered>, ValidationError<'static>> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(MAX_TRIES)
        .size_limit(MAX_PATTERN)
        .dfa_size_limit(MAX_PATTERN);
    options_for::<Metered>()
        .with_draft(facts.draft)
        .offline()
        .should_validate_formats(false)
        .without_content_media_type_support("application/json")
        .without_content_encoding_support("base64")
        .with_pattern_options(patterns)
        .build(document)
}

/// The value in `raw`, which is thrown away after the check: what is passed on is the text.
fn read(raw: &RawValue) -> Result<Value, String> {
    serde_json::from_str(raw.get())
        .or_else(|error| match without_halves(raw.get()) {
            Some(whole) => serde_json::from_str(&whole),
            None => Err(error),
        })
        .map_err(|error| format!("it cannot be read: {error}"))
}

/// `json` with U+FFFD for halves of surrogate pairs; `None` when it has none.
fn without_halves(json: &str) -> Option<String> {
    let unit = |at: usize| u16::from_str_radix(json.get(at..)?.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let mut whole = String::new();
    let mut from = 0;
    let mut copied = 0;
    while let Some(at) = json[from..].find('\\').map(|at| at + from) {
        from = match (unit(at), unit(at + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => at + 12,
            (Some(0xd800..0xe000), _) => {
                whole.push_str(&json[copied..at]);
                whole.push_str("\\ufffd");
                copied = at + 6;
                copied
            }
            // Any other escape: of `\u` only the first two characters matter here.
            _ => at + 2,
        };
    }
    (copied > 0).then(|| whole + &json[copied..])
}

/// Why the validator refuses a schema.
fn why_not(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. }) => {
            let reference = uri.strip_prefix("json-schema:///").unwrap_or(uri);
            format!(
                "$ref {} is not in the document, and nothing is fetched; put it into $defs",
                short(&Value::from(reference))
            )
        }
        ValidationErrorKind::Referencing(ReferencingError::PointerToNowhere { pointer }) => {
            format!(
                "$ref to {} leads to nothing in the document",
                short(&Value::from(pointer.as_str()))
            )
        }
        ValidationErrorKind::Referencing(error) => {
            format!("a $ref does not resolve: {}", short(&Value::from(error.to_string())))
        }
        ValidationErrorKind::Format { format } if format == "regex" => format!(
            "{} is no regular expression, or one larger than {MAX_PATTERN} bytes",
            short(error.instance())
        ),
        _ => explain([error], error.instance()).replace("the top level", path),
    }
}
