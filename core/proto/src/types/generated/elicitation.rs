// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! Questions to the person at the client.

use super::super::info;
use super::super::*;

/// What the person did with the question. Since 2025-06-18.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElicitAction {
    /// `accept`
    Accept,
    /// `cancel`
    Cancel,
    /// `decline`
    Decline,
    /// A value that is not known here.
    Other(String),
}

strings! { ElicitAction {
    Accept = "accept",
    Cancel = "cancel",
    Decline = "decline",
} }

/// The request `elicitation/create`. Since 2025-06-18.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ElicitRequest {
    /// The parameters of the message.
    pub params: ElicitRequestParams,
    /// The version of JSON-RPC; absent inside a result. From 2025-06-18 to 2025-11-25.
    pub jsonrpc: Option<JsonRpcVersion>,
    /// The id of the request; its response has the same. From 2025-06-18 to 2025-11-25.
    pub id: Option<RequestId>,
    /// All other members.
    pub extra: Extra,
}

impl ElicitRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(params: ElicitRequestParams) -> Self {
        Self {
            params,
            jsonrpc: Default::default(),
            id: Default::default(),
            extra: Extra::default(),
        }
    }
}

impl info::Request for ElicitRequest {
    const METHOD: &'static str = "elicitation/create";
    type Params = ElicitRequestParams;
    type Result = ElicitResult;
}

object! { ElicitRequest in 0b11100 {
    constant "method" = "\"elicitation/create\"" in 0b11100 / 0b11100;
    required params: "params" in 0b11100 / 0b11100;
    optional jsonrpc: "jsonrpc" in 0b01100 / 0b01100;
    optional id: "id" in 0b01100 / 0b01100;
} }

/// A question with a form to fill in. Since 2025-06-18.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ElicitRequestFormParams {
    /// For people.
    pub message: String,
    /// The form.
    pub requested_schema: RequestedSchema,
    /// `form` or `url`; a form if absent. Since 2025-11-25.
    pub mode: Option<FormMode>,
    /// Asks that this become a task, or says which task it became. Only in 2025-11-25.
    pub task: Option<TaskMetadata>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. From 2025-06-18 to
    /// 2025-11-25.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ElicitRequestFormParams {
    /// With what every revision requires, and nothing else.
    pub fn new(message: impl Into<String>, requested_schema: RequestedSchema) -> Self {
        Self {
            message: message.into(),
            requested_schema,
            mode: Default::default(),
            task: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ElicitRequestFormParams in 0b11100 {
    required message: "message" in 0b11100 / 0b11100;
    required requested_schema: "requestedSchema" in 0b11100 / 0b11100;
    optional mode: "mode" in 0b11000 / 0b00000;
    optional task: "task" in 0b01000 / 0b00000;
    optional meta: "_meta" in 0b01100 / 0b00000;
} }

/// A question for the person at the client. Since 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "a box would be in the way of every match")]
pub enum ElicitRequestParams {
    /// A question with a form to fill in. Since 2025-06-18.
    Form(ElicitRequestFormParams),
    /// A question that is answered on a web page. Since 2025-11-25.
    Url(ElicitRequestURLParams),
    /// Of a kind that is not known here, or not whole: as it came.
    Unknown(Json),
}

union! { ElicitRequestParams {
    Url(ElicitRequestURLParams): "message", "mode" = "\"url\"", "url";
    Form(ElicitRequestFormParams): "message", "requestedSchema";
} }

/// A question that is answered on a web page. Since 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ElicitRequestURLParams {
    /// For people.
    pub message: String,
    /// The page to visit.
    pub url: String,
    /// What the server knows the question by. Only in 2025-11-25.
    pub elicitation_id: Option<String>,
    /// Asks that this become a task, or says which task it became. Only in 2025-11-25.
    pub task: Option<TaskMetadata>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. Only in 2025-11-25.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ElicitRequestURLParams {
    /// With what every revision requires, and nothing else.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            url: url.into(),
            elicitation_id: Default::default(),
            task: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ElicitRequestURLParams in 0b11000 {
    constant "mode" = "\"url\"" in 0b11000 / 0b11000;
    required message: "message" in 0b11000 / 0b11000;
    required url: "url" in 0b11000 / 0b11000;
    optional elicitation_id: "elicitationId" in 0b01000 / 0b01000;
    optional task: "task" in 0b01000 / 0b00000;
    optional meta: "_meta" in 0b01000 / 0b00000;
} }

/// The person's answer. Since 2025-06-18.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the person did.
    pub action: ElicitAction,
    /// What was filled in, by field. It counts only if the action is `accept`.
    pub content: Option<Map<Json>>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them. From 2025-06-18 to
    /// 2025-11-25.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ElicitResult {
    /// With what every revision requires, and nothing else.
    pub fn new(action: ElicitAction) -> Self {
        Self {
            action,
            content: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ElicitResult in 0b11100 {
    required action: "action" in 0b11100 / 0b11100;
    optional content: "content" in 0b11100 / 0b00000;
    optional meta: "_meta" in 0b01100 / 0b00000;
} }

/// The notification `notifications/elicitation/complete`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ElicitationCompleteNotification {
    /// The parameters of the message.
    pub params: ElicitationCompleteNotificationParams,
    /// All other members.
    pub extra: Extra,
}

impl ElicitationCompleteNotification {
    /// With what every revision requires, and nothing else.
    pub fn new(params: ElicitationCompleteNotificationParams) -> Self {
        Self {
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Notification for ElicitationCompleteNotification {
    const METHOD: &'static str = "notifications/elicitation/complete";
    type Params = ElicitationCompleteNotificationParams;
}

object! { ElicitationCompleteNotification in 0b01000 {
    constant "jsonrpc" = "\"2.0\"" in 0b01000 / 0b01000;
    constant "method" = "\"notifications/elicitation/complete\"" in 0b01000 / 0b01000;
    required params: "params" in 0b01000 / 0b01000;
} }

/// The parameters of `notifications/elicitation/complete`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ElicitationCompleteNotificationParams {
    /// What the server knows the question by.
    pub elicitation_id: String,
    /// All other members.
    pub extra: Extra,
}

impl ElicitationCompleteNotificationParams {
    /// With what every revision requires, and nothing else.
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self {
            elicitation_id: elicitation_id.into(),
            extra: Extra::default(),
        }
    }
}

object! { ElicitationCompleteNotificationParams in 0b01000 {
    required elicitation_id: "elicitationId" in 0b01000 / 0b01000;
} }

/// The mode of forms, `form`. Since 2025-11-25.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FormMode;

constant! { FormMode = "form" }
