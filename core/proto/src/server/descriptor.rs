//! What must hold of a descriptor before a list may show it, and what the core takes from it.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::{Checks, Kind};
use crate::http::ParamHeaders;
use crate::jsonrpc::{decode_str, members};
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
        Kind::Tool => tool(member("inputSchema"), member("outputSchema")),
        Kind::Prompt => prompt(member("arguments")),
        Kind::Resource | Kind::Template => Ok(Facts::default()),
    }
}

fn tool(input: Option<&RawValue>, output: Option<&RawValue>) -> Result<Facts, String> {
    let input = input.ok_or("it must have an \"inputSchema\"")?;
    let schema = members(input).ok_or("its \"inputSchema\" must be an object")?;
    let kind = schema.iter().find(|(key, _)| key == "type");
    if kind.and_then(|(_, value)| decode_str(value)).as_deref() != Some("object") {
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
        required: Vec::new(),
    })
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
