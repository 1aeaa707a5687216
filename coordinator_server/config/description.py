"""Descriptions of properties: what each one is, its unit, its allowed values, and whether Kafka has it.

The parts of ``Config`` declare every property with an annotation, ``FromKafka`` or ``Ours``. ``properties_of``
combines these with the types and bounds of the declaration. ``coordinator-server config``,
DescribeConfigs and the messages about wrong values show the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, inspect, structs

UNLIMITED = 2**31 - 1

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1, le=UNLIMITED)]
Millis = Annotated[int, Meta(ge=0, le=2**31 - 1)]


def dotted(name: str) -> str:
    """Return the name of a property, by that of its field."""
    return name.replace("_", ".")


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename=dotted):
    """Properties of one subject. A field is a property, or has a type that is a part itself."""


class FromKafka(Struct, frozen=True):
    """A property of Kafka.

    ``unit`` is what a number counts, if it is not the last word of the name. ``form`` is the form of a text. ``kafka_default``
    is Kafka's default if it differs, None if Kafka has none. ``follows`` is the property before it in the documentation, if it is
    not the one that is declared before it.
    """

    description: str
    unit: str | None = None
    form: str | None = None
    kafka_default: object | UnsetType = UNSET
    is_secret: bool = False
    follows: str = ""


class Ours(Struct, frozen=True):
    """A property that Kafka does not have. The fields are those of ``FromKafka``."""

    description: str
    unit: str | None = None
    form: str | None = None
    is_secret: bool = False
    follows: str = ""


class PerListener(Struct, frozen=True):
    """Marks the field that has the properties of single listeners (``listener_settings.py``). It is not a property itself."""


class Property(Struct, frozen=True):
    """All that is known of a property. ``values`` are the allowed texts, beside a number between the bounds or alone."""

    name: str
    default: object
    description: str
    origin: Literal["kafka", "kafka-other-default", "ours"]
    kafka_default: object
    type: Literal["int", "float", "bool", "text", "choice"]
    unit: str | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    values: tuple[str, ...] = ()
    form: str | None = None
    is_secret: bool = False
    is_reloadable: bool = False

    @property
    def accepted(self) -> str:
        """The allowed values, as in ``a whole number of bytes, at least 1024``."""
        if self.type == "text":
            return self.form or "a text"
        choices = " or ".join(self.values)
        if self.type not in ("int", "float"):
            return choices
        number = "a number" if self.type == "float" else "a whole number"
        number += f" of {self.unit}" if self.unit else ""
        number += f", at least {self.minimum}" if self.maximum is None else f" from {self.minimum} to {self.maximum}"
        return f"{number}, or {choices}" if choices else number


class _Allowed(Struct, frozen=True):
    type: Literal["int", "float", "bool", "text", "choice"]
    minimum: int | float | None = None
    maximum: int | float | None = None
    values: tuple[str, ...] = ()


@cache
def properties_of(config: type[Struct]) -> dict[str, Property]:
    """Return the properties of a Struct and of its parts, by name, in the order of the documentation. Raises TypeError if one is
    not described. Those of a Struct that is not frozen, and of its parts, are reloadable.
    """
    described: dict[str, Property] = {}
    order: list[str] = []
    for each, follows in _described(config, is_reloadable=False):
        described[each.name] = each
        before = follows or (list(described)[-2] if order else "")
        order.insert(order.index(before) + 1 if before else 0, each.name)
    return {name: described[name] for name in order}


@cache
def attributes_of(config: type[Struct]) -> dict[str, tuple[str, ...]]:
    """Return where each property is, by name: the attributes of the parts that have it, and its own."""
    found: dict[str, tuple[str, ...]] = {}
    for field in structs.fields(config):
        if _is_part(field):
            found |= {name: (field.name, *rest) for name, rest in attributes_of(field.type).items()}
        else:
            found[field.encode_name] = (field.name,)
    return found


def _described(config: type[Struct], *, is_reloadable: bool) -> Iterator[tuple[Property, str]]:
    """Yield each property and what it follows, as they are declared."""
    is_reloadable = is_reloadable or not config.__struct_config__.frozen
    for field in structs.fields(config):
        if _is_part(field):
            yield from _described(field.type, is_reloadable=is_reloadable)
        elif not _is_per_listener(field):
            about = _about(field)
            yield _property(field, about, is_reloadable), about.follows


def _is_part(field: structs.FieldInfo) -> bool:
    return isinstance(field.type, type) and issubclass(field.type, Struct)


def _is_per_listener(field: structs.FieldInfo) -> bool:
    return any(isinstance(each, PerListener) for each in get_args(field.type))


def _about(field: structs.FieldInfo) -> FromKafka | Ours:
    about = next((each for each in get_args(field.type)[1:] if isinstance(each, FromKafka | Ours)), None)
    if about is None:
        raise TypeError(f"{field.encode_name} is not annotated with FromKafka or Ours")
    return about


def _property(field: structs.FieldInfo, about: FromKafka | Ours, is_reloadable: bool) -> Property:
    name = field.encode_name
    origin: Literal["kafka", "kafka-other-default", "ours"] = "ours"
    kafka_default: object = None
    if isinstance(about, FromKafka):
        is_same = about.kafka_default is UNSET
        origin, kafka_default = ("kafka", field.default) if is_same else ("kafka-other-default", about.kafka_default)
    allowed = _allowed(inspect.type_info(field.type))
    return Property(
        name=name,
        default=field.default,
        description=about.description,
        origin=origin,
        kafka_default=kafka_default,
        unit=_unit(name, about.unit) if allowed.type == "int" else None,
        form=about.form,
        is_secret=about.is_secret,
        is_reloadable=is_reloadable,
        **structs.asdict(allowed),
    )


def _unit(name: str, given: str | None) -> str | None:
    unit = name.rpartition(".")[2] if given is None else given
    return {"ms": "milliseconds", "": None}.get(unit, unit)


def _allowed(kind: inspect.Type) -> _Allowed:
    match kind:
        case inspect.UnionType((number, inspect.LiteralType() as choices)):
            return structs.replace(_allowed(number), values=_allowed(choices).values)
        case inspect.IntType():
            return _Allowed("int", kind.ge, kind.le)
        case inspect.FloatType():
            return _Allowed("float", kind.ge, kind.le)
        case inspect.BoolType():
            return _Allowed("bool", values=("true", "false"))
        case inspect.LiteralType():
            return _Allowed("choice", values=tuple(map(str, kind.values)))
        case inspect.StrType():
            return _Allowed("text")
    raise TypeError(f"no property has the type {kind}")
