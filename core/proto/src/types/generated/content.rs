// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! What tools, prompts and models say, block by block.

use super::super::*;

/// Sound. Since 2025-03-26.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AudioContent {
    /// The bytes in base64.
    pub data: String,
    /// The media type, for example `text/plain`.
    pub mime_type: String,
    /// Hints for whoever shows or uses it.
    pub annotations: Option<Annotations>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Since 2025-06-18.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl AudioContent {
    /// With what every revision requires, and nothing else.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { AudioContent in 0b11110 {
    constant "type" = "\"audio\"" in 0b11110 / 0b11110;
    required data: "data" in 0b11110 / 0b11110;
    required mime_type: "mimeType" in 0b11110 / 0b11110;
    optional annotations: "annotations" in 0b11110 / 0b00000;
    optional meta: "_meta" in 0b11100 / 0b00000;
} }

/// Contents of a resource that are bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BlobResourceContents {
    /// What the resource is known by.
    pub uri: String,
    /// The contents in base64.
    pub blob: String,
    /// The media type, for example `text/plain`.
    pub mime_type: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Since 2025-06-18.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl BlobResourceContents {
    /// With what every revision requires, and nothing else.
    pub fn new(uri: impl Into<String>, blob: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            blob: blob.into(),
            mime_type: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { BlobResourceContents in 0b11111 {
    required uri: "uri" in 0b11111 / 0b11111;
    required blob: "blob" in 0b11111 / 0b11111;
    optional mime_type: "mimeType" in 0b11111 / 0b00000;
    optional meta: "_meta" in 0b11100 / 0b00000;
} }

/// A piece of what a tool or a prompt says.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "a box would be in the way of every match")]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// Sound. Since 2025-03-26.
    Audio(AudioContent),
    /// A resource by its URI, to be read if wanted. Since 2025-06-18.
    ResourceLink(ResourceLink),
    /// A resource with its contents.
    EmbeddedResource(EmbeddedResource),
    /// Of a kind that is not known here, or not whole: as it came.
    Unknown(Json),
}

union! { ContentBlock {
    Image(ImageContent): "data", "mimeType", "type" = "\"image\"";
    Audio(AudioContent): "data", "mimeType", "type" = "\"audio\"";
    ResourceLink(ResourceLink): "name", "type" = "\"resource_link\"", "uri";
    Text(TextContent): "text", "type" = "\"text\"";
    EmbeddedResource(EmbeddedResource): "resource", "type" = "\"resource\"";
} }

/// A resource with its contents.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// Its contents.
    pub resource: ResourceContents,
    /// Hints for whoever shows or uses it.
    pub annotations: Option<Annotations>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Since 2025-06-18.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl EmbeddedResource {
    /// With what every revision requires, and nothing else.
    pub fn new(resource: ResourceContents) -> Self {
        Self {
            resource,
            annotations: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { EmbeddedResource in 0b11111 {
    constant "type" = "\"resource\"" in 0b11111 / 0b11111;
    required resource: "resource" in 0b11111 / 0b11111;
    optional annotations: "annotations" in 0b11111 / 0b00000;
    optional meta: "_meta" in 0b11100 / 0b00000;
} }

/// A picture.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImageContent {
    /// The bytes in base64.
    pub data: String,
    /// The media type, for example `text/plain`.
    pub mime_type: String,
    /// Hints for whoever shows or uses it.
    pub annotations: Option<Annotations>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Since 2025-06-18.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ImageContent {
    /// With what every revision requires, and nothing else.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ImageContent in 0b11111 {
    constant "type" = "\"image\"" in 0b11111 / 0b11111;
    required data: "data" in 0b11111 / 0b11111;
    required mime_type: "mimeType" in 0b11111 / 0b11111;
    optional annotations: "annotations" in 0b11111 / 0b00000;
    optional meta: "_meta" in 0b11100 / 0b00000;
} }

/// Contents of a resource.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "a box would be in the way of every match")]
pub enum ResourceContents {
    /// Contents of a resource that are text.
    Text(TextResourceContents),
    /// Contents of a resource that are bytes.
    Blob(BlobResourceContents),
    /// Of a kind that is not known here, or not whole: as it came.
    Unknown(Json),
}

union! { ResourceContents {
    Text(TextResourceContents): "text", "uri";
    Blob(BlobResourceContents): "blob", "uri";
} }

/// A resource by its URI, to be read if wanted. Since 2025-06-18.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResourceLink {
    /// For programs: what requests name it by.
    pub name: String,
    /// What the resource is known by.
    pub uri: String,
    /// For people.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// Hints for whoever shows or uses it.
    pub annotations: Option<Annotations>,
    /// Pictures to show beside it. Since 2025-11-25.
    pub icons: Option<Vec<Icon>>,
    /// The media type, for example `text/plain`.
    pub mime_type: Option<String>,
    /// In bytes.
    pub size: Option<Number>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ResourceLink {
    /// With what every revision requires, and nothing else.
    pub fn new(name: impl Into<String>, uri: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            uri: uri.into(),
            title: Default::default(),
            description: Default::default(),
            annotations: Default::default(),
            icons: Default::default(),
            mime_type: Default::default(),
            size: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ResourceLink in 0b11100 {
    constant "type" = "\"resource_link\"" in 0b11100 / 0b11100;
    required name: "name" in 0b11100 / 0b11100;
    required uri: "uri" in 0b11100 / 0b11100;
    optional title: "title" in 0b11100 / 0b00000;
    optional description: "description" in 0b11100 / 0b00000;
    optional annotations: "annotations" in 0b11100 / 0b00000;
    optional icons: "icons" in 0b11000 / 0b00000;
    optional mime_type: "mimeType" in 0b11100 / 0b00000;
    optional size: "size" in 0b11100 / 0b00000;
    optional meta: "_meta" in 0b11100 / 0b00000;
} }

/// Text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Hints for whoever shows or uses it.
    pub annotations: Option<Annotations>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Since 2025-06-18.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl TextContent {
    /// With what every revision requires, and nothing else.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            annotations: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { TextContent in 0b11111 {
    constant "type" = "\"text\"" in 0b11111 / 0b11111;
    required text: "text" in 0b11111 / 0b11111;
    optional annotations: "annotations" in 0b11111 / 0b00000;
    optional meta: "_meta" in 0b11100 / 0b00000;
} }

/// Contents of a resource that are text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TextResourceContents {
    /// What the resource is known by.
    pub uri: String,
    /// The contents.
    pub text: String,
    /// The media type, for example `text/plain`.
    pub mime_type: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Since 2025-06-18.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl TextResourceContents {
    /// With what every revision requires, and nothing else.
    pub fn new(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            text: text.into(),
            mime_type: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { TextResourceContents in 0b11111 {
    required uri: "uri" in 0b11111 / 0b11111;
    required text: "text" in 0b11111 / 0b11111;
    optional mime_type: "mimeType" in 0b11111 / 0b00000;
    optional meta: "_meta" in 0b11100 / 0b00000;
} }

/// What a tool said, told to a model. Since 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolResultContent {
    /// What it says.
    pub content: Vec<ContentBlock>,
    /// The `id` of the wish it answers.
    pub tool_use_id: String,
    /// The tool failed, and `content` says why.
    pub is_error: Option<bool>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<MetaObject>,
    /// What the tool said for programs.
    pub structured_content: Option<Json>,
    /// All other members.
    pub extra: Extra,
}

impl ToolResultContent {
    /// With what every revision requires, and nothing else.
    pub fn new(content: Vec<ContentBlock>, tool_use_id: impl Into<String>) -> Self {
        Self {
            content,
            tool_use_id: tool_use_id.into(),
            is_error: Default::default(),
            meta: Default::default(),
            structured_content: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ToolResultContent in 0b11000 {
    constant "type" = "\"tool_result\"" in 0b11000 / 0b11000;
    required content: "content" in 0b11000 / 0b11000;
    required tool_use_id: "toolUseId" in 0b11000 / 0b11000;
    optional is_error: "isError" in 0b11000 / 0b00000;
    optional meta: "_meta" in 0b11000 / 0b00000;
    any structured_content: "structuredContent" in 0b11000 / 0b00000;
} }

/// A model's wish to call a tool. Since 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolUseContent {
    /// What the result names it by.
    pub id: String,
    /// For programs: what requests name it by.
    pub name: String,
    /// The arguments, as text.
    pub input: JsonObject,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ToolUseContent {
    /// With what every revision requires, and nothing else.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: JsonObject) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input,
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ToolUseContent in 0b11000 {
    constant "type" = "\"tool_use\"" in 0b11000 / 0b11000;
    required id: "id" in 0b11000 / 0b11000;
    required name: "name" in 0b11000 / 0b11000;
    required input: "input" in 0b11000 / 0b11000;
    optional meta: "_meta" in 0b11000 / 0b00000;
} }
