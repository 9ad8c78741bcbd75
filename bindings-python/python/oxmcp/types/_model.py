"""The objects of the protocol as programs for other SDKs know them: camelCase members, made by keywords.

Unknown members are kept. pydantic is not needed; where a program uses it, these types fit into its models.
"""

from __future__ import annotations

import base64
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Callable, ClassVar, Literal, NamedTuple, TypeVar, Union

if sys.version_info >= (3, 11):
    from typing import Self, dataclass_transform
elif typing.TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[Any], Any]:
        return lambda kind: kind


Convert = Callable[[Any, str], Any]
T = TypeVar("T")
_MISSING: Any = object()


class ValidationError(ValueError):
    """Members that do not fit a type."""


class AnyUrl(str):
    """A URI, as the text it is; its parts are attributes."""

    def _parts(self) -> Any:
        import urllib.parse

        return urllib.parse.urlsplit(self)

    @property
    def scheme(self) -> str:
        return str(self._parts().scheme)

    @property
    def host(self) -> str | None:
        host: str | None = self._parts().hostname
        return host

    @property
    def port(self) -> int | None:
        port: int | None = self._parts().port
        return port

    @property
    def path(self) -> str | None:
        return self._parts().path or None

    @property
    def query(self) -> str | None:
        return self._parts().query or None

    @property
    def fragment(self) -> str | None:
        return self._parts().fragment or None

    def unicode_string(self) -> str:
        return str(self)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        from pydantic_core import core_schema

        plain = core_schema.no_info_after_validator_function(cls, core_schema.str_schema())
        return core_schema.json_or_python_schema(
            json_schema=plain,
            python_schema=core_schema.no_info_plain_validator_function(lambda value: cls(str(value))),
            serialization=core_schema.to_string_ser_schema(),
        )


FileUrl = AnyUrl


class _Member(NamedTuple):
    convert: Convert
    default: Any
    alias: str


def snake_to_camel(name: str) -> str:
    """``input_schema`` as ``inputSchema``."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


@dataclass_transform(kw_only_default=True, eq_default=False)
class Model:
    """An object of the protocol."""

    model_config: ClassVar[dict[str, Any]] = {}
    __members: ClassVar[dict[str, _Member]]

    def __init__(self, **data: Any) -> None:
        members = _members(type(self))
        values = self.__dict__
        given = set()
        for name, value in data.items():
            name = _known(members, name)
            member = members.get(name)
            values[name] = value if member is None else member.convert(value, name)
            given.add(name)
        for name, member in members.items():
            if name in values:
                continue
            if member.default is _MISSING:
                raise ValidationError(f"{type(self).__name__} needs {name!r}")
            values[name] = member.default() if callable(member.default) else member.default
        values["__given__"] = given

    @classmethod
    def model_validate(cls, value: Any, **_: Any) -> Self:
        """Makes one from a dict, or from another object with the same members."""
        return typing.cast("Self", _to_model(cls)(value, cls.__name__))

    @classmethod
    def model_validate_json(cls, text: str | bytes, **_: Any) -> Self:
        """Makes one from JSON."""
        from .._json import decode

        return cls.model_validate(decode(text))

    @classmethod
    def model_construct(cls, **data: Any) -> Self:
        """Makes one without checks."""
        made = cls.__new__(cls)
        for name, member in _members(cls).items():
            if member.default is not _MISSING:
                made.__dict__[name] = member.default() if callable(member.default) else member.default
        made.__dict__.update(data)
        made.__dict__["__given__"] = set(data)
        return made

    @property
    def model_extra(self) -> dict[str, Any]:
        """Members that the type does not have."""
        members = _members(type(self))
        return {name: value for name, value in self.__dict__.items() if name not in members and name != "__given__"}

    @property
    def model_fields_set(self) -> set[str]:
        """The members that were given."""
        return set(self.__dict__.get("__given__", ()))

    def model_dump(
        self,
        *,
        mode: str = "python",
        include: Any = None,
        exclude: Any = None,
        by_alias: bool = False,
        exclude_none: bool = False,
        exclude_unset: bool = False,
        exclude_defaults: bool = False,
        **_: Any,
    ) -> dict[str, Any]:
        """The members as a dict. With `by_alias` they are named as on the wire: ``_meta`` in place of ``meta``."""
        options = {
            "mode": mode,
            "by_alias": by_alias,
            "exclude_none": exclude_none,
            "exclude_unset": exclude_unset,
            "exclude_defaults": exclude_defaults,
        }
        members = _members(type(self))
        dumped: dict[str, Any] = {}
        for name in (*members, *self.model_extra):
            value = self.__dict__.get(name)
            member = members.get(name)
            if include is not None and name not in include or exclude is not None and name in exclude:
                continue
            if exclude_none and value is None or exclude_unset and name not in self.model_fields_set:
                continue
            if exclude_defaults and member is not None and value == member.default:
                continue
            dumped[member.alias if by_alias and member is not None else name] = _dumped(value, options)
        return dumped

    def model_dump_json(self, *, indent: int | None = None, **options: Any) -> str:
        """The members as JSON."""
        import msgspec

        from .._json import encode

        text = encode(self.model_dump(mode="json", **options))
        return (text if indent is None else msgspec.json.format(text, indent=indent)).decode()

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, with some members replaced."""
        import copy

        made = copy.deepcopy(self) if deep else copy.copy(self)
        made.__dict__["__given__"] = self.model_fields_set | set(update or ())
        made.__dict__.update(update or {})
        return made

    def __getattr__(self, name: str) -> Any:
        if name in _OLD_NAMES:
            return getattr(self, _OLD_NAMES[name])
        camel = snake_to_camel(name)
        if not name.startswith("_") and camel != name and camel in self.__dict__:
            return self.__dict__[camel]
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        members = _members(type(self))
        yield from ((name, self.__dict__[name]) for name in (*members, *self.model_extra) if name in self.__dict__)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _plain(self) == _plain(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self)})"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        from pydantic_core import core_schema

        def validate(value: Any) -> Any:
            return cls.model_validate(value)

        def serialize(value: Any, info: Any) -> Any:
            return value.model_dump(mode=info.mode, by_alias=bool(info.by_alias), exclude_none=info.exclude_none)

        return core_schema.no_info_plain_validator_function(
            validate,
            serialization=core_schema.plain_serializer_function_ser_schema(serialize, info_arg=True),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, _schema: Any, _handler: Any) -> Any:
        return {"type": "object"}


_OLD_NAMES = {"dict": "model_dump", "json": "model_dump_json", "copy": "model_copy"}


class RootModel:
    """A type that holds one of several others: `root`."""

    def __init__(self, root: Any = _MISSING, **data: Any) -> None:
        self.root = data if root is _MISSING else root

    def model_dump(self, **options: Any) -> Any:
        """The members of what it holds."""
        return _dumped(self.root, {"mode": "python", "by_alias": False, "exclude_none": False, **options})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.root!r})"


def _plain(model: Model) -> Any:
    return {name: value for name, value in model.__dict__.items() if name != "__given__"}


def _known(members: Mapping[str, _Member], name: str) -> str:
    """The member that a keyword means: by its name, by its name on the wire, or in snake case."""
    if name in members:
        return name
    if name == "_meta" and "meta" in members:
        return "meta"
    camel = snake_to_camel(name) if "_" in name and not name.startswith("_") else name
    return camel if camel in members else name


def _dumped(value: Any, options: dict[str, Any]) -> Any:
    if isinstance(value, Model):
        return value.model_dump(**options)
    if isinstance(value, Mapping):
        return {key: _dumped(item, options) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_dumped(item, options) for item in value]
    if options["mode"] == "json" and isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    dump = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return dump(mode=options["mode"], by_alias=options["by_alias"], exclude_none=options["exclude_none"])
    return value


_read: dict[type, dict[str, _Member]] = {}


def _members(kind: type[Model]) -> dict[str, _Member]:
    members = _read.get(kind)
    if members is None:
        members = _read[kind] = dict(_members_of(kind))
    return members


def _members_of(kind: type[Model]) -> Iterator[tuple[str, _Member]]:
    for name, hint in typing.get_type_hints(kind).items():
        if typing.get_origin(hint) is ClassVar or name.startswith("_") or name == "model_config":
            continue
        default = getattr(kind, name, _MISSING)
        if isinstance(default, types.FunctionType):
            default = _MISSING
        if isinstance(default, (list, dict)):
            default = type(default)
        yield name, _Member(converter(hint), default, "_meta" if name == "meta" else name)


def converter(hint: Any) -> Convert:
    """What makes a value of a type from what a program or a peer gives. Raises `ValidationError`."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or isinstance(hint, TypeVar):
        return _as_it_is
    if origin in (Union, getattr(types, "UnionType", None)):
        return _to_one_of(arguments)
    if origin is Literal:
        return _to_literal(arguments)
    if origin is list:
        return _to_list(converter(arguments[0]))
    if origin is dict:
        return _to_dict(converter(arguments[1]))
    if hint is type(None):
        return _to_none
    if isinstance(hint, type) and issubclass(hint, Model):
        return _to_model(hint)
    return _SCALARS.get(hint, _as_it_is)


def _wrong(where: str, wanted: str, value: Any) -> ValidationError:
    shown = repr(value)
    return ValidationError(f"{where}: expected {wanted}, got {shown if len(shown) < 80 else type(value).__name__}")


def _as_it_is(value: Any, where: str) -> Any:
    return value


def _to_none(value: Any, where: str) -> None:
    if value is not None:
        raise _wrong(where, "None", value)


def _to_str(value: Any, where: str) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return value.decode()
    raise _wrong(where, "a string", value)


def _to_int(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise _wrong(where, "an integer", value)
    try:
        number = int(value)
    except ValueError:
        raise _wrong(where, "an integer", value) from None
    if isinstance(value, float) and number != value:
        raise _wrong(where, "an integer", value)
    return number


def _to_float(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise _wrong(where, "a number", value)
    try:
        return value if isinstance(value, int) else float(value)
    except ValueError:
        raise _wrong(where, "a number", value) from None


def _to_bool(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(where, "a bool", value)
    return value


def _to_url(value: Any, where: str) -> AnyUrl:
    # Also the URL types of pydantic, which show themselves as text.
    text = str(value)
    if not text:
        raise _wrong(where, "a URI", value)
    return AnyUrl(text)


_SCALARS: dict[Any, Convert] = {str: _to_str, int: _to_int, float: _to_float, bool: _to_bool, AnyUrl: _to_url}


def _to_literal(values: tuple[Any, ...]) -> Convert:
    def convert(value: Any, where: str) -> Any:
        if isinstance(value, str):
            value = str.__str__(value)
        if value not in values:
            raise _wrong(where, " or ".join(map(repr, values)), value)
        return value

    return convert


def _to_list(item: Convert) -> Convert:
    def convert(value: Any, where: str) -> Any:
        if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__iter__"):
            raise _wrong(where, "a list", value)
        return [item(one, f"{where}[{index}]") for index, one in enumerate(value)]

    return convert


def _to_dict(item: Convert) -> Convert:
    def convert(value: Any, where: str) -> Any:
        if not isinstance(value, Mapping):
            raise _wrong(where, "a dict", value)
        return {key: item(one, f"{where}.{key}") for key, one in value.items()}

    return convert


def _to_model(kind: type[Model]) -> Convert:
    def convert(value: Any, where: str) -> Any:
        if isinstance(value, kind):
            return value
        dump = getattr(value, "model_dump", None)
        if dump is not None:
            # A model of the same shape: one of pydantic's, or of another type here.
            value = dump(by_alias=True, exclude_none=True)
        if not isinstance(value, Mapping):
            raise _wrong(where, f"a {kind.__name__}", value)
        try:
            return kind(**value)
        except ValidationError as error:
            raise ValidationError(f"{where}: {error}") from None

    return convert


def _to_one_of(kinds: tuple[Any, ...]) -> Convert:
    """Tries the kinds in turn: those that the value is of already, then those that it can be made to."""
    if Any in kinds:
        return _as_it_is
    # In Python 3.10 also `dict[str, Any]` says that it is a type.
    classes = tuple(kind for kind in kinds if isinstance(kind, type) and not typing.get_origin(kind))
    converters = [(kind, converter(kind)) for kind in kinds]

    def convert(value: Any, where: str) -> Any:
        if isinstance(value, classes) and not isinstance(value, str):
            return value
        failures: list[str] = []
        for _, one in converters:
            try:
                return one(value, where)
            except ValidationError as error:
                failures.append(str(error))
        raise ValidationError("; ".join(failures))

    return convert
