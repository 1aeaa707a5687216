"""Names of properties as they are given: ``num.partitions``, or ``listener.name.ssl.ssl.client.auth`` of one listener."""

from __future__ import annotations

import difflib
import re

from coordinator_server.config.description import Property
from coordinator_server.config.errors import ConfigError
from coordinator_server.config.listener_settings import PREFIX, parts_of
from coordinator_server.config.properties import is_property, property_named, property_names


def description_of(name: str) -> Property:
    """Return the description of a property, or of a property of one listener."""
    return property_named(_own_name(name))


def is_secret(name: str) -> bool:
    """Return whether the value of a property must not be shown. A name that is unknown has no secret."""
    known = _own_name(name)
    return is_property(known) and property_named(known).is_secret


def nearest_name(name: str) -> str | None:
    """Return the name itself if it is that of a property, or of a property of one listener; else the nearest one, or None."""
    if name.startswith(PREFIX):
        try:
            own = parts_of(name.removeprefix(PREFIX)).name
        except ConfigError:
            return None
        near = nearest_name(own)
        return None if near is None else name.removesuffix(own) + near
    if is_property(name):
        return name
    return next(iter(difflib.get_close_matches(name, property_names(), 1)), None)


def check_name(name: str) -> None:
    """Raise ConfigError if there is no property of this name."""
    nearest = nearest_name(name)
    if nearest != name:
        hint = f"; did you mean {nearest}?" if nearest else ""
        raise ConfigError(f"unknown property {name}{hint} ('coordinator-server config' lists all properties)")


def shown_name(text: str) -> str:
    """Return a text that should be a name as messages show it: up to a character that names do not have.

    The rest may be a secret.
    """
    beginning = re.match(r"[A-Za-z0-9._-]{0,128}", text)
    assert beginning is not None
    return text if beginning[0] == text else f"{beginning[0]}…"


def _own_name(name: str) -> str:
    """Return the name of a property without the listener. Raises ConfigError."""
    return parts_of(name.removeprefix(PREFIX)).name if name.startswith(PREFIX) else name
