"""Properties that one listener may have for itself: ``listener.name.NAME.PROPERTY`` (Kafka's ``ListenerName.configPrefix``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from coordinator_server.config import Config, ConfigError

PREFIX: Final = "listener.name."


def split_listener_properties(properties: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the properties of the server, and those of single listeners without the prefix: ``internal.ssl.client.auth``."""
    own = {name.removeprefix(PREFIX): value for name, value in properties.items() if name.startswith(PREFIX)}
    return {name: value for name, value in properties.items() if not name.startswith(PREFIX)}, own


def parts_of(name: str) -> tuple[str, str]:
    """Return the listener, in upper case, and the property that ``internal.ssl.client.auth`` names. Raises ConfigError."""
    listener, dot, rest = name.partition(".ssl.")
    if not dot:
        raise ConfigError(f"{PREFIX}{name}: only ssl.* properties can be given for one listener")
    return listener.upper(), f"ssl.{rest}"


def setting_of(config: Config, listener: str, name: str) -> object:
    """Return the value of a property for a listener: its own, or that of the server."""
    own = config.listener_name.get(f"{listener.lower()}.{name}")
    return getattr(config, name.replace(".", "_")) if own is None else own
