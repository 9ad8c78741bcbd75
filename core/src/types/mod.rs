//! The protocol's data as Rust types.
//!
//! All are those of the specification, for every revision at once: [`Tool`], [`ContentBlock`],
//! [`GetPromptResult`] and the rest. What a type does not know it keeps, in its field `extra` or as `Unknown`, and
//! writes again as it came. They are made by `new` or `default`, and the rest is set by field.
//!
//! [`CallToolResult`] alone is written by hand, for what is most often asked of it; [`content`] has short ways to
//! make blocks of content.

pub mod content;

pub use oxmcp_proto::types::*;

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use oxmcp_proto::{Error, ErrorKind};

/// The result of a tool.
///
/// ```
/// use oxmcp::CallToolResult;
///
/// let text = r#"{"content":[{"type":"text","text":"a"},{"type":"hologram","x":1}],"structuredContent":{"id":9007199254740993}}"#;
/// let result: CallToolResult = serde_json::from_str(text)?;
/// assert_eq!(result.text(), "a");
/// assert_eq!(result.content.len(), 2);
/// assert_eq!(serde_json::to_string(&result)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallToolResult {
    /// For the model.
    pub content: Vec<ContentBlock>,
    /// For programs: a JSON object.
    pub structured_content: Option<Json>,
    /// The tool failed, and its content says why.
    pub is_error: bool,
    /// All other members, `_meta` among them.
    pub extra: Members,
}

impl CallToolResult {
    /// The failure of a tool, with its reason for the model.
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..content::text(message).into()
        }
    }

    /// The text blocks, joined by line breaks.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.content.iter().filter_map(content::as_text).collect();
        texts.join("\n")
    }

    /// The structured content as a type; `None` when the tool gave none.
    ///
    /// # Errors
    /// When it does not fit `T`.
    ///
    /// ```
    /// #[derive(serde::Deserialize)]
    /// struct Weather {
    ///     celsius: f64,
    /// }
    ///
    /// let result: oxmcp::CallToolResult = serde_json::from_str(r#"{"content":[],"structuredContent":{"celsius":21.5}}"#)?;
    /// assert_eq!(result.structured::<Weather>()?.unwrap().celsius, 21.5);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn structured<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_json::Error> {
        self.structured_content
            .as_ref()
            .map(|json| serde_json::from_str(json.get()))
            .transpose()
    }
}

impl From<ContentBlock> for CallToolResult {
    fn from(block: ContentBlock) -> Self {
        Self {
            content: vec![block],
            ..Self::default()
        }
    }
}

impl<'de> Deserialize<'de> for CallToolResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::deserialize(deserializer)?;
        Ok(Self {
            content: take_content(&mut members).map_err(D::Error::custom)?,
            structured_content: take(&mut members, "structuredContent").map_err(D::Error::custom)?,
            is_error: take(&mut members, "isError")
                .map_err(D::Error::custom)?
                .unwrap_or_default(),
            extra: members,
        })
    }
}

impl Serialize for CallToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("content", &self.content)?;
        if let Some(data) = &self.structured_content {
            map.serialize_entry("structuredContent", data)?;
        }
        if self.is_error {
            map.serialize_entry("isError", &true)?;
        }
        for (name, value) in self.extra.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Takes a member out and reads it; `None` when it is absent or null.
fn take<T: DeserializeOwned>(members: &mut Members, name: &str) -> Result<Option<T>, String> {
    let Some(value) = members.remove(name) else {
        return Ok(None);
    };
    serde_json::from_str(value.get()).map_err(|error| format!("`{name}`: {error}"))
}

/// The blocks of a result. Most results are one plain block of text, which is read straight away.
fn take_content(members: &mut Members) -> Result<Vec<ContentBlock>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Plain {
        #[serde(rename = "type")]
        _kind: serde::de::IgnoredAny,
        text: String,
    }
    let text = members.get("content").map_or("", |content| content.get());
    if text.starts_with(r#"[{"type":"text","text":"#)
        && let Ok([block]) = serde_json::from_str::<[Plain; 1]>(text)
    {
        members.remove("content");
        return Ok(vec![content::text(block.text)]);
    }
    Ok(take(members, "content")?.unwrap_or_default())
}

/// A value as the text of a JSON object; `None` for `()`.
pub(crate) fn object(value: &impl Serialize, what: &str) -> Result<Option<Json>, Error> {
    let json = serde_json::value::to_raw_value(value);
    let json =
        json.map_err(|error| Error::new(ErrorKind::Usage, format!("{what} cannot be made into JSON: {error}")))?;
    match json.get() {
        "null" => Ok(None),
        text if text.starts_with('{') => Ok(Some(json)),
        text => {
            let start: String = text.chars().take(40).collect();
            let message = format!("{what} must be a JSON object, not {start}; pass a struct, a map or json!({{…}})");
            Err(Error::new(ErrorKind::Usage, message))
        }
    }
}

/// How far a call is, from `notifications/progress`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Progress {
    /// Grows with each message.
    pub progress: f64,
    /// What it grows to, if that is known.
    #[serde(default)]
    pub total: Option<f64>,
    /// A sentence for a person.
    #[serde(default)]
    pub message: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_survives() {
        let text = r#"{"content":[{"type":"text","text":"a"},{"type":"hologram","x":1},7],"isError":true,"_meta":{"b":1.50},"zzz":[]}"#;
        let result: CallToolResult = serde_json::from_str(text).unwrap();
        assert!(matches!(result.content[1], ContentBlock::Unknown(_)));
        assert_eq!(serde_json::to_string(&result).unwrap(), text);
    }

    #[test]
    fn a_plain_text_is_read_and_written_like_any_other() {
        for block in [
            r#"{"type":"text","text":"a\n\"b"}"#,
            r#"{"text":"a","type":"text"}"#,
            r#"{"type":"text","text":"a","later":1}"#,
            r#"{"type":"text","text":5}"#,
            r#"{"type":"text","text":"a"},{"type":"text","text":"b"}"#,
        ] {
            let text = format!("{{\"content\":[{block}]}}");
            let result: CallToolResult = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&result).unwrap(), text);
            assert_eq!(result.text().is_empty(), block.contains('5'));
        }
    }

    #[test]
    fn a_broken_member_is_named() {
        let error = serde_json::from_str::<CallToolResult>(r#"{"content":5}"#).unwrap_err();
        assert!(error.to_string().contains("`content`"), "{error}");
    }

    #[test]
    fn null_is_the_same_as_absent() {
        let result: CallToolResult =
            serde_json::from_str(r#"{"content":[],"structuredContent":null,"isError":null}"#).unwrap();
        assert!(result.structured_content.is_none());
        assert!(!result.is_error);
    }
}
