// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! Questions to the client's model.

use super::super::info;
use super::super::*;

/// The request `sampling/createMessage`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CreateMessageRequest {
    /// The parameters of the message.
    pub params: CreateMessageRequestParams,
    /// The version of JSON-RPC; absent inside a result. Up to 2025-11-25.
    pub jsonrpc: Option<JsonRpcVersion>,
    /// The id of the request; its response has the same. Up to 2025-11-25.
    pub id: Option<RequestId>,
    /// All other members.
    pub extra: Extra,
}

impl CreateMessageRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(params: CreateMessageRequestParams) -> Self {
        Self {
            params,
            jsonrpc: Default::default(),
            id: Default::default(),
            extra: Extra::default(),
        }
    }
}

impl info::Request for CreateMessageRequest {
    const METHOD: &'static str = "sampling/createMessage";
    type Params = CreateMessageRequestParams;
    type Result = CreateMessageResult;
}

object! { CreateMessageRequest in 0b11111 {
    constant "method" = "\"sampling/createMessage\"" in 0b11111 / 0b11111;
    required params: "params" in 0b11111 / 0b11111;
    optional jsonrpc: "jsonrpc" in 0b01111 / 0b01111;
    optional id: "id" in 0b01111 / 0b01111;
} }

/// The parameters of `sampling/createMessage`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CreateMessageRequestParams {
    /// The most tokens the model may write.
    pub max_tokens: Number,
    /// In the order they were said.
    pub messages: Vec<SamplingMessage>,
    /// Which servers' context the model sees.
    pub include_context: Option<IncludeContext>,
    /// For the model's provider.
    pub metadata: Option<JsonObject>,
    /// Which model would do.
    pub model_preferences: Option<ModelPreferences>,
    /// Texts at which the model stops.
    pub stop_sequences: Option<Vec<String>>,
    /// What the model is told first.
    pub system_prompt: Option<String>,
    /// Asks that this become a task, or says which task it became. Only in 2025-11-25.
    pub task: Option<TaskMetadata>,
    /// How free the model is.
    pub temperature: Option<Number>,
    /// Whether the model may or must use tools. Since 2025-11-25.
    pub tool_choice: Option<ToolChoice>,
    /// What the model may call. Since 2025-11-25.
    pub tools: Option<Vec<Tool>>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Up to 2025-11-25.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl CreateMessageRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(max_tokens: impl Into<Number>, messages: Vec<SamplingMessage>) -> Self {
        Self {
            max_tokens: max_tokens.into(),
            messages,
            include_context: Default::default(),
            metadata: Default::default(),
            model_preferences: Default::default(),
            stop_sequences: Default::default(),
            system_prompt: Default::default(),
            task: Default::default(),
            temperature: Default::default(),
            tool_choice: Default::default(),
            tools: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { CreateMessageRequestParams in 0b11111 {
    required max_tokens: "maxTokens" in 0b11111 / 0b11111;
    required messages: "messages" in 0b11111 / 0b11111;
    optional include_context: "includeContext" in 0b11111 / 0b00000;
    optional metadata: "metadata" in 0b11111 / 0b00000;
    optional model_preferences: "modelPreferences" in 0b11111 / 0b00000;
    optional stop_sequences: "stopSequences" in 0b11111 / 0b00000;
    optional system_prompt: "systemPrompt" in 0b11111 / 0b00000;
    optional task: "task" in 0b01000 / 0b00000;
    optional temperature: "temperature" in 0b11111 / 0b00000;
    optional tool_choice: "toolChoice" in 0b11000 / 0b00000;
    optional tools: "tools" in 0b11000 / 0b00000;
    optional meta: "_meta" in 0b01111 / 0b00000;
} }

/// What the client's model answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// Who speaks.
    pub role: Role,
    /// What it says.
    pub content: OneOrMany<SamplingMessageContentBlock>,
    /// The model that answered.
    pub model: String,
    /// Why the model stopped, for example `endTurn`.
    pub stop_reason: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl CreateMessageResult {
    /// With what every revision requires, and nothing else.
    pub fn new(
        role: Role,
        content: impl Into<OneOrMany<SamplingMessageContentBlock>>,
        model: impl Into<String>,
    ) -> Self {
        Self {
            role,
            content: content.into(),
            model: model.into(),
            stop_reason: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { CreateMessageResult in 0b11111 {
    required role: "role" in 0b11111 / 0b11111;
    required content: "content" in 0b11111 / 0b11111;
    required model: "model" in 0b11111 / 0b11111;
    optional stop_reason: "stopReason" in 0b11111 / 0b00000;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// Which servers' context the model sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IncludeContext {
    /// `allServers`
    AllServers,
    /// `none`
    None,
    /// `thisServer`
    ThisServer,
    /// A value that is not known here.
    Other(String),
}

strings! { IncludeContext {
    AllServers = "allServers",
    None = "none",
    ThisServer = "thisServer",
} }

/// A name, or a part of one, of a model that would do.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ModelHint {
    /// For programs: what requests name it by.
    pub name: Option<String>,
    /// All other members.
    pub extra: Extra,
}

object! { ModelHint in 0b11111 {
    optional name: "name" in 0b11111 / 0b00000;
} }

/// What matters in the choice of a model.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ModelPreferences {
    /// How much low cost matters, from 0 to 1.
    pub cost_priority: Option<Number>,
    /// Models that would do, the best first.
    pub hints: Option<Vec<ModelHint>>,
    /// How much ability matters, from 0 to 1.
    pub intelligence_priority: Option<Number>,
    /// How much speed matters, from 0 to 1.
    pub speed_priority: Option<Number>,
    /// All other members.
    pub extra: Extra,
}

object! { ModelPreferences in 0b11111 {
    optional cost_priority: "costPriority" in 0b11111 / 0b00000;
    optional hints: "hints" in 0b11111 / 0b00000;
    optional intelligence_priority: "intelligencePriority" in 0b11111 / 0b00000;
    optional speed_priority: "speedPriority" in 0b11111 / 0b00000;
} }

/// A message of a conversation with the client's model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Who speaks.
    pub role: Role,
    /// What it says.
    pub content: OneOrMany<SamplingMessageContentBlock>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Since 2025-11-25.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl SamplingMessage {
    /// With what every revision requires, and nothing else.
    pub fn new(role: Role, content: impl Into<OneOrMany<SamplingMessageContentBlock>>) -> Self {
        Self {
            role,
            content: content.into(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { SamplingMessage in 0b11111 {
    required role: "role" in 0b11111 / 0b11111;
    required content: "content" in 0b11111 / 0b11111;
    optional meta: "_meta" in 0b11000 / 0b00000;
} }

/// A piece of a message to or from a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "a box would be in the way of every match")]
pub enum SamplingMessageContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// Sound. Since 2025-03-26.
    Audio(AudioContent),
    /// A model's wish to call a tool. Since 2025-11-25.
    ToolUse(ToolUseContent),
    /// What a tool said, told to a model. Since 2025-11-25.
    ToolResult(ToolResultContent),
    /// Of a kind that is not known here, or not whole: as it came.
    Unknown(Json),
}

union! { SamplingMessageContentBlock {
    ToolUse(ToolUseContent): "id", "input", "name", "type" = "\"tool_use\"";
    Image(ImageContent): "data", "mimeType", "type" = "\"image\"";
    Audio(AudioContent): "data", "mimeType", "type" = "\"audio\"";
    ToolResult(ToolResultContent): "content", "toolUseId", "type" = "\"tool_result\"";
    Text(TextContent): "text", "type" = "\"text\"";
} }

/// Whether the model may or must use tools. Since 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ToolChoice {
    /// `form` or `url`; a form if absent.
    pub mode: Option<ToolChoiceMode>,
    /// All other members.
    pub extra: Extra,
}

object! { ToolChoice in 0b11000 {
    optional mode: "mode" in 0b11000 / 0b00000;
} }

/// Whether the model calls tools. Since 2025-11-25.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolChoiceMode {
    /// `auto`
    Auto,
    /// `none`
    None,
    /// `required`
    Required,
    /// A value that is not known here.
    Other(String),
}

strings! { ToolChoiceMode {
    Auto = "auto",
    None = "none",
    Required = "required",
} }
