// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! What the two sides declare they can do.

use super::super::*;

/// What a client can do for a server.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// It asks the person. Since 2025-06-18.
    pub elicitation: Option<ElicitationCapability>,
    /// Capabilities outside the specification.
    pub experimental: Option<Map<JsonObject>>,
    /// Extensions by name, each with its settings. Only in 2026-07-28.
    pub extensions: Option<Map<JsonObject>>,
    /// It tells its roots.
    pub roots: Option<RootsCapability>,
    /// It asks its model.
    pub sampling: Option<SamplingCapability>,
    /// It runs requests as tasks. Only in 2025-11-25.
    pub tasks: Option<ClientTasksCapability>,
    /// All other members.
    pub extra: Extra,
}

object! { ClientCapabilities in 0b11111 {
    optional elicitation: "elicitation" in 0b11100 / 0b00000;
    optional experimental: "experimental" in 0b11111 / 0b00000;
    optional extensions: "extensions" in 0b10000 / 0b00000;
    optional roots: "roots" in 0b11111 / 0b00000;
    optional sampling: "sampling" in 0b11111 / 0b00000;
    optional tasks: "tasks" in 0b01000 / 0b00000;
} }

/// The requests that a client can run as tasks. Only in 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ClientTaskRequests {
    /// The `elicitation` member of `ClientTaskRequests`.
    pub elicitation: Option<TaskElicitation>,
    /// The `sampling` member of `ClientTaskRequests`.
    pub sampling: Option<TaskSampling>,
    /// All other members.
    pub extra: Extra,
}

object! { ClientTaskRequests in 0b01000 {
    optional elicitation: "elicitation" in 0b01000 / 0b00000;
    optional sampling: "sampling" in 0b01000 / 0b00000;
} }

/// What a client can do with tasks. Only in 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ClientTasksCapability {
    /// The `cancel` member of `ClientTasksCapability`.
    pub cancel: Option<JsonObject>,
    /// The `list` member of `ClientTasksCapability`.
    pub list: Option<JsonObject>,
    /// The `requests` member of `ClientTasksCapability`.
    pub requests: Option<ClientTaskRequests>,
    /// All other members.
    pub extra: Extra,
}

object! { ClientTasksCapability in 0b01000 {
    optional cancel: "cancel" in 0b01000 / 0b00000;
    optional list: "list" in 0b01000 / 0b00000;
    optional requests: "requests" in 0b01000 / 0b00000;
} }

/// How a client can ask the person. An empty object means forms. Since 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// The `form` member of `ElicitationCapability`.
    pub form: Option<JsonObject>,
    /// The page to visit.
    pub url: Option<JsonObject>,
    /// All other members.
    pub extra: Extra,
}

object! { ElicitationCapability in 0b11000 {
    optional form: "form" in 0b11000 / 0b00000;
    optional url: "url" in 0b11000 / 0b00000;
} }

/// What a server can do with prompts.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PromptsCapability {
    /// Changes of the list are announced.
    pub list_changed: Option<bool>,
    /// All other members.
    pub extra: Extra,
}

object! { PromptsCapability in 0b11111 {
    optional list_changed: "listChanged" in 0b11111 / 0b00000;
} }

/// What a server can do with resources.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// Changes of the list are announced.
    pub list_changed: Option<bool>,
    /// Single resources can be watched.
    pub subscribe: Option<bool>,
    /// All other members.
    pub extra: Extra,
}

object! { ResourcesCapability in 0b11111 {
    optional list_changed: "listChanged" in 0b11111 / 0b00000;
    optional subscribe: "subscribe" in 0b11111 / 0b00000;
} }

/// What a client can do with roots. Up to 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RootsCapability {
    /// Changes of the list are announced.
    pub list_changed: Option<bool>,
    /// All other members.
    pub extra: Extra,
}

object! { RootsCapability in 0b01111 {
    optional list_changed: "listChanged" in 0b01111 / 0b00000;
} }

/// What a client's model can do. Since 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SamplingCapability {
    /// What else is known.
    pub context: Option<JsonObject>,
    /// One page of the list.
    pub tools: Option<JsonObject>,
    /// All other members.
    pub extra: Extra,
}

object! { SamplingCapability in 0b11000 {
    optional context: "context" in 0b11000 / 0b00000;
    optional tools: "tools" in 0b11000 / 0b00000;
} }

/// What a server offers.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// It completes arguments. Since 2025-03-26.
    pub completions: Option<JsonObject>,
    /// Capabilities outside the specification.
    pub experimental: Option<Map<JsonObject>>,
    /// Extensions by name, each with its settings. Only in 2026-07-28.
    pub extensions: Option<Map<JsonObject>>,
    /// It sends log messages.
    pub logging: Option<JsonObject>,
    /// It has prompts.
    pub prompts: Option<PromptsCapability>,
    /// It has resources.
    pub resources: Option<ResourcesCapability>,
    /// It runs requests as tasks. Only in 2025-11-25.
    pub tasks: Option<ServerTasksCapability>,
    /// It has tools.
    pub tools: Option<ToolsCapability>,
    /// All other members.
    pub extra: Extra,
}

object! { ServerCapabilities in 0b11111 {
    optional completions: "completions" in 0b11110 / 0b00000;
    optional experimental: "experimental" in 0b11111 / 0b00000;
    optional extensions: "extensions" in 0b10000 / 0b00000;
    optional logging: "logging" in 0b11111 / 0b00000;
    optional prompts: "prompts" in 0b11111 / 0b00000;
    optional resources: "resources" in 0b11111 / 0b00000;
    optional tasks: "tasks" in 0b01000 / 0b00000;
    optional tools: "tools" in 0b11111 / 0b00000;
} }

/// The requests that a server can run as tasks. Only in 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ServerTaskRequests {
    /// One page of the list.
    pub tools: Option<TaskTools>,
    /// All other members.
    pub extra: Extra,
}

object! { ServerTaskRequests in 0b01000 {
    optional tools: "tools" in 0b01000 / 0b00000;
} }

/// What a server can do with tasks. Only in 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ServerTasksCapability {
    /// The `cancel` member of `ServerTasksCapability`.
    pub cancel: Option<JsonObject>,
    /// The `list` member of `ServerTasksCapability`.
    pub list: Option<JsonObject>,
    /// The `requests` member of `ServerTasksCapability`.
    pub requests: Option<ServerTaskRequests>,
    /// All other members.
    pub extra: Extra,
}

object! { ServerTasksCapability in 0b01000 {
    optional cancel: "cancel" in 0b01000 / 0b00000;
    optional list: "list" in 0b01000 / 0b00000;
    optional requests: "requests" in 0b01000 / 0b00000;
} }

/// The elicitation requests that can run as tasks. Only in 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TaskElicitation {
    /// The `create` member of `TaskElicitation`.
    pub create: Option<JsonObject>,
    /// All other members.
    pub extra: Extra,
}

object! { TaskElicitation in 0b01000 {
    optional create: "create" in 0b01000 / 0b00000;
} }

/// The sampling requests that can run as tasks. Only in 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TaskSampling {
    /// The `createMessage` member of `TaskSampling`.
    pub create_message: Option<JsonObject>,
    /// All other members.
    pub extra: Extra,
}

object! { TaskSampling in 0b01000 {
    optional create_message: "createMessage" in 0b01000 / 0b00000;
} }

/// The tool requests that can run as tasks. Only in 2025-11-25.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TaskTools {
    /// The `call` member of `TaskTools`.
    pub call: Option<JsonObject>,
    /// All other members.
    pub extra: Extra,
}

object! { TaskTools in 0b01000 {
    optional call: "call" in 0b01000 / 0b00000;
} }

/// What a server can do with tools.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ToolsCapability {
    /// Changes of the list are announced.
    pub list_changed: Option<bool>,
    /// All other members.
    pub extra: Extra,
}

object! { ToolsCapability in 0b11111 {
    optional list_changed: "listChanged" in 0b11111 / 0b00000;
} }
