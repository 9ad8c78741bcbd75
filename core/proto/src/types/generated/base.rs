// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! What the other types are made of.

use super::super::info;
use super::super::*;

/// Hints about who something is for and how much it matters.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Annotations {
    /// Who it is for.
    pub audience: Option<Vec<Role>>,
    /// An ISO 8601 time. Since 2025-06-18.
    pub last_modified: Option<String>,
    /// How much it matters, from 0 to 1.
    pub priority: Option<Number>,
    /// All other members.
    pub extra: Extra,
}

object! { Annotations in 0b11111 {
    optional audience: "audience" in 0b11111 / 0b00000;
    optional last_modified: "lastModified" in 0b11100 / 0b00000;
    optional priority: "priority" in 0b11111 / 0b00000;
} }

/// Who may be served from a cache. Only in 2026-07-28.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CacheScope {
    /// `private`
    Private,
    /// `public`
    Public,
    /// A value that is not known here.
    Other(String),
}

strings! { CacheScope {
    Private = "private",
    Public = "public",
} }

/// A place in a list, made by the server and read by nobody else.
pub type Cursor = String;

/// A result without members of its own.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EmptyResult {
    /// Whether this is the result; complete if absent. Only in 2026-07-28.
    pub result_type: Option<ResultType>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<ResultMetaObject>,
    /// All other members.
    pub extra: Extra,
}

object! { EmptyResult in 0b11111 {
    optional result_type: "resultType" in 0b10000 / 0b10000;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// A picture that stands for something. Since 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: String,
    /// The media type, for example `text/plain`.
    pub mime_type: Option<String>,
    /// Such as `48x48`, or `any` for what scales.
    pub sizes: Option<Vec<String>>,
    /// The background it is made for.
    pub theme: Option<IconTheme>,
    /// All other members.
    pub extra: Extra,
}

impl Icon {
    /// With what every revision requires, and nothing else.
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            mime_type: Default::default(),
            sizes: Default::default(),
            theme: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { Icon in 0b11000 {
    required src: "src" in 0b11000 / 0b11000;
    optional mime_type: "mimeType" in 0b11000 / 0b00000;
    optional sizes: "sizes" in 0b11000 / 0b00000;
    optional theme: "theme" in 0b11000 / 0b00000;
} }

/// The background an icon is made for. Since 2025-11-25.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IconTheme {
    /// `dark`
    Dark,
    /// `light`
    Light,
    /// A value that is not known here.
    Other(String),
}

strings! { IconTheme {
    Dark = "dark",
    Light = "light",
} }

/// A program and its version.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Implementation {
    /// For programs: what requests name it by.
    pub name: String,
    /// The program's version.
    pub version: String,
    /// For people. Since 2025-06-18.
    pub title: Option<String>,
    /// What it is and when to use it. Since 2025-11-25.
    pub description: Option<String>,
    /// Pictures to show beside it. Since 2025-11-25.
    pub icons: Option<Vec<Icon>>,
    /// Where to read about it. Since 2025-11-25.
    pub website_url: Option<String>,
    /// All other members.
    pub extra: Extra,
}

impl Implementation {
    /// With what every revision requires, and nothing else.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            title: Default::default(),
            description: Default::default(),
            icons: Default::default(),
            website_url: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { Implementation in 0b11111 {
    required name: "name" in 0b11111 / 0b11111;
    required version: "version" in 0b11111 / 0b11111;
    optional title: "title" in 0b11100 / 0b00000;
    optional description: "description" in 0b11000 / 0b00000;
    optional icons: "icons" in 0b11000 / 0b00000;
    optional website_url: "websiteUrl" in 0b11000 / 0b00000;
} }

/// The version of JSON-RPC, `2.0`. Up to 2025-11-25.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct JsonRpcVersion;

constant! { JsonRpcVersion = "2.0" }

/// Members under `_meta`, named with a prefix by whoever defines them. Only in 2026-07-28.
pub type MetaObject = Map<Json>;

/// What a notification carries under `_meta`. Only in 2026-07-28.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NotificationMetaObject {
    /// `io.modelcontextprotocol/subscriptionId`: the id of the `subscriptions/listen` request it belongs to.
    pub subscription_id: Option<RequestId>,
    /// All other members.
    pub extra: Extra,
}

object! { NotificationMetaObject in 0b10000 {
    optional subscription_id: "io.modelcontextprotocol/subscriptionId" in 0b10000 / 0b00000;
} }

/// The parameters of notifications that have none of their own.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NotificationParams {
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<NotificationMetaObject>,
    /// All other members.
    pub extra: Extra,
}

object! { NotificationParams in 0b11111 {
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// The parameters of a list: which page.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PaginatedRequestParams {
    /// Where the page begins, from `nextCursor`; absent for the first page.
    pub cursor: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

object! { PaginatedRequestParams in 0b11111 {
    optional cursor: "cursor" in 0b11111 / 0b00000;
    optional meta: "_meta" in 0b11111 / 0b10000;
} }

/// What a request carries under `_meta`. In 2026-07-28 that is the revision and the client's capabilities too.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestMetaObject {
    /// `io.modelcontextprotocol/clientCapabilities`: what the client can do. Only in 2026-07-28.
    pub client_capabilities: Option<Box<ClientCapabilities>>,
    /// `io.modelcontextprotocol/clientInfo`: the client's program. Only in 2026-07-28.
    pub client_info: Option<Box<Implementation>>,
    /// `io.modelcontextprotocol/logLevel`: the lowest level of log messages wanted for this request. Only in
    /// 2026-07-28.
    pub log_level: Option<LoggingLevel>,
    /// `io.modelcontextprotocol/protocolVersion`: the revision the request speaks. Only in 2026-07-28.
    pub protocol_version: Option<String>,
    /// Asks for progress messages, which carry this token.
    pub progress_token: Option<ProgressToken>,
    /// All other members.
    pub extra: Extra,
}

object! { RequestMetaObject in 0b11111 {
    optional client_capabilities: "io.modelcontextprotocol/clientCapabilities" in 0b10000 / 0b10000;
    optional client_info: "io.modelcontextprotocol/clientInfo" in 0b10000 / 0b00000;
    optional log_level: "io.modelcontextprotocol/logLevel" in 0b10000 / 0b00000;
    optional protocol_version: "io.modelcontextprotocol/protocolVersion" in 0b10000 / 0b10000;
    optional progress_token: "progressToken" in 0b11111 / 0b00000;
} }

/// The parameters of requests that have none of their own.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestParams {
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

object! { RequestParams in 0b11111 {
    optional meta: "_meta" in 0b11111 / 0b10000;
} }

/// What a result carries under `_meta`. Only in 2026-07-28.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ResultMetaObject {
    /// `io.modelcontextprotocol/serverInfo`: the server's program.
    pub server_info: Option<Box<Implementation>>,
    /// All other members.
    pub extra: Extra,
}

object! { ResultMetaObject in 0b10000 {
    optional server_info: "io.modelcontextprotocol/serverInfo" in 0b10000 / 0b00000;
} }

/// Whether a result is the result. Only in 2026-07-28.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResultType {
    /// `complete`
    Complete,
    /// `input_required`
    InputRequired,
    /// A value that is not known here.
    Other(String),
}

strings! { ResultType {
    Complete = "complete",
    InputRequired = "input_required",
} }

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// `assistant`
    Assistant,
    /// `user`
    User,
    /// A value that is not known here.
    Other(String),
}

strings! { Role {
    Assistant = "assistant",
    User = "user",
} }

/// The request `resources/unsubscribe`. Up to 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnsubscribeRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: UnsubscribeRequestParams,
    /// All other members.
    pub extra: Extra,
}

impl UnsubscribeRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: UnsubscribeRequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for UnsubscribeRequest {
    const METHOD: &'static str = "resources/unsubscribe";
    type Params = UnsubscribeRequestParams;
    type Result = EmptyResult;
}

object! { UnsubscribeRequest in 0b01111 {
    constant "jsonrpc" = "\"2.0\"" in 0b01111 / 0b01111;
    constant "method" = "\"resources/unsubscribe\"" in 0b01111 / 0b01111;
    required id: "id" in 0b01111 / 0b01111;
    required params: "params" in 0b01111 / 0b01111;
} }

/// The parameters of `resources/unsubscribe`. Up to 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnsubscribeRequestParams {
    /// What the resource is known by.
    pub uri: String,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl UnsubscribeRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { UnsubscribeRequestParams in 0b01111 {
    required uri: "uri" in 0b01111 / 0b01111;
    optional meta: "_meta" in 0b01111 / 0b00000;
} }
