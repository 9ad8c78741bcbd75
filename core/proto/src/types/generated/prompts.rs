// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! Prompts: their list, what they say.

use super::super::info;
use super::super::*;

/// The request `prompts/get`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetPromptRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: GetPromptRequestParams,
    /// All other members.
    pub extra: Extra,
}

impl GetPromptRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: GetPromptRequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for GetPromptRequest {
    const METHOD: &'static str = "prompts/get";
    type Params = GetPromptRequestParams;
    type Result = GetPromptResult;
}

object! { GetPromptRequest in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"prompts/get\"" in 0b11111 / 0b11111;
    required id: "id" in 0b11111 / 0b11111;
    required params: "params" in 0b11111 / 0b11111;
} }

/// The parameters of `prompts/get`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetPromptRequestParams {
    /// Which prompt.
    pub name: String,
    /// By name.
    pub arguments: Option<Map<String>>,
    /// Answers to the questions of the round before. Only in 2026-07-28.
    pub input_responses: Option<InputResponses>,
    /// The server's own notes: send them back as they are. Only in 2026-07-28.
    pub request_state: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl GetPromptRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: Default::default(),
            input_responses: Default::default(),
            request_state: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { GetPromptRequestParams in 0b11111 {
    required name: "name" in 0b11111 / 0b11111;
    optional arguments: "arguments" in 0b11111 / 0b00000;
    optional input_responses: "inputResponses" in 0b10000 / 0b00000;
    optional request_state: "requestState" in 0b10000 / 0b00000;
    optional meta: "_meta" in 0b11111 / 0b10000;
} }

/// The result of `prompts/get`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// In the order they were said.
    pub messages: Vec<PromptMessage>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// Whether this is the result; complete if absent. Only in 2026-07-28.
    pub result_type: Option<ResultType>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<ResultMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl GetPromptResult {
    /// With what every revision requires, and nothing else.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self {
            messages,
            description: Default::default(),
            result_type: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { GetPromptResult in 0b11111 {
    required messages: "messages" in 0b11111 / 0b11111;
    optional description: "description" in 0b11111 / 0b00000;
    optional result_type: "resultType" in 0b10000 / 0b10000;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// The response with the result of `prompts/get`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetPromptResultResponse {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The result of the message.
    pub result: Outcome<GetPromptResult>,
    /// All other members.
    pub extra: Extra,
}

impl GetPromptResultResponse {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, result: Outcome<GetPromptResult>) -> Self {
        Self {
            id,
            result,
            extra: Extra::default(),
        }
    }
}

object! { GetPromptResultResponse in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required id: "id" in 0b10000 / 0b10000;
    required result: "result" in 0b10000 / 0b10000;
} }

/// The request `prompts/list`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListPromptsRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: Option<PaginatedRequestParams>,
    /// All other members.
    pub extra: Extra,
}

impl ListPromptsRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId) -> Self {
        Self {
            id,
            params: Default::default(),
            extra: Extra::default(),
        }
    }
}

impl info::Request for ListPromptsRequest {
    const METHOD: &'static str = "prompts/list";
    type Params = PaginatedRequestParams;
    type Result = ListPromptsResult;
}

object! { ListPromptsRequest in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"prompts/list\"" in 0b11111 / 0b11111;
    required id: "id" in 0b11111 / 0b11111;
    optional params: "params" in 0b11111 / 0b10000;
} }

/// The result of `prompts/list`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListPromptsResult {
    /// One page of the list.
    pub prompts: Vec<Prompt>,
    /// Who may be served from a cache. Only in 2026-07-28.
    pub cache_scope: Option<CacheScope>,
    /// Where the next page begins; absent on the last one.
    pub next_cursor: Option<String>,
    /// Whether this is the result; complete if absent. Only in 2026-07-28.
    pub result_type: Option<ResultType>,
    /// How long the result stays fresh, in milliseconds. Only in 2026-07-28.
    pub ttl_ms: Option<Number>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<ResultMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ListPromptsResult {
    /// With what every revision requires, and nothing else.
    pub fn new(prompts: Vec<Prompt>) -> Self {
        Self {
            prompts,
            cache_scope: Default::default(),
            next_cursor: Default::default(),
            result_type: Default::default(),
            ttl_ms: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ListPromptsResult in 0b11111 {
    required prompts: "prompts" in 0b11111 / 0b11111;
    optional cache_scope: "cacheScope" in 0b10000 / 0b10000;
    optional next_cursor: "nextCursor" in 0b11111 / 0b00000;
    optional result_type: "resultType" in 0b10000 / 0b10000;
    optional ttl_ms: "ttlMs" in 0b10000 / 0b10000;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// The response with the result of `prompts/list`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListPromptsResultResponse {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The result of the message.
    pub result: ListPromptsResult,
    /// All other members.
    pub extra: Extra,
}

impl ListPromptsResultResponse {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, result: ListPromptsResult) -> Self {
        Self {
            id,
            result,
            extra: Extra::default(),
        }
    }
}

object! { ListPromptsResultResponse in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required id: "id" in 0b10000 / 0b10000;
    required result: "result" in 0b10000 / 0b10000;
} }

/// A prompt that a server offers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prompt {
    /// For programs: what requests name it by.
    pub name: String,
    /// For people. Since 2025-06-18.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// By name.
    pub arguments: Option<Vec<PromptArgument>>,
    /// Pictures to show beside it. Since 2025-11-25.
    pub icons: Option<Vec<Icon>>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Since 2025-06-18.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl Prompt {
    /// With what every revision requires, and nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: Default::default(),
            description: Default::default(),
            arguments: Default::default(),
            icons: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { Prompt in 0b11111 {
    required name: "name" in 0b11111 / 0b11111;
    optional title: "title" in 0b11100 / 0b00000;
    optional description: "description" in 0b11111 / 0b00000;
    optional arguments: "arguments" in 0b11111 / 0b00000;
    optional icons: "icons" in 0b11000 / 0b00000;
    optional meta: "_meta" in 0b11100 / 0b00000;
} }

/// An argument of a prompt.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PromptArgument {
    /// For programs: what requests name it by.
    pub name: String,
    /// For people. Since 2025-06-18.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// It cannot be left out.
    pub required: Option<bool>,
    /// All other members.
    pub extra: Extra,
}

impl PromptArgument {
    /// With what every revision requires, and nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: Default::default(),
            description: Default::default(),
            required: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { PromptArgument in 0b11111 {
    required name: "name" in 0b11111 / 0b11111;
    optional title: "title" in 0b11100 / 0b00000;
    optional description: "description" in 0b11111 / 0b00000;
    optional required: "required" in 0b11111 / 0b00000;
} }

/// A message of a prompt.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who speaks.
    pub role: Role,
    /// What it says.
    pub content: ContentBlock,
    /// All other members.
    pub extra: Extra,
}

impl PromptMessage {
    /// With what every revision requires, and nothing else.
    pub fn new(role: Role, content: ContentBlock) -> Self {
        Self {
            role,
            content,
            extra: Extra::default(),
        }
    }
}

object! { PromptMessage in 0b11111 {
    required role: "role" in 0b11111 / 0b11111;
    required content: "content" in 0b11111 / 0b11111;
} }
