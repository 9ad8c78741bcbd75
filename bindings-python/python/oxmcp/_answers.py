"""A client's handlers: what it answers when a server asks for input, a model's words, or roots."""

from __future__ import annotations

import asyncio
import os
import re
import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple, Union

import msgspec

from . import _dialog, _json, _wire
from ._errors import HandlerError, UsageError
from ._native import Entry, Registry

RootLike = Union[str, "os.PathLike[str]", _dialog.Root]
Roots = Union[RootLike, Sequence[RootLike], Callable[[], Any]]

_ELICIT, _SAMPLE, _ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"


class Answers:
    """The handlers that a client was made with."""

    def __init__(
        self,
        on_elicit: Callable[[_dialog.ElicitRequest], Any] | None,
        on_elicit_url: Callable[[_dialog.ElicitRequest], Any] | None,
        on_sample: Callable[[_dialog.SampleRequest], Any] | None,
        roots: Roots | None,
    ) -> None:
        self.on_elicit, self.on_elicit_url, self.on_sample = on_elicit, on_elicit_url, on_sample
        self.roots: list[_dialog.Root] | Callable[[], Any] | None = None
        self._failures: deque[tuple[str, BaseException]] = deque(maxlen=16)
        if roots is not None:
            self.set_roots(roots)

    def set_roots(self, roots: Roots) -> None:
        """Replaces the roots."""
        self.roots = roots if callable(roots) else _root_list(roots)

    def failed(self, method: str, error: BaseException) -> None:
        """Takes note of a handler that failed."""
        self._failures.append((method, error))

    def cause(self, error: HandlerError) -> BaseException | None:
        """What a handler raised, of which a call of ours failed; None if that is not known."""
        for failure in self._failures:
            method, raised = failure
            if method in error.message or getattr(raised, "message", None) == error.message:
                self._failures.remove(failure)
                return raised
        return None

    def capabilities(self) -> dict[str, Any]:
        """What follows from the handlers that there are."""
        modes: dict[str, Any] = {}
        if self.on_elicit is not None:
            modes["form"] = {}
        if self.on_elicit_url is not None:
            modes["url"] = {}
        declared: dict[str, Any] = {}
        if modes:
            declared["elicitation"] = modes
        if self.on_sample is not None:
            declared["sampling"] = {}
        if self.roots is not None:
            declared["roots"] = {"listChanged": True}
        return declared

    def registry(self) -> Registry:
        """What serves the server's requests. It does not keep these handlers, nor their client, alive."""
        registry = Registry()
        owner: weakref.ref[Answers] = weakref.ref(self)
        for method, answer in ((_ELICIT, _elicit), (_SAMPLE, _sample), (_ROOTS, _roots)):
            registry.serve(method, Entry("method", method, _Plan(owner, answer)))
        return registry


class _Call(NamedTuple):
    """What the plan of an entry takes."""

    params: bytes


class _Plan:
    """Prepares an entry when it is first needed."""

    def __init__(self, owner: weakref.ref[Answers], answer: Callable[[Answers, bytes], Any]) -> None:
        self._owner, self._answer = owner, answer

    def __call__(self, entry: Entry) -> None:
        owner, answer = self._owner, self._answer

        async def serve(params: bytes) -> bytes:
            answers = owner()
            if answers is None:
                raise asyncio.CancelledError
            try:
                result: bytes = await answer(answers, params)
            except Exception as error:
                answers.failed(entry.name, error)
                raise
            return result

        entry.prepare(serve, _Call, ["params"], None, None)


_decode_elicit = _wire.tolerant(msgspec.json.Decoder(_dialog.ElicitRequest).decode)


async def _elicit(answers: Answers, params: bytes) -> bytes:
    request = _decode_elicit(params)
    handler = answers.on_elicit_url if request.mode == "url" else answers.on_elicit
    assert handler is not None, "the core lets pass what was declared"
    return _dialog.elicit_out(await _as_coroutine_function(handler)(request))


async def _sample(answers: Answers, params: bytes) -> bytes:
    assert answers.on_sample is not None, "the core lets pass what was declared"
    request = _dialog.decode_request(params)
    return _dialog.sample_out(await _as_coroutine_function(answers.on_sample)(request))


async def _roots(answers: Answers, params: bytes) -> bytes:
    roots = answers.roots
    if callable(roots):
        roots = _root_list(await _as_coroutine_function(roots)())
    return _json.encode({"roots": roots})


def _as_coroutine_function(handler: Callable[..., Any]) -> Callable[..., Any]:
    from ._signature import as_coroutine_function

    return as_coroutine_function(handler)


def _root_list(roots: Any) -> list[_dialog.Root]:
    if isinstance(roots, (str, os.PathLike, _dialog.Root)):
        roots = [roots]
    if isinstance(roots, (bytes, dict)) or not hasattr(roots, "__iter__"):
        raise UsageError(f"roots are a list of paths, file:// URIs and Roots, not {roots!r}")
    return [_root(root) for root in roots]


def _root(root: RootLike) -> _dialog.Root:
    if isinstance(root, _dialog.Root):
        return _checked(root)
    text = os.fspath(root) if isinstance(root, (str, os.PathLike)) else None
    if not isinstance(text, str) or not text:
        raise UsageError(f"a root is a path, a file:// URI or a Root, not {root!r}")
    if isinstance(root, str) and _SCHEME.match(text):
        return _checked(_dialog.Root(text))
    import pathlib

    path = pathlib.Path(text).absolute()
    return _dialog.Root(path.as_uri(), path.name)


# Of two letters at least: a single one is a drive.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def _checked(root: _dialog.Root) -> _dialog.Root:
    """The specification allows no other schemes yet."""
    if not isinstance(root.uri, str) or not root.uri.lower().startswith("file://"):
        raise UsageError(f"the URI of a root begins with file://, which {root.uri!r} does not")
    return root
