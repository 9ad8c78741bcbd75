//! The payloads of tools, as Rust types. What they do not know, they keep.

mod content;
mod members;

pub use content::{Content, MediaContent, TextContent};
pub use members::Members;

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use oxmcp_proto::jsonrpc::Json;

/// A tool of a server, from `tools/list`.
///
/// ```
/// use oxmcp::Tool;
///
/// let tool: Tool = serde_json::from_str(r#"{"name":"add","inputSchema":{"type":"object"},"icons":[]}"#)?;
/// assert_eq!(tool.name, "add");
/// assert_eq!(tool.extra.get("icons").unwrap().get(), "[]");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tool {
    /// For programs: what a call names.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For a model: what it does, and when to use it.
    pub description: Option<String>,
    /// The JSON schema of its arguments, as the server wrote it.
    pub input_schema: Json,
    /// The JSON schema of its structured content.
    pub output_schema: Option<Json>,
    /// All other members, `annotations` and `_meta` among them.
    pub extra: Members,
}

impl<'de> Deserialize<'de> for Tool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::deserialize(deserializer)?;
        Ok(Self {
            name: members.require("name").map_err(D::Error::custom)?,
            title: members.take("title").map_err(D::Error::custom)?,
            description: members.take("description").map_err(D::Error::custom)?,
            input_schema: members.require("inputSchema").map_err(D::Error::custom)?,
            output_schema: members.take("outputSchema").map_err(D::Error::custom)?,
            extra: members,
        })
    }
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        if let Some(title) = &self.title {
            map.serialize_entry("title", title)?;
        }
        if let Some(description) = &self.description {
            map.serialize_entry("description", description)?;
        }
        map.serialize_entry("inputSchema", &self.input_schema)?;
        if let Some(schema) = &self.output_schema {
            map.serialize_entry("outputSchema", schema)?;
        }
        self.extra.serialize_into(&mut map)?;
        map.end()
    }
}

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
    pub content: Vec<Content>,
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
            ..Content::text(message).into()
        }
    }

    /// The text blocks, joined by line breaks.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }

    /// The text of a result that is one plain block of text and nothing else.
    pub(crate) fn into_only_text(mut self) -> Result<String, Self> {
        let is_plain = self.structured_content.is_none() && !self.is_error && self.extra.is_empty();
        match &mut *self.content {
            [Content::Text(block)] if is_plain && block.extra.is_empty() => Ok(std::mem::take(&mut block.text)),
            _ => Err(self),
        }
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

impl From<Content> for CallToolResult {
    fn from(block: Content) -> Self {
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
            content: members.take("content").map_err(D::Error::custom)?.unwrap_or_default(),
            structured_content: members.take("structuredContent").map_err(D::Error::custom)?,
            is_error: members.take("isError").map_err(D::Error::custom)?.unwrap_or_default(),
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
        self.extra.serialize_into(&mut map)?;
        map.end()
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
    fn what_a_tool_says_beyond_what_we_know_survives() {
        let text = r#"{"name":"t","title":"T","inputSchema":{"type":"object","$schema":"x","n":1.50},"annotations":{"b":1,"a":2},"zzz":9007199254740993}"#;
        let tool: Tool = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&tool).unwrap(), text);
    }

    #[test]
    fn a_tool_without_schema_is_refused_by_name() {
        let error = serde_json::from_str::<Tool>(r#"{"name":"t"}"#).unwrap_err();
        assert!(error.to_string().contains("`inputSchema`"), "{error}");
        let error = serde_json::from_str::<Tool>(r#"{"name":5,"inputSchema":{}}"#).unwrap_err();
        assert!(error.to_string().contains("`name`"), "{error}");
    }

    #[test]
    fn null_is_the_same_as_absent() {
        let result: CallToolResult =
            serde_json::from_str(r#"{"content":[],"structuredContent":null,"isError":null}"#).unwrap();
        assert!(result.structured_content.is_none());
        assert!(!result.is_error);
    }
}
