// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! Types of all revisions, one module per area.

mod base;
mod capabilities;
mod completion;
mod content;
mod elicitation;
mod errors;
mod forms;
mod input;
mod lifecycle;
mod methods;
mod prompts;
mod resources;
mod roots;
mod sampling;
mod subscriptions;
mod tasks;
mod tools;

pub use base::*;
pub use capabilities::*;
pub use completion::*;
pub use content::*;
pub use elicitation::*;
pub use errors::*;
pub use forms::*;
pub use input::*;
pub use lifecycle::*;
pub(super) use methods::METHODS;
pub use prompts::*;
pub use resources::*;
pub use roots::*;
pub use sampling::*;
pub use subscriptions::*;
pub use tasks::*;
pub use tools::*;

use super::{Object, TypeInfo};

/// Bit 0 of every mask stands for the first one.
pub(super) const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

pub(super) const OBJECTS: &[&TypeInfo] = &[
    Annotations::INFO,
    AudioContent::INFO,
    BlobResourceContents::INFO,
    BooleanSchema::INFO,
    CallToolRequest::INFO,
    CallToolRequestParams::INFO,
    CallToolResult::INFO,
    CallToolResultResponse::INFO,
    CancelTaskRequest::INFO,
    CancelTaskRequestParams::INFO,
    CancelTaskResult::INFO,
    CancelledNotification::INFO,
    CancelledNotificationParams::INFO,
    ClientCapabilities::INFO,
    ClientTaskRequests::INFO,
    ClientTasksCapability::INFO,
    CompleteRequest::INFO,
    CompleteRequestParams::INFO,
    CompleteResult::INFO,
    CompleteResultResponse::INFO,
    Completion::INFO,
    CompletionArgument::INFO,
    CompletionContext::INFO,
    CreateMessageRequest::INFO,
    CreateMessageRequestParams::INFO,
    CreateMessageResult::INFO,
    CreateTaskResult::INFO,
    DiscoverRequest::INFO,
    DiscoverResult::INFO,
    DiscoverResultResponse::INFO,
    ElicitRequest::INFO,
    ElicitRequestFormParams::INFO,
    ElicitRequestURLParams::INFO,
    ElicitResult::INFO,
    ElicitationCapability::INFO,
    ElicitationCompleteNotification::INFO,
    ElicitationCompleteNotificationParams::INFO,
    EmbeddedResource::INFO,
    EmptyResult::INFO,
    EnumOption::INFO,
    ErrorObject::INFO,
    GetPromptRequest::INFO,
    GetPromptRequestParams::INFO,
    GetPromptResult::INFO,
    GetPromptResultResponse::INFO,
    GetTaskPayloadRequest::INFO,
    GetTaskPayloadRequestParams::INFO,
    GetTaskPayloadResult::INFO,
    GetTaskRequest::INFO,
    GetTaskRequestParams::INFO,
    GetTaskResult::INFO,
    HeaderMismatchError::INFO,
    HeaderMismatchErrorObject::INFO,
    Icon::INFO,
    ImageContent::INFO,
    Implementation::INFO,
    InitializeRequest::INFO,
    InitializeRequestParams::INFO,
    InitializeResult::INFO,
    InitializedNotification::INFO,
    InputRequiredResult::INFO,
    InternalError::INFO,
    InvalidParamsError::INFO,
    InvalidRequestError::INFO,
    LegacyTitledEnumSchema::INFO,
    ListPromptsRequest::INFO,
    ListPromptsResult::INFO,
    ListPromptsResultResponse::INFO,
    ListResourceTemplatesRequest::INFO,
    ListResourceTemplatesResult::INFO,
    ListResourceTemplatesResultResponse::INFO,
    ListResourcesRequest::INFO,
    ListResourcesResult::INFO,
    ListResourcesResultResponse::INFO,
    ListRootsRequest::INFO,
    ListRootsResult::INFO,
    ListTasksRequest::INFO,
    ListTasksResult::INFO,
    ListToolsRequest::INFO,
    ListToolsResult::INFO,
    ListToolsResultResponse::INFO,
    LoggingMessageNotification::INFO,
    LoggingMessageNotificationParams::INFO,
    MethodNotFoundError::INFO,
    MissingRequiredClientCapabilityError::INFO,
    MissingRequiredClientCapabilityErrorData::INFO,
    MissingRequiredClientCapabilityErrorObject::INFO,
    ModelHint::INFO,
    ModelPreferences::INFO,
    NotificationMetaObject::INFO,
    NotificationParams::INFO,
    NumberSchema::INFO,
    PaginatedRequestParams::INFO,
    ParseError::INFO,
    PingRequest::INFO,
    ProgressNotification::INFO,
    ProgressNotificationParams::INFO,
    Prompt::INFO,
    PromptArgument::INFO,
    PromptListChangedNotification::INFO,
    PromptMessage::INFO,
    PromptReference::INFO,
    PromptsCapability::INFO,
    ReadResourceRequest::INFO,
    ReadResourceRequestParams::INFO,
    ReadResourceResult::INFO,
    ReadResourceResultResponse::INFO,
    RelatedTaskMetadata::INFO,
    RequestMetaObject::INFO,
    RequestParams::INFO,
    RequestedSchema::INFO,
    Resource::INFO,
    ResourceLink::INFO,
    ResourceListChangedNotification::INFO,
    ResourceTemplate::INFO,
    ResourceTemplateReference::INFO,
    ResourceUpdatedNotification::INFO,
    ResourceUpdatedNotificationParams::INFO,
    ResourcesCapability::INFO,
    ResultMetaObject::INFO,
    Root::INFO,
    RootsCapability::INFO,
    RootsListChangedNotification::INFO,
    SamplingCapability::INFO,
    SamplingMessage::INFO,
    ServerCapabilities::INFO,
    ServerTaskRequests::INFO,
    ServerTasksCapability::INFO,
    SetLevelRequest::INFO,
    SetLevelRequestParams::INFO,
    StringSchema::INFO,
    SubscribeRequest::INFO,
    SubscribeRequestParams::INFO,
    SubscriptionFilter::INFO,
    SubscriptionsAcknowledgedNotification::INFO,
    SubscriptionsAcknowledgedNotificationParams::INFO,
    SubscriptionsListenRequest::INFO,
    SubscriptionsListenRequestParams::INFO,
    SubscriptionsListenResult::INFO,
    SubscriptionsListenResultMetaObject::INFO,
    SubscriptionsListenResultResponse::INFO,
    Task::INFO,
    TaskElicitation::INFO,
    TaskMetadata::INFO,
    TaskSampling::INFO,
    TaskStatusNotification::INFO,
    TaskStatusNotificationParams::INFO,
    TaskTools::INFO,
    TextContent::INFO,
    TextResourceContents::INFO,
    TitledEnumItems::INFO,
    TitledMultiSelectEnumSchema::INFO,
    TitledSingleSelectEnumSchema::INFO,
    Tool::INFO,
    ToolAnnotations::INFO,
    ToolChoice::INFO,
    ToolExecution::INFO,
    ToolListChangedNotification::INFO,
    ToolResultContent::INFO,
    ToolUseContent::INFO,
    ToolsCapability::INFO,
    URLElicitationRequiredError::INFO,
    URLElicitationRequiredErrorData::INFO,
    URLElicitationRequiredErrorObject::INFO,
    UnsubscribeRequest::INFO,
    UnsubscribeRequestParams::INFO,
    UnsupportedProtocolVersionError::INFO,
    UnsupportedProtocolVersionErrorData::INFO,
    UnsupportedProtocolVersionErrorObject::INFO,
    UntitledEnumItems::INFO,
    UntitledMultiSelectEnumSchema::INFO,
    UntitledSingleSelectEnumSchema::INFO,
];
