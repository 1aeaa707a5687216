"""Declarations as data, for the generator, the checks and the tools. It uses reflection; the server never needs it."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct, structs

import protocol.messages
from protocol.fields import NO_VERSIONS, Item, Message, Primitive, V, Versions


class FieldSpec(Struct, frozen=True, gc=False):
    """One field. ``type`` is the type of the elements if ``is_array``. ``flexible`` is None if the message determines it."""

    name: str
    type: Primitive | type[Item]
    is_array: bool
    versions: Versions
    nullable: Versions
    ignorable: bool
    tag: int | None
    tagged: Versions
    flexible: Versions | None
    default: object

    @property
    def is_optional(self) -> bool:
        """Whether the field is nullable in any version."""
        return self.nullable != NO_VERSIONS


@cache
def fields_of(struct: type[Message | Item]) -> tuple[FieldSpec, ...]:
    """Return the fields of a declaration, in wire order."""
    hints = get_type_hints(struct, include_extras=True)
    return tuple(_field(info, hints[info.name]) for info in structs.fields(struct))


@cache
def messages_by_module() -> dict[str, tuple[type[Message], ...]]:
    """Return every declared message by module, in the order of the module."""
    names = sorted(info.name for info in iter_modules(protocol.messages.__path__))
    return {name: _messages_in(name) for name in names}


def all_messages() -> list[type[Message]]:
    return [message for messages in messages_by_module().values() for message in messages]


def snake_case(name: str) -> str:
    """Return the snake case of a name such as ``GenerationIdOrMemberEpoch`` or ``topicId``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _messages_in(module_name: str) -> tuple[type[Message], ...]:
    module = import_module(f"protocol.messages.{module_name}")
    values = (value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__)
    return tuple(value for value in values if issubclass(value, Message))


def _field(info: structs.FieldInfo, hint: Any) -> FieldSpec:
    hint, place = _take_place(hint)
    is_optional = NoneType in get_args(hint)
    if is_optional:
        (hint,) = (arg for arg in get_args(hint) if arg is not NoneType)
    is_array = get_origin(hint) is list
    if is_array:
        (hint,) = get_args(hint)
    nullable = (place.nullable or place.versions) if is_optional else NO_VERSIONS
    return FieldSpec(
        name=info.name,
        type=_element(hint),
        is_array=is_array,
        versions=place.versions,
        nullable=nullable & place.versions,
        ignorable=place.ignorable,
        tag=place.tag,
        tagged=place.tagged,
        flexible=place.flexible,
        default=info.default_factory() if info.default is NODEFAULT else info.default,
    )


def _take_place(hint: Any) -> tuple[Any, V]:
    """Split ``Annotated[type, Primitive…, V]`` into the type without the V, and the V."""
    if get_origin(hint) is not Annotated:
        return hint, V()
    inner, *notes = get_args(hint)
    places = [note for note in notes if isinstance(note, V)]
    rest = [note for note in notes if not isinstance(note, V)]
    return (Annotated[inner, *rest] if rest else inner), (places[0] if places else V())


def _element(hint: Any) -> Primitive | type[Item]:
    if get_origin(hint) is Annotated:
        return next(note for note in get_args(hint) if isinstance(note, Primitive))
    if isinstance(hint, type) and issubclass(hint, Item):
        return hint
    raise TypeError(f"{hint!r} is no type of a message field")
