"""Descriptions of properties: what each one is, its unit, its allowed values, and whether Kafka has it.

``config.py`` declares every property with an annotation, ``FromKafka`` or ``Ours``. ``properties_of``
combines these with the types and bounds of the declaration. ``coordinator-server config``,
DescribeConfigs and the messages about wrong values show the result.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, inspect, structs

UNLIMITED = 2**31 - 1

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1, le=UNLIMITED)]
Millis = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class FromKafka(Struct, frozen=True):
    """A property of Kafka.

    ``unit`` is what a number counts, if it is not the last word of the name. ``form`` is the form of a text. ``kafka_default``
    is Kafka's default if it differs, None if Kafka has none. ``is_reloadable``: SIGHUP changes it while the server runs.
    """

    description: str
    unit: str | None = None
    form: str | None = None
    kafka_default: object | UnsetType = UNSET
    is_secret: bool = False
    is_reloadable: bool = False


class Ours(Struct, frozen=True):
    """A property that Kafka does not have. The fields are those of ``FromKafka``."""

    description: str
    unit: str | None = None
    form: str | None = None
    is_reloadable: bool = False


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
    """Return the properties that a Struct declares, by name. Raises TypeError if one is not described."""
    return {field.encode_name: _property(field) for field in structs.fields(config) if not _is_per_listener(field)}


def _is_per_listener(field: structs.FieldInfo) -> bool:
    return any(isinstance(each, PerListener) for each in get_args(field.type))


def _property(field: structs.FieldInfo) -> Property:
    name = field.encode_name
    about = next((each for each in get_args(field.type)[1:] if isinstance(each, FromKafka | Ours)), None)
    if about is None:
        raise TypeError(f"{name} is not annotated with FromKafka or Ours")
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
        is_secret=isinstance(about, FromKafka) and about.is_secret,
        is_reloadable=about.is_reloadable,
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
