// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! Resources and templates: their lists, what they contain.

use super::super::info;
use super::super::*;

/// The request `resources/templates/list`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListResourceTemplatesRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: Option<PaginatedRequestParams>,
    /// All other members.
    pub extra: Extra,
}

impl ListResourceTemplatesRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId) -> Self {
        Self {
            id,
            params: Default::default(),
            extra: Extra::default(),
        }
    }
}

impl info::Request for ListResourceTemplatesRequest {
    const METHOD: &'static str = "resources/templates/list";
    type Params = PaginatedRequestParams;
    type Result = ListResourceTemplatesResult;
}

object! { ListResourceTemplatesRequest in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"resources/templates/list\"" in 0b11111 / 0b11111;
    required id: "id" in 0b11111 / 0b11111;
    optional params: "params" in 0b11111 / 0b10000;
} }

/// The result of `resources/templates/list`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListResourceTemplatesResult {
    /// One page of the list.
    pub resource_templates: Vec<ResourceTemplate>,
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

impl ListResourceTemplatesResult {
    /// With what every revision requires, and nothing else.
    pub fn new(resource_templates: Vec<ResourceTemplate>) -> Self {
        Self {
            resource_templates,
            cache_scope: Default::default(),
            next_cursor: Default::default(),
            result_type: Default::default(),
            ttl_ms: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ListResourceTemplatesResult in 0b11111 {
    required resource_templates: "resourceTemplates" in 0b11111 / 0b11111;
    optional cache_scope: "cacheScope" in 0b10000 / 0b10000;
    optional next_cursor: "nextCursor" in 0b11111 / 0b00000;
    optional result_type: "resultType" in 0b10000 / 0b10000;
    optional ttl_ms: "ttlMs" in 0b10000 / 0b10000;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// The response with the result of `resources/templates/list`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListResourceTemplatesResultResponse {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The result of the message.
    pub result: ListResourceTemplatesResult,
    /// All other members.
    pub extra: Extra,
}

impl ListResourceTemplatesResultResponse {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, result: ListResourceTemplatesResult) -> Self {
        Self {
            id,
            result,
            extra: Extra::default(),
        }
    }
}

object! { ListResourceTemplatesResultResponse in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required id: "id" in 0b10000 / 0b10000;
    required result: "result" in 0b10000 / 0b10000;
} }

/// The request `resources/list`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListResourcesRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: Option<PaginatedRequestParams>,
    /// All other members.
    pub extra: Extra,
}

impl ListResourcesRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId) -> Self {
        Self {
            id,
            params: Default::default(),
            extra: Extra::default(),
        }
    }
}

impl info::Request for ListResourcesRequest {
    const METHOD: &'static str = "resources/list";
    type Params = PaginatedRequestParams;
    type Result = ListResourcesResult;
}

object! { ListResourcesRequest in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"resources/list\"" in 0b11111 / 0b11111;
    required id: "id" in 0b11111 / 0b11111;
    optional params: "params" in 0b11111 / 0b10000;
} }

/// The result of `resources/list`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListResourcesResult {
    /// One page of the list.
    pub resources: Vec<Resource>,
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

impl ListResourcesResult {
    /// With what every revision requires, and nothing else.
    pub fn new(resources: Vec<Resource>) -> Self {
        Self {
            resources,
            cache_scope: Default::default(),
            next_cursor: Default::default(),
            result_type: Default::default(),
            ttl_ms: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ListResourcesResult in 0b11111 {
    required resources: "resources" in 0b11111 / 0b11111;
    optional cache_scope: "cacheScope" in 0b10000 / 0b10000;
    optional next_cursor: "nextCursor" in 0b11111 / 0b00000;
    optional result_type: "resultType" in 0b10000 / 0b10000;
    optional ttl_ms: "ttlMs" in 0b10000 / 0b10000;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// The response with the result of `resources/list`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListResourcesResultResponse {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The result of the message.
    pub result: ListResourcesResult,
    /// All other members.
    pub extra: Extra,
}

impl ListResourcesResultResponse {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, result: ListResourcesResult) -> Self {
        Self {
            id,
            result,
            extra: Extra::default(),
        }
    }
}

object! { ListResourcesResultResponse in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required id: "id" in 0b10000 / 0b10000;
    required result: "result" in 0b10000 / 0b10000;
} }

/// The request `resources/read`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadResourceRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: ReadResourceRequestParams,
    /// All other members.
    pub extra: Extra,
}

impl ReadResourceRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: ReadResourceRequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for ReadResourceRequest {
    const METHOD: &'static str = "resources/read";
    type Params = ReadResourceRequestParams;
    type Result = ReadResourceResult;
}

object! { ReadResourceRequest in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"resources/read\"" in 0b11111 / 0b11111;
    required id: "id" in 0b11111 / 0b11111;
    required params: "params" in 0b11111 / 0b11111;
} }

/// The parameters of `resources/read`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadResourceRequestParams {
    /// What the resource is known by.
    pub uri: String,
    /// Answers to the questions of the round before. Only in 2026-07-28.
    pub input_responses: Option<InputResponses>,
    /// The server's own notes: send them back as they are. Only in 2026-07-28.
    pub request_state: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ReadResourceRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            input_responses: Default::default(),
            request_state: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ReadResourceRequestParams in 0b11111 {
    required uri: "uri" in 0b11111 / 0b11111;
    optional input_responses: "inputResponses" in 0b10000 / 0b00000;
    optional request_state: "requestState" in 0b10000 / 0b00000;
    optional meta: "_meta" in 0b11111 / 0b10000;
} }

/// The result of `resources/read`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// What was read; more than one entry if the URI stands for several.
    pub contents: Vec<ResourceContents>,
    /// Who may be served from a cache. Only in 2026-07-28.
    pub cache_scope: Option<CacheScope>,
    /// Whether this is the result; complete if absent. Only in 2026-07-28.
    pub result_type: Option<ResultType>,
    /// How long the result stays fresh, in milliseconds. Only in 2026-07-28.
    pub ttl_ms: Option<Number>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<ResultMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ReadResourceResult {
    /// With what every revision requires, and nothing else.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self {
            contents,
            cache_scope: Default::default(),
            result_type: Default::default(),
            ttl_ms: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ReadResourceResult in 0b11111 {
    required contents: "contents" in 0b11111 / 0b11111;
    optional cache_scope: "cacheScope" in 0b10000 / 0b10000;
    optional result_type: "resultType" in 0b10000 / 0b10000;
    optional ttl_ms: "ttlMs" in 0b10000 / 0b10000;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// The response with the result of `resources/read`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadResourceResultResponse {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The result of the message.
    pub result: Outcome<ReadResourceResult>,
    /// All other members.
    pub extra: Extra,
}

impl ReadResourceResultResponse {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, result: Outcome<ReadResourceResult>) -> Self {
        Self {
            id,
            result,
            extra: Extra::default(),
        }
    }
}

object! { ReadResourceResultResponse in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required id: "id" in 0b10000 / 0b10000;
    required result: "result" in 0b10000 / 0b10000;
} }

/// A resource that a server offers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Resource {
    /// For programs: what requests name it by.
    pub name: String,
    /// What the resource is known by.
    pub uri: String,
    /// For people. Since 2025-06-18.
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
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Since 2025-06-18.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl Resource {
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

object! { Resource in 0b11111 {
    required name: "name" in 0b11111 / 0b11111;
    required uri: "uri" in 0b11111 / 0b11111;
    optional title: "title" in 0b11100 / 0b00000;
    optional description: "description" in 0b11111 / 0b00000;
    optional annotations: "annotations" in 0b11111 / 0b00000;
    optional icons: "icons" in 0b11000 / 0b00000;
    optional mime_type: "mimeType" in 0b11111 / 0b00000;
    optional size: "size" in 0b11111 / 0b00000;
    optional meta: "_meta" in 0b11100 / 0b00000;
} }

/// Resources whose URIs follow a pattern.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// For programs: what requests name it by.
    pub name: String,
    /// A pattern after RFC 6570.
    pub uri_template: String,
    /// For people. Since 2025-06-18.
    pub title: Option<String>,
    /// What it is and when to use it.
    pub description: Option<String>,
    /// Hints for whoever shows or uses it.
    pub annotations: Option<Annotations>,
    /// Pictures to show beside it. Since 2025-11-25.
    pub icons: Option<Vec<Icon>>,
    /// The media type, for example `text/plain`.
    pub mime_type: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Since 2025-06-18.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ResourceTemplate {
    /// With what every revision requires, and nothing else.
    pub fn new(name: impl Into<String>, uri_template: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            uri_template: uri_template.into(),
            title: Default::default(),
            description: Default::default(),
            annotations: Default::default(),
            icons: Default::default(),
            mime_type: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ResourceTemplate in 0b11111 {
    required name: "name" in 0b11111 / 0b11111;
    required uri_template: "uriTemplate" in 0b11111 / 0b11111;
    optional title: "title" in 0b11100 / 0b00000;
    optional description: "description" in 0b11111 / 0b00000;
    optional annotations: "annotations" in 0b11111 / 0b00000;
    optional icons: "icons" in 0b11000 / 0b00000;
    optional mime_type: "mimeType" in 0b11111 / 0b00000;
    optional meta: "_meta" in 0b11100 / 0b00000;
} }

/// A resource template, by its URI pattern. `ResourceReference` in the two oldest revisions.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResourceTemplateReference {
    /// What the resource is known by.
    pub uri: String,
    /// All other members.
    pub extra: Extra,
}

impl ResourceTemplateReference {
    /// With what every revision requires, and nothing else.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            extra: Extra::default(),
        }
    }
}

object! { ResourceTemplateReference in 0b11111 {
    constant "type" = "\"ref/resource\"" in 0b11111 / 0b11111;
    required uri: "uri" in 0b11111 / 0b11111;
} }
