"""Properties that one listener may have for itself: ``listener.name.NAME.PROPERTY`` (Kafka's ``ListenerName.configPrefix``).

Those of SASL may be of one mechanism: ``listener.name.NAME.MECHANISM.PROPERTY`` (``saslMechanismConfigPrefix``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from coordinator_server.config.config import Config
from coordinator_server.config.description import attributes_of
from coordinator_server.config.errors import ConfigError
from coordinator_server.config.oauthbearer import OAuthBearerConfig
from coordinator_server.config.properties import property_names, value_of

PREFIX: Final = "listener.name."
MECHANISMS: Final = ("plain", "scram-sha-256", "scram-sha-512", "oauthbearer")
# The properties that can be given for one listener, besides those of TLS; of some, for one of its mechanisms.
_OF_LISTENERS: Final = (
    "sasl.enabled.mechanisms",
    "sasl.server.max.receive.size",
    "connections.max.reauth.ms",
    "max.connections",
    "max.connection.creation.rate",
)
_OF_MECHANISMS: Final = ("sasl.jaas.config", "connections.max.reauth.ms", *attributes_of(OAuthBearerConfig))


class ListenerProperty(NamedTuple):
    """A property of one listener, whose name is in upper case, and perhaps of one mechanism, in lower case."""

    listener: str
    name: str
    mechanism: str = ""


def split_listener_properties(properties: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the properties of the server, and those of single listeners without the prefix: ``internal.ssl.client.auth``."""
    own = {name.removeprefix(PREFIX): value for name, value in properties.items() if name.startswith(PREFIX)}
    return {name: value for name, value in properties.items() if not name.startswith(PREFIX)}, own


def parts_of(name: str) -> ListenerProperty:
    """Return what ``internal.ssl.client.auth`` names. Raises ConfigError."""
    for known in _OF_MECHANISMS:
        for mechanism in MECHANISMS:
            end = f".{mechanism}.{known}"
            if name.lower().endswith(end):
                return ListenerProperty(name[: -len(end)].upper(), known, mechanism)
    for known in (*_OF_LISTENERS, *attributes_of(OAuthBearerConfig)):
        if name.lower().endswith(f".{known}"):
            return ListenerProperty(name[: -len(known) - 1].upper(), known)
    listener, dot, rest = name.partition(".ssl.")
    if not dot:
        of_mechanisms = ("sasl.jaas.config", "connections.max.reauth.ms", "sasl.oauthbearer.*")
        others = ", ".join([*_OF_LISTENERS, *(f"MECHANISM.{each}" for each in of_mechanisms)])
        raise ConfigError(f"{PREFIX}{name}: only ssl.*, {others} can be given for one listener")
    return ListenerProperty(listener.upper(), f"ssl.{rest}")


def setting_of(config: Config, listener: str, name: str, mechanism: str = "") -> object:
    """Return the value of a property for a listener: that of its mechanism, its own, or that of the server."""
    of_server = value_of(config, name)
    for given in ([f"{mechanism}.{name}"] if mechanism else []) + [name]:
        own = config.live.listener_name.get(f"{listener}.{given}".lower())
        if own is not None:
            return msgspec.convert(own, type(of_server), strict=False)
    return of_server


def given_values(config: Config) -> dict[str, Any]:
    """Return all values by name, also those of single listeners."""
    values = {name: value_of(config, name) for name in property_names()}
    return values | {PREFIX + name: value for name, value in config.live.listener_name.items()}
