//! What a side declared that it can do, in a form that is quick to ask.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::jsonrpc::members;

/// The names of capabilities, two levels deep: `resources` and `resources.subscribe`.
///
/// A member that is `null` or `false` counts as absent. Shared, as each session has those of its side.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared(Arc<[Box<str>]>);

impl Declared {
    /// Reads a `capabilities` object.
    pub(super) fn read(capabilities: &RawValue) -> Self {
        let mut names = Vec::<Box<str>>::new();
        for (name, value) in present(capabilities) {
            let inner: Vec<_> = present(value).map(|(inner, _)| format!("{name}.{inner}")).collect();
            // An elicitation capability that names no mode means forms, the only mode there once was.
            if name == "elicitation"
                && !inner
                    .iter()
                    .any(|it| it == "elicitation.form" || it == "elicitation.url")
            {
                names.push("elicitation.form".into());
            }
            names.push(name.as_ref().into());
            names.extend(inner.into_iter().map(Into::into));
        }
        Self(names.into())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| **known == *name)
    }
}

fn present(object: &RawValue) -> impl Iterator<Item = (std::borrow::Cow<'_, str>, &RawValue)> {
    let all = members(object).unwrap_or_default();
    all.into_iter()
        .filter(|(_, value)| !matches!(value.get(), "null" | "false"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::json;

    #[test]
    fn members_of_capabilities_count_unless_they_are_off() {
        let text = r#"{"tools":{"listChanged":false},"resources":{"subscribe":true},"prompts":null,"logging":{}}"#;
        let declared = Declared::read(&json(text).unwrap());
        for name in ["tools", "resources", "resources.subscribe", "logging"] {
            assert!(declared.has(name), "{name}");
        }
        for name in ["tools.listChanged", "prompts", "completions"] {
            assert!(!declared.has(name), "{name}");
        }
    }

    #[test]
    fn elicitation_without_a_mode_means_forms() {
        for (text, form, url) in [
            (r#"{"elicitation":{}}"#, true, false),
            (r#"{"elicitation":{"url":{}}}"#, false, true),
            (r#"{"elicitation":{"form":{},"url":{}}}"#, true, true),
            ("{}", false, false),
        ] {
            let declared = Declared::read(&json(text).unwrap());
            assert_eq!(
                (declared.has("elicitation.form"), declared.has("elicitation.url")),
                (form, url),
                "{text}"
            );
        }
    }
}
