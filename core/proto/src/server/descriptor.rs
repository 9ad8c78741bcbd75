//! What must hold of a descriptor before a list may show it, and what the core takes from it.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::{Checks, Kind};
use crate::http::ParamHeaders;
use crate::jsonrpc::{Json, ObjectWriter, decode_str, json, members};
use crate::schema::LazySchema;

/// What the core itself needs of a descriptor.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Tools: what arguments must be like.
    pub input: Option<Arc<LazySchema>>,
    /// Tools: what structured content must be like.
    pub output: Option<Arc<LazySchema>>,
    /// Prompts: the arguments that must be given.
    pub required: Vec<Box<str>>,
    /// Tools: what revisions with a handshake are shown, where that differs: there a schema of structured content is
    /// one of an object (2025-11-25 schema, `Tool.outputSchema`).
    pub older: Option<Json>,
}

impl Facts {
    /// Compiles the schemas that the core is to check, so that a bad one is found where it was written, and not by the
    /// first call.
    pub(super) fn compile(&self, checks: Checks) -> Result<(), String> {
        for (name, schema, wanted) in [
            ("inputSchema", &self.input, checks.input),
            ("outputSchema", &self.output, checks.output),
        ] {
            let compiled = schema.as_ref().filter(|_| wanted).map(|schema| schema.get());
            if let Some(Err(why)) = compiled {
                return Err(format!("its \"{name}\": {why}"));
            }
        }
        Ok(())
    }
}

/// Reads a descriptor of `kind` whose key must be `key`.
pub(super) fn read(kind: Kind, key: &str, descriptor: &RawValue) -> Result<Facts, String> {
    let all = members(descriptor).ok_or("it must be a JSON object")?;
    let member = |wanted: &str| all.iter().find(|(key, _)| key == wanted).map(|(_, value)| *value);
    let text = |wanted: &str| member(wanted).and_then(decode_str);
    let identity = kind.identity();
    if text(identity).as_deref() != Some(key) {
        return Err(format!("its \"{identity}\" must be \"{key}\""));
    }
    if text("name").is_none() {
        return Err("it must have a \"name\"".to_owned());
    }
    match kind {
        Kind::Tool => {
            let mut facts = tool(member("inputSchema"), member("outputSchema"))?;
            if member("outputSchema").is_some_and(|schema| !is_of_object(schema)) {
                let kept = all.iter().filter(|(key, _)| key != "outputSchema");
                let older = kept.fold(ObjectWriter::new(), |all, (key, value)| all.json(key, value.get()));
                facts.older = json(older.finish()).ok();
            }
            Ok(facts)
        }
        Kind::Prompt => prompt(member("arguments")),
        Kind::Resource | Kind::Template => Ok(Facts::default()),
    }
}

fn tool(input: Option<&RawValue>, output: Option<&RawValue>) -> Result<Facts, String> {
    let input = input.ok_or("it must have an \"inputSchema\"")?;
    if !input.get().starts_with('{') {
        return Err("its \"inputSchema\" must be an object".to_owned());
    }
    if !is_of_object(input) {
        return Err("its \"inputSchema\" must have \"type\": \"object\"".to_owned());
    }
    ParamHeaders::read(input).map_err(|bad| format!("its \"inputSchema\" has an {bad}"))?;
    if output.is_some_and(|output| !output.get().starts_with('{')) {
        return Err("its \"outputSchema\" must be an object".to_owned());
    }
    let lazy = |schema: &RawValue| Arc::new(LazySchema::new(schema.to_owned()));
    Ok(Facts {
        input: Some(lazy(input)),
        output: output.map(lazy),
        ..Facts::default()
    })
}

/// Whether a schema says `"type": "object"`.
fn is_of_object(schema: &RawValue) -> bool {
    let all = members(schema).unwrap_or_default();
    let kind = all.iter().find(|(key, _)| key == "type");
    kind.and_then(|(_, value)| decode_str(value)).as_deref() == Some("object")
}

fn prompt(arguments: Option<&RawValue>) -> Result<Facts, String> {
    let Some(arguments) = arguments else {
        return Ok(Facts::default());
    };
    let all: Vec<&RawValue> =
        serde_json::from_str(arguments.get()).map_err(|_| "its \"arguments\" must be an array")?;
    let mut required = Vec::new();
    for argument in all {
        let argument = members(argument).unwrap_or_default();
        let member = |wanted: &str| argument.iter().find(|(key, _)| key == wanted).map(|(_, value)| *value);
        let name = member("name")
            .and_then(decode_str)
            .ok_or("each of its \"arguments\" must have a \"name\"")?;
        if member("required").is_some_and(|required| required.get() == "true") {
            required.push(name.into());
        }
    }
    Ok(Facts {
        required,
        ..Facts::default()
    })
}
