"""What servers offer and what goes to and fro: content, tools, resources, prompts."""

from __future__ import annotations

from typing import Any, Literal, Optional, Union

from ._model import AnyUrl, Model

Role = Literal["user", "assistant"]
Cursor = str
ProgressToken = Union[str, int]
RequestId = Union[int, str]
LoggingLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class BaseMetadata(Model):
    """What has a name for programs and one for people."""

    name: str
    title: Optional[str] = None


class Annotations(Model):
    """For whom content is, and how much it matters (0 to 1)."""

    audience: Optional[list[Role]] = None
    priority: Optional[float] = None
    lastModified: Optional[str] = None


class Icon(Model):
    """A picture of something, for people."""

    src: str
    mimeType: Optional[str] = None
    sizes: Optional[list[str]] = None
    theme: Optional[str] = None


class Implementation(BaseMetadata):
    """Who a client or a server is."""

    version: str
    description: Optional[str] = None
    websiteUrl: Optional[str] = None
    icons: Optional[list[Icon]] = None


class TextContent(Model):
    """Text."""

    type: Literal["text"] = "text"
    text: str
    annotations: Optional[Annotations] = None
    meta: Optional[dict[str, Any]] = None


class ImageContent(Model):
    """A picture; `data` is base64."""

    type: Literal["image"] = "image"
    data: str
    mimeType: str
    annotations: Optional[Annotations] = None
    meta: Optional[dict[str, Any]] = None


class AudioContent(Model):
    """Sound; `data` is base64."""

    type: Literal["audio"] = "audio"
    data: str
    mimeType: str
    annotations: Optional[Annotations] = None
    meta: Optional[dict[str, Any]] = None


class ResourceContents(Model):
    """Contents of a resource."""

    uri: AnyUrl
    mimeType: Optional[str] = None
    meta: Optional[dict[str, Any]] = None


class TextResourceContents(ResourceContents):
    """Contents that are text."""

    text: str


class BlobResourceContents(ResourceContents):
    """Contents that are bytes, in base64."""

    blob: str


class EmbeddedResource(Model):
    """A resource with its contents."""

    type: Literal["resource"] = "resource"
    resource: Union[TextResourceContents, BlobResourceContents]
    annotations: Optional[Annotations] = None
    meta: Optional[dict[str, Any]] = None


class Resource(BaseMetadata):
    """A resource that a server offers."""

    uri: AnyUrl
    description: Optional[str] = None
    mimeType: Optional[str] = None
    size: Optional[int] = None
    icons: Optional[list[Icon]] = None
    annotations: Optional[Annotations] = None
    meta: Optional[dict[str, Any]] = None


class ResourceLink(Resource):
    """The address of a resource, as content."""

    type: Literal["resource_link"] = "resource_link"


class ResourceTemplate(BaseMetadata):
    """A family of resources, by a URI template."""

    uriTemplate: str
    description: Optional[str] = None
    mimeType: Optional[str] = None
    icons: Optional[list[Icon]] = None
    annotations: Optional[Annotations] = None
    meta: Optional[dict[str, Any]] = None


class ToolUseContent(Model):
    """A model asks for a tool (sampling)."""

    type: Literal["tool_use"] = "tool_use"
    name: str
    id: str
    input: dict[str, Any]
    meta: Optional[dict[str, Any]] = None


ContentBlock = Union[TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource]
Content = ContentBlock


class ToolResultContent(Model):
    """What a tool gave, for a model (sampling)."""

    type: Literal["tool_result"] = "tool_result"
    toolUseId: str
    content: list[ContentBlock] = []
    structuredContent: Optional[Any] = None
    isError: Optional[bool] = None
    meta: Optional[dict[str, Any]] = None


SamplingContent = Union[TextContent, ImageContent, AudioContent]
SamplingMessageContentBlock = Union[TextContent, ImageContent, AudioContent, ToolUseContent, ToolResultContent]


class SamplingMessage(Model):
    """A message to or from a model."""

    role: Role
    content: Union[SamplingMessageContentBlock, list[SamplingMessageContentBlock]]
    meta: Optional[dict[str, Any]] = None

    @property
    def content_as_list(self) -> list[SamplingMessageContentBlock]:
        """The content, also a single block, as a list."""
        return self.content if isinstance(self.content, list) else [self.content]


class ToolAnnotations(Model):
    """Hints of what a tool does."""

    title: Optional[str] = None
    readOnlyHint: Optional[bool] = None
    destructiveHint: Optional[bool] = None
    idempotentHint: Optional[bool] = None
    openWorldHint: Optional[bool] = None


class ToolExecution(Model):
    """How a tool may be run."""

    taskSupport: Optional[Literal["forbidden", "optional", "required"]] = None


class Tool(BaseMetadata):
    """A tool that a server offers."""

    description: Optional[str] = None
    inputSchema: dict[str, Any]
    outputSchema: Optional[dict[str, Any]] = None
    icons: Optional[list[Icon]] = None
    annotations: Optional[ToolAnnotations] = None
    execution: Optional[ToolExecution] = None
    meta: Optional[dict[str, Any]] = None


class PromptArgument(Model):
    """An argument of a prompt."""

    name: str
    title: Optional[str] = None
    description: Optional[str] = None
    required: Optional[bool] = None


class Prompt(BaseMetadata):
    """A prompt that a server offers."""

    description: Optional[str] = None
    arguments: Optional[list[PromptArgument]] = None
    icons: Optional[list[Icon]] = None
    meta: Optional[dict[str, Any]] = None


class PromptMessage(Model):
    """A message of a prompt."""

    role: Role
    content: ContentBlock


class Root(Model):
    """A folder or file that a client lets a server work on."""

    uri: AnyUrl
    name: Optional[str] = None
    meta: Optional[dict[str, Any]] = None


class ModelHint(Model):
    """A name that a model's may contain."""

    name: Optional[str] = None


class ModelPreferences(Model):
    """Which model a server would like."""

    hints: Optional[list[ModelHint]] = None
    costPriority: Optional[float] = None
    speedPriority: Optional[float] = None
    intelligencePriority: Optional[float] = None


class ToolChoice(Model):
    """Whether a model may, must or must not use tools."""

    mode: Optional[Literal["auto", "required", "none"]] = None


class ErrorData(Model):
    """An error of JSON-RPC."""

    code: int
    message: str
    data: Optional[Any] = None
