"""Requests, their params and results, notifications and capabilities."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Literal, Optional, TypeVar, Union

from ._content import (
    BlobResourceContents,
    ContentBlock,
    ErrorData,
    Implementation,
    LoggingLevel,
    ModelPreferences,
    ProgressToken,
    Prompt,
    PromptMessage,
    RequestId,
    Resource,
    ResourceTemplate,
    Role,
    Root,
    SamplingContent,
    SamplingMessage,
    SamplingMessageContentBlock,
    TextResourceContents,
    Tool,
    ToolChoice,
)
from ._model import AnyUrl, Model, RootModel

Params = TypeVar("Params")
Method = TypeVar("Method")


class RequestParams(Model):
    """The params of a request."""

    class Meta(Model):
        """The ``_meta`` of a request."""

        progressToken: Optional[ProgressToken] = None

    meta: Optional[Meta] = None


class PaginatedRequestParams(RequestParams):
    cursor: Optional[str] = None


class NotificationParams(Model):
    class Meta(Model):
        """The ``_meta`` of a notification."""

    meta: Optional[Meta] = None


class Request(Model, Generic[Params, Method]):
    """A request: its method and its params."""

    METHOD: ClassVar[str] = ""
    method: str = ""

    def __init__(self, **data: Any) -> None:
        super().__init__(**({"method": self.METHOD} if self.METHOD else {}), **_without_method(self, data))


class Notification(Model, Generic[Params, Method]):
    """A notification: its method and its params."""

    METHOD: ClassVar[str] = ""
    method: str = ""

    def __init__(self, **data: Any) -> None:
        super().__init__(**({"method": self.METHOD} if self.METHOD else {}), **_without_method(self, data))


def _without_method(message: Request[Any, Any] | Notification[Any, Any], data: dict[str, Any]) -> dict[str, Any]:
    if not message.METHOD or "method" not in data:
        return data
    if data["method"] != message.METHOD:
        raise ValueError(f"the method of {type(message).__name__} is {message.METHOD!r}, not {data['method']!r}")
    return {name: value for name, value in data.items() if name != "method"}


PaginatedRequest = Request


class Result(Model):
    """The result of a request."""

    meta: Optional[dict[str, Any]] = None


class PaginatedResult(Result):
    nextCursor: Optional[str] = None


class EmptyResult(Result): ...


class JSONRPCRequest(Model):
    jsonrpc: Literal["2.0"] = "2.0"
    id: RequestId
    method: str
    params: Optional[dict[str, Any]] = None


class JSONRPCNotification(Model):
    jsonrpc: Literal["2.0"] = "2.0"
    method: str
    params: Optional[dict[str, Any]] = None


class JSONRPCResponse(Model):
    jsonrpc: Literal["2.0"] = "2.0"
    id: RequestId
    result: dict[str, Any]


class JSONRPCError(Model):
    jsonrpc: Literal["2.0"] = "2.0"
    id: Optional[RequestId] = None
    error: ErrorData


class JSONRPCMessage(RootModel): ...


# Capabilities


class RootsCapability(Model):
    listChanged: Optional[bool] = None


class SamplingCapability(Model):
    context: Optional[dict[str, Any]] = None
    tools: Optional[dict[str, Any]] = None


class FormElicitationCapability(Model): ...


class UrlElicitationCapability(Model): ...


class ElicitationCapability(Model):
    form: Optional[FormElicitationCapability] = None
    url: Optional[UrlElicitationCapability] = None


class ClientCapabilities(Model):
    experimental: Optional[dict[str, Any]] = None
    sampling: Optional[SamplingCapability] = None
    elicitation: Optional[ElicitationCapability] = None
    roots: Optional[RootsCapability] = None
    extensions: Optional[dict[str, Any]] = None


class PromptsCapability(Model):
    listChanged: Optional[bool] = None


class ResourcesCapability(Model):
    subscribe: Optional[bool] = None
    listChanged: Optional[bool] = None


class ToolsCapability(Model):
    listChanged: Optional[bool] = None


class LoggingCapability(Model): ...


class CompletionsCapability(Model): ...


class ServerCapabilities(Model):
    experimental: Optional[dict[str, Any]] = None
    logging: Optional[LoggingCapability] = None
    prompts: Optional[PromptsCapability] = None
    resources: Optional[ResourcesCapability] = None
    tools: Optional[ToolsCapability] = None
    completions: Optional[CompletionsCapability] = None
    extensions: Optional[dict[str, Any]] = None


# The connection


class InitializeRequestParams(RequestParams):
    protocolVersion: Union[str, int]
    capabilities: ClientCapabilities
    clientInfo: Implementation


class InitializeRequest(Request[Any, Any]):
    METHOD = "initialize"
    params: InitializeRequestParams


class InitializeResult(Result):
    protocolVersion: Union[str, int]
    capabilities: ServerCapabilities
    serverInfo: Implementation
    instructions: Optional[str] = None


class InitializedNotification(Notification[Any, Any]):
    METHOD = "notifications/initialized"
    params: Optional[NotificationParams] = None


class PingRequest(Request[Any, Any]):
    METHOD = "ping"
    params: Optional[RequestParams] = None


class ProgressNotificationParams(NotificationParams):
    progressToken: ProgressToken
    progress: float
    total: Optional[float] = None
    message: Optional[str] = None


class ProgressNotification(Notification[Any, Any]):
    METHOD = "notifications/progress"
    params: ProgressNotificationParams


class CancelledNotificationParams(NotificationParams):
    requestId: Optional[RequestId] = None
    reason: Optional[str] = None


class CancelledNotification(Notification[Any, Any]):
    METHOD = "notifications/cancelled"
    params: CancelledNotificationParams


class SetLevelRequestParams(RequestParams):
    level: LoggingLevel


class SetLevelRequest(Request[Any, Any]):
    METHOD = "logging/setLevel"
    params: SetLevelRequestParams


class LoggingMessageNotificationParams(NotificationParams):
    level: LoggingLevel
    logger: Optional[str] = None
    data: Any = None


class LoggingMessageNotification(Notification[Any, Any]):
    METHOD = "notifications/message"
    params: LoggingMessageNotificationParams


# Resources


class ListResourcesRequest(Request[Any, Any]):
    METHOD = "resources/list"
    params: Optional[PaginatedRequestParams] = None


class ListResourcesResult(PaginatedResult):
    resources: list[Resource]


class ListResourceTemplatesRequest(Request[Any, Any]):
    METHOD = "resources/templates/list"
    params: Optional[PaginatedRequestParams] = None


class ListResourceTemplatesResult(PaginatedResult):
    resourceTemplates: list[ResourceTemplate]


class ReadResourceRequestParams(RequestParams):
    uri: AnyUrl


class ReadResourceRequest(Request[Any, Any]):
    METHOD = "resources/read"
    params: ReadResourceRequestParams


class ReadResourceResult(Result):
    contents: list[Union[TextResourceContents, BlobResourceContents]]


class SubscribeRequestParams(RequestParams):
    uri: AnyUrl


class SubscribeRequest(Request[Any, Any]):
    METHOD = "resources/subscribe"
    params: SubscribeRequestParams


class UnsubscribeRequestParams(RequestParams):
    uri: AnyUrl


class UnsubscribeRequest(Request[Any, Any]):
    METHOD = "resources/unsubscribe"
    params: UnsubscribeRequestParams


class ResourceListChangedNotification(Notification[Any, Any]):
    METHOD = "notifications/resources/list_changed"
    params: Optional[NotificationParams] = None


class ResourceUpdatedNotificationParams(NotificationParams):
    uri: AnyUrl


class ResourceUpdatedNotification(Notification[Any, Any]):
    METHOD = "notifications/resources/updated"
    params: ResourceUpdatedNotificationParams


# Prompts and completion


class ListPromptsRequest(Request[Any, Any]):
    METHOD = "prompts/list"
    params: Optional[PaginatedRequestParams] = None


class ListPromptsResult(PaginatedResult):
    prompts: list[Prompt]


class GetPromptRequestParams(RequestParams):
    name: str
    arguments: Optional[dict[str, str]] = None


class GetPromptRequest(Request[Any, Any]):
    METHOD = "prompts/get"
    params: GetPromptRequestParams


class GetPromptResult(Result):
    description: Optional[str] = None
    messages: list[PromptMessage]


class PromptListChangedNotification(Notification[Any, Any]):
    METHOD = "notifications/prompts/list_changed"
    params: Optional[NotificationParams] = None


class ResourceTemplateReference(Model):
    type: Literal["ref/resource"] = "ref/resource"
    uri: str


ResourceReference = ResourceTemplateReference


class PromptReference(Model):
    type: Literal["ref/prompt"] = "ref/prompt"
    name: str


class CompletionArgument(Model):
    name: str
    value: str


class CompletionContext(Model):
    arguments: Optional[dict[str, str]] = None


class CompleteRequestParams(RequestParams):
    ref: Union[ResourceTemplateReference, PromptReference]
    argument: CompletionArgument
    context: Optional[CompletionContext] = None


class CompleteRequest(Request[Any, Any]):
    METHOD = "completion/complete"
    params: CompleteRequestParams


class Completion(Model):
    values: list[str]
    total: Optional[int] = None
    hasMore: Optional[bool] = None


class CompleteResult(Result):
    completion: Completion


# Tools


class ListToolsRequest(Request[Any, Any]):
    METHOD = "tools/list"
    params: Optional[PaginatedRequestParams] = None


class ListToolsResult(PaginatedResult):
    tools: list[Tool]


class CallToolRequestParams(RequestParams):
    name: str
    arguments: Optional[dict[str, Any]] = None


class CallToolRequest(Request[Any, Any]):
    METHOD = "tools/call"
    params: CallToolRequestParams


class CallToolResult(Result):
    content: list[ContentBlock]
    structuredContent: Optional[Any] = None
    isError: bool = False


class ToolListChangedNotification(Notification[Any, Any]):
    METHOD = "notifications/tools/list_changed"
    params: Optional[NotificationParams] = None


# What a server asks of a client


class CreateMessageRequestParams(RequestParams):
    messages: list[SamplingMessage]
    modelPreferences: Optional[ModelPreferences] = None
    systemPrompt: Optional[str] = None
    includeContext: Optional[Literal["none", "thisServer", "allServers"]] = None
    temperature: Optional[float] = None
    maxTokens: int
    stopSequences: Optional[list[str]] = None
    metadata: Optional[dict[str, Any]] = None
    tools: Optional[list[Tool]] = None
    toolChoice: Optional[ToolChoice] = None


class CreateMessageRequest(Request[Any, Any]):
    METHOD = "sampling/createMessage"
    params: CreateMessageRequestParams


class CreateMessageResult(Result):
    role: Role
    content: SamplingContent
    model: str
    stopReason: Optional[str] = None


class CreateMessageResultWithTools(Result):
    role: Role
    content: Union[SamplingMessageContentBlock, list[SamplingMessageContentBlock]]
    model: str
    stopReason: Optional[str] = None


class ListRootsRequest(Request[Any, Any]):
    METHOD = "roots/list"
    params: Optional[RequestParams] = None


class ListRootsResult(Result):
    roots: list[Root]


class RootsListChangedNotification(Notification[Any, Any]):
    METHOD = "notifications/roots/list_changed"
    params: Optional[NotificationParams] = None


class ElicitRequestFormParams(RequestParams):
    mode: Literal["form"] = "form"
    message: str
    requestedSchema: dict[str, Any]


class ElicitRequestURLParams(RequestParams):
    mode: Literal["url"] = "url"
    message: str
    url: str
    elicitationId: str


ElicitRequestedSchema = dict[str, Any]
ElicitRequestParams = Union[ElicitRequestURLParams, ElicitRequestFormParams]


class ElicitRequest(Request[Any, Any]):
    METHOD = "elicitation/create"
    params: ElicitRequestParams


class ElicitResult(Result):
    action: Literal["accept", "decline", "cancel"]
    content: Optional[dict[str, Any]] = None


class ElicitCompleteNotificationParams(NotificationParams):
    elicitationId: str


class ElicitCompleteNotification(Notification[Any, Any]):
    METHOD = "notifications/elicitation/complete"
    params: ElicitCompleteNotificationParams


class ElicitationRequiredErrorData(Model):
    elicitations: list[ElicitRequestURLParams]


class ClientRequest(RootModel): ...


class ClientNotification(RootModel): ...


class ClientResult(RootModel): ...


class ServerRequest(RootModel): ...


class ServerNotification(RootModel): ...


class ServerResult(RootModel): ...
