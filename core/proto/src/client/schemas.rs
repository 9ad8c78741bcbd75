//! The output schemas of tools that a client has seen, to check their results by.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::schema::LazySchema;

/// How many schemas are kept, and how large each may be.
const ENTRIES: usize = 10_000;

/// Output schemas by the names of tools, each compiled when a result of its tool first comes.
#[derive(Debug, Default)]
pub(crate) struct ResultSchemas(HashMap<Box<str>, LazySchema>);

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    tools: Vec<Tool<'a>>,
}

#[derive(Deserialize)]
struct Tool<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default, rename = "outputSchema")]
    output: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CallResult<'a> {
    /// `null` is a value like any other (2026-07-28 tools, Structured Content).
    #[serde(borrow, default, rename = "structuredContent", deserialize_with = "present")]
    structured: Option<&'a RawValue>,
    #[serde(default, rename = "isError")]
    is_error: Option<bool>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl ResultSchemas {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes note of the schemas in a result of `tools/list`.
    pub(crate) fn learn(&mut self, list: &RawValue) {
        let Ok(list) = serde_json::from_str::<List<'_>>(list.get()) else {
            return;
        };
        for tool in list.tools {
            match tool.output {
                Some(schema) if self.0.len() < ENTRIES || self.0.contains_key(&*tool.name) => {
                    self.0.insert(tool.name.into(), LazySchema::new(schema.to_owned()));
                }
                _ => {
                    self.0.remove(&*tool.name);
                }
            }
        }
    }

    /// Checks the result of a call (2025-06-18 tools, Output Schema: clients should validate).
    ///
    /// # Errors
    /// What is wrong with it, for a person.
    pub(crate) fn check(&self, name: &str, result: &RawValue) -> Result<(), String> {
        let Some(schema) = self.0.get(name) else {
            return Ok(());
        };
        let Ok(result) = serde_json::from_str::<CallResult<'_>>(result.get()) else {
            return Err(format!("the result of tool {name} is broken"));
        };
        if result.is_error == Some(true) {
            return Ok(());
        }
        let Some(structured) = result.structured else {
            return Err(format!(
                "tool {name} has an output schema, but its result has no structuredContent"
            ));
        };
        let schema = schema
            .get()
            .map_err(|why| format!("the output schema of tool {name}: {why}"))?;
        schema
            .validate(structured)
            .map_err(|why| format!("the structuredContent of tool {name} does not fit its output schema: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::json;

    #[test]
    fn results_are_checked_by_the_schema_last_seen() {
        let mut schemas = ResultSchemas::default();
        schemas.learn(
            &json(r#"{"tools":[{"name":"a","outputSchema":{"type":"object","required":["n"]}},{"name":"b"}]}"#)
                .unwrap(),
        );
        for (name, result, fits) in [
            ("a", r#"{"structuredContent":{"n":1},"content":[]}"#, true),
            ("a", r#"{"structuredContent":{},"content":[]}"#, false),
            ("a", r#"{"content":[]}"#, false),
            ("a", r#"{"content":[],"isError":true}"#, true),
            ("b", r#"{"content":[]}"#, true),
            ("c", r#"{"content":[]}"#, true),
        ] {
            assert_eq!(
                schemas.check(name, &json(result).unwrap()).is_ok(),
                fits,
                "{name} {result}"
            );
        }
        schemas.learn(&json(r#"{"tools":[{"name":"a"}]}"#).unwrap());
        assert!(schemas.is_empty());
    }

    /// The list is usable, and only calls of the tool with the bad schema report it.
    #[test]
    fn an_unresolvable_reference_spoils_its_own_tool_only() {
        let mut schemas = ResultSchemas::default();
        schemas.learn(
            &json(
                r##"{"tools":[{"name":"bad","outputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/X"}}}},
                {"name":"good","outputSchema":{"type":"object"}}]}"##,
            )
            .unwrap(),
        );
        let result = json(r#"{"structuredContent":{"a":1}}"#).unwrap();
        assert!(schemas.check("bad", &result).unwrap_err().contains("/$defs/X"));
        assert_eq!(schemas.check("good", &result), Ok(()));
    }
}
