"""What fills parameters in place of arguments: ``fastmcp.dependencies``."""

from .._depends import Depends
from .server.dependencies import CurrentAccessToken, CurrentContext, CurrentFastMCP, CurrentHeaders, CurrentRequest

__all__ = ["CurrentAccessToken", "CurrentContext", "CurrentFastMCP", "CurrentHeaders", "CurrentRequest", "Depends"]
