"""Requests of HTTP: those that bring calls, and those for routes of the program's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote

from . import _json

if TYPE_CHECKING:
    from ._asgi import Receive, Scope

__all__ = ["HttpRequest"]

_BODY_LIMIT = 16 * 1024 * 1024


class Headers(Mapping[str, str]):
    """The fields of a request: the first value of each, by its name in any letters. Names are listed in small ones."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._fields = fields
        self._first = dict(reversed(fields))

    def __getitem__(self, name: str) -> str:
        return self._first[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._first)

    def __len__(self) -> int:
        return len(self._first)

    def getlist(self, name: str) -> list[str]:
        """All values of a field."""
        name = name.lower()
        return [value for known, value in self._fields if known == name]

    def __repr__(self) -> str:
        return f"Headers({sorted(self._first)})"  # values may be secrets


class HttpRequest:
    """A request of HTTP: the one that brought a call (`Context.http_request`), or one for a route of the program's own
    (`Server.custom_route`)."""

    def __init__(
        self,
        scope: Scope,
        receive: Receive | None = None,
        variables: Mapping[str, str] | None = None,
        *,
        limit: int | None = _BODY_LIMIT,
    ) -> None:
        self.scope = scope
        """The scope of ASGI, with what middleware put there, such as ``scope["user"]``. A server with a port of its own
        makes one up from the request."""
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.path_params: Mapping[str, str] = variables or {}
        """The variables of the route: ``{"id": "7"}`` for ``/notes/{id}``."""
        self.headers = Headers([(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]])
        """The first value of each header field, by its name in any letters; `headers.getlist` gives all."""
        self._query = scope.get("query_string", b"").decode("latin-1")
        self.query: Mapping[str, str] = dict(reversed(parse_qsl(self._query, keep_blank_values=True)))
        """The first value of each name in the query."""
        self._limit = limit
        self._receive, self._body = receive, None if self.method not in ("GET", "HEAD") else b""

    @property
    def url(self) -> str:
        """The URL that was asked for, by the name of the host that the client used."""
        host = self.headers.get("host")
        if host is None:
            name, port = self.scope.get("server") or ("localhost", None)
            host = name if port is None else f"{name}:{port}"
        query = f"?{self._query}" if self._query else ""
        return f"{self.scope.get('scheme', 'http')}://{host}{quote(self.path)}{query}"

    @property
    def state(self) -> Any:
        """What middleware and the lifespan of an ASGI app keep with the request: ``request.state["user"]``, which is
        `request.state.user` in Starlette. Empty on a port of its own."""
        return self.scope.get("state", {})

    async def body(self) -> bytes:
        """The whole body. In an ASGI app it raises `ValueError` if it is larger than 16 MiB, or the client left before
        its end; on a port of its own such requests come to no function. The body of a request that brought a call is the
        call, and empty here."""
        if self._body is None:
            parts, size, more = [], 0, self._receive is not None
            while more and self._receive is not None:
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    raise ValueError("the client left before the end of its request")
                parts.append(message.get("body", b""))
                size, more = size + len(parts[-1]), message.get("more_body", False)
                if self._limit is not None and size > self._limit:
                    raise ValueError(f"the body is larger than {self._limit} bytes")
            self._body = b"".join(parts)
        return self._body

    async def json(self) -> Any:
        """The body, decoded. Raises `ValueError` if it is no JSON."""
        return _json.decode(await self.body())

    def __repr__(self) -> str:
        return f"HttpRequest({self.method!r}, {self.path!r})"


# Called by the native module.


def of_scope(scope: Scope) -> HttpRequest:
    """The request of an ASGI app."""
    return HttpRequest(scope)


def of_head(method: str, target: str, authority: str | None, fields: list[tuple[bytes, bytes]]) -> HttpRequest:
    """The request that a port of the core's got."""
    return HttpRequest(scope_of(method, target, authority, fields))


def scope_of(
    method: str,
    target: str,
    authority: str | None,
    fields: list[tuple[bytes, bytes]],
    client: tuple[str, int] | None = None,
    server: tuple[str, int] | None = None,
) -> dict[str, Any]:
    """The scope of ASGI that it would have had."""
    if authority is not None and not any(name == b"host" for name, _ in fields):
        # In HTTP/2 the host is no field.
        fields = [(b"host", authority.encode("latin-1")), *fields]
    path, _, query = target.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": unquote(path),
        "raw_path": path.encode("latin-1"),
        "root_path": "",
        "query_string": query.encode("latin-1"),
        "headers": fields,
        "client": client,
        "server": server,
        "state": {},
    }


def for_starlette(request: HttpRequest | None) -> Any:
    """The request as programs for Starlette know it, where that is installed."""
    if request is None:
        return None
    try:
        from starlette.requests import Request
    except ImportError:
        return request
    return Request(request.scope)
