// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! Tools: their list, their calls.

use super::super::info;
use super::super::*;

/// The request `tools/call`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallToolRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: CallToolRequestParams,
    /// All other members.
    pub extra: Extra,
}

impl CallToolRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: CallToolRequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for CallToolRequest {
    const METHOD: &'static str = "tools/call";
    type Params = CallToolRequestParams;
    type Result = CallToolResult;
}

object! { CallToolRequest in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"tools/call\"" in 0b11111 / 0b11111;
    required id: "id" in 0b11111 / 0b11111;
    required params: "params" in 0b11111 / 0b11111;
} }

/// The parameters of `tools/call`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallToolRequestParams {
    /// Which tool.
    pub name: String,
    /// By name.
    pub arguments: Option<JsonObject>,
    /// Answers to the questions of the round before. Only in 2026-07-28.
    pub input_responses: Option<InputResponses>,
    /// The server's own notes: send them back as they are. Only in 2026-07-28.
    pub request_state: Option<String>,
    /// Asks that this become a task, or says which task it became. Only in 2025-11-25.
    pub task: Option<TaskMetadata>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl CallToolRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: Default::default(),
            input_responses: Default::default(),
            request_state: Default::default(),
            task: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { CallToolRequestParams in 0b11111 {
    required name: "name" in 0b11111 / 0b11111;
    optional arguments: "arguments" in 0b11111 / 0b00000;
    optional input_responses: "inputResponses" in 0b10000 / 0b00000;
    optional request_state: "requestState" in 0b10000 / 0b00000;
    optional task: "task" in 0b01000 / 0b00000;
    optional meta: "_meta" in 0b11111 / 0b10000;
} }

/// What a tool said. A tool that failed says so here, with `isError`, so that a model can read why.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CallToolResult {
    /// What it says. Empty if a peer left it out.
    pub content: Vec<ContentBlock>,
    /// The tool failed, and `content` says why.
    pub is_error: Option<bool>,
    /// Whether this is the result; complete if absent. Only in 2026-07-28.
    pub result_type: Option<ResultType>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<ResultMetaObject>,
    /// For programs; fits the tool's output schema if it has one. An object before 2026-07-28. Since 2025-06-18.
    pub structured_content: Option<Json>,
    /// All other members.
    pub extra: Extra,
}

object! { CallToolResult in 0b11111 {
    defaulted content: "content" in 0b11111 / 0b11111;
    optional is_error: "isError" in 0b11111 / 0b00000;
    optional result_type: "resultType" in 0b10000 / 0b10000;
    optional meta: "_meta" in 0b11111 / 0b00000;
    any structured_content: "structuredContent" in 0b11100 / 0b00000;
} }

/// The response with the result of `tools/call`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallToolResultResponse {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The result of the message.
    pub result: Outcome<CallToolResult>,
    /// All other members.
    pub extra: Extra,
}

impl CallToolResultResponse {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, result: Outcome<CallToolResult>) -> Self {
        Self {
            id,
            result,
            extra: Extra::default(),
        }
    }
}

object! { CallToolResultResponse in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required id: "id" in 0b10000 / 0b10000;
    required result: "result" in 0b10000 / 0b10000;
} }

/// The request `tools/list`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListToolsRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: Option<PaginatedRequestParams>,
    /// All other members.
    pub extra: Extra,
}

impl ListToolsRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId) -> Self {
        Self {
            id,
            params: Default::default(),
            extra: Extra::default(),
        }
    }
}

impl info::Request for ListToolsRequest {
    const METHOD: &'static str = "tools/list";
    type Params = PaginatedRequestParams;
    type Result = ListToolsResult;
}

object! { ListToolsRequest in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"tools/list\"" in 0b11111 / 0b11111;
    required id: "id" in 0b11111 / 0b11111;
    optional params: "params" in 0b11111 / 0b10000;
} }

/// The result of `tools/list`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListToolsResult {
    /// One page of the list.
    pub tools: Vec<Tool>,
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

impl ListToolsResult {
    /// With what every revision requires, and nothing else.
    pub fn new(tools: Vec<Tool>) -> Self {
        Self {
            tools,
            cache_scope: Default::default(),
            next_cursor: Default::default(),
            result_type: Default::default(),
            ttl_ms: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ListToolsResult in 0b11111 {
    required tools: "tools" in 0b11111 / 0b11111;
    optional cache_scope: "cacheScope" in 0b10000 / 0b10000;
    optional next_cursor: "nextCursor" in 0b11111 / 0b00000;
    optional result_type: "resultType" in 0b10000 / 0b10000;
    optional ttl_ms: "ttlMs" in 0b10000 / 0b10000;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// The response with the result of `tools/list`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListToolsResultResponse {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The result of the message.
    pub result: ListToolsResult,
    /// All other members.
    pub extra: Extra,
}

impl ListToolsResultResponse {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, result: ListToolsResult) -> Self {
        Self {
            id,
            result,
            extra: Extra::default(),
        }
    }
}

object! { ListToolsResultResponse in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required id: "id" in 0b10000 / 0b10000;
    required result: "result" in 0b10000 / 0b10000;
} }

/// A tool that a server offers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tool {
    /// For programs: what requests name it by.
    pub name: String,
    /// The JSON Schema of its arguments, as text.
    pub input_schema: JsonObject,
    /// For people. Since 2025-06-18.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// Hints for whoever shows or uses it. Since 2025-03-26.
    pub annotations: Option<ToolAnnotations>,
    /// How it can be run. Only in 2025-11-25.
    pub execution: Option<ToolExecution>,
    /// Pictures to show beside it. Since 2025-11-25.
    pub icons: Option<Vec<Icon>>,
    /// The JSON Schema of its structured content, as text. Since 2025-06-18.
    pub output_schema: Option<JsonObject>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Since 2025-06-18.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl Tool {
    /// With what every revision requires, and nothing else.
    pub fn new(name: impl Into<String>, input_schema: JsonObject) -> Self {
        Self {
            name: name.into(),
            input_schema,
            title: Default::default(),
            description: Default::default(),
            annotations: Default::default(),
            execution: Default::default(),
            icons: Default::default(),
            output_schema: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { Tool in 0b11111 {
    required name: "name" in 0b11111 / 0b11111;
    required input_schema: "inputSchema" in 0b11111 / 0b11111;
    optional title: "title" in 0b11100 / 0b00000;
    optional description: "description" in 0b11111 / 0b00000;
    optional annotations: "annotations" in 0b11110 / 0b00000;
    optional execution: "execution" in 0b01000 / 0b00000;
    optional icons: "icons" in 0b11000 / 0b00000;
    optional output_schema: "outputSchema" in 0b11100 / 0b00000;
    optional meta: "_meta" in 0b11100 / 0b00000;
} }

/// Hints about what a tool does. They come from the server: trust them as far as you trust it. Since 2025-03-26.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// For people.
    pub title: Option<String>,
    /// It may destroy something. True if absent.
    pub destructive_hint: Option<bool>,
    /// A second call with the same arguments changes nothing more. False if absent.
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond the server. True if absent.
    pub open_world_hint: Option<bool>,
    /// It changes nothing. False if absent.
    pub read_only_hint: Option<bool>,
    /// All other members.
    pub extra: Extra,
}

object! { ToolAnnotations in 0b11110 {
    optional title: "title" in 0b11110 / 0b00000;
    optional destructive_hint: "destructiveHint" in 0b11110 / 0b00000;
    optional idempotent_hint: "idempotentHint" in 0b11110 / 0b00000;
    optional open_world_hint: "openWorldHint" in 0b11110 / 0b00000;
    optional read_only_hint: "readOnlyHint" in 0b11110 / 0b00000;
} }

/// How a tool can be run. Only in 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether it runs as a task.
    pub task_support: Option<TaskSupport>,
    /// All other members.
    pub extra: Extra,
}

object! { ToolExecution in 0b01000 {
    optional task_support: "taskSupport" in 0b01000 / 0b00000;
} }
