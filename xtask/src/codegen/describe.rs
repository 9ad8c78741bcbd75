//! Writes the model as JSON, for generators of other languages.
//!
//! | member | value |
//! | --- | --- |
//! | `format` | the version of this form |
//! | `revisions` | names, oldest first |
//! | `types` | name: an object with `kind`, `revisions` and, by kind, `members`, `variants`, `values`, `value` or `of` |
//! | `methods` | name: `message`, `from_client`, `from_server`, `in_result` (revisions), `params`, `result`, `capability` |
//!
//! Revisions of members are those that have it, and those that require it. The type of a member is one of
//!
//! | form | value on the wire |
//! | --- | --- |
//! | `"any"`, `"object"`, `"string"`, `"boolean"`, `"number"`, `"integer"` | as named |
//! | `"id"` | a string or an integer, and `1` is not `"1"` |
//! | `{"ref":"T"}` | a type of this file |
//! | `{"const":…}` | this value |
//! | `{"list":T}`, `{"map":T}` | an array; an object whose keys are data and keep their order |
//! | `{"nullable":T}` | null or `T` |
//! | `{"one_or_many":T}` | `T` or an array of it |
//! | `{"outcome":T}` | `T`, or `InputRequiredResult` if its `resultType` says so |

use std::fmt::Write as _;

use anyhow::Result;

use super::model::{Definition, Kind, Model, Type};
use super::rust::Types;
use super::tables::{self, Needs, REVISIONS, variant};

/// The version of the form. Readers refuse one they do not know.
const FORMAT: u32 = 1;

/// One line per type and per method, so that a change is one line of a diff.
pub(super) fn file(model: &Model) -> Result<String> {
    let types: Vec<String> = model
        .types
        .iter()
        .map(|(name, definition)| format!("{}:{}", string(name), one(name, definition)))
        .collect();
    let mut methods = Vec::new();
    for (name, row) in &model.methods {
        let types = Types::of(model, name, &row.message)?;
        let mut line = format!("{}:{{\"message\":{}", string(name), string(&row.message));
        for (key, mask) in [
            ("from_client", row.from_client),
            ("from_server", row.from_server),
            ("in_result", row.in_result),
        ] {
            write!(line, ",\"{key}\":{}", revisions(mask))?;
        }
        for (key, of) in [("params", types.params), ("result", types.result)] {
            write!(
                line,
                ",\"{key}\":{}",
                of.map_or_else(|| "null".to_owned(), |of| string(&of))
            )?;
        }
        write!(line, ",\"capability\":{}}}", capability(name))?;
        methods.push(line);
    }
    Ok(format!(
        "{{\n\"format\":{FORMAT},\n\"revisions\":{},\n\"types\":{{\n{}\n}},\n\"methods\":{{\n{}\n}}\n}}\n",
        revisions(tables::ALL),
        types.join(",\n"),
        methods.join(",\n")
    ))
}

fn one(name: &str, definition: &Definition) -> String {
    let (kind, rest) = match &definition.kind {
        Kind::Object(members) => {
            let members = members.iter().map(|(name, member)| {
                format!(
                    "{}:{{\"type\":{},\"revisions\":{},\"required\":{}}}",
                    string(name),
                    of(&member.of),
                    revisions(member.revisions),
                    revisions(member.required())
                )
            });
            (
                "object",
                format!("\"members\":{{{}}}", members.collect::<Vec<_>>().join(",")),
            )
        }
        Kind::Union(variants) => {
            let variants = variants
                .iter()
                .map(|of| format!("{}:{}", string(&variant(name, of)), string(of)));
            (
                "union",
                format!("\"variants\":{{{}}}", variants.collect::<Vec<_>>().join(",")),
            )
        }
        Kind::Strings(values) => {
            let values: Vec<_> = values.iter().map(|value| string(value)).collect();
            ("strings", format!("\"values\":[{}]", values.join(",")))
        }
        Kind::Constant(value) => ("constant", format!("\"value\":{}", string(value))),
        Kind::Alias(alias) => ("alias", format!("\"of\":{}", of(alias))),
    };
    format!(
        "{{\"kind\":\"{kind}\",\"revisions\":{},{rest}}}",
        revisions(definition.revisions)
    )
}

fn of(of_type: &Type) -> String {
    match of_type {
        Type::Any => "\"any\"".to_owned(),
        Type::Object => "\"object\"".to_owned(),
        Type::Text => "\"string\"".to_owned(),
        Type::Bool => "\"boolean\"".to_owned(),
        Type::Number => "\"number\"".to_owned(),
        Type::Integer => "\"integer\"".to_owned(),
        Type::Const(json) => format!("{{\"const\":{json}}}"),
        Type::Ref(name) if name == "RequestId" => "\"id\"".to_owned(),
        Type::Ref(name) => format!("{{\"ref\":{}}}", string(name)),
        Type::Nullable(inner) => format!("{{\"nullable\":{}}}", of(inner)),
        Type::List(inner) => format!("{{\"list\":{}}}", of(inner)),
        Type::Map(inner) => format!("{{\"map\":{}}}", of(inner)),
        Type::OneOrMany(inner) => format!("{{\"one_or_many\":{}}}", of(inner)),
        Type::Outcome(inner) => format!("{{\"outcome\":{}}}", of(inner)),
    }
}

fn capability(method: &str) -> String {
    let (side, path) = match tables::capability(method) {
        Some(Needs::Server(path)) => ("server", path),
        Some(Needs::Client(path)) => ("client", path),
        Some(Needs::Nothing) | None => return "null".to_owned(),
    };
    format!("{{\"of\":\"{side}\",\"path\":{}}}", string(path))
}

fn revisions(mask: u8) -> String {
    let names = (0..REVISIONS.len())
        .filter(|index| mask & (1 << index) != 0)
        .map(|index| string(REVISIONS[index]));
    format!("[{}]", names.collect::<Vec<_>>().join(","))
}

fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::model::Method;
    use super::*;

    #[test]
    fn types_and_methods_are_told_in_full() {
        let mut model = Model::default();
        model
            .member(
                "PingRequest",
                "n",
                Type::Nullable(Box::new(Type::Integer)),
                true,
                0b01000,
            )
            .unwrap();
        model.define("U", 0b10000, || Kind::Union(vec!["PingRequest".to_owned()]));
        model.methods.insert(
            "ping".to_owned(),
            Method {
                message: "PingRequest".to_owned(),
                from_client: 0b01000,
                ..Method::default()
            },
        );
        let told: Value = serde_json::from_str(&file(&model).unwrap()).unwrap();
        assert_eq!(
            told["types"]["PingRequest"],
            json!({"kind": "object", "revisions": ["2025-11-25"], "members":
                {"n": {"type": {"nullable": "integer"}, "revisions": ["2025-11-25"], "required": ["2025-11-25"]}}})
        );
        assert_eq!(told["types"]["U"]["variants"], json!({"PingRequest": "PingRequest"}));
        assert_eq!(
            told["methods"]["ping"],
            json!({"message": "PingRequest", "from_client": ["2025-11-25"], "from_server": [], "in_result": [],
                "params": null, "result": "EmptyResult", "capability": null})
        );
    }
}
