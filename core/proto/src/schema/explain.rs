//! Says what does not fit, in words a model can act on.

use std::borrow::Borrow;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::prepare::short;

/// Most violations that are told.
const MOST: usize = 5;
/// Most names or values that are told of a list.
const MOST_NAMES: usize = 10;

/// The text of `errors`, which were found in `root`.
pub(super) fn explain<'a, E: Borrow<ValidationError<'a>>>(errors: impl IntoIterator<Item = E>, root: &Value) -> String {
    let mut told = Vec::new();
    let mut more = 0;
    for error in errors {
        if told.len() < MOST {
            told.push(violation(error.borrow(), root));
        } else {
            more += 1;
        }
    }
    let mut text = told.join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

fn violation(error: &ValidationError<'_>, root: &Value) -> String {
    let path = error.instance_path().as_str();
    let found = match error.kind() {
        // The value is a name, which has no path.
        ValidationErrorKind::PropertyNames { error } => short(error.instance()),
        _ => short(root.pointer(path).unwrap_or(error.instance())),
    };
    let what = what(error, &found, root);
    if path.is_empty() {
        format!("at the top level: {what}")
    } else {
        format!("at {}: {what}", short(&Value::from(path)))
    }
}

fn what(error: &ValidationError<'_>, found: &str, root: &Value) -> String {
    use ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Type { kind } => format!("{found} is not of type {}", types(kind)),
        Kind::Required { property } => format!("the member {} is missing", short(property)),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            not_allowed(unexpected.iter().map(String::as_str))
        }
        Kind::AdditionalItems { limit } => format!("has more than the allowed {limit} items"),
        Kind::UnevaluatedItems { .. } => "has items that are not allowed".to_owned(),
        Kind::Constant { expected_value } => format!("{found} is not {}", short(expected_value)),
        Kind::Enum { options } => format!("{found} is none of {}", values(options)),
        Kind::Minimum { limit } => format!("{found} is less than the minimum {}", short(limit)),
        Kind::Maximum { limit } => format!("{found} is more than the maximum {}", short(limit)),
        Kind::ExclusiveMinimum { limit } => format!("{found} is not more than {}", short(limit)),
        Kind::ExclusiveMaximum { limit } => format!("{found} is not less than {}", short(limit)),
        Kind::MultipleOf { multiple_of } => format!("{found} is not a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("{found} is shorter than {limit} characters"),
        Kind::MaxLength { limit } => format!("{found} is longer than {limit} characters"),
        Kind::MinItems { limit } => format!("has fewer than {limit} items"),
        Kind::MaxItems { limit } => format!("has more than {limit} items"),
        Kind::MinProperties { limit } => format!("has fewer than {limit} members"),
        Kind::MaxProperties { limit } => format!("has more than {limit} members"),
        Kind::Pattern { pattern } => {
            format!(
                "{found} does not match the pattern {}",
                short(&Value::from(pattern.as_str()))
            )
        }
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "matching it with the pattern takes too long, and was given up".to_owned()
        }
        Kind::PropertyNames { error } => format!("the name of a member does not fit: {}", what(error, found, root)),
        Kind::UniqueItems => "has items that are the same".to_owned(),
        Kind::Contains => "has too few or too many items that fit contains".to_owned(),
        Kind::FalseSchema => nothing_allowed(error, root),
        Kind::Not { .. } => format!("{found} fits what not excludes"),
        Kind::OneOfMultipleValid { .. } => format!("{found} fits more than one of oneOf, and has to fit exactly one"),
        Kind::AnyOf { context } => alternatives("anyOf", found, context, root),
        Kind::OneOfNotValid { context } => alternatives("oneOf", found, context, root),
        other => format!("{found} does not fit {}", other.keyword()),
    }
}

/// Tells of the alternative that is nearest: what went wrong in it went wrong deepest in the value.
fn alternatives(keyword: &str, found: &str, context: &[Vec<ValidationError<'static>>], root: &Value) -> String {
    let depth = |errors: &Vec<ValidationError<'_>>| {
        let depths = errors
            .iter()
            .map(|error| error.instance_path().as_str().matches('/').count());
        (depths.max().unwrap_or(0), std::cmp::Reverse(errors.len()))
    };
    let text = format!("{found} fits none of the {} alternatives of {keyword}", context.len());
    match context
        .iter()
        .filter(|errors| !errors.is_empty())
        .max_by_key(|errors| depth(errors))
    {
        Some(nearest) if !nested(&nearest[0]) => format!("{text} (nearest: {})", violation(&nearest[0], root)),
        _ => text,
    }
}

/// A schema `false`. Where it stands for all members, the object is told as the place.
fn nothing_allowed(error: &ValidationError<'_>, root: &Value) -> String {
    let place = root.pointer(error.instance_path().as_str());
    match place.and_then(Value::as_object) {
        Some(members) if error.schema_path().as_str().ends_with("Properties") => {
            not_allowed(members.keys().map(String::as_str))
        }
        _ => "nothing is allowed here".to_owned(),
    }
}

fn not_allowed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names = list(names.map(|name| short(&Value::from(name))));
    format!("has members that are not allowed: {names}")
}

/// Alternatives inside alternatives are told no further.
fn nested(error: &ValidationError<'_>) -> bool {
    use ValidationErrorKind as Kind;
    matches!(error.kind(), Kind::AnyOf { .. } | Kind::OneOfNotValid { .. })
}

fn types(kind: &TypeKind) -> String {
    let quoted = |name: JsonType| format!("\"{name}\"");
    match kind {
        TypeKind::Single(name) => quoted(*name),
        TypeKind::Multiple(names) => names.iter().map(quoted).collect::<Vec<_>>().join(" or "),
    }
}

fn values(options: &Value) -> String {
    list(options.as_array().into_iter().flatten().map(short))
}

fn list(mut all: impl Iterator<Item = String>) -> String {
    let mut text = all.by_ref().take(MOST_NAMES).collect::<Vec<_>>().join(", ");
    let more = all.count();
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
