// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! Roots of the client, and log messages of the server.

use super::super::info;
use super::super::*;

/// The request `roots/list`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListRootsRequest {
    /// The version of JSON-RPC; absent inside a result. Up to 2025-11-25.
    pub jsonrpc: Option<JsonRpcVersion>,
    /// The id of the request; its response has the same. Up to 2025-11-25.
    pub id: Option<RequestId>,
    /// The parameters of the message.
    pub params: Option<RequestParams>,
    /// All other members.
    pub extra: Extra,
}

impl info::Request for ListRootsRequest {
    const METHOD: &'static str = "roots/list";
    type Params = RequestParams;
    type Result = ListRootsResult;
}

object! { ListRootsRequest in 0b11111 {
    constant "method" = "\"roots/list\"" in 0b11111 / 0b11111;
    optional jsonrpc: "jsonrpc" in 0b01111 / 0b01111;
    optional id: "id" in 0b01111 / 0b01111;
    optional params: "params" in 0b11111 / 0b00000;
} }

/// The result of `roots/list`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// All of them.
    pub roots: Vec<Root>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Up to 2025-11-25.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ListRootsResult {
    /// With what every revision requires, and nothing else.
    pub fn new(roots: Vec<Root>) -> Self {
        Self {
            roots,
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ListRootsResult in 0b11111 {
    required roots: "roots" in 0b11111 / 0b11111;
    optional meta: "_meta" in 0b01111 / 0b00000;
} }

/// How grave a log message is (RFC 5424).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoggingLevel {
    /// `alert`
    Alert,
    /// `critical`
    Critical,
    /// `debug`
    Debug,
    /// `emergency`
    Emergency,
    /// `error`
    Error,
    /// `info`
    Info,
    /// `notice`
    Notice,
    /// `warning`
    Warning,
    /// A value that is not known here.
    Other(String),
}

strings! { LoggingLevel {
    Alert = "alert",
    Critical = "critical",
    Debug = "debug",
    Emergency = "emergency",
    Error = "error",
    Info = "info",
    Notice = "notice",
    Warning = "warning",
} }

/// The notification `notifications/message`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoggingMessageNotification {
    /// The parameters of the message.
    pub params: LoggingMessageNotificationParams,
    /// All other members.
    pub extra: Extra,
}

impl LoggingMessageNotification {
    /// With what every revision requires, and nothing else.
    pub fn new(params: LoggingMessageNotificationParams) -> Self {
        Self {
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Notification for LoggingMessageNotification {
    const METHOD: &'static str = "notifications/message";
    type Params = LoggingMessageNotificationParams;
}

object! { LoggingMessageNotification in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"notifications/message\"" in 0b11111 / 0b11111;
    required params: "params" in 0b11111 / 0b11111;
} }

/// The parameters of `notifications/message`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoggingMessageNotificationParams {
    /// What happened; any JSON.
    pub data: Json,
    /// How grave it is.
    pub level: LoggingLevel,
    /// Which part of the server.
    pub logger: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<NotificationMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl LoggingMessageNotificationParams {
    /// With what every revision requires, and nothing else.
    pub fn new(data: Json, level: LoggingLevel) -> Self {
        Self {
            data,
            level,
            logger: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { LoggingMessageNotificationParams in 0b11111 {
    required data: "data" in 0b11111 / 0b11111;
    required level: "level" in 0b11111 / 0b11111;
    optional logger: "logger" in 0b11111 / 0b00000;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// A folder or file that the client works on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Root {
    /// A `file:` URI.
    pub uri: String,
    /// For programs: what requests name it by.
    pub name: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Since 2025-06-18.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl Root {
    /// With what every revision requires, and nothing else.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { Root in 0b11111 {
    required uri: "uri" in 0b11111 / 0b11111;
    optional name: "name" in 0b11111 / 0b00000;
    optional meta: "_meta" in 0b11100 / 0b00000;
} }

/// The request `logging/setLevel`. Up to 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SetLevelRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: SetLevelRequestParams,
    /// All other members.
    pub extra: Extra,
}

impl SetLevelRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: SetLevelRequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for SetLevelRequest {
    const METHOD: &'static str = "logging/setLevel";
    type Params = SetLevelRequestParams;
    type Result = EmptyResult;
}

object! { SetLevelRequest in 0b01111 {
    constant "jsonrpc" = "\"2.0\"" in 0b01111 / 0b01111;
    constant "method" = "\"logging/setLevel\"" in 0b01111 / 0b01111;
    required id: "id" in 0b01111 / 0b01111;
    required params: "params" in 0b01111 / 0b01111;
} }

/// The parameters of `logging/setLevel`. Up to 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SetLevelRequestParams {
    /// The lowest level to send.
    pub level: LoggingLevel,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl SetLevelRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(level: LoggingLevel) -> Self {
        Self {
            level,
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { SetLevelRequestParams in 0b01111 {
    required level: "level" in 0b01111 / 0b01111;
    optional meta: "_meta" in 0b01111 / 0b00000;
} }
