// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! Tasks: results that are fetched later (2025-11-25).

use super::super::info;
use super::super::*;

/// The request `tasks/cancel`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CancelTaskRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: CancelTaskRequestParams,
    /// All other members.
    pub extra: Extra,
}

impl CancelTaskRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: CancelTaskRequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for CancelTaskRequest {
    const METHOD: &'static str = "tasks/cancel";
    type Params = CancelTaskRequestParams;
    type Result = CancelTaskResult;
}

object! { CancelTaskRequest in 0b01000 {
    constant "jsonrpc" = "\"2.0\"" in 0b01000 / 0b01000;
    constant "method" = "\"tasks/cancel\"" in 0b01000 / 0b01000;
    required id: "id" in 0b01000 / 0b01000;
    required params: "params" in 0b01000 / 0b01000;
} }

/// The parameters of `tasks/cancel`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CancelTaskRequestParams {
    /// What the task is known by.
    pub task_id: String,
    /// All other members.
    pub extra: Extra,
}

impl CancelTaskRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            extra: Extra::default(),
        }
    }
}

object! { CancelTaskRequestParams in 0b01000 {
    required task_id: "taskId" in 0b01000 / 0b01000;
} }

/// The result of `tasks/cancel`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CancelTaskResult {
    /// An ISO 8601 time.
    pub created_at: String,
    /// An ISO 8601 time.
    pub last_updated_at: String,
    /// How far it is.
    pub status: TaskStatus,
    /// What the task is known by.
    pub task_id: String,
    /// How long the server keeps it, in milliseconds; null is for ever.
    pub ttl: Option<Number>,
    /// How often to ask, in milliseconds.
    pub poll_interval: Option<Number>,
    /// For people.
    pub status_message: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl CancelTaskResult {
    /// With what every revision requires, and nothing else.
    pub fn new(
        created_at: impl Into<String>,
        last_updated_at: impl Into<String>,
        status: TaskStatus,
        task_id: impl Into<String>,
        ttl: Option<Number>,
    ) -> Self {
        Self {
            created_at: created_at.into(),
            last_updated_at: last_updated_at.into(),
            status,
            task_id: task_id.into(),
            ttl,
            poll_interval: Default::default(),
            status_message: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { CancelTaskResult in 0b01000 {
    required created_at: "createdAt" in 0b01000 / 0b01000;
    required last_updated_at: "lastUpdatedAt" in 0b01000 / 0b01000;
    required status: "status" in 0b01000 / 0b01000;
    required task_id: "taskId" in 0b01000 / 0b01000;
    nullable ttl: "ttl" in 0b01000 / 0b01000;
    optional poll_interval: "pollInterval" in 0b01000 / 0b00000;
    optional status_message: "statusMessage" in 0b01000 / 0b00000;
    optional meta: "_meta" in 0b01000 / 0b00000;
} }

/// The answer to a request that became a task. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// Asks that this become a task, or says which task it became.
    pub task: Task,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl CreateTaskResult {
    /// With what every revision requires, and nothing else.
    pub fn new(task: Task) -> Self {
        Self {
            task,
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { CreateTaskResult in 0b01000 {
    required task: "task" in 0b01000 / 0b01000;
    optional meta: "_meta" in 0b01000 / 0b00000;
} }

/// The request `tasks/result`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetTaskPayloadRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: GetTaskPayloadRequestParams,
    /// All other members.
    pub extra: Extra,
}

impl GetTaskPayloadRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: GetTaskPayloadRequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for GetTaskPayloadRequest {
    const METHOD: &'static str = "tasks/result";
    type Params = GetTaskPayloadRequestParams;
    type Result = GetTaskPayloadResult;
}

object! { GetTaskPayloadRequest in 0b01000 {
    constant "jsonrpc" = "\"2.0\"" in 0b01000 / 0b01000;
    constant "method" = "\"tasks/result\"" in 0b01000 / 0b01000;
    required id: "id" in 0b01000 / 0b01000;
    required params: "params" in 0b01000 / 0b01000;
} }

/// The parameters of `tasks/result`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetTaskPayloadRequestParams {
    /// What the task is known by.
    pub task_id: String,
    /// All other members.
    pub extra: Extra,
}

impl GetTaskPayloadRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            extra: Extra::default(),
        }
    }
}

object! { GetTaskPayloadRequestParams in 0b01000 {
    required task_id: "taskId" in 0b01000 / 0b01000;
} }

/// The result that a task came to, with the members of the request's own result type. Only in 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GetTaskPayloadResult {
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

object! { GetTaskPayloadResult in 0b01000 {
    optional meta: "_meta" in 0b01000 / 0b00000;
} }

/// The request `tasks/get`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetTaskRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: GetTaskRequestParams,
    /// All other members.
    pub extra: Extra,
}

impl GetTaskRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: GetTaskRequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for GetTaskRequest {
    const METHOD: &'static str = "tasks/get";
    type Params = GetTaskRequestParams;
    type Result = GetTaskResult;
}

object! { GetTaskRequest in 0b01000 {
    constant "jsonrpc" = "\"2.0\"" in 0b01000 / 0b01000;
    constant "method" = "\"tasks/get\"" in 0b01000 / 0b01000;
    required id: "id" in 0b01000 / 0b01000;
    required params: "params" in 0b01000 / 0b01000;
} }

/// The parameters of `tasks/get`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetTaskRequestParams {
    /// What the task is known by.
    pub task_id: String,
    /// All other members.
    pub extra: Extra,
}

impl GetTaskRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            extra: Extra::default(),
        }
    }
}

object! { GetTaskRequestParams in 0b01000 {
    required task_id: "taskId" in 0b01000 / 0b01000;
} }

/// The result of `tasks/get`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetTaskResult {
    /// An ISO 8601 time.
    pub created_at: String,
    /// An ISO 8601 time.
    pub last_updated_at: String,
    /// How far it is.
    pub status: TaskStatus,
    /// What the task is known by.
    pub task_id: String,
    /// How long the server keeps it, in milliseconds; null is for ever.
    pub ttl: Option<Number>,
    /// How often to ask, in milliseconds.
    pub poll_interval: Option<Number>,
    /// For people.
    pub status_message: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl GetTaskResult {
    /// With what every revision requires, and nothing else.
    pub fn new(
        created_at: impl Into<String>,
        last_updated_at: impl Into<String>,
        status: TaskStatus,
        task_id: impl Into<String>,
        ttl: Option<Number>,
    ) -> Self {
        Self {
            created_at: created_at.into(),
            last_updated_at: last_updated_at.into(),
            status,
            task_id: task_id.into(),
            ttl,
            poll_interval: Default::default(),
            status_message: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { GetTaskResult in 0b01000 {
    required created_at: "createdAt" in 0b01000 / 0b01000;
    required last_updated_at: "lastUpdatedAt" in 0b01000 / 0b01000;
    required status: "status" in 0b01000 / 0b01000;
    required task_id: "taskId" in 0b01000 / 0b01000;
    nullable ttl: "ttl" in 0b01000 / 0b01000;
    optional poll_interval: "pollInterval" in 0b01000 / 0b00000;
    optional status_message: "statusMessage" in 0b01000 / 0b00000;
    optional meta: "_meta" in 0b01000 / 0b00000;
} }

/// The request `tasks/list`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListTasksRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: Option<PaginatedRequestParams>,
    /// All other members.
    pub extra: Extra,
}

impl ListTasksRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId) -> Self {
        Self {
            id,
            params: Default::default(),
            extra: Extra::default(),
        }
    }
}

impl info::Request for ListTasksRequest {
    const METHOD: &'static str = "tasks/list";
    type Params = PaginatedRequestParams;
    type Result = ListTasksResult;
}

object! { ListTasksRequest in 0b01000 {
    constant "jsonrpc" = "\"2.0\"" in 0b01000 / 0b01000;
    constant "method" = "\"tasks/list\"" in 0b01000 / 0b01000;
    required id: "id" in 0b01000 / 0b01000;
    optional params: "params" in 0b01000 / 0b00000;
} }

/// The result of `tasks/list`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListTasksResult {
    /// One page of the list.
    pub tasks: Vec<Task>,
    /// Where the next page begins; absent on the last one.
    pub next_cursor: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl ListTasksResult {
    /// With what every revision requires, and nothing else.
    pub fn new(tasks: Vec<Task>) -> Self {
        Self {
            tasks,
            next_cursor: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ListTasksResult in 0b01000 {
    required tasks: "tasks" in 0b01000 / 0b01000;
    optional next_cursor: "nextCursor" in 0b01000 / 0b00000;
    optional meta: "_meta" in 0b01000 / 0b00000;
} }

/// The task that a message belongs to. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RelatedTaskMetadata {
    /// What the task is known by.
    pub task_id: String,
    /// All other members.
    pub extra: Extra,
}

impl RelatedTaskMetadata {
    /// With what every revision requires, and nothing else.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            extra: Extra::default(),
        }
    }
}

object! { RelatedTaskMetadata in 0b01000 {
    required task_id: "taskId" in 0b01000 / 0b01000;
} }

/// Work that goes on after the request was answered. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Task {
    /// An ISO 8601 time.
    pub created_at: String,
    /// An ISO 8601 time.
    pub last_updated_at: String,
    /// How far it is.
    pub status: TaskStatus,
    /// What the task is known by.
    pub task_id: String,
    /// How long the server keeps it, in milliseconds; null is for ever.
    pub ttl: Option<Number>,
    /// How often to ask, in milliseconds.
    pub poll_interval: Option<Number>,
    /// For people.
    pub status_message: Option<String>,
    /// All other members.
    pub extra: Extra,
}

impl Task {
    /// With what every revision requires, and nothing else.
    pub fn new(
        created_at: impl Into<String>,
        last_updated_at: impl Into<String>,
        status: TaskStatus,
        task_id: impl Into<String>,
        ttl: Option<Number>,
    ) -> Self {
        Self {
            created_at: created_at.into(),
            last_updated_at: last_updated_at.into(),
            status,
            task_id: task_id.into(),
            ttl,
            poll_interval: Default::default(),
            status_message: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { Task in 0b01000 {
    required created_at: "createdAt" in 0b01000 / 0b01000;
    required last_updated_at: "lastUpdatedAt" in 0b01000 / 0b01000;
    required status: "status" in 0b01000 / 0b01000;
    required task_id: "taskId" in 0b01000 / 0b01000;
    nullable ttl: "ttl" in 0b01000 / 0b01000;
    optional poll_interval: "pollInterval" in 0b01000 / 0b00000;
    optional status_message: "statusMessage" in 0b01000 / 0b00000;
} }

/// A wish that a request become a task. Only in 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// How long the result should be kept, in milliseconds.
    pub ttl: Option<Number>,
    /// All other members.
    pub extra: Extra,
}

object! { TaskMetadata in 0b01000 {
    optional ttl: "ttl" in 0b01000 / 0b00000;
} }

/// How far a task is. Only in 2025-11-25.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskStatus {
    /// `cancelled`
    Cancelled,
    /// `completed`
    Completed,
    /// `failed`
    Failed,
    /// `input_required`
    InputRequired,
    /// `working`
    Working,
    /// A value that is not known here.
    Other(String),
}

strings! { TaskStatus {
    Cancelled = "cancelled",
    Completed = "completed",
    Failed = "failed",
    InputRequired = "input_required",
    Working = "working",
} }

/// The notification `notifications/tasks/status`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskStatusNotification {
    /// The parameters of the message.
    pub params: TaskStatusNotificationParams,
    /// All other members.
    pub extra: Extra,
}

impl TaskStatusNotification {
    /// With what every revision requires, and nothing else.
    pub fn new(params: TaskStatusNotificationParams) -> Self {
        Self {
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Notification for TaskStatusNotification {
    const METHOD: &'static str = "notifications/tasks/status";
    type Params = TaskStatusNotificationParams;
}

object! { TaskStatusNotification in 0b01000 {
    constant "jsonrpc" = "\"2.0\"" in 0b01000 / 0b01000;
    constant "method" = "\"notifications/tasks/status\"" in 0b01000 / 0b01000;
    required params: "params" in 0b01000 / 0b01000;
} }

/// The parameters of `notifications/tasks/status`. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskStatusNotificationParams {
    /// An ISO 8601 time.
    pub created_at: String,
    /// An ISO 8601 time.
    pub last_updated_at: String,
    /// How far it is.
    pub status: TaskStatus,
    /// What the task is known by.
    pub task_id: String,
    /// How long the server keeps it, in milliseconds; null is for ever.
    pub ttl: Option<Number>,
    /// How often to ask, in milliseconds.
    pub poll_interval: Option<Number>,
    /// For people.
    pub status_message: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<MetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl TaskStatusNotificationParams {
    /// With what every revision requires, and nothing else.
    pub fn new(
        created_at: impl Into<String>,
        last_updated_at: impl Into<String>,
        status: TaskStatus,
        task_id: impl Into<String>,
        ttl: Option<Number>,
    ) -> Self {
        Self {
            created_at: created_at.into(),
            last_updated_at: last_updated_at.into(),
            status,
            task_id: task_id.into(),
            ttl,
            poll_interval: Default::default(),
            status_message: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { TaskStatusNotificationParams in 0b01000 {
    required created_at: "createdAt" in 0b01000 / 0b01000;
    required last_updated_at: "lastUpdatedAt" in 0b01000 / 0b01000;
    required status: "status" in 0b01000 / 0b01000;
    required task_id: "taskId" in 0b01000 / 0b01000;
    nullable ttl: "ttl" in 0b01000 / 0b01000;
    optional poll_interval: "pollInterval" in 0b01000 / 0b00000;
    optional status_message: "statusMessage" in 0b01000 / 0b00000;
    optional meta: "_meta" in 0b01000 / 0b00000;
} }

/// Whether a tool runs as a task. Only in 2025-11-25.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskSupport {
    /// `forbidden`
    Forbidden,
    /// `optional`
    Optional,
    /// `required`
    Required,
    /// A value that is not known here.
    Other(String),
}

strings! { TaskSupport {
    Forbidden = "forbidden",
    Optional = "optional",
    Required = "required",
} }
