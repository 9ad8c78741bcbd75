//! JSON Schemas of Rust types, and reading values that should fit them.

use std::sync::OnceLock;

use oxmcp_proto::types::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

/// The schema of a tool's arguments: always an object, and with `properties`, which some clients
/// insist on.
pub(super) fn input_schema<A: JsonSchema>() -> Result<Schema, String> {
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<A>();
    match schema.get("type") {
        None => {
            schema.insert("type".into(), "object".into());
        }
        Some(kind) if kind == "object" => {}
        Some(kind) => {
            return Err(format!(
                "its arguments have the JSON type {kind}, and must be an object; use a struct with named fields, or NoArguments"
            ));
        }
    }
    if schema.get("properties").is_none() {
        schema.insert("properties".into(), Value::Object(serde_json::Map::new()));
    }
    Ok(tidy(schema))
}

/// The schema of what a tool gives, if that is always an object.
pub(super) fn output_schema<T: JsonSchema>() -> Option<Schema> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.contract = schemars::generate::Contract::Serialize;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    (schema.get("type") == Some(&Value::from("object"))).then(|| tidy(schema))
}

pub(super) fn object(schema: &Schema) -> Result<JsonObject, String> {
    let text = serde_json::to_string(schema).map_err(|error| error.to_string())?;
    JsonObject::parse(text).map_err(|error| error.to_string())
}

/// Without the name of the Rust type, which is of no use to a client.
fn tidy(mut schema: Schema) -> Schema {
    schema.remove("title");
    schema
}

/// What a tool takes, for decoding and to explain what does not fit.
pub(super) struct Expected {
    schema: fn() -> Result<Schema, String>,
    summary: OnceLock<String>,
}

impl Expected {
    pub(super) fn new<A: JsonSchema>() -> Self {
        Self {
            schema: input_schema::<A>,
            summary: OnceLock::new(),
        }
    }

    pub(super) fn decode<A: DeserializeOwned>(&self, arguments: Option<&RawValue>) -> Result<A, String> {
        let text = arguments.map_or("{}", RawValue::get);
        serde_json::from_str(text).or_else(|_| {
            // Once more, slower, and with a note of the way to what does not fit.
            let mut json = serde_json::Deserializer::from_str(text);
            serde_path_to_error::deserialize(&mut json).map_err(|error| self.explain(&error))
        })
    }

    fn explain(&self, error: &serde_path_to_error::Error<serde_json::Error>) -> String {
        let path = error.path().to_string();
        let what = error.inner().to_string();
        // Line and column count in the arguments alone, which nobody sees as a text.
        let what = what.rsplit_once(" at line ").map_or(&*what, |(what, _)| what);
        let summary = self
            .summary
            .get_or_init(|| (self.schema)().map_or_else(|what| what, |schema| summarize(&schema)));
        match &*path {
            "." => format!("{what}; expected {summary}"),
            path => format!("`{path}`: {what}; expected {summary}"),
        }
    }
}

/// The properties of a schema in one line: `{"a": integer, "note": string (optional)}`.
fn summarize(schema: &Schema) -> String {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return "an object".to_owned();
    };
    let required = schema.get("required").and_then(Value::as_array);
    let members = properties.iter().map(|(name, property)| {
        let is_required = required.is_some_and(|required| required.iter().any(|it| it == name));
        let optional = if is_required { "" } else { " (optional)" };
        format!("\"{name}\": {}{optional}", kind(property))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
}

fn kind(property: &Value) -> String {
    match (property.get("enum"), property.get("type")) {
        (Some(Value::Array(values)), _) => {
            let values: Vec<_> = values.iter().map(Value::to_string).collect();
            format!("one of {}", values.join(", "))
        }
        (_, Some(Value::String(kind))) => kind.clone(),
        (_, Some(Value::Array(kinds))) => {
            let kinds: Vec<_> = kinds
                .iter()
                .filter_map(Value::as_str)
                .filter(|it| *it != "null")
                .collect();
            kinds.join(" or ")
        }
        _ => "a value as in the tool's input schema".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Json, NoArguments};
    use serde::Deserialize;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Arguments {
        count: u8,
        names: Vec<String>,
        mode: Option<Mode>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        Fast,
        Slow,
    }

    fn refusal(arguments: &str) -> String {
        let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
        Expected::new::<Arguments>()
            .decode::<Arguments>(Some(&arguments))
            .unwrap_err()
    }

    #[test]
    fn a_refusal_names_the_argument_and_what_would_be_right() {
        let missing = refusal(r#"{"count":1}"#);
        assert!(missing.starts_with("missing field `names`; expected {"), "{missing}");
        assert!(missing.contains(r#""count": integer, "#), "{missing}");
        let nested = refusal(r#"{"count":1,"names":["a",2]}"#);
        assert!(
            nested.starts_with("`names[1]`: invalid type: integer `2`, expected a string"),
            "{nested}"
        );
        assert!(refusal(r#"{"count":300,"names":[]}"#).starts_with("`count`: "));
    }

    #[test]
    fn text_that_looks_like_a_number_stays_text() {
        let arguments = RawValue::from_string(r#"{"count":1,"names":["00123"]}"#.to_owned()).unwrap();
        let arguments: Arguments = Expected::new::<Arguments>().decode(Some(&arguments)).unwrap();
        assert_eq!(arguments.names, ["00123"]);
    }

    #[test]
    fn no_arguments_are_an_empty_object() {
        let schema = input_schema::<NoArguments>().unwrap();
        assert_eq!(schema.get("type").unwrap(), "object");
        assert_eq!(schema.get("properties").unwrap(), &serde_json::json!({}));
        assert!(Expected::new::<NoArguments>().decode::<NoArguments>(None).is_ok());
    }

    #[test]
    fn an_optional_argument_is_not_required() {
        let schema = input_schema::<Arguments>().unwrap();
        assert_eq!(schema.get("required").unwrap(), &serde_json::json!(["count", "names"]));
        assert!(schema.get("title").is_none());
        assert!(!serde_json::to_string(&schema).unwrap().contains("nullable"));
    }

    #[test]
    fn arguments_that_are_no_object_are_refused() {
        assert!(input_schema::<Vec<String>>().unwrap_err().contains("must be an object"));
    }

    #[test]
    fn data_that_is_no_object_has_no_output_schema() {
        use crate::IntoToolResult;
        assert!(Json::<Vec<i32>>::output_schema().is_none());
        assert!(Json::<NoArguments>::output_schema().is_some());
    }
}
