//! Defaults of an elicitation form.

use serde_json::value::RawValue;

use crate::jsonrpc::{Json, json, members, write};

/// `content` with the defaults of the members it lacks, in the order of the schema, after its own.
///
/// `schema` is that of a form: an object with `properties`, each of which may have a `default`. All
/// values keep their text. What is no such schema, or no object, changes nothing.
///
/// ```
/// use oxmcp_proto::jsonrpc::json;
/// use oxmcp_proto::schema::with_defaults;
///
/// let schema = json(r#"{"type":"object","properties":{"z":{"default":1.0},"name":{},"a":{"default":"x"}}}"#)?;
/// let content = json(r#"{"name":"Ada"}"#)?;
/// assert_eq!(with_defaults(&schema, &content).get(), r#"{"name":"Ada","z":1.0,"a":"x"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn with_defaults(schema: &RawValue, content: &RawValue) -> Json {
    let Some(present) = members(content) else {
        return content.to_owned();
    };
    let mut added = Vec::new();
    for (name, property) in member(schema, "properties").and_then(members).unwrap_or_default() {
        let Some(default) = member(property, "default") else {
            continue;
        };
        if present.iter().all(|(known, _)| *known != name) {
            added.push((name, default));
        }
    }
    if added.is_empty() {
        return content.to_owned();
    }
    let own = content.get().trim_end();
    let mut text = own.strip_suffix('}').unwrap_or(own).trim_end().as_bytes().to_vec();
    for (index, (name, default)) in added.iter().enumerate() {
        if index > 0 || !present.is_empty() {
            text.push(b',');
        }
        write::string(&mut text, name);
        text.push(b':');
        text.extend_from_slice(default.get().as_bytes());
    }
    text.push(b'}');
    String::from_utf8(text)
        .ok()
        .and_then(|text| json(text).ok())
        .unwrap_or_else(|| content.to_owned())
}

/// The member `name` of an object; the last one, as readers of JSON take it.
fn member<'a>(object: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    let found = members(object)?.into_iter().rfind(|(known, _)| known == name)?;
    Some(found.1)
}
