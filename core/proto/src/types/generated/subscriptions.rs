// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! Subscriptions to changes.

use super::super::info;
use super::super::*;

/// The notification `notifications/prompts/list_changed`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PromptListChangedNotification {
    /// The parameters of the message.
    pub params: Option<NotificationParams>,
    /// All other members.
    pub extra: Extra,
}

impl info::Notification for PromptListChangedNotification {
    const METHOD: &'static str = "notifications/prompts/list_changed";
    type Params = NotificationParams;
}

object! { PromptListChangedNotification in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"notifications/prompts/list_changed\"" in 0b11111 / 0b11111;
    optional params: "params" in 0b11111 / 0b00000;
} }

/// The notification `notifications/resources/list_changed`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ResourceListChangedNotification {
    /// The parameters of the message.
    pub params: Option<NotificationParams>,
    /// All other members.
    pub extra: Extra,
}

impl info::Notification for ResourceListChangedNotification {
    const METHOD: &'static str = "notifications/resources/list_changed";
    type Params = NotificationParams;
}

object! { ResourceListChangedNotification in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"notifications/resources/list_changed\"" in 0b11111 / 0b11111;
    optional params: "params" in 0b11111 / 0b00000;
} }

/// The notification `notifications/resources/updated`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResourceUpdatedNotification {
    /// The parameters of the message.
    pub params: ResourceUpdatedNotificationParams,
    /// All other members.
    pub extra: Extra,
}

impl ResourceUpdatedNotification {
    /// With what every revision requires, and nothing else.
    pub fn new(params: ResourceUpdatedNotificationParams) -> Self {
        Self {
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Notification for ResourceUpdatedNotification {
    const METHOD: &'static str = "notifications/resources/updated";
    type Params = ResourceUpdatedNotificationParams;
}

object! { ResourceUpdatedNotification in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"notifications/resources/updated\"" in 0b11111 / 0b11111;
    required params: "params" in 0b11111 / 0b11111;
} }

/// The parameters of `notifications/resources/updated`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResourceUpdatedNotificationParams {
    /// What the resource is known by.
    pub uri: String,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<NotificationMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ResourceUpdatedNotificationParams {
    /// With what every revision requires, and nothing else.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ResourceUpdatedNotificationParams in 0b11111 {
    required uri: "uri" in 0b11111 / 0b11111;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// The notification `notifications/roots/list_changed`. Up to 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RootsListChangedNotification {
    /// The parameters of the message.
    pub params: Option<NotificationParams>,
    /// All other members.
    pub extra: Extra,
}

impl info::Notification for RootsListChangedNotification {
    const METHOD: &'static str = "notifications/roots/list_changed";
    type Params = NotificationParams;
}

object! { RootsListChangedNotification in 0b01111 {
    constant "jsonrpc" = "\"2.0\"" in 0b01111 / 0b01111;
    constant "method" = "\"notifications/roots/list_changed\"" in 0b01111 / 0b01111;
    optional params: "params" in 0b01111 / 0b00000;
} }

/// The request `resources/subscribe`. Up to 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscribeRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: SubscribeRequestParams,
    /// All other members.
    pub extra: Extra,
}

impl SubscribeRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: SubscribeRequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for SubscribeRequest {
    const METHOD: &'static str = "resources/subscribe";
    type Params = SubscribeRequestParams;
    type Result = EmptyResult;
}

object! { SubscribeRequest in 0b01111 {
    constant "jsonrpc" = "\"2.0\"" in 0b01111 / 0b01111;
    constant "method" = "\"resources/subscribe\"" in 0b01111 / 0b01111;
    required id: "id" in 0b01111 / 0b01111;
    required params: "params" in 0b01111 / 0b01111;
} }

/// The parameters of `resources/subscribe`. Up to 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscribeRequestParams {
    /// What the resource is known by.
    pub uri: String,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl SubscribeRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { SubscribeRequestParams in 0b01111 {
    required uri: "uri" in 0b01111 / 0b01111;
    optional meta: "_meta" in 0b01111 / 0b00000;
} }

/// Which changes are of interest. Only in 2026-07-28.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// Changes of the list of prompts.
    pub prompts_list_changed: Option<bool>,
    /// The URIs to watch.
    pub resource_subscriptions: Option<Vec<String>>,
    /// Changes of the list of resources.
    pub resources_list_changed: Option<bool>,
    /// Changes of the list of tools.
    pub tools_list_changed: Option<bool>,
    /// All other members.
    pub extra: Extra,
}

object! { SubscriptionFilter in 0b10000 {
    optional prompts_list_changed: "promptsListChanged" in 0b10000 / 0b00000;
    optional resource_subscriptions: "resourceSubscriptions" in 0b10000 / 0b00000;
    optional resources_list_changed: "resourcesListChanged" in 0b10000 / 0b00000;
    optional tools_list_changed: "toolsListChanged" in 0b10000 / 0b00000;
} }

/// The notification `notifications/subscriptions/acknowledged`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscriptionsAcknowledgedNotification {
    /// The parameters of the message.
    pub params: SubscriptionsAcknowledgedNotificationParams,
    /// All other members.
    pub extra: Extra,
}

impl SubscriptionsAcknowledgedNotification {
    /// With what every revision requires, and nothing else.
    pub fn new(params: SubscriptionsAcknowledgedNotificationParams) -> Self {
        Self {
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Notification for SubscriptionsAcknowledgedNotification {
    const METHOD: &'static str = "notifications/subscriptions/acknowledged";
    type Params = SubscriptionsAcknowledgedNotificationParams;
}

object! { SubscriptionsAcknowledgedNotification in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    constant "method" = "\"notifications/subscriptions/acknowledged\"" in 0b10000 / 0b10000;
    required params: "params" in 0b10000 / 0b10000;
} }

/// The parameters of `notifications/subscriptions/acknowledged`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscriptionsAcknowledgedNotificationParams {
    /// The changes of interest, or those that will be announced.
    pub notifications: SubscriptionFilter,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<NotificationMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl SubscriptionsAcknowledgedNotificationParams {
    /// With what every revision requires, and nothing else.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self {
            notifications,
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { SubscriptionsAcknowledgedNotificationParams in 0b10000 {
    required notifications: "notifications" in 0b10000 / 0b10000;
    optional meta: "_meta" in 0b10000 / 0b00000;
} }

/// The request `subscriptions/listen`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscriptionsListenRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: SubscriptionsListenRequestParams,
    /// All other members.
    pub extra: Extra,
}

impl SubscriptionsListenRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: SubscriptionsListenRequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for SubscriptionsListenRequest {
    const METHOD: &'static str = "subscriptions/listen";
    type Params = SubscriptionsListenRequestParams;
    type Result = SubscriptionsListenResult;
}

object! { SubscriptionsListenRequest in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    constant "method" = "\"subscriptions/listen\"" in 0b10000 / 0b10000;
    required id: "id" in 0b10000 / 0b10000;
    required params: "params" in 0b10000 / 0b10000;
} }

/// The parameters of `subscriptions/listen`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscriptionsListenRequestParams {
    /// The changes of interest, or those that will be announced.
    pub notifications: SubscriptionFilter,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: RequestMetaObject,
    /// All other members.
    pub extra: Extra,
}

impl SubscriptionsListenRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(notifications: SubscriptionFilter, meta: RequestMetaObject) -> Self {
        Self {
            notifications,
            meta,
            extra: Extra::default(),
        }
    }
}

object! { SubscriptionsListenRequestParams in 0b10000 {
    required notifications: "notifications" in 0b10000 / 0b10000;
    required meta: "_meta" in 0b10000 / 0b10000;
} }

/// The result of `subscriptions/listen`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscriptionsListenResult {
    /// Whether this is the result; complete if absent.
    pub result_type: ResultType,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: SubscriptionsListenResultMetaObject,
    /// All other members.
    pub extra: Extra,
}

impl SubscriptionsListenResult {
    /// With what every revision requires, and nothing else.
    pub fn new(result_type: ResultType, meta: SubscriptionsListenResultMetaObject) -> Self {
        Self {
            result_type,
            meta,
            extra: Extra::default(),
        }
    }
}

object! { SubscriptionsListenResult in 0b10000 {
    required result_type: "resultType" in 0b10000 / 0b10000;
    required meta: "_meta" in 0b10000 / 0b10000;
} }

/// What the result of a subscription carries under `_meta`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscriptionsListenResultMetaObject {
    /// `io.modelcontextprotocol/subscriptionId`: the id of the `subscriptions/listen` request it belongs to.
    pub subscription_id: RequestId,
    /// `io.modelcontextprotocol/serverInfo`: the server's program.
    pub server_info: Option<Box<Implementation>>,
    /// All other members.
    pub extra: Extra,
}

impl SubscriptionsListenResultMetaObject {
    /// With what every revision requires, and nothing else.
    pub fn new(subscription_id: RequestId) -> Self {
        Self {
            subscription_id,
            server_info: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { SubscriptionsListenResultMetaObject in 0b10000 {
    required subscription_id: "io.modelcontextprotocol/subscriptionId" in 0b10000 / 0b10000;
    optional server_info: "io.modelcontextprotocol/serverInfo" in 0b10000 / 0b00000;
} }

/// The response with the result of `subscriptions/listen`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SubscriptionsListenResultResponse {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The result of the message.
    pub result: SubscriptionsListenResult,
    /// All other members.
    pub extra: Extra,
}

impl SubscriptionsListenResultResponse {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, result: SubscriptionsListenResult) -> Self {
        Self {
            id,
            result,
            extra: Extra::default(),
        }
    }
}

object! { SubscriptionsListenResultResponse in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required id: "id" in 0b10000 / 0b10000;
    required result: "result" in 0b10000 / 0b10000;
} }

/// The notification `notifications/tools/list_changed`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ToolListChangedNotification {
    /// The parameters of the message.
    pub params: Option<NotificationParams>,
    /// All other members.
    pub extra: Extra,
}

impl info::Notification for ToolListChangedNotification {
    const METHOD: &'static str = "notifications/tools/list_changed";
    type Params = NotificationParams;
}

object! { ToolListChangedNotification in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"notifications/tools/list_changed\"" in 0b11111 / 0b11111;
    optional params: "params" in 0b11111 / 0b00000;
} }
