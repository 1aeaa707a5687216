"""The properties of ``Config`` by name: ``num.partitions`` is ``config.live.num_partitions``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import Struct, convert, structs

from coordinator_server.config.config import Config
from coordinator_server.config.description import Property, attributes_of, properties_of

C = TypeVar("C", bound=Struct)


def property_names() -> list[str]:
    """Return all property names, in the order of the documentation."""
    return list(properties_of(Config))


def is_property(name: str) -> bool:
    """Return whether there is a property of this name."""
    return name in properties_of(Config)


def property_named(name: str) -> Property:
    """Return the description of a property."""
    return properties_of(Config)[name]


def value_of(config: Config, name: str) -> Any:
    """Return the value of a property."""
    value: Any = config
    for attribute in attributes_of(Config)[name]:
        value = getattr(value, attribute)
    return value


def config_from(texts: Mapping[str, str]) -> Config:
    """Return the defaults with these properties. Raises msgspec.ValidationError for a text that its property does not take."""
    found: dict[str, Any] = {}
    for name, text in texts.items():
        part = found
        for attribute in attributes_of(Config)[name][:-1]:
            part = part.setdefault(attribute, {})
        part[name] = text
    return convert(found, Config, strict=False)


def with_values(config: C, values: Mapping[str, Any]) -> C:
    """Return a copy with these values of properties. It shares nothing that changes with the original."""
    changed = {}
    for field in structs.fields(config):
        present = getattr(config, field.name)
        is_part = isinstance(present, Struct)
        changed[field.name] = with_values(present, values) if is_part else values.get(field.encode_name, present)
    return structs.replace(config, **changed)
