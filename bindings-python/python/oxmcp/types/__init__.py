"""The types of the protocol under the names that the module ``mcp.types`` gives them::

    from oxmcp.types import TextContent, Tool

    Tool(name="add", inputSchema={"type": "object"})

Members are camelCase, as keywords and as attributes; snake_case works as well. What a type does not know is kept.
Objects have ``model_dump``, ``model_dump_json``, ``model_validate`` and ``model_copy``. Servers and clients of this
package itself (`oxmcp.Server`, `oxmcp.Client`) have types of their own.
"""

from typing import Any, Callable, Literal

from ._content import *  # noqa: F403
from ._content import Content as Content
from ._content import ContentBlock as ContentBlock
from ._messages import *  # noqa: F403
from ._model import AnyUrl as AnyUrl
from ._model import FileUrl as FileUrl
from ._model import ValidationError as ValidationError

LATEST_PROTOCOL_VERSION = "2025-11-25"
"""The newest revision with a handshake, as those programs know it."""
DEFAULT_NEGOTIATED_VERSION = "2025-03-26"

URL_ELICITATION_REQUIRED = -32042
CONNECTION_CLOSED = -32000
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

AnyFunction = Callable[..., Any]
IncludeContext = Literal["none", "thisServer", "allServers"]
StopReason = str
