//! What the generated types and members say of themselves. Words of our own: the schemas' are not read.

use super::tables::{REVISIONS, field};

/// Types by name.
const TYPES: [(&str, &str); 86] = [
    (
        "Annotations",
        "Hints about who something is for and how much it matters.",
    ),
    ("AudioContent", "Sound."),
    ("BlobResourceContents", "Contents of a resource that are bytes."),
    ("BooleanSchema", "A form field that is yes or no."),
    ("CacheScope", "Who may be served from a cache."),
    (
        "CallToolResult",
        "What a tool said. A tool that failed says so here, with `isError`, so that a model can read why.",
    ),
    ("ClientCapabilities", "What a client can do for a server."),
    ("ClientTaskRequests", "The requests that a client can run as tasks."),
    ("ClientTasksCapability", "What a client can do with tasks."),
    ("Completion", "Values that complete an argument."),
    (
        "CompletionArgument",
        "The argument to complete, as far as it is written.",
    ),
    ("CompletionContext", "What is known when an argument is completed."),
    ("CompletionReference", "What the argument belongs to."),
    ("ContentBlock", "A piece of what a tool or a prompt says."),
    ("CreateMessageResult", "What the client's model answered."),
    ("CreateTaskResult", "The answer to a request that became a task."),
    (
        "Cursor",
        "A place in a list, made by the server and read by nobody else.",
    ),
    ("DiscoverResult", "What a server is and which revisions it speaks."),
    ("ElicitAction", "What the person did with the question."),
    ("ElicitRequestFormParams", "A question with a form to fill in."),
    ("ElicitRequestParams", "A question for the person at the client."),
    ("ElicitRequestURLParams", "A question that is answered on a web page."),
    ("ElicitResult", "The person's answer."),
    (
        "ElicitationCapability",
        "How a client can ask the person. An empty object means forms.",
    ),
    ("EmbeddedResource", "A resource with its contents."),
    ("EmptyResult", "A result without members of its own."),
    ("EnumOption", "A choice with a title."),
    ("ErrorObject", "Why a request failed (JSON-RPC 2.0 §5.1)."),
    ("FormMode", "The mode of forms, `form`."),
    (
        "GetTaskPayloadResult",
        "The result that a task came to, with the members of the request's own result type.",
    ),
    (
        "HeaderMismatchError",
        "The HTTP headers of a request and its body disagree.",
    ),
    ("Icon", "A picture that stands for something."),
    ("IconTheme", "The background an icon is made for."),
    ("ImageContent", "A picture."),
    ("Implementation", "A program and its version."),
    ("IncludeContext", "Which servers' context the model sees."),
    (
        "InputRequest",
        "A question of the server that has to be answered before it goes on.",
    ),
    ("InputRequests", "Questions of the server, by names it chose."),
    (
        "InputRequiredResult",
        "The server needs answers: send the request again with them.",
    ),
    ("InputResponse", "The answer to one question."),
    ("InputResponses", "The answers, by the names of the questions."),
    ("InternalError", "The receiver failed (-32603)."),
    ("InvalidParamsError", "The parameters do not fit the method (-32602)."),
    ("InvalidRequestError", "The message is no request (-32600)."),
    ("JsonRpcVersion", "The version of JSON-RPC, `2.0`."),
    (
        "LegacyTitledEnumSchema",
        "A choice of one, its titles in a list beside the values: the form of 2025-06-18.",
    ),
    ("LoggingLevel", "How grave a log message is (RFC 5424)."),
    (
        "MetaObject",
        "Members under `_meta`, named with a prefix by whoever defines them.",
    ),
    ("MethodNotFoundError", "The receiver has no such method (-32601)."),
    (
        "MissingRequiredClientCapabilityError",
        "The request needs a capability that the client did not declare (-32021).",
    ),
    ("ModelHint", "A name, or a part of one, of a model that would do."),
    ("ModelPreferences", "What matters in the choice of a model."),
    ("NotificationMetaObject", "What a notification carries under `_meta`."),
    ("NumberSchema", "A form field for a number."),
    ("NumberSchemaType", "Whether a number has to be whole."),
    ("PaginatedRequestParams", "The parameters of a list: which page."),
    ("ParseError", "The text is not JSON (-32700)."),
    ("PrimitiveSchemaDefinition", "The schema of one field of a form."),
    ("ProgressToken", "What progress messages name their request by."),
    ("Prompt", "A prompt that a server offers."),
    ("PromptArgument", "An argument of a prompt."),
    ("PromptMessage", "A message of a prompt."),
    ("PromptReference", "A prompt, by name."),
    ("RelatedTaskMetadata", "The task that a message belongs to."),
    (
        "RequestMetaObject",
        "What a request carries under `_meta`. In 2026-07-28 that is the revision and the client's capabilities too.",
    ),
    ("RequestedSchema", "A form: its fields, in the order to show them."),
    ("Resource", "A resource that a server offers."),
    ("ResourceContents", "Contents of a resource."),
    ("ResourceLink", "A resource by its URI, to be read if wanted."),
    ("ResourceTemplate", "Resources whose URIs follow a pattern."),
    (
        "ResourceTemplateReference",
        "A resource template, by its URI pattern. `ResourceReference` in the two oldest revisions.",
    ),
    ("ResultMetaObject", "What a result carries under `_meta`."),
    ("ResultType", "Whether a result is the result."),
    ("Role", "Who speaks."),
    ("Root", "A folder or file that the client works on."),
    (
        "SamplingMessage",
        "A message of a conversation with the client's model.",
    ),
    (
        "SamplingMessageContentBlock",
        "A piece of a message to or from a model.",
    ),
    ("ServerCapabilities", "What a server offers."),
    ("SubscriptionFilter", "Which changes are of interest."),
    ("Task", "Work that goes on after the request was answered."),
    ("TextContent", "Text."),
    ("TextResourceContents", "Contents of a resource that are text."),
    ("Tool", "A tool that a server offers."),
    (
        "ToolAnnotations",
        "Hints about what a tool does. They come from the server: trust them as far as you trust it.",
    ),
    ("ToolChoice", "Whether the model may or must use tools."),
    (
        "URLElicitationRequiredError",
        "The person has to visit web pages before the request can succeed (-32042).",
    ),
];

/// More types by name.
const MORE_TYPES: [(&str, &str); 36] = [
    ("StringSchema", "A form field for text."),
    ("TaskMetadata", "A wish that a request become a task."),
    ("TitledMultiSelectEnumSchema", "A choice of several, with titles."),
    ("TitledSingleSelectEnumSchema", "A choice of one, with titles."),
    ("ToolResultContent", "What a tool said, told to a model."),
    ("ToolUseContent", "A model's wish to call a tool."),
    (
        "UnsupportedProtocolVersionError",
        "The receiver does not speak the revision that the request names (-32022).",
    ),
    ("UntitledMultiSelectEnumSchema", "A choice of several."),
    ("UntitledSingleSelectEnumSchema", "A choice of one."),
    ("UntitledEnumItems", "The choices of a field that takes several."),
    (
        "TitledEnumItems",
        "The choices, with titles, of a field that takes several.",
    ),
    ("StringFormat", "What a text has to look like."),
    ("HeaderMismatchErrorObject", "Its error object."),
    ("MissingRequiredClientCapabilityErrorObject", "Its error object."),
    (
        "MissingRequiredClientCapabilityErrorData",
        "Which capabilities are missing.",
    ),
    ("URLElicitationRequiredErrorObject", "Its error object."),
    ("URLElicitationRequiredErrorData", "Which pages to visit."),
    ("UnsupportedProtocolVersionErrorObject", "Its error object."),
    ("UnsupportedProtocolVersionErrorData", "Which revisions would do."),
    ("ToolExecution", "How a tool can be run."),
    ("ToolChoiceMode", "Whether the model calls tools."),
    ("TaskSupport", "Whether a tool runs as a task."),
    ("TaskStatus", "How far a task is."),
    (
        "SubscriptionsListenResultMetaObject",
        "What the result of a subscription carries under `_meta`.",
    ),
    (
        "NotificationParams",
        "The parameters of notifications that have none of their own.",
    ),
    (
        "RequestParams",
        "The parameters of requests that have none of their own.",
    ),
    ("PromptsCapability", "What a server can do with prompts."),
    ("ResourcesCapability", "What a server can do with resources."),
    ("RootsCapability", "What a client can do with roots."),
    ("SamplingCapability", "What a client's model can do."),
    ("ToolsCapability", "What a server can do with tools."),
    ("ServerTasksCapability", "What a server can do with tasks."),
    ("ServerTaskRequests", "The requests that a server can run as tasks."),
    ("TaskElicitation", "The elicitation requests that can run as tasks."),
    ("TaskSampling", "The sampling requests that can run as tasks."),
    ("TaskTools", "The tool requests that can run as tasks."),
];

/// Members of one type.
const OF_TYPE: [(&str, &str, &str); 65] = [
    ("CallToolRequestParams", "name", "Which tool."),
    ("CallToolResult", "isError", "The tool failed, and `content` says why."),
    (
        "CallToolResult",
        "structuredContent",
        "For programs; fits the tool's output schema if it has one. An object before 2026-07-28.",
    ),
    ("CancelledNotificationParams", "requestId", "The request to give up."),
    ("Completion", "values", "At most 100."),
    (
        "CompletionContext",
        "arguments",
        "Arguments that have their value already.",
    ),
    ("CreateMessageRequestParams", "tools", "What the model may call."),
    (
        "DiscoverResult",
        "supportedVersions",
        "Revisions by name, the preferred one first.",
    ),
    (
        "ElicitResult",
        "content",
        "What was filled in, by field. It counts only if the action is `accept`.",
    ),
    ("EnumOption", "const", "The value."),
    (
        "ErrorObject",
        "code",
        "An integer; those from -32768 to -32000 are JSON-RPC's and the protocol's.",
    ),
    ("GetPromptRequestParams", "name", "Which prompt."),
    ("Icon", "src", "An `https:` or `data:` URI."),
    ("Icon", "sizes", "Such as `48x48`, or `any` for what scales."),
    ("Implementation", "version", "The program's version."),
    (
        "InitializeRequestParams",
        "protocolVersion",
        "The newest revision the client speaks.",
    ),
    (
        "InitializeResult",
        "protocolVersion",
        "The revision to speak from now on.",
    ),
    (
        "LegacyTitledEnumSchema",
        "enumNames",
        "Titles, in the order of the values.",
    ),
    ("LoggingMessageNotificationParams", "data", "What happened; any JSON."),
    ("LoggingMessageNotificationParams", "level", "How grave it is."),
    ("ProgressNotificationParams", "progress", "Grows with each message."),
    (
        "ProgressNotificationParams",
        "progressToken",
        "From the `_meta` of the request.",
    ),
    (
        "ProgressNotificationParams",
        "total",
        "What it grows to, if that is known.",
    ),
    ("RequestedSchema", "properties", "The fields, in order."),
    ("Root", "uri", "A `file:` URI."),
    ("SetLevelRequestParams", "level", "The lowest level to send."),
    (
        "Task",
        "ttl",
        "How long the server keeps it, in milliseconds; null is for ever.",
    ),
    ("TextResourceContents", "text", "The contents."),
    ("Tool", "inputSchema", "The JSON Schema of its arguments, as text."),
    (
        "Tool",
        "outputSchema",
        "The JSON Schema of its structured content, as text.",
    ),
    ("ToolResultContent", "toolUseId", "The `id` of the wish it answers."),
    ("ToolUseContent", "id", "What the result names it by."),
    ("ToolUseContent", "input", "The arguments, as text."),
    (
        "UnsupportedProtocolVersionErrorData",
        "supported",
        "The revisions that the receiver speaks.",
    ),
    ("NumberSchema", "type", "Whether it has to be whole."),
    ("EmbeddedResource", "resource", "Its contents."),
    (
        "ToolResultContent",
        "isError",
        "The tool failed, and `content` says why.",
    ),
    (
        "ToolResultContent",
        "structuredContent",
        "What the tool said for programs.",
    ),
    ("CompletionArgument", "name", "Which argument."),
    ("CompletionArgument", "value", "What is written so far."),
    ("CompleteResult", "completion", "The values."),
    ("Tool", "execution", "How it can be run."),
    ("Icon", "theme", "The background it is made for."),
    (
        "TaskMetadata",
        "ttl",
        "How long the result should be kept, in milliseconds.",
    ),
    (
        "CancelTaskResult",
        "ttl",
        "How long the server keeps it, in milliseconds; null is for ever.",
    ),
    (
        "GetTaskResult",
        "ttl",
        "How long the server keeps it, in milliseconds; null is for ever.",
    ),
    (
        "TaskStatusNotificationParams",
        "ttl",
        "How long the server keeps it, in milliseconds; null is for ever.",
    ),
    (
        "UnsupportedProtocolVersionErrorData",
        "requested",
        "The revision that was asked for.",
    ),
    (
        "MissingRequiredClientCapabilityErrorData",
        "requiredCapabilities",
        "What the client would have to declare.",
    ),
    (
        "URLElicitationRequiredErrorData",
        "elicitations",
        "The pages to visit, each with its reason.",
    ),
    ("RequestedSchema", "required", "The fields that have to be filled in."),
    ("SubscriptionFilter", "resourceSubscriptions", "The URIs to watch."),
    (
        "SubscriptionFilter",
        "promptsListChanged",
        "Changes of the list of prompts.",
    ),
    (
        "SubscriptionFilter",
        "resourcesListChanged",
        "Changes of the list of resources.",
    ),
    (
        "SubscriptionFilter",
        "toolsListChanged",
        "Changes of the list of tools.",
    ),
    ("ClientCapabilities", "elicitation", "It asks the person."),
    ("ClientCapabilities", "roots", "It tells its roots."),
    ("ClientCapabilities", "sampling", "It asks its model."),
    ("ClientCapabilities", "tasks", "It runs requests as tasks."),
    ("ServerCapabilities", "tasks", "It runs requests as tasks."),
    ("ServerCapabilities", "completions", "It completes arguments."),
    ("ServerCapabilities", "logging", "It sends log messages."),
    ("ServerCapabilities", "prompts", "It has prompts."),
    ("ServerCapabilities", "resources", "It has resources."),
    ("ServerCapabilities", "tools", "It has tools."),
];

/// Members of that name in any type.
const MEMBERS: [(&str, &str); 109] = [
    (
        "_meta",
        "Members beside the protocol's own, named with a prefix by whoever defines them.",
    ),
    ("action", "What the person did."),
    ("annotations", "Hints for whoever shows or uses it."),
    ("argument", "What to complete."),
    ("arguments", "By name."),
    ("audience", "Who it is for."),
    ("blob", "The contents in base64."),
    ("cacheScope", "Who may be served from a cache."),
    ("capabilities", "What the sender can do."),
    ("clientInfo", "The client's program."),
    ("code", "Which error it is."),
    ("content", "What it says."),
    (
        "contents",
        "What was read; more than one entry if the URI stands for several.",
    ),
    ("costPriority", "How much low cost matters, from 0 to 1."),
    ("createdAt", "An ISO 8601 time."),
    (
        "cursor",
        "Where the page begins, from `nextCursor`; absent for the first page.",
    ),
    ("data", "The bytes in base64."),
    ("default", "The value to begin with."),
    ("description", "What it is and when to use it."),
    ("destructiveHint", "It may destroy something. True if absent."),
    ("elicitationId", "What the server knows the question by."),
    ("enum", "The choices."),
    ("error", "Why the request failed."),
    ("experimental", "Capabilities outside the specification."),
    ("extensions", "Extensions by name, each with its settings."),
    ("hasMore", "There are more than these."),
    ("hints", "Models that would do, the best first."),
    ("icons", "Pictures to show beside it."),
    ("id", "The id of the request; its response has the same."),
    (
        "idempotentHint",
        "A second call with the same arguments changes nothing more. False if absent.",
    ),
    ("inputRequests", "What the server wants to know."),
    ("inputResponses", "Answers to the questions of the round before."),
    ("instructions", "How to use the server, for a model."),
    ("intelligencePriority", "How much ability matters, from 0 to 1."),
    ("jsonrpc", "The version of JSON-RPC; absent inside a result."),
    ("lastModified", "An ISO 8601 time."),
    ("lastUpdatedAt", "An ISO 8601 time."),
    ("listChanged", "Changes of the list are announced."),
    ("maxTokens", "The most tokens the model may write."),
    ("message", "For people."),
    ("messages", "In the order they were said."),
    ("mimeType", "The media type, for example `text/plain`."),
    ("mode", "`form` or `url`; a form if absent."),
    ("model", "The model that answered."),
    ("name", "For programs: what requests name it by."),
    ("nextCursor", "Where the next page begins; absent on the last one."),
    ("openWorldHint", "It reaches beyond the server. True if absent."),
    ("pollInterval", "How often to ask, in milliseconds."),
    ("priority", "How much it matters, from 0 to 1."),
    ("readOnlyHint", "It changes nothing. False if absent."),
    ("reason", "For people and logs."),
    ("ref", "What the argument belongs to."),
    ("requestState", "The server's own notes: send them back as they are."),
    ("required", "It cannot be left out."),
    ("resultType", "Whether this is the result; complete if absent."),
    ("role", "Who speaks."),
    ("serverInfo", "The server's program."),
    ("size", "In bytes."),
    ("speedPriority", "How much speed matters, from 0 to 1."),
    ("status", "How far it is."),
    ("statusMessage", "For people."),
    ("stopReason", "Why the model stopped, for example `endTurn`."),
    ("subscribe", "Single resources can be watched."),
    ("task", "Asks that this become a task, or says which task it became."),
    ("taskId", "What the task is known by."),
    ("temperature", "How free the model is."),
    ("text", "The text."),
    ("title", "For people."),
    ("total", "How many there are, if that is known."),
    ("ttlMs", "How long the result stays fresh, in milliseconds."),
    ("uri", "What the resource is known by."),
    ("uriTemplate", "A pattern after RFC 6570."),
    ("url", "The page to visit."),
    ("websiteUrl", "Where to read about it."),
    ("io.modelcontextprotocol/clientCapabilities", "What the client can do."),
    ("io.modelcontextprotocol/clientInfo", "The client's program."),
    (
        "io.modelcontextprotocol/protocolVersion",
        "The revision the request speaks.",
    ),
    ("progressToken", "Asks for progress messages, which carry this token."),
    ("context", "What else is known."),
    ("format", "What it has to look like."),
    ("maximum", "The largest number allowed."),
    ("minimum", "The smallest number allowed."),
    ("maxLength", "The most characters allowed."),
    ("minLength", "The fewest characters allowed."),
    ("maxItems", "The most choices allowed."),
    ("minItems", "The fewest choices allowed."),
    ("items", "The choices."),
    ("anyOf", "The choices."),
    ("oneOf", "The choices."),
    ("logger", "Which part of the server."),
    (
        "notifications",
        "The changes of interest, or those that will be announced.",
    ),
    ("prompts", "One page of the list."),
    ("resources", "One page of the list."),
    ("resourceTemplates", "One page of the list."),
    ("tools", "One page of the list."),
    ("tasks", "One page of the list."),
    ("roots", "All of them."),
    ("requestedSchema", "The form."),
    ("includeContext", "Which servers' context the model sees."),
    ("metadata", "For the model's provider."),
    ("modelPreferences", "Which model would do."),
    ("stopSequences", "Texts at which the model stops."),
    ("systemPrompt", "What the model is told first."),
    ("toolChoice", "Whether the model may or must use tools."),
    ("taskSupport", "Whether it runs as a task."),
    (
        "io.modelcontextprotocol/subscriptionId",
        "The id of the `subscriptions/listen` request it belongs to.",
    ),
    ("io.modelcontextprotocol/serverInfo", "The server's program."),
    (
        "io.modelcontextprotocol/logLevel",
        "The lowest level of log messages wanted for this request.",
    ),
    ("$schema", "The dialect of the schema."),
];

/// The documentation of a type. `method` is that of a message type, or of the message it belongs to.
pub(super) fn of_type(name: &str, method: Option<&str>) -> String {
    let known = TYPES.iter().chain(&MORE_TYPES).find(|(known, _)| *known == name);
    if let Some((_, text)) = known {
        return (*text).to_owned();
    }
    let Some(method) = method else {
        return format!("The specification's `{name}`.");
    };
    let part = [
        ("ResultResponse", "The response with the result of"),
        ("Request", "The request"),
        ("RequestParams", "The parameters of"),
        ("Result", "The result of"),
        ("Notification", "The notification"),
        ("NotificationParams", "The parameters of"),
    ];
    let (_, what) = part
        .iter()
        .rev()
        .find(|(end, _)| name.ends_with(end))
        .unwrap_or(&("", "A part of"));
    format!("{what} `{method}`.")
}

/// The documentation of a member.
pub(super) fn of_member(owner: &str, member: &str) -> String {
    let own = OF_TYPE.iter().find(|(of, name, _)| *of == owner && *name == member);
    if let Some((_, _, text)) = own {
        return (*text).to_owned();
    }
    // Elsewhere `data` is bytes.
    let is_error_data = member == "data" && owner.contains("Error");
    let is_params = member == "params" || member == "result";
    let known = MEMBERS.iter().find(|(name, _)| *name == member);
    match known {
        _ if is_error_data => "More about the error.".to_owned(),
        _ if is_params => format!("The {member} of the message.").replace("params of", "parameters of"),
        Some((_, text)) => (*text).to_owned(),
        None => format!("The `{member}` member of `{owner}`."),
    }
}

/// A sentence about the revisions that have something, if not all of `all` do.
pub(super) fn revisions(has: u8, all: u8) -> Option<String> {
    if has & all == all {
        return None;
    }
    let names: Vec<&str> = (0..REVISIONS.len())
        .filter(|index| has & (1 << index) != 0)
        .map(|index| REVISIONS[index])
        .collect();
    let newest = REVISIONS[REVISIONS.len() - 1];
    let oldest = REVISIONS[0];
    Some(match &*names {
        [] => return None,
        [only] => format!("Only in {only}."),
        [first, .., last] if *last == newest => format!("Since {first}."),
        [first, .., last] if *first == oldest => format!("Up to {last}."),
        [first, .., last] => format!("From {first} to {last}."),
    })
}

/// Whether a field's name leaves the member's in doubt: then the documentation shows the member.
pub(super) fn shows_member(member: &str) -> bool {
    let differs = field(member) != member;
    differs && (member.contains('/') || !member.chars().any(|letter| letter.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_told_as_a_span() {
        assert_eq!(revisions(0b11111, 0b11111), None);
        assert_eq!(revisions(0b11000, 0b11000), None);
        assert_eq!(revisions(0b10000, 0b11111).unwrap(), "Only in 2026-07-28.");
        assert_eq!(revisions(0b11100, 0b11111).unwrap(), "Since 2025-06-18.");
        assert_eq!(revisions(0b01111, 0b11111).unwrap(), "Up to 2025-11-25.");
        assert_eq!(revisions(0b01100, 0b11111).unwrap(), "From 2025-06-18 to 2025-11-25.");
    }

    #[test]
    fn everything_has_words() {
        assert_eq!(
            of_type("CallToolRequestParams", Some("tools/call")),
            "The parameters of `tools/call`."
        );
        assert_eq!(
            of_type("CallToolResultResponse", Some("tools/call")),
            "The response with the result of `tools/call`."
        );
        assert_eq!(of_type("Odd", None), "The specification's `Odd`.");
        assert_eq!(of_member("Odd", "thing"), "The `thing` member of `Odd`.");
        assert_eq!(of_member("ErrorObject", "data"), "More about the error.");
        assert_eq!(of_member("ImageContent", "data"), "The bytes in base64.");
    }
}
