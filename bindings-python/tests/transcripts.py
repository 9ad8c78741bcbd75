"""Moves a native session by the transcripts of `tests/vectors`. Their README describes the steps."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oxmcp._errors import _KINDS, McpError
from oxmcp._native import Session

FOLDER = Path(__file__).parents[2] / "tests" / "vectors"
KIND_OF = {error: kind for kind, error in _KINDS.items()}
EVENTS = {
    "call": "call",
    "connect_failed": "connectFailed",
    "describe": "describe",
    "cancelled": "cancelled",
    "ready": "ready",
    "progress": "progress",
    "notification": "notification",
    "problem": "problem",
    "closed": "closed",
}


class Difference(AssertionError):
    """The session did something else than the transcript says."""


@dataclass(frozen=True)
class Number:
    """A number as its text: `1` and `1.0` differ."""

    text: str


def decode(text: str) -> Any:
    return json.loads(text, parse_int=Number, parse_float=Number)


def encode(value: Any) -> str:
    if isinstance(value, Number):
        return value.text
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(encode, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{encode(member)}" for key, member in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def plain(value: Any) -> Any:
    """The value with numbers as Python's own."""
    return json.loads(encode(value))


def matches(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, dict) and set(wanted) == {"$contains"}:
        return isinstance(found, str) and wanted["$contains"] in found
    if isinstance(wanted, dict) and isinstance(found, dict):
        return set(wanted) == set(found) and all(matches(wanted[key], found[key]) for key in wanted)
    if isinstance(wanted, list) and isinstance(found, list):
        return len(wanted) == len(found) and all(map(matches, wanted, found))
    return type(wanted) is type(found) and bool(wanted == found)


def same(wanted: Any, found: Any) -> None:
    if not matches(wanted, found):
        raise Difference(f"expected {encode(wanted)}, got {encode(found)}")


def same_members(wanted: dict[str, Any], found: dict[str, Any]) -> None:
    """Compares the members that `wanted` names; of `message`, a part is enough."""
    for name, value in wanted.items():
        if name == "message" and isinstance(value, str):
            value = {"$contains": value}
        if not matches(value, found.get(name)):
            raise Difference(f"expected {encode(wanted)}, got {encode(found)}")


def with_version(message: Any) -> Any:
    if isinstance(message, dict) and "jsonrpc" not in message:
        return {"jsonrpc": "2.0", **message}
    return message


@dataclass(frozen=True)
class Event:
    kind: str
    id: int | None
    first: Any
    second: Any
    text: str


class Runner:
    """One run of one transcript. `cut` is how many bytes a chunk has; none: as they come; zero: with
    the `receive` steps that follow at once."""

    def __init__(self, path: Path, cut: int | None) -> None:
        self.path, self.cut = path, cut
        self.now = 0.0
        self.wire: deque[str] = deque()
        self.events: deque[Event] = deque()
        self.names: dict[str, int] = {}
        # The keys of entries, by kind and number, and the other way round.
        self.keys: dict[tuple[str, int], str] = {}
        self.entries: dict[tuple[str, str], int] = {}
        self.joined = b""
        self.is_closed = False

    def run(self) -> None:
        lines = self.path.read_text(encoding="utf-8").split("\n")
        steps = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
        for number, line in steps:
            try:
                self.start(decode(line)) if number == 1 else self.step(decode(line))
            except Exception as error:
                raise Difference(f"{self.path.name}:{number}: {error} [cut: {self.cut}]") from error
        self.flush()
        self.quiet()
        if self.is_closed:
            same({"inbound": Number("0"), "outbound": Number("0"), "buffered": Number("0")}, self.stats())

    def start(self, header: dict[str, Any]) -> None:
        assert header.pop("name") and header.pop("about"), "the header needs a name and what it is about"
        role, tools, setup = header.pop("role"), header.pop("tools", []), header.pop("setup", [])
        connected, capabilities = header.pop("connected", None), header.pop("peer_capabilities", None)
        info = json.dumps({"name": "vectors", "version": "1"} | plain(header.pop("info", {})))
        # What is left are the session's own options, which refuse what they do not know.
        settings = {"probe": False} | header.pop("settings", {}) | header
        self.session = Session(role, info, encode(settings))
        for tool in tools:
            described = {"key": tool} if isinstance(tool, str) else {"key": tool["name"], "descriptor": tool}
            self.command({"add": {"kind": "tool"} | described})
        for command in setup:
            self.command(command)
        if connected is not None:
            self.handshake(role, connected, capabilities)

    def handshake(self, role: str, revision: str, capabilities: Any) -> None:
        peer = {"name": "peer", "version": "1"}
        about: dict[str, Any] = {"protocolVersion": revision}
        if role == "server":
            about |= {"capabilities": capabilities or {}, "clientInfo": peer}
            self.feed_message({"id": "handshake", "method": "initialize", "params": about})
            self.feed_message({"method": "notifications/initialized"})
        else:
            self.session.connect(None, self.now)
            about |= {"capabilities": capabilities or {"tools": {}}, "serverInfo": peer}
            self.feed_message({"id": Number("0"), "result": about})
        self.flush()
        ready = self.events.popleft()
        assert ready.kind == "ready" and ready.first["protocolVersion"] == revision, ready
        self.wire.clear()
        self.quiet()

    def step(self, step: dict[str, Any]) -> None:
        verb = next(iter(step))
        value = step.pop(verb)
        if verb == "receive":
            self.feed_message(value)
        elif verb == "receive_text":
            self.feed(value.encode())
        elif verb == "receive_hex":
            self.feed(bytes.fromhex(value))
        else:
            self.flush()
            known = getattr(self, f"do_{verb}", None) or getattr(self, f"expect_{verb}", None)
            if known is not None:
                known(value, step)
            elif verb == "done" or verb in EVENTS:
                self.expect_event(verb, value, step)
            else:
                raise Difference(f"there is no step {verb}")
            self.drain()
        if step:
            raise Difference(f"the members {list(step)} are not known here")

    # Bytes

    def feed_message(self, message: Any) -> None:
        self.feed(encode(with_version(message)).encode() + b"\n")

    def feed(self, data: bytes) -> None:
        if self.cut == 0:
            self.joined += data
            return
        size = self.cut or len(data)
        for start in range(0, len(data), size):
            self.session.receive(data[start : start + size], self.now)
            # What a chunk gave is taken out before the next, as a driver does.
            self.drain()

    def flush(self) -> None:
        data, self.joined = self.joined, b""
        if data:
            self.session.receive(data, self.now)
        self.drain()

    def drain(self) -> None:
        text, wire = self.session.poll()
        values = decode(text)
        assert len(values) % 4 == 0, text
        for at in range(0, len(values), 4):
            kind, id, first, second = values[at : at + 4]
            self.is_closed = self.is_closed or kind == "closed"
            self.events.append(Event(kind, None if id is None else plain(id), first, second, text))
        *lines, rest = wire.decode().split("\n")
        assert rest == "", f"what was written does not end its line: {rest}"
        self.wire.extend(lines)

    def quiet(self) -> None:
        if self.wire or self.events:
            raise Difference(f"nobody expected this: {[*self.wire, *self.events]}")

    # Steps that make the session do something

    def do_connect(self, value: Any, step: dict[str, Any]) -> None:
        timeout = plain(value).pop("timeout", None)
        self.attempt(step, lambda: self.session.connect(timeout, self.now))

    def do_begin(self, value: Any, step: dict[str, Any]) -> None:
        options, params = self.options(value), self.payload(value, "params")
        method = value.pop("method")
        self.attempt(step, lambda: self.session.begin(method, params, options, self.now))
        assert not value, value

    def do_call_tool(self, value: Any, step: dict[str, Any]) -> None:
        options, arguments = self.options(value), self.payload(value, "arguments")
        name = value.pop("name")
        self.attempt(step, lambda: self.session.call_tool(name, arguments, options, self.now))
        assert not value, value

    def do_notify(self, value: Any, step: dict[str, Any]) -> None:
        method, params = value.pop("method"), self.payload(value, "params")
        self.attempt(step, lambda: self.session.notify(method, params))

    def do_cancel(self, value: str, step: dict[str, Any]) -> None:
        self.flag(step, "sent", self.session.cancel(self.names[value], step.pop("reason", None)))

    def do_respond(self, value: str, step: dict[str, Any]) -> None:
        id, session = self.names[value], self.session
        if "error" in step:
            error = step.pop("error")
            data = encode(error["data"]) if "data" in error else None
            sent = session.respond_error(id, plain(error["code"]), error["message"], data, self.now)
        elif "tool_error" in step:
            sent = session.respond_tool_error(id, step.pop("tool_error"), self.now)
        elif "invalid_arguments" in step:
            sent = session.respond_invalid_arguments(id, step.pop("invalid_arguments"), self.now)
        else:
            result = self.payload(step, "result")
            assert result is not None, "respond needs an answer"
            sent = session.respond_result(id, result, self.now)
        self.flag(step, "sent", sent)

    def do_report_progress(self, value: str, step: dict[str, Any]) -> None:
        progress, total = plain(step.pop("progress")), plain(step.pop("total", None))
        message = step.pop("message", None)
        self.flag(step, "sent", self.session.progress(self.names[value], progress, total, message))

    def do_describe_tool(self, value: Any, step: dict[str, Any]) -> None:
        entry = self.entries["tool", value["name"]]
        self.command({"describe": {"kind": "tool", "entry": entry, "descriptor": value}})

    def do_command(self, value: Any, step: dict[str, Any]) -> None:
        """Runs a command, with the calls in it by their numbers, and compares what it gives."""
        ((verb, inner),) = value.items()
        if "call" in inner:
            inner = inner | {"call": self.names[inner["call"]]}
        gives = step.pop("gives", None)

        def run() -> int | None:
            given = self.command({verb: inner})
            if "call" in given:
                return int(plain(given["call"]))
            if gives is not None:
                same(gives, given)
            return None

        self.attempt(step, run)

    def command(self, command: dict[str, Any]) -> dict[str, Any]:
        given: dict[str, Any] = decode(self.session.command(encode(command), self.now))
        if "entry" in given:
            added, entry = command["add"], plain(given["entry"])
            self.keys[added["kind"], entry] = added["key"]
            self.entries[added["kind"], added["key"]] = entry
        return given

    def do_turn(self, value: Any, step: dict[str, Any]) -> None:
        """Several steps before the driver comes round to take out what they gave."""
        for inner in value:
            verb = next(iter(inner))
            getattr(self, f"do_{verb}")(inner.pop(verb), inner)
            if inner:
                raise Difference(f"the members {list(inner)} are not known here")

    def do_resume(self, value: str, step: dict[str, Any]) -> None:
        self.flag(step, "sent", self.session.resume(self.names[value]))

    def do_advance(self, value: Any, step: dict[str, Any]) -> None:
        """Lets time pass as a driver does: each deadline is handled when it comes."""
        target = self.now + plain(value)
        while (due := self.session.poll_timeout()) is not None and due <= target:
            self.now = max(self.now, due)
            self.session.handle_timeout(self.now)
            self.drain()
            following = self.session.poll_timeout()
            assert following is None or following > self.now, "a handled deadline is still due"
        self.now = target
        self.session.handle_timeout(target)

    def do_end_input(self, value: Any, step: dict[str, Any]) -> None:
        self.session.end_input(self.now)

    def do_close(self, value: str, step: dict[str, Any]) -> None:
        self.session.close(value)

    def options(self, call: Any) -> tuple[float | None, float | None, bool, bool]:
        def take(name: str, default: Any) -> Any:
            return plain(call.pop(name, default))

        return (
            take("timeout", None),
            take("max_total_timeout", None),
            take("reset_timeout_on_progress", False),
            take("progress", False),
        )

    def payload(self, holder: Any, name: str) -> str | None:
        if f"{name}_text" in holder:
            return str(holder.pop(f"{name}_text"))
        return encode(holder.pop(name)) if name in holder else None

    def attempt(self, step: dict[str, Any], work: Any) -> None:
        refused = step.pop("refused", None)
        try:
            made = work()
        except McpError as error:
            if refused is None:
                raise
            code = None if error.code is None else Number(str(error.code))
            found = {"kind": KIND_OF[type(error)], "code": code, "message": error.message}
            same_members(refused, found | {"fault": error.fault, "retryable": error.retryable})
            return
        if refused is not None:
            raise Difference(f"expected it to be refused as {encode(refused)}, it was not")
        if "as" in step:
            self.names[step.pop("as")] = made

    def flag(self, step: dict[str, Any], name: str, found: bool) -> None:
        same(step.pop(name, True), found)

    # Steps that say what it must have done

    def expect_expect(self, value: Any, step: dict[str, Any]) -> None:
        same(with_version(value), decode(self.message()))

    def expect_expect_text(self, value: str, step: dict[str, Any]) -> None:
        same(value, self.message())

    def expect_silence(self, value: Any, step: dict[str, Any]) -> None:
        self.quiet()

    def expect_stats(self, value: Any, step: dict[str, Any]) -> None:
        same_members(value, self.stats())

    def expect_timer(self, value: Any, step: dict[str, Any]) -> None:
        due = self.session.poll_timeout()
        found = None if due is None else due - self.now
        if found != plain(value):
            raise Difference(f"expected the next deadline in {encode(value)} ms, it is in {found} ms")

    def expect_event(self, verb: str, value: Any, step: dict[str, Any]) -> None:
        kind = EVENTS[verb] if verb != "done" else "error" if "error" in step else "result"
        if not self.events:
            raise Difference(f"expected an event {kind}, there is none")
        event = self.events.popleft()
        if event.kind != kind:
            raise Difference(f"expected an event {kind}, got {event}")
        part = step.pop("text", "")
        if part not in event.text:
            raise Difference(f"the text {part} is not in {event.text}")
        if verb in ("cancelled", "progress", "done") and event.id != self.names[value]:
            raise Difference(f"expected it of the call {value}, got {event}")
        if verb == "call":
            self.check_call(event, value, step)
        elif verb == "describe":
            assert event.id is not None
            same(step.pop("kind", "tool"), event.first)
            self.names[value] = event.id
        elif verb == "cancelled":
            same(step.pop("reason", None), event.first)
        elif verb == "progress":
            same(step.pop("params"), event.first)
        elif kind == "result":
            same(step.pop("result"), event.first)
        elif kind == "error":
            same_members(step.pop("error"), event.first)
        elif verb == "notification":
            same(value, event.first)
            same(step.pop("params", None), event.second)
            stream = step.pop("subscription", None)
            if event.id != (None if stream is None else self.names[stream]):
                raise Difference(f"expected it on the stream {stream}, got {event}")
        elif verb == "problem":
            same_members(value, {"kind": event.first, "message": event.second})
        elif verb in ("ready", "connect_failed"):
            same_members(value, event.first)

    def check_call(self, event: Event, value: Any, step: dict[str, Any]) -> None:
        kind, target, wants_progress = event.first
        wanted_kind = next(iter(value))
        key = value.pop(wanted_kind)
        found = target if kind == "method" else self.keys[kind.removesuffix("Completion"), plain(target)]
        same([wanted_kind, key, value.pop("progress", False)], [kind, found, wants_progress])
        same(value.pop("params", value.pop("arguments", None)), event.second)
        assert not value, value
        if "as" in step:
            assert event.id is not None
            self.names[step.pop("as")] = event.id

    def message(self) -> str:
        if not self.wire:
            raise Difference("expected a message, nothing was written")
        return self.wire.popleft()

    def stats(self) -> dict[str, Any]:
        return {name: Number(str(count)) for name, count in self.session.stats().items()}
