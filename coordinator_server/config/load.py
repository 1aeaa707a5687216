"""Read properties from text.

``load`` reads what ``--override name=value`` and its siblings say, and refuses unknown properties and wrong values. ``values.py``
has what the text of a property means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from coordinator_server.config.config import Config
from coordinator_server.config.errors import ConfigError
from coordinator_server.config.listener_settings import PREFIX, given_values, parts_of, split_listener_properties
from coordinator_server.config.names import check_name, is_secret, shown_name
from coordinator_server.config.properties import config_from, property_named
from coordinator_server.config.values import (
    check_listeners,
    check_order,
    connection_overrides,
    consumer_assignors,
    declared_topics,
    loop_count,
    metrics_address,
    page_address,
    super_users,
    unknown_user_iterations,
)

# What Kafka's tools show in place of a secret.
HIDDEN: Final = "[hidden]"


def load(properties: Mapping[str, str]) -> Config:
    """Return the defaults with these properties, given as text. Raises ConfigError."""
    of_server, of_listeners = split_listener_properties(properties)
    for name in of_server:
        check_name(name)
    for name, value in of_server.items():
        _check_value(name, name, value)
    for name, value in of_listeners.items():
        property_name = parts_of(name).name
        check_name(property_name)
        _check_value(PREFIX + name, property_name, value)
    config = config_from(_as_written(of_server))
    config.live.listener_name = {name.lower(): value for name, value in of_listeners.items()}
    check(config)
    return config


def check(config: Config) -> None:
    """Check properties that depend on others, and those whose text has parts. Raises ConfigError."""
    declared_topics(config)
    loop_count(config)
    check_listeners(config)
    if config.live.sasl_jaas_config:
        raise ConfigError("sasl.jaas.config is that of one listener and mechanism: listener.name.NAME.plain.sasl.jaas.config")
    connection_overrides(config)
    check_order(config)
    consumer_assignors(config)
    metrics_address(config)
    page_address(config)
    super_users(config)
    unknown_user_iterations(config)


def _check_value(given: str, name: str, value: str) -> None:
    """Raise ConfigError if a property, given by the name ``given``, does not take a value."""
    try:
        config_from(_as_written({name: value}))
    except msgspec.ValidationError:
        shown = "what was given" if is_secret(name) else repr(value)
        raise ConfigError(f"{given} takes {property_named(name).accepted}, not {shown}") from None


def _as_written(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties with the words that Kafka reads in any case as they are declared."""
    return {name: value.lower() if name == "group.consumer.migration.policy" else value for name, value in properties.items()}


def shown_values(config: Config) -> dict[str, Any]:
    """Return all values by name, also those of single listeners. Secrets that are set are HIDDEN."""
    return {name: HIDDEN if value and is_secret(name) else value for name, value in given_values(config).items()}


def parse_overrides(overrides: Iterable[str]) -> dict[str, str]:
    """Return ``["name=value", …]`` as a dict; the last value of a name wins. Raises ConfigError."""
    properties = {}
    for override in overrides:
        name, equals, value = override.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name:
            # What follows the name may be secret.
            raise ConfigError(f"--override takes name=value, with an equals sign, not {shown_name(override)}")
        properties[name] = value
    return properties
