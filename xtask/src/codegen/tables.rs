//! What the schemas do not say: names for what is anonymous there, where a type belongs, which capability a method needs.

/// The revisions, oldest first: bit 0 of every mask is the first one.
pub(super) const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// Every revision.
pub(super) const ALL: u8 = 0b11111;

/// Definitions that make no type: the bases of others, JSON-RPC itself, and unions over all messages.
pub(super) const SKIPPED: [&str; 34] = [
    "Annotated",
    "BaseMetadata",
    "CacheableResult",
    "ClientNotification",
    "ClientRequest",
    "ClientResult",
    "EmptyResult",
    "EnumSchema",
    "Icons",
    "InputResponseRequestParams",
    "JSONArray",
    "JSONObject",
    "JSONRPCBatchRequest",
    "JSONRPCBatchResponse",
    "JSONRPCError",
    "JSONRPCErrorResponse",
    "JSONRPCMessage",
    "JSONRPCNotification",
    "JSONRPCRequest",
    "JSONRPCResponse",
    "JSONRPCResultResponse",
    "JSONValue",
    "MultiSelectEnumSchema",
    "Notification",
    "PaginatedRequest",
    "PaginatedResult",
    "Request",
    "ResourceContents",
    "ResourceRequestParams",
    "ServerNotification",
    "ServerRequest",
    "ServerResult",
    "SingleSelectEnumSchema",
    "TaskAugmentedRequestParams",
];

/// Definitions that go by another name here: (revision or `""` for all, definition, name).
const RENAMED: [(&str, &str, &str); 5] = [
    ("", "Result", "EmptyResult"),
    ("", "Error", "ErrorObject"),
    ("2025-06-18", "EnumSchema", "LegacyTitledEnumSchema"),
    ("2024-11-05", "ResourceReference", "ResourceTemplateReference"),
    ("2025-03-26", "ResourceReference", "ResourceTemplateReference"),
];

pub(super) fn renamed(revision: &str, definition: &str) -> Option<&'static str> {
    let row = RENAMED
        .iter()
        .find(|(only, from, _)| *from == definition && (only.is_empty() || *only == revision));
    row.map(|(_, _, name)| *name)
}

/// Objects, enums and unions that are written in place: (type, member, name).
const IN_PLACE: [(&str, &str, &str); 45] = [
    ("ClientCapabilities", "elicitation", "ElicitationCapability"),
    ("ClientCapabilities", "roots", "RootsCapability"),
    ("ClientCapabilities", "sampling", "SamplingCapability"),
    ("ClientCapabilities", "tasks", "ClientTasksCapability"),
    ("ClientTasksCapability", "requests", "ClientTaskRequests"),
    ("ClientTaskRequests", "elicitation", "TaskElicitation"),
    ("ClientTaskRequests", "sampling", "TaskSampling"),
    ("CompleteRequestParams", "argument", "CompletionArgument"),
    ("CompleteRequestParams", "context", "CompletionContext"),
    ("CompleteRequestParams", "ref", "CompletionReference"),
    ("CompleteResult", "completion", "Completion"),
    ("CreateMessageRequestParams", "includeContext", "IncludeContext"),
    ("DiscoverResult", "cacheScope", "CacheScope"),
    ("ElicitRequest", "params", "ElicitRequestFormParams"),
    ("ElicitRequestFormParams", "mode", "FormMode"),
    ("ElicitRequestFormParams", "requestedSchema", "RequestedSchema"),
    ("ElicitResult", "action", "ElicitAction"),
    ("EmbeddedResource", "resource", "ResourceContents"),
    ("HeaderMismatchError", "error", "HeaderMismatchErrorObject"),
    ("Icon", "theme", "IconTheme"),
    ("ListPromptsResult", "cacheScope", "CacheScope"),
    ("ListResourceTemplatesResult", "cacheScope", "CacheScope"),
    ("ListResourcesResult", "cacheScope", "CacheScope"),
    ("ListRootsRequest", "params", "RequestParams"),
    ("ListToolsResult", "cacheScope", "CacheScope"),
    (
        "MissingRequiredClientCapabilityError",
        "error",
        "MissingRequiredClientCapabilityErrorObject",
    ),
    (
        "MissingRequiredClientCapabilityErrorObject",
        "data",
        "MissingRequiredClientCapabilityErrorData",
    ),
    ("ReadResourceResult", "cacheScope", "CacheScope"),
    ("ReadResourceResult", "contents", "ResourceContents"),
    ("ServerCapabilities", "prompts", "PromptsCapability"),
    ("ServerCapabilities", "resources", "ResourcesCapability"),
    ("ServerCapabilities", "tasks", "ServerTasksCapability"),
    ("ServerCapabilities", "tools", "ToolsCapability"),
    ("ServerTasksCapability", "requests", "ServerTaskRequests"),
    ("ServerTaskRequests", "tools", "TaskTools"),
    ("StringSchema", "format", "StringFormat"),
    ("TitledMultiSelectEnumSchema", "items", "TitledEnumItems"),
    ("TitledSingleSelectEnumSchema", "oneOf", "EnumOption"),
    ("TitledEnumItems", "anyOf", "EnumOption"),
    ("ToolExecution", "taskSupport", "TaskSupport"),
    (
        "URLElicitationRequiredError",
        "error",
        "URLElicitationRequiredErrorObject",
    ),
    (
        "URLElicitationRequiredErrorObject",
        "data",
        "URLElicitationRequiredErrorData",
    ),
    (
        "UnsupportedProtocolVersionError",
        "error",
        "UnsupportedProtocolVersionErrorObject",
    ),
    (
        "UnsupportedProtocolVersionErrorObject",
        "data",
        "UnsupportedProtocolVersionErrorData",
    ),
    ("UntitledMultiSelectEnumSchema", "items", "UntitledEnumItems"),
];

pub(super) fn in_place(owner: &str, member: &str) -> Option<&'static str> {
    if member == "jsonrpc" {
        return Some("JsonRpcVersion");
    }
    let row = IN_PLACE.iter().find(|(of, at, _)| *of == owner && *at == member);
    row.map(|(_, _, name)| *name)
}

/// Members that are JSON schemas, whose keys are nobody's but the validator's.
pub(super) const SCHEMAS: [&str; 2] = ["inputSchema", "outputSchema"];

/// Strings of which the specification names some in prose only: (member, name, values).
pub(super) const NAMED_STRINGS: [(&str, &str, &[&str]); 1] =
    [("resultType", "ResultType", &["complete", "input_required"])];

/// Lists that deployed peers leave out, although every revision requires them.
pub(super) const DEFAULTED: [(&str, &str); 1] = [("CallToolResult", "content")];

/// Members that are large, seldom looked at and part of every message: kept behind a pointer.
pub(super) const BOXED: [(&str, &str); 4] = [
    ("RequestMetaObject", "io.modelcontextprotocol/clientCapabilities"),
    ("RequestMetaObject", "io.modelcontextprotocol/clientInfo"),
    ("ResultMetaObject", "io.modelcontextprotocol/serverInfo"),
    (
        "SubscriptionsListenResultMetaObject",
        "io.modelcontextprotocol/serverInfo",
    ),
];

/// Optional members whose presence tells two kinds of a union apart.
pub(super) const TELLING: [(&str, &str); 1] = [("LegacyTitledEnumSchema", "enumNames")];

/// What to cut off the names of a union's types to get those of its variants: (union, before, after).
const VARIANTS: [(&str, &str, &str); 8] = [
    ("CompletionReference", "", "Reference"),
    ("ContentBlock", "", "Content"),
    ("ElicitRequestParams", "ElicitRequest", "Params"),
    ("InputRequest", "", "Request"),
    ("InputResponse", "", "Result"),
    ("PrimitiveSchemaDefinition", "", "Schema"),
    ("ResourceContents", "", "ResourceContents"),
    ("SamplingMessageContentBlock", "", "Content"),
];

pub(super) fn variant(union: &str, of: &str) -> String {
    let (_, before, after) = VARIANTS
        .iter()
        .find(|row| row.0 == union)
        .copied()
        .unwrap_or(("", "", ""));
    let name = of.strip_prefix(before).unwrap_or(of);
    let name = name.strip_suffix(after).unwrap_or(name);
    if name == "URL" {
        "Url".to_owned()
    } else {
        name.to_owned()
    }
}

/// Members that are written before their fellows, in this order; `_meta` comes last.
const FIRST: [&str; 12] = [
    "jsonrpc",
    "id",
    "method",
    "type",
    "mode",
    "role",
    "name",
    "title",
    "uri",
    "uriTemplate",
    "description",
    "message",
];

pub(super) fn rank(member: &str) -> usize {
    if member == "_meta" {
        return usize::MAX;
    }
    FIRST.iter().position(|first| *first == member).unwrap_or(FIRST.len())
}

/// Which capability a method rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Needs {
    Nothing,
    /// Of `ServerCapabilities`.
    Server(&'static str),
    /// Of `ClientCapabilities`.
    Client(&'static str),
}

const CAPABILITIES: [(&str, Needs); 34] = [
    ("completion/complete", Needs::Server("completions")),
    ("elicitation/create", Needs::Client("elicitation")),
    ("initialize", Needs::Nothing),
    ("logging/setLevel", Needs::Server("logging")),
    ("notifications/cancelled", Needs::Nothing),
    ("notifications/elicitation/complete", Needs::Client("elicitation.url")),
    ("notifications/initialized", Needs::Nothing),
    ("notifications/message", Needs::Server("logging")),
    ("notifications/progress", Needs::Nothing),
    (
        "notifications/prompts/list_changed",
        Needs::Server("prompts.listChanged"),
    ),
    (
        "notifications/resources/list_changed",
        Needs::Server("resources.listChanged"),
    ),
    ("notifications/resources/updated", Needs::Server("resources.subscribe")),
    ("notifications/roots/list_changed", Needs::Client("roots.listChanged")),
    ("notifications/subscriptions/acknowledged", Needs::Nothing),
    ("notifications/tasks/status", Needs::Nothing),
    ("notifications/tools/list_changed", Needs::Server("tools.listChanged")),
    ("ping", Needs::Nothing),
    ("prompts/get", Needs::Server("prompts")),
    ("prompts/list", Needs::Server("prompts")),
    ("resources/list", Needs::Server("resources")),
    ("resources/read", Needs::Server("resources")),
    ("resources/subscribe", Needs::Server("resources.subscribe")),
    ("resources/templates/list", Needs::Server("resources")),
    ("resources/unsubscribe", Needs::Server("resources.subscribe")),
    ("roots/list", Needs::Client("roots")),
    ("sampling/createMessage", Needs::Client("sampling")),
    ("server/discover", Needs::Nothing),
    ("subscriptions/listen", Needs::Nothing),
    // Both sides may hold tasks; the side that does declares them.
    ("tasks/cancel", Needs::Nothing),
    ("tasks/get", Needs::Nothing),
    ("tasks/list", Needs::Nothing),
    ("tasks/result", Needs::Nothing),
    ("tools/call", Needs::Server("tools")),
    ("tools/list", Needs::Server("tools")),
];

pub(super) fn capability(method: &str) -> Option<Needs> {
    CAPABILITIES
        .iter()
        .find(|(name, _)| *name == method)
        .map(|(_, needs)| *needs)
}

/// A module of generated types: its name, what it holds, and parts of names of types that go there.
pub(super) struct Area {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    holds: &'static [&'static str],
}

/// The first area that holds a part of a type's name gets the type; the last one gets the rest.
pub(super) const AREAS: [Area; 16] = [
    Area {
        name: "errors",
        about: "Errors, and the data they carry.",
        holds: &["Error"],
    },
    Area {
        name: "capabilities",
        about: "What the two sides declare they can do.",
        holds: &[
            "Capabilit",
            "ClientTask",
            "ServerTask",
            "TaskElicitation",
            "TaskSampling",
            "TaskTools",
        ],
    },
    Area {
        name: "tasks",
        about: "Tasks: results that are fetched later (2025-11-25).",
        holds: &["Task"],
    },
    Area {
        name: "subscriptions",
        about: "Subscriptions to changes.",
        holds: &["Subscri", "ListChanged", "ResourceUpdated"],
    },
    Area {
        name: "forms",
        about: "The schemas of forms.",
        holds: &["Schema", "Enum", "StringFormat"],
    },
    Area {
        name: "elicitation",
        about: "Questions to the person at the client.",
        holds: &["Elicit", "FormMode"],
    },
    Area {
        name: "sampling",
        about: "Questions to the client's model.",
        holds: &["CreateMessage", "Sampling", "Model", "ToolChoice", "IncludeContext"],
    },
    Area {
        name: "input",
        about: "Rounds of input that a request may need before it completes.",
        holds: &["Input"],
    },
    Area {
        name: "content",
        about: "What tools, prompts and models say, block by block.",
        holds: &["Content"],
    },
    Area {
        name: "tools",
        about: "Tools: their list, their calls.",
        holds: &["Tool"],
    },
    Area {
        name: "resources",
        about: "Resources and templates: their lists, what they contain.",
        holds: &["Resource"],
    },
    Area {
        name: "completion",
        about: "Completion of arguments.",
        holds: &["CompleteRe", "Completion", "PromptReference"],
    },
    Area {
        name: "prompts",
        about: "Prompts: their list, what they say.",
        holds: &["Prompt"],
    },
    Area {
        name: "lifecycle",
        about: "How two sides meet, and how requests end early.",
        holds: &["Initialize", "Discover", "Ping", "Cancelled", "Progress"],
    },
    Area {
        name: "roots",
        about: "Roots of the client, and log messages of the server.",
        holds: &["Root", "Logging", "SetLevel"],
    },
    Area {
        name: "base",
        about: "What the other types are made of.",
        holds: &[""],
    },
];

pub(super) fn area(of: &str) -> &'static Area {
    // An embedded resource is content, but its name says resource first.
    let of = if matches!(of, "EmbeddedResource" | "ResourceLink") {
        "Content"
    } else {
        of
    };
    let found = AREAS
        .iter()
        .find(|area| area.holds.iter().any(|part| of.contains(part)));
    found.unwrap_or(&AREAS[AREAS.len() - 1])
}

/// Rust names for members whose own are words of the language.
const FIELDS: [(&str, &str); 6] = [
    ("_meta", "meta"),
    ("const", "value"),
    ("enum", "values"),
    ("ref", "reference"),
    ("type", "kind"),
    ("$schema", "schema"),
];

/// The name of a member's field.
pub(super) fn field(member: &str) -> String {
    if let Some((_, name)) = FIELDS.iter().find(|(known, _)| *known == member) {
        return (*name).to_owned();
    }
    let last = member.rsplit('/').next().unwrap_or(member);
    let mut name = String::new();
    for letter in last.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// A word in the case of types: `input_required` is `InputRequired`.
pub(super) fn pascal(text: &str) -> String {
    let mut name = String::new();
    for word in text.split(['_', '-', '/', '.', '$']) {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.extend(letters);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_become_fields() {
        for (member, name) in [
            ("inputSchema", "input_schema"),
            ("_meta", "meta"),
            ("type", "kind"),
            ("io.modelcontextprotocol/clientInfo", "client_info"),
            ("uri", "uri"),
        ] {
            assert_eq!(field(member), name);
        }
        assert_eq!(pascal("input_required"), "InputRequired");
        assert_eq!(pascal("date-time"), "DateTime");
        assert_eq!(pascal("allServers"), "AllServers");
    }

    #[test]
    fn types_find_their_area() {
        for (of, name) in [
            ("Tool", "tools"),
            ("ToolListChangedNotification", "subscriptions"),
            ("ToolUseContent", "content"),
            ("ToolChoice", "sampling"),
            ("EmbeddedResource", "content"),
            ("ResourceTemplateReference", "resources"),
            ("LegacyTitledEnumSchema", "forms"),
            ("RequestedSchema", "forms"),
            ("CompleteResult", "completion"),
            ("ListRootsResult", "roots"),
            ("Icon", "base"),
        ] {
            assert_eq!(area(of).name, name, "{of}");
        }
    }

    #[test]
    fn variants_are_short() {
        assert_eq!(variant("ContentBlock", "TextContent"), "Text");
        assert_eq!(variant("ElicitRequestParams", "ElicitRequestURLParams"), "Url");
        assert_eq!(variant("ContentBlock", "ResourceLink"), "ResourceLink");
    }
}
