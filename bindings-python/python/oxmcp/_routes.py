"""Routes of the program's own beside the protocol's: health checks, pages, callbacks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Union

from . import _json
from ._errors import report
from ._requests import _BODY_LIMIT, HttpRequest

if TYPE_CHECKING:
    from ._asgi import Receive, Scope, Send

__all__ = ["HttpResponse"]

_METHOD = re.compile(r"[A-Z]+")
_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


class HttpResponse:
    """What a route of the program's own answers::

        return HttpResponse("gone", status=410)
        return HttpResponse(png, media_type="image/png")

    :param body: a string, bytes, or what has a JSON form.
    :param media_type: the ``Content-Type``; it follows from the body otherwise.
    """

    def __init__(
        self,
        body: Any = b"",
        *,
        status: int = 200,
        media_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        if not isinstance(status, int) or not 200 <= status <= 599:
            raise ValueError(f"the status of a response is a number from 200 to 599, not {status!r}")
        self.status = status
        if isinstance(body, str):
            self.body, kind = body.encode(), "text/plain; charset=utf-8"
        elif isinstance(body, (bytes, bytearray, memoryview)):
            self.body, kind = bytes(body), "application/octet-stream"
        else:
            self.body, kind = _json.encode(body), "application/json"
        self.headers = {"content-type": media_type or kind} if self.body or media_type else {}
        self.headers.update({name.lower(): value for name, value in (headers or {}).items()})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends it, as responses of Starlette do."""
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        if self.status not in (204, 304):
            headers.append((b"content-length", str(len(self.body)).encode()))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        body = b"" if scope["method"] == "HEAD" else self.body
        await send({"type": "http.response.body", "body": body})


Handler = Callable[..., Awaitable[Any]]
Asgi = Callable[[Any, Any, Any], Awaitable[None]]


class Route:
    """One path, and what answers it."""

    def __init__(self, path: str, methods: Sequence[str], function: Callable[..., Any]) -> None:
        from ._signature import as_coroutine_function

        if not isinstance(path, str) or not path.startswith("/") or "?" in path or "#" in path:
            raise ValueError(f"the path of a route begins with '/' and has no query, such as '/health'; not {path!r}")
        if isinstance(methods, str) or not methods or not all(_METHOD.fullmatch(name) for name in methods):
            raise ValueError(f'methods= is a list of names such as ["GET", "POST"], not {methods!r}')
        self.path = path
        self.methods = {*methods, *(["HEAD"] if "GET" in methods else [])}
        self._handler: Handler = as_coroutine_function(function)
        parts = _VARIABLE.split(path)
        pattern = "".join(f"(?P<{part}>[^/]+)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
        self._pattern = re.compile(pattern)

    def match(self, path: str) -> dict[str, str] | None:
        """The variables in a path, if it is one of this route."""
        found = self._pattern.fullmatch(path)
        return None if found is None else found.groupdict()

    async def serve(
        self, variables: dict[str, str], scope: Scope, receive: Receive, send: Send, *, limit: int | None = _BODY_LIMIT
    ) -> None:
        """Answers a request, whose body is no larger than `limit`: none where that was seen to before."""
        try:
            answer = _response(await self._handler(HttpRequest(scope, receive, variables, limit=limit)))
        except (Exception, SystemExit) as error:
            # What went wrong is nobody's business but the log's.
            report(error, f"the route {self.path}")
            answer = HttpResponse("internal error", status=500)
        await answer(scope, receive, send)


def find(routes: Sequence[Route], path: str, method: str) -> tuple[Route, dict[str, str]] | Asgi | None:
    """The route of a path and its variables, or the response that says which methods it has."""
    allowed: set[str] = set()
    for route in routes:
        variables = route.match(path)
        if variables is not None and method in route.methods:
            return route, variables
        if variables is not None:
            allowed |= route.methods
    if not allowed:
        return None
    return HttpResponse("method not allowed", status=405, headers={"allow": ", ".join(sorted(allowed))})


def _response(given: Any) -> Union[HttpResponse, Asgi]:
    if given is None:
        return HttpResponse(status=204)
    # A response of Starlette is an ASGI app.
    return given if isinstance(given, HttpResponse) or callable(given) else HttpResponse(given)
