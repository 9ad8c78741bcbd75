//! Short ways to make and to read blocks of content.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oxmcp_proto::types::{
    AudioContent, ContentBlock, CreateMessageResult, EmbeddedResource, ImageContent, ResourceContents, ResourceLink,
    Role, SamplingMessage, SamplingMessageContentBlock, TextContent,
};

/// A block of text.
///
/// ```
/// use oxmcp::types::content;
///
/// assert_eq!(content::as_text(&content::text("hello")), Some("hello"));
/// ```
pub fn text(text: impl Into<String>) -> ContentBlock {
    TextContent::new(text).into()
}

/// A picture, from the bytes of its file.
///
/// ```
/// use oxmcp::types::{ContentBlock, content};
///
/// let ContentBlock::Image(image) = content::image([0xff, 0xef], "image/png") else { panic!() };
/// assert_eq!((&*image.data, &*image.mime_type), ("/+8=", "image/png"));
/// assert_eq!(content::from_base64(&image.data)?, [0xff, 0xef]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> ContentBlock {
    ImageContent::new(to_base64(bytes), mime_type).into()
}

/// Sound, from the bytes of its file.
pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> ContentBlock {
    AudioContent::new(to_base64(bytes), mime_type).into()
}

/// A resource by its URI, to be read if wanted.
pub fn link(name: impl Into<String>, uri: impl Into<String>) -> ContentBlock {
    ResourceLink::new(name, uri).into()
}

/// A resource with its contents.
pub fn resource(contents: impl Into<ResourceContents>) -> ContentBlock {
    EmbeddedResource::new(contents.into()).into()
}

/// A message of text for a model.
pub fn said(role: Role, text: impl Into<String>) -> SamplingMessage {
    SamplingMessage::new(role, SamplingMessageContentBlock::from(TextContent::new(text)))
}

/// The text of a block of text; `None` for other kinds.
pub fn as_text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(block) => Some(&block.text),
        _ => None,
    }
}

/// The text that a model gave, its blocks joined by line breaks.
pub fn sampled_text(result: &CreateMessageResult) -> String {
    let text = |block: &SamplingMessageContentBlock| match block {
        SamplingMessageContentBlock::Text(block) => Some(block.text.clone()),
        _ => None,
    };
    let texts: Vec<_> = result.content.as_slice().iter().filter_map(text).collect();
    texts.join("\n")
}

/// Bytes as the protocol writes them.
pub fn to_base64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of a picture, of sound, or of a resource.
///
/// # Errors
/// When the text is no base64 of the standard alphabet, with padding.
pub fn from_base64(text: &str) -> Result<Vec<u8>, base64::DecodeError> {
    STANDARD.decode(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(from_base64(&to_base64(&bytes)).unwrap(), bytes);
        assert!(from_base64("_-8=").is_err());
    }

    #[test]
    fn an_escaped_slash_in_base64_is_no_part_of_it() {
        let block: ContentBlock = serde_json::from_str(r#"{"type":"image","data":"\/+8=","mimeType":"a"}"#).unwrap();
        assert!(matches!(block, ContentBlock::Image(image) if image.data == "/+8="));
    }
}
