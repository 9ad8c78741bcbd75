//! The answer to an elicitation, brought into one shape.
//!
//! All three actions are ordinary results. Content counts only with `accept`; `null` is absent; what a
//! form has a default for and the answer leaves out is filled in (elicitation, Response Actions).

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Error, ErrorKind};
use crate::jsonrpc::{Json, ObjectWriter, json, members};
use crate::schema::{Schema, with_defaults};

#[derive(Deserialize)]
struct Form<'a> {
    #[serde(borrow, default, rename = "requestedSchema")]
    schema: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

/// Reads the result of `elicitation/create` with these params.
///
/// # Errors
/// When it is none, or does not fit the schema that was asked for.
pub(super) fn normalise(params: &str, result: &RawValue) -> Result<Json, Error> {
    let broken = |what: &str| {
        Error::new(
            ErrorKind::Protocol,
            format!("the answer to elicitation/create is broken: {what}"),
        )
    };
    let answer: Answer<'_> = serde_json::from_str(result.get()).map_err(|error| broken(&error.to_string()))?;
    if !matches!(&*answer.action, "accept" | "decline" | "cancel") {
        return Err(broken("\"action\" must be accept, decline or cancel"));
    }
    let schema = serde_json::from_str::<Form<'_>>(params)
        .ok()
        .and_then(|form| form.schema);
    let content = answer
        .content
        .filter(|content| answer.action == "accept" && content.get() != "null");
    let content = match (schema.filter(|_| answer.action == "accept"), content) {
        (Some(schema), content) => Some(fill(schema, content).map_err(|what| broken(&what))?),
        (None, content) => content.map(RawValue::to_owned),
    };
    let mut whole = ObjectWriter::new().string("action", &answer.action);
    if let Some(content) = &content {
        whole = whole.json("content", content.get());
    }
    for (key, value) in members(result).into_iter().flatten() {
        if key != "action" && key != "content" {
            whole = whole.json(&key, value.get());
        }
    }
    json(whole.finish()).map_err(|error| broken(&error.to_string()))
}

fn fill(schema: &RawValue, content: Option<&RawValue>) -> Result<Json, String> {
    let empty = json("{}").map_err(|error| error.to_string())?;
    let content = content.unwrap_or(&empty);
    if !content.get().starts_with('{') {
        return Err("\"content\" must be an object".to_owned());
    }
    let filled = with_defaults(schema, content);
    let schema = Schema::compile(schema).map_err(|error| format!("the requested schema: {error}"))?;
    schema
        .validate(&filled)
        .map_err(|why| format!("\"content\" does not fit the requested schema: {why}"))?;
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = r#"{"message":"m","requestedSchema":{"type":"object","properties":{"z":{"type":"string","default":"zz"},"a":{"type":"integer","default":9007199254740993}},"required":["z"]}}"#;

    #[test]
    fn every_action_is_a_result_and_content_counts_with_accept_only() {
        for (params, given, read) in [
            (FORM, r#"{"action":"decline"}"#, r#"{"action":"decline"}"#),
            (
                FORM,
                r#"{"action":"decline","content":null}"#,
                r#"{"action":"decline"}"#,
            ),
            (
                FORM,
                r#"{"action":"cancel","content":{"z":"x"}}"#,
                r#"{"action":"cancel"}"#,
            ),
            (
                FORM,
                r#"{"action":"accept"}"#,
                r#"{"action":"accept","content":{"z":"zz","a":9007199254740993}}"#,
            ),
            (
                FORM,
                r#"{"action":"accept","content":null,"_meta":{"k":1}}"#,
                r#"{"action":"accept","content":{"z":"zz","a":9007199254740993},"_meta":{"k":1}}"#,
            ),
            (
                FORM,
                r#"{"action":"accept","content":{"a":1}}"#,
                r#"{"action":"accept","content":{"a":1,"z":"zz"}}"#,
            ),
            (
                r#"{"mode":"url","url":"https://x"}"#,
                r#"{"action":"accept"}"#,
                r#"{"action":"accept"}"#,
            ),
            (
                r#"{"requestedSchema":{"type":"object","properties":{}}}"#,
                r#"{"action":"accept"}"#,
                r#"{"action":"accept","content":{}}"#,
            ),
        ] {
            assert_eq!(normalise(params, &json(given).unwrap()).unwrap().get(), read, "{given}");
        }
    }

    #[test]
    fn an_answer_that_does_not_fit_the_form_is_refused_with_the_reason() {
        for (given, part) in [
            (r#"{"action":"accept","content":{"z":1}}"#, "/z"),
            (r#"{"action":"accept","content":[]}"#, "object"),
            (r#"{"action":"maybe"}"#, "accept, decline or cancel"),
            ("{}", "action"),
        ] {
            let error = normalise(FORM, &json(given).unwrap()).unwrap_err();
            assert!(error.message().contains(part), "{error}");
        }
    }
}
