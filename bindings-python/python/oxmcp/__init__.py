"""The Model Context Protocol for Python, on a Rust core.

A server in six lines::

    from oxmcp import Server

    app = Server("demo")

    @app.tool
    async def greet(name: str) -> str:
        "Greets a person."
        return f"Hello, {name}!"

    app.run()

Importing this package loads the core and nothing heavy: a server answers its client's first
messages before asyncio or msgspec are imported.
"""

from ._errors import (
    CallCancelledError,
    CapabilityError,
    ConnectionClosedError,
    HandlerError,
    McpError,
    ProtocolError,
    RequestTimeoutError,
    ResponseError,
    ToolError,
    UrlElicitationRequiredError,
    UsageError,
)
from ._native import Context
from ._native import version as _version
from ._server import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._asgi import AsgiApp as AsgiApp
    from ._client import Client as Client
    from ._depends import Depends as Depends
    from ._dialog import (
        ElicitRequest as ElicitRequest,
        ElicitResult as ElicitResult,
        Message as Message,
        Root as Root,
        SampleRequest as SampleRequest,
        SampleResult as SampleResult,
    )
    from ._helpers import Audio as Audio, File as File, Image as Image
    from ._http import HttpOptions as HttpOptions, HttpServing as HttpServing, ListenOptions as ListenOptions
    from ._limits import ClientLimits as ClientLimits, ServerLimits as ServerLimits
    from ._middleware import Request as Request
    from ._offers import (
        BlobResourceContents as BlobResourceContents,
        Completion as Completion,
        Prompt as Prompt,
        PromptArgument as PromptArgument,
        PromptResult as PromptResult,
        Resource as Resource,
        ResourceResult as ResourceResult,
        ResourceTemplate as ResourceTemplate,
        TextResourceContents as TextResourceContents,
    )
    from ._remote import HttpClientOptions as HttpClientOptions
    from ._remote import Unauthorized as Unauthorized
    from ._requests import HttpRequest as HttpRequest
    from ._routes import HttpResponse as HttpResponse
    from ._sessions import ServerSession as ServerSession
    from ._streams import Notifications as Notifications
    from ._sync import SyncClient as SyncClient
    from ._types import (
        AudioContent as AudioContent,
        CallToolResult as CallToolResult,
        Content as Content,
        EmbeddedResource as EmbeddedResource,
        ImageContent as ImageContent,
        Page as Page,
        ResourceLink as ResourceLink,
        TextContent as TextContent,
        Tool as Tool,
        UnknownContent as UnknownContent,
    )

__all__ = [
    "AsgiApp",
    "Audio",
    "AudioContent",
    "BlobResourceContents",
    "CallCancelledError",
    "CallToolResult",
    "CapabilityError",
    "Client",
    "ClientLimits",
    "Completion",
    "ConnectionClosedError",
    "Content",
    "Context",
    "Depends",
    "ElicitRequest",
    "ElicitResult",
    "EmbeddedResource",
    "File",
    "HandlerError",
    "HttpClientOptions",
    "HttpOptions",
    "HttpRequest",
    "HttpResponse",
    "HttpServing",
    "Image",
    "ImageContent",
    "ListenOptions",
    "McpError",
    "Message",
    "Notifications",
    "Page",
    "Prompt",
    "PromptArgument",
    "PromptResult",
    "ProtocolError",
    "Request",
    "RequestTimeoutError",
    "Resource",
    "ResourceLink",
    "ResourceResult",
    "ResourceTemplate",
    "ResponseError",
    "Root",
    "SampleRequest",
    "SampleResult",
    "Server",
    "ServerLimits",
    "ServerSession",
    "SyncClient",
    "TextContent",
    "TextResourceContents",
    "Tool",
    "ToolError",
    "Unauthorized",
    "UnknownContent",
    "UrlElicitationRequiredError",
    "UsageError",
    "__version__",
]

__version__: str = _version()
"""The version of this package, which is the version of its Rust core."""

# Loaded on first use: they need asyncio and msgspec.
_LAZY = {name: "_types" for name in __all__ if name[0] != "_" and name not in globals()}
_DIALOG = ("ElicitRequest", "ElicitResult", "Message", "Root", "SampleRequest", "SampleResult")
_CONTENTS = ("BlobResourceContents", "Completion", "PromptResult", "ResourceResult", "TextResourceContents")
_OFFERS = ("Prompt", "PromptArgument", "Resource", "ResourceTemplate", *_CONTENTS)
_LAZY.update(dict.fromkeys(_DIALOG, "_dialog"), **dict.fromkeys(_OFFERS, "_offers"))
_LAZY.update(dict.fromkeys(("Audio", "File", "Image"), "_helpers"), Client="_client", Depends="_depends")
_LAZY.update(Notifications="_streams", Request="_middleware", SyncClient="_sync")
_LAZY.update(dict.fromkeys(("HttpOptions", "HttpServing", "ListenOptions"), "_http"))
_LAZY.update(ServerSession="_sessions")
_LAZY.update(ClientLimits="_limits", ServerLimits="_limits")
_LAZY.update(AsgiApp="_asgi", HttpRequest="_requests", HttpResponse="_routes")
_LAZY.update(HttpClientOptions="_remote", Unauthorized="_remote")


def __getattr__(name: str) -> object:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    loaded = __import__(f"{__name__}.{module}", fromlist=[name])
    value = getattr(loaded, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
