//! Content blocks: text, images, sound, and what this version has no type for.

use oxmcp_proto::jsonrpc::Json;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Members;

/// One block of content.
///
/// ```
/// use oxmcp::Content;
///
/// let block: Content = serde_json::from_str(r#"{"type":"hologram","depth":3}"#)?;
/// assert!(matches!(block, Content::Unknown(_)));
/// assert_eq!(serde_json::to_string(&block)?, r#"{"type":"hologram","depth":3}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(MediaContent),
    /// Sound.
    Audio(MediaContent),
    /// Any other kind, as it came. May be sent on.
    Unknown(Json),
}

/// A block of text.
#[derive(Clone, Debug, Default)]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// All other members, `annotations` and `_meta` among them.
    pub extra: Members,
}

/// A block of an image or of sound.
#[derive(Clone, Debug, Default)]
pub struct MediaContent {
    /// The bytes, in base64 with the standard alphabet and padding.
    pub data: String,
    /// What they are, for example `image/png`.
    pub mime_type: String,
    /// All other members, `annotations` and `_meta` among them.
    pub extra: Members,
}

impl Content {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent {
            text: text.into(),
            extra: Members::default(),
        })
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// `None` when it is no block of a known kind, or not a whole one.
    fn known(json: &Json) -> Option<Self> {
        let mut members: Members = serde_json::from_str(json.get()).ok()?;
        let kind: String = members.require("type").ok()?;
        if kind == "text" {
            let text = members.require("text").ok()?;
            return Some(Self::Text(TextContent { text, extra: members }));
        }
        let variant = match &*kind {
            "image" => Self::Image,
            "audio" => Self::Audio,
            _ => return None,
        };
        Some(variant(MediaContent {
            data: members.require("data").ok()?,
            mime_type: members.require("mimeType").ok()?,
            extra: members,
        }))
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        Ok(Self::known(&json).unwrap_or(Self::Unknown(json)))
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, media) = match self {
            Self::Text(block) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", &block.text)?;
                block.extra.serialize_into(&mut map)?;
                return map.end();
            }
            Self::Image(media) => ("image", media),
            Self::Audio(media) => ("audio", media),
            Self::Unknown(json) => return json.serialize(serializer),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", kind)?;
        map.serialize_entry("data", &media.data)?;
        map.serialize_entry("mimeType", &media.mime_type)?;
        media.extra.serialize_into(&mut map)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) -> Content {
        let block: Content = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&block).unwrap(), text);
        block
    }

    #[test]
    fn blocks_survive_with_what_we_do_not_know_of_them() {
        let text = round_trip(r#"{"type":"text","text":"ä","annotations":{"priority":0.50}}"#);
        assert_eq!(text.as_text(), Some("ä"));
        let image = round_trip(r#"{"type":"image","data":"AP8=","mimeType":"image/png","x":[1]}"#);
        assert!(matches!(image, Content::Image(MediaContent { mime_type, .. }) if mime_type == "image/png"));
        assert!(matches!(
            round_trip(r#"{"type":"audio","data":"","mimeType":"audio/wav"}"#),
            Content::Audio(_)
        ));
    }

    #[test]
    fn unknown_and_broken_blocks_are_kept_as_they_are() {
        for text in [
            r#"{"type":"resource_link","uri":"x://1"}"#,
            r#"{"type":"text","text":5}"#,
            r#"{"text":"a"}"#,
            "7",
        ] {
            assert!(matches!(round_trip(text), Content::Unknown(_)), "{text}");
        }
    }

    #[test]
    fn an_escaped_slash_in_base64_is_no_part_of_it() {
        let block: Content = serde_json::from_str(r#"{"type":"image","data":"\/+8=","mimeType":"a"}"#).unwrap();
        assert!(matches!(block, Content::Image(MediaContent { data, .. }) if data == "/+8="));
    }
}
