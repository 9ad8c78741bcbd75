//! What a server asks of its client, checked before it goes out: a client could only refuse it.
//!
//! | request | must have |
//! | --- | --- |
//! | `elicitation/create` with a form | `message`; `requestedSchema`, an object of flat properties: text, numbers, booleans, choices (elicitation, Requested Schema) |
//! | `elicitation/create` with a URL | `message`; `url`, an absolute one (elicitation, URL Mode) |
//! | `sampling/createMessage` | `messages`, each with `role` and `content`; `maxTokens` (sampling, Creating Messages) |

use serde_json::value::RawValue;

use crate::jsonrpc::{decode_str, members};

/// Checks the params of a request to a client.
///
/// # Errors
/// What is wrong with them, and what would be right.
pub(super) fn check(method: &str, params: Option<&str>) -> Result<(), String> {
    if !matches!(method, "elicitation/create" | "sampling/createMessage") {
        return Ok(());
    }
    let params: Option<&RawValue> = params.and_then(|params| serde_json::from_str(params).ok());
    let params = Object(params.and_then(members).unwrap_or_default());
    match method {
        "elicitation/create" => elicitation(&params),
        _ => sampling(&params),
    }
}

/// The members of an object.
struct Object<'a>(Vec<(std::borrow::Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    fn get(&self, wanted: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().find(|(key, _)| key == wanted);
        found.map(|(_, value)| *value).filter(|value| value.get() != "null")
    }

    fn text(&self, wanted: &str) -> Option<String> {
        decode_str(self.get(wanted)?).map(Into::into)
    }

    fn object(&self, wanted: &str) -> Option<Object<'a>> {
        members(self.get(wanted)?).map(Object)
    }

    fn list(&self, wanted: &str) -> Option<Vec<&'a RawValue>> {
        serde_json::from_str(self.get(wanted)?.get()).ok()
    }
}

fn elicitation(params: &Object<'_>) -> Result<(), String> {
    if params.text("message").is_none() {
        return Err("\"message\" must be a string that tells the user what is asked for".to_owned());
    }
    match params.get("mode").map(|mode| decode_str(mode).unwrap_or_default()) {
        None => form(params),
        Some(mode) if mode == "form" => form(params),
        Some(mode) if mode == "url" => match params.text("url") {
            Some(url) if is_absolute(&url) => Ok(()),
            Some(url) => Err(format!(
                "\"url\" must be an absolute URL, such as https://example.com/; it is {url:?}"
            )),
            None => Err("\"url\" must be a string".to_owned()),
        },
        Some(_) => Err("\"mode\" must be \"form\" or \"url\"".to_owned()),
    }
}

fn form(params: &Object<'_>) -> Result<(), String> {
    let Some(schema) = params.object("requestedSchema") else {
        return Err("\"requestedSchema\" must be the JSON Schema of an object".to_owned());
    };
    if schema.text("type").as_deref() != Some("object") {
        return Err("\"requestedSchema\" must have \"type\": \"object\"".to_owned());
    }
    let Some(properties) = schema.object("properties") else {
        return Err("\"requestedSchema\" must have an object \"properties\"".to_owned());
    };
    let required = schema.get("required").is_none()
        || schema
            .list("required")
            .is_some_and(|all| all.iter().all(|name| decode_str(name).is_some()));
    if !required {
        return Err("\"required\" of \"requestedSchema\" must be an array of names".to_owned());
    }
    for (name, property) in &properties.0 {
        field(property).map_err(|what| format!("the property \"{name}\" of the form {what}"))?;
    }
    Ok(())
}

fn field(property: &RawValue) -> Result<(), String> {
    let Some(property) = members(property).map(Object) else {
        return Err("must be a schema object".to_owned());
    };
    let kind = property.text("type");
    match kind.as_deref() {
        Some("string" | "number" | "integer" | "boolean") => Ok(()),
        Some("array") => {
            let items = property.object("items");
            let choices = items.is_some_and(|items| items.list("enum").or_else(|| items.list("anyOf")).is_some());
            match choices {
                true => Ok(()),
                false => Err("is an array, whose \"items\" must name the choices by \"enum\" or \"anyOf\"".to_owned()),
            }
        }
        Some("object") => Err("is an object; forms are flat: ask for its members one by one".to_owned()),
        _ => Err(
            "must have a \"type\": \"string\", \"number\", \"integer\", \"boolean\", or \"array\" for several choices"
                .to_owned(),
        ),
    }
}

fn sampling(params: &Object<'_>) -> Result<(), String> {
    let Some(messages) = params.list("messages") else {
        return Err("\"messages\" must be an array".to_owned());
    };
    for (at, message) in messages.iter().enumerate() {
        let message = members(message).map(Object);
        let role = message.as_ref().and_then(|message| message.text("role"));
        if !matches!(role.as_deref(), Some("user" | "assistant")) {
            return Err(format!("\"role\" of message {at} must be \"user\" or \"assistant\""));
        }
        let content = message.and_then(|message| message.get("content"));
        if !content.is_some_and(|content| content.get().starts_with(['{', '['])) {
            return Err(format!(
                "\"content\" of message {at} must be a block of content, or an array of them"
            ));
        }
    }
    let limit = params.get("maxTokens").map(|limit| limit.get().parse::<f64>());
    match limit {
        Some(Ok(_)) => Ok(()),
        _ => Err("\"maxTokens\" must be a number".to_owned()),
    }
}

/// Whether a text has a scheme and something after it (RFC 3986, section 3).
fn is_absolute(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once(':') else {
        return false;
    };
    let scheme = scheme.as_bytes();
    let begins = scheme.first().is_some_and(u8::is_ascii_alphabetic);
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let clean = |byte: u8| byte > b' ' && byte != 0x7f;
    begins && scheme.iter().all(is_scheme) && !rest.trim_matches('/').is_empty() && rest.bytes().all(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_can_serve_is_let_through() {
        for (method, params) in [
            (
                "elicitation/create",
                r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#,
            ),
            (
                "elicitation/create",
                r#"{"mode":"form","message":"m","requestedSchema":{"$schema":"x","type":"object","properties":{"a":{"type":"string","format":"email"},"b":{"type":"string","oneOf":[{"const":"x","title":"X"}]},"c":{"type":"array","items":{"type":"string","enum":["x"]}},"d":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}},"e":{"type":"integer"}},"required":["a"]}}"#,
            ),
            (
                "elicitation/create",
                r#"{"mode":"url","message":"m","url":"https://example.com/a?b=c","elicitationId":"1"}"#,
            ),
            (
                "sampling/createMessage",
                r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"assistant","content":[]}],"maxTokens":5}"#,
            ),
            ("roots/list", "{}"),
            ("acme/ask", r#"{"message":1}"#),
        ] {
            assert_eq!(check(method, Some(params)), Ok(()), "{params}");
        }
        assert_eq!(check("roots/list", None), Ok(()));
    }

    #[test]
    fn what_a_client_could_only_refuse_is_refused_with_the_place() {
        let form = |properties: &str| {
            format!(r#"{{"message":"m","requestedSchema":{{"type":"object","properties":{{{properties}}}}}}}"#)
        };
        for (params, part) in [
            (
                r#"{"requestedSchema":{"type":"object","properties":{}}}"#.to_owned(),
                "\"message\"",
            ),
            (r#"{"message":"m"}"#.to_owned(), "\"requestedSchema\" must be"),
            (
                r#"{"message":"m","requestedSchema":{"properties":{}}}"#.to_owned(),
                "\"type\": \"object\"",
            ),
            (
                r#"{"message":"m","requestedSchema":{"type":"object"}}"#.to_owned(),
                "\"properties\"",
            ),
            (
                r#"{"message":"m","requestedSchema":{"type":"object","properties":{},"required":"a"}}"#.to_owned(),
                "\"required\"",
            ),
            (
                form(r#""a":{"type":"object","properties":{}}"#),
                "\"a\" of the form is an object",
            ),
            (
                form(r#""a":{"type":"array","items":{"type":"object"}}"#),
                "\"a\" of the form is an array",
            ),
            (form(r#""a":{"anyOf":[]}"#), "must have a \"type\""),
            (form(r#""a":1"#), "must be a schema object"),
            (r#"{"message":"m","mode":"voice"}"#.to_owned(), "\"form\" or \"url\""),
            (r#"{"message":"m","mode":"url"}"#.to_owned(), "\"url\" must be a string"),
            (
                r#"{"message":"m","mode":"url","url":"example.com"}"#.to_owned(),
                "absolute",
            ),
            (
                r#"{"message":"m","mode":"url","url":"https://"}"#.to_owned(),
                "absolute",
            ),
            (
                r#"{"message":"m","mode":"url","url":"https://a b"}"#.to_owned(),
                "absolute",
            ),
        ] {
            let what = check("elicitation/create", Some(&params)).unwrap_err();
            assert!(what.contains(part), "{params}: {what}");
        }
        for (params, part) in [
            ("{}", "\"messages\""),
            (
                r#"{"messages":[{"role":"system","content":{}}],"maxTokens":1}"#,
                "\"role\" of message 0",
            ),
            (
                r#"{"messages":[{"role":"user","content":"text"}],"maxTokens":1}"#,
                "\"content\" of message 0",
            ),
            (r#"{"messages":[]}"#, "\"maxTokens\""),
            (r#"{"messages":[],"maxTokens":"5"}"#, "\"maxTokens\""),
        ] {
            let what = check("sampling/createMessage", Some(params)).unwrap_err();
            assert!(what.contains(part), "{params}: {what}");
        }
    }
}
