//! Forms from Rust types: the flat schemas that a client can show as fields (elicitation, Requested Schema).
//!
//! | Rust | field |
//! | --- | --- |
//! | `String` | text |
//! | integers, floats | a number |
//! | `bool` | yes or no |
//! | an enum without fields | a choice; a comment on a variant is its title |
//! | a list of such an enum | a choice of several |
//! | an `Option` of one of these | the same, and need not be filled in |

use oxmcp_proto::types::RequestedSchema;
use oxmcp_proto::{Error, ErrorKind};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The form of a type.
///
/// # Errors
/// When a field is none that a form can have.
pub(super) fn schema<T: JsonSchema>() -> Result<RequestedSchema, Error> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let unusable = |what: String| {
        let message = format!("{} cannot be a form: {what}", T::schema_name());
        Error::new(ErrorKind::Usage, message)
    };
    let none = Map::new();
    let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
    let properties = match schema.get("properties").and_then(Value::as_object) {
        Some(properties) => properties,
        None if is_object => &none,
        None => return Err(unusable("it must be a struct with named fields".to_owned())),
    };
    let mut fields = Map::new();
    for (name, property) in properties {
        let field = field(property).ok_or_else(|| {
            unusable(format!(
                "the field `{name}` must be a string, a number, a bool, an enum without fields, or a list of one"
            ))
        })?;
        fields.insert(name.clone(), Value::Object(field));
    }
    let mut form = json!({"type": "object", "properties": fields});
    if let Some(required) = schema.get("required") {
        form["required"] = required.clone();
    }
    serde_json::from_value(form).map_err(|error| unusable(error.to_string()))
}

/// A property as a field; `None` when it is none.
fn field(property: &Value) -> Option<Map<String, Value>> {
    let mut field = without_null(property)?;
    let kind = field.get("type").and_then(Value::as_str).map(str::to_owned);
    match kind.as_deref() {
        Some("integer" | "number") => {
            // The names of Rust's types are no formats of JSON Schema.
            field.remove("format");
        }
        Some("boolean") => {}
        Some("string") if field.contains_key("const") => {
            let value = field.remove("const")?;
            field.insert("enum".into(), json!([value]));
        }
        Some("string") => {
            if let Some(options) = field.remove("oneOf") {
                field.insert("oneOf".into(), choices(&options)?);
            }
        }
        Some("array") => {
            let items = field.remove("items")?;
            field.insert("items".into(), Value::Object(several(&items)?));
            field.remove("uniqueItems");
        }
        _ => {
            let options = field.remove("oneOf")?;
            field.insert("type".into(), "string".into());
            field.insert("oneOf".into(), choices(&options)?);
        }
    }
    Some(field)
}

/// A schema without the null that an `Option` adds.
fn without_null(property: &Value) -> Option<Map<String, Value>> {
    let mut field = property.as_object()?.clone();
    if let Some(Value::Array(kinds)) = field.get("type") {
        let mut kinds = kinds.iter().filter(|kind| *kind != "null");
        let (kind, more) = (kinds.next().cloned()?, kinds.next());
        if more.is_some() {
            return None;
        }
        field.insert("type".into(), kind);
    }
    if let Some(Value::Array(values)) = field.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(options)) = field.remove("anyOf") {
        let is_null = |option: &Value| option.get("type").and_then(Value::as_str) == Some("null");
        let mut options = options.iter().filter(|option| !is_null(option));
        let (inner, more) = (options.next()?.as_object()?.clone(), options.next());
        if more.is_some() {
            return None;
        }
        // What is said of the field itself counts.
        let own = std::mem::take(&mut field);
        field = inner;
        field.extend(own);
    }
    if field.get("default").is_some_and(Value::is_null) {
        field.remove("default");
    }
    Some(field)
}

/// The options of an enum whose variants have comments, each with its title.
fn choices(options: &Value) -> Option<Value> {
    let mut all = Vec::new();
    for option in options.as_array()? {
        let title = option.get("title").or_else(|| option.get("description"));
        match (option.get("const"), option.get("enum")) {
            (Some(value), _) => all.push(json!({"const": value, "title": title.unwrap_or(value)})),
            // Variants without a comment come together.
            (None, Some(Value::Array(values))) => {
                all.extend(values.iter().map(|value| json!({"const": value, "title": value})));
            }
            _ => return None,
        }
    }
    Some(Value::Array(all))
}

/// The items of a choice of several.
fn several(items: &Value) -> Option<Map<String, Value>> {
    let mut items = without_null(items)?;
    items.remove("description");
    items.remove("title");
    if let Some(options) = items.remove("oneOf") {
        let mut titled = Map::new();
        titled.insert("anyOf".into(), choices(&options)?);
        return Some(titled);
    }
    items.contains_key("enum").then_some(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code)]
    enum Size {
        Small,
        Large,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code)]
    enum Color {
        /// As the sky
        Blue,
        /// As blood
        Red,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Order {
        /// Who orders.
        name: String,
        seats: u32,
        weight: Option<f64>,
        #[serde(default)]
        gift: bool,
        size: Size,
        wrap: Option<Size>,
        color: Color,
        ribbon: Option<Color>,
        extras: Vec<Size>,
        colors: Option<Vec<Color>>,
    }

    #[test]
    fn every_field_is_one_that_a_form_can_have() {
        let form = serde_json::to_value(schema::<Order>().unwrap()).unwrap();
        let fields = &form["properties"];
        let names: Vec<_> = fields.as_object().unwrap().keys().cloned().collect();
        assert_eq!(names.len(), 10);
        assert_eq!(fields["name"], json!({"type": "string", "description": "Who orders."}));
        assert_eq!(fields["seats"], json!({"type": "integer", "minimum": 0}));
        assert_eq!(fields["weight"], json!({"type": "number"}));
        assert_eq!(fields["gift"], json!({"type": "boolean", "default": false}));
        assert_eq!(fields["size"], json!({"type": "string", "enum": ["small", "large"]}));
        assert_eq!(fields["wrap"], json!({"type": "string", "enum": ["small", "large"]}));
        let titled = json!([{"const": "blue", "title": "As the sky"}, {"const": "red", "title": "As blood"}]);
        assert_eq!(fields["color"], json!({"type": "string", "oneOf": titled}));
        assert_eq!(fields["ribbon"], json!({"type": "string", "oneOf": titled}));
        assert_eq!(
            fields["extras"],
            json!({"type": "array", "items": {"type": "string", "enum": ["small", "large"]}})
        );
        assert_eq!(fields["colors"], json!({"type": "array", "items": {"anyOf": titled}}));
        assert_eq!(form["required"], json!(["name", "seats", "size", "color", "extras"]));
    }

    #[test]
    fn what_no_form_can_have_is_named() {
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Deep {
            order: Order,
        }
        let error = schema::<Deep>().unwrap_err();
        assert!(error.message().contains("`order`"), "{error}");
        assert!(schema::<Vec<String>>().unwrap_err().message().contains("struct"));
    }
}
