// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! How two sides meet, and how requests end early.

use super::super::info;
use super::super::*;

/// The notification `notifications/cancelled`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CancelledNotification {
    /// The parameters of the message.
    pub params: CancelledNotificationParams,
    /// All other members.
    pub extra: Extra,
}

impl CancelledNotification {
    /// With what every revision requires, and nothing else.
    pub fn new(params: CancelledNotificationParams) -> Self {
        Self {
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Notification for CancelledNotification {
    const METHOD: &'static str = "notifications/cancelled";
    type Params = CancelledNotificationParams;
}

object! { CancelledNotification in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"notifications/cancelled\"" in 0b11111 / 0b11111;
    required params: "params" in 0b11111 / 0b11111;
} }

/// The parameters of `notifications/cancelled`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CancelledNotificationParams {
    /// For people and logs.
    pub reason: Option<String>,
    /// The request to give up.
    pub request_id: Option<RequestId>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<NotificationMetaObject>,
    /// All other members.
    pub extra: Extra,
}

object! { CancelledNotificationParams in 0b11111 {
    optional reason: "reason" in 0b11111 / 0b00000;
    optional request_id: "requestId" in 0b11111 / 0b10111;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// The request `server/discover`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DiscoverRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: RequestParams,
    /// All other members.
    pub extra: Extra,
}

impl DiscoverRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: RequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for DiscoverRequest {
    const METHOD: &'static str = "server/discover";
    type Params = RequestParams;
    type Result = DiscoverResult;
}

object! { DiscoverRequest in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    constant "method" = "\"server/discover\"" in 0b10000 / 0b10000;
    required id: "id" in 0b10000 / 0b10000;
    required params: "params" in 0b10000 / 0b10000;
} }

/// What a server is and which revisions it speaks. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DiscoverResult {
    /// Who may be served from a cache.
    pub cache_scope: CacheScope,
    /// What the sender can do.
    pub capabilities: ServerCapabilities,
    /// Whether this is the result; complete if absent.
    pub result_type: ResultType,
    /// Revisions by name, the preferred one first.
    pub supported_versions: Vec<String>,
    /// How long the result stays fresh, in milliseconds.
    pub ttl_ms: Number,
    /// How to use the server, for a model.
    pub instructions: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<ResultMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl DiscoverResult {
    /// With what every revision requires, and nothing else.
    pub fn new(
        cache_scope: CacheScope,
        capabilities: ServerCapabilities,
        result_type: ResultType,
        supported_versions: Vec<String>,
        ttl_ms: impl Into<Number>,
    ) -> Self {
        Self {
            cache_scope,
            capabilities,
            result_type,
            supported_versions,
            ttl_ms: ttl_ms.into(),
            instructions: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { DiscoverResult in 0b10000 {
    required cache_scope: "cacheScope" in 0b10000 / 0b10000;
    required capabilities: "capabilities" in 0b10000 / 0b10000;
    required result_type: "resultType" in 0b10000 / 0b10000;
    required supported_versions: "supportedVersions" in 0b10000 / 0b10000;
    required ttl_ms: "ttlMs" in 0b10000 / 0b10000;
    optional instructions: "instructions" in 0b10000 / 0b00000;
    optional meta: "_meta" in 0b10000 / 0b00000;
} }

/// The response with the result of `server/discover`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DiscoverResultResponse {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The result of the message.
    pub result: DiscoverResult,
    /// All other members.
    pub extra: Extra,
}

impl DiscoverResultResponse {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, result: DiscoverResult) -> Self {
        Self {
            id,
            result,
            extra: Extra::default(),
        }
    }
}

object! { DiscoverResultResponse in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required id: "id" in 0b10000 / 0b10000;
    required result: "result" in 0b10000 / 0b10000;
} }

/// The request `initialize`. Up to 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InitializeRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: InitializeRequestParams,
    /// All other members.
    pub extra: Extra,
}

impl InitializeRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: InitializeRequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for InitializeRequest {
    const METHOD: &'static str = "initialize";
    type Params = InitializeRequestParams;
    type Result = InitializeResult;
}

object! { InitializeRequest in 0b01111 {
    constant "jsonrpc" = "\"2.0\"" in 0b01111 / 0b01111;
    constant "method" = "\"initialize\"" in 0b01111 / 0b01111;
    required id: "id" in 0b01111 / 0b01111;
    required params: "params" in 0b01111 / 0b01111;
} }

/// The parameters of `initialize`. Up to 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InitializeRequestParams {
    /// What the sender can do.
    pub capabilities: ClientCapabilities,
    /// The client's program.
    pub client_info: Implementation,
    /// The newest revision the client speaks.
    pub protocol_version: String,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl InitializeRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(
        capabilities: ClientCapabilities,
        client_info: Implementation,
        protocol_version: impl Into<String>,
    ) -> Self {
        Self {
            capabilities,
            client_info,
            protocol_version: protocol_version.into(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { InitializeRequestParams in 0b01111 {
    required capabilities: "capabilities" in 0b01111 / 0b01111;
    required client_info: "clientInfo" in 0b01111 / 0b01111;
    required protocol_version: "protocolVersion" in 0b01111 / 0b01111;
    optional meta: "_meta" in 0b01111 / 0b00000;
} }

/// The result of `initialize`. Up to 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InitializeResult {
    /// What the sender can do.
    pub capabilities: ServerCapabilities,
    /// The revision to speak from now on.
    pub protocol_version: String,
    /// The server's program.
    pub server_info: Implementation,
    /// How to use the server, for a model.
    pub instructions: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl InitializeResult {
    /// With what every revision requires, and nothing else.
    pub fn new(
        capabilities: ServerCapabilities,
        protocol_version: impl Into<String>,
        server_info: Implementation,
    ) -> Self {
        Self {
            capabilities,
            protocol_version: protocol_version.into(),
            server_info,
            instructions: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { InitializeResult in 0b01111 {
    required capabilities: "capabilities" in 0b01111 / 0b01111;
    required protocol_version: "protocolVersion" in 0b01111 / 0b01111;
    required server_info: "serverInfo" in 0b01111 / 0b01111;
    optional instructions: "instructions" in 0b01111 / 0b00000;
    optional meta: "_meta" in 0b01111 / 0b00000;
} }

/// The notification `notifications/initialized`. Up to 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct InitializedNotification {
    /// The parameters of the message.
    pub params: Option<NotificationParams>,
    /// All other members.
    pub extra: Extra,
}

impl info::Notification for InitializedNotification {
    const METHOD: &'static str = "notifications/initialized";
    type Params = NotificationParams;
}

object! { InitializedNotification in 0b01111 {
    constant "jsonrpc" = "\"2.0\"" in 0b01111 / 0b01111;
    constant "method" = "\"notifications/initialized\"" in 0b01111 / 0b01111;
    optional params: "params" in 0b01111 / 0b00000;
} }

/// The request `ping`. Up to 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PingRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: Option<RequestParams>,
    /// All other members.
    pub extra: Extra,
}

impl PingRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId) -> Self {
        Self {
            id,
            params: Default::default(),
            extra: Extra::default(),
        }
    }
}

impl info::Request for PingRequest {
    const METHOD: &'static str = "ping";
    type Params = RequestParams;
    type Result = EmptyResult;
}

object! { PingRequest in 0b01111 {
    constant "jsonrpc" = "\"2.0\"" in 0b01111 / 0b01111;
    constant "method" = "\"ping\"" in 0b01111 / 0b01111;
    required id: "id" in 0b01111 / 0b01111;
    optional params: "params" in 0b01111 / 0b00000;
} }

/// The notification `notifications/progress`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProgressNotification {
    /// The parameters of the message.
    pub params: ProgressNotificationParams,
    /// All other members.
    pub extra: Extra,
}

impl ProgressNotification {
    /// With what every revision requires, and nothing else.
    pub fn new(params: ProgressNotificationParams) -> Self {
        Self {
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Notification for ProgressNotification {
    const METHOD: &'static str = "notifications/progress";
    type Params = ProgressNotificationParams;
}

object! { ProgressNotification in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"notifications/progress\"" in 0b11111 / 0b11111;
    required params: "params" in 0b11111 / 0b11111;
} }

/// The parameters of `notifications/progress`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProgressNotificationParams {
    /// Grows with each message.
    pub progress: Number,
    /// From the `_meta` of the request.
    pub progress_token: ProgressToken,
    /// For people. Since 2025-03-26.
    pub message: Option<String>,
    /// What it grows to, if that is known.
    pub total: Option<Number>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<NotificationMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ProgressNotificationParams {
    /// With what every revision requires, and nothing else.
    pub fn new(progress: impl Into<Number>, progress_token: ProgressToken) -> Self {
        Self {
            progress: progress.into(),
            progress_token,
            message: Default::default(),
            total: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ProgressNotificationParams in 0b11111 {
    required progress: "progress" in 0b11111 / 0b11111;
    required progress_token: "progressToken" in 0b11111 / 0b11111;
    optional message: "message" in 0b11110 / 0b00000;
    optional total: "total" in 0b11111 / 0b00000;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// What progress messages name their request by.
pub type ProgressToken = RequestId;
