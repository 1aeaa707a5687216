"""Read properties from text, and what the texts of ``topics`` and the like say.

``load`` reads ``--override name=value``, and refuses unknown properties and wrong values. Properties that depend on others, and those
whose text has parts, have a function each.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from coordinator_server.config import LAST_PORT, MAX_LOOPS, Config, ConfigError, is_property, property_named, property_names
from coordinator_server.config_access import STANDARD_AUTHORIZER
from coordinator_server.kinds import KINDS, partition_counts
from coordinator_server.listener_settings import PREFIX, parts_of, split_listener_properties
from coordinator_server.listeners import listener_specs
from coordinator_server.properties import UNLIMITED, Property
from coordinator_server.topic_names import name_problem

# What Kafka's tools show in place of a secret.
HIDDEN: Final = "[hidden]"
# Of the credentials that Kafka takes (ScramMechanism).
_SCRAM_ITERATIONS: Final = (4096, 16384)
CONSUMER_ASSIGNORS: Final = ("uniform", "range")


class MigrationPolicy(NamedTuple):
    """Which groups with members may change their protocol (Kafka's ``ConsumerGroupMigrationPolicy``).

    ``upgrade`` is from the classic protocol to the consumer protocol, ``downgrade`` is back.
    """

    upgrade: bool
    downgrade: bool


_POLICIES: Final = {
    "bidirectional": MigrationPolicy(upgrade=True, downgrade=True),
    "upgrade": MigrationPolicy(upgrade=True, downgrade=False),
    "downgrade": MigrationPolicy(upgrade=False, downgrade=True),
    "disabled": MigrationPolicy(upgrade=False, downgrade=False),
}


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
    config = msgspec.convert(_as_written(of_server), Config, strict=False)
    config = msgspec.structs.replace(config, listener_name={name.lower(): value for name, value in of_listeners.items()})
    check(config)
    return config


def check(config: Config) -> None:
    """Check properties that depend on others, and those whose text has parts. Raises ConfigError."""
    declared_topics(config)
    loop_count(config)
    check_listeners(config)
    if config.sasl_jaas_config:
        raise ConfigError("sasl.jaas.config is that of one listener and mechanism: listener.name.NAME.plain.sasl.jaas.config")
    connection_overrides(config)
    check_order(config)
    consumer_assignors(config)
    metrics_address(config)
    super_users(config)
    unknown_user_iterations(config)


def super_users(config: Config) -> frozenset[str]:
    """Return the principals of ``super.users``. Raises ConfigError, also for an authorizer that this server does not have."""
    if config.authorizer_class_name not in ("", STANDARD_AUTHORIZER):
        raise ConfigError(f"authorizer.class.name takes {STANDARD_AUTHORIZER} or nothing, not {config.authorizer_class_name!r}")
    found = frozenset(each.strip() for each in config.super_users.split(";")) - {""}
    for each in sorted(found):
        if ":" not in each:
            raise ConfigError(f"super.users takes TYPE:NAME, separated by semicolons, such as User:admin, not {each!r}")
    return found


def unknown_user_iterations(config: Config) -> tuple[int, ...]:
    """Return the ``scram.unknown.user.iterations`` property as numbers. Raises ConfigError."""
    text = config.scram_unknown_user_iterations
    numbers = [item.strip() for item in text.split(",")]
    if not all(number.isdecimal() and _SCRAM_ITERATIONS[0] <= int(number) <= _SCRAM_ITERATIONS[1] for number in numbers):
        raise ConfigError(
            f"scram.unknown.user.iterations={text}: not numbers from {_SCRAM_ITERATIONS[0]} to {_SCRAM_ITERATIONS[1]}, "
            "separated by commas"
        )
    return tuple(map(int, numbers))


def _check_value(given: str, name: str, value: str) -> None:
    """Raise ConfigError if a property, given by the name ``given``, does not take a value."""
    try:
        msgspec.convert(_as_written({name: value}), Config, strict=False)
    except msgspec.ValidationError:
        shown = "what was given" if is_secret(name) else repr(value)
        raise ConfigError(f"{given} takes {property_named(name).accepted}, not {shown}") from None


def check_listeners(config: Config) -> None:
    """Check the listeners, with as many loops as there are, and the properties of single ones. Raises ConfigError."""
    specs = listener_specs(config, loop_count(config))
    names = [spec.name for spec in specs]
    for name in config.listener_name:
        listener = parts_of(name).listener
        if listener not in names:
            raise ConfigError(f"{PREFIX}{name}: {listener} is none of the listeners ({', '.join(names)})")


def _as_written(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties with the words that Kafka reads in any case as they are declared."""
    return {name: value.lower() if name == "group.consumer.migration.policy" else value for name, value in properties.items()}


def shown_values(config: Config) -> dict[str, Any]:
    """Return all values by name, also those of single listeners. Secrets that are set are HIDDEN."""
    values = {name: getattr(config, name.replace(".", "_")) for name in property_names()}
    values |= {PREFIX + name: value for name, value in config.listener_name.items()}
    return {name: HIDDEN if value and is_secret(name) else value for name, value in values.items()}


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


def shown_name(text: str) -> str:
    """Return a text that should be a name as messages show it: up to a character that names do not have. The rest may be a secret."""
    beginning = re.match(r"[A-Za-z0-9._-]{0,128}", text)
    assert beginning is not None
    return text if beginning[0] == text else f"{beginning[0]}…"


def is_secret(name: str) -> bool:
    """Return whether the value of a property must not be shown. A name that is unknown has no secret."""
    known = _own_name(name)
    return is_property(known) and property_named(known).is_secret


def description_of(name: str) -> Property:
    """Return the description of a property, or of a property of one listener."""
    return property_named(_own_name(name))


def _own_name(name: str) -> str:
    """Return the name of a property without the listener. Raises ConfigError."""
    return parts_of(name.removeprefix(PREFIX)).name if name.startswith(PREFIX) else name


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


def declared_topics(config: Config) -> dict[str, int | None]:
    """Return the ``topics`` property as name → partition count, None where it has no count. Raises ConfigError."""
    topics: dict[str, int | None] = {}
    for item in filter(None, (part.strip() for part in config.topics.split(","))):
        name, colon, count = item.partition(":")
        if not name or (colon and not (count.isdecimal() and 0 < int(count) <= UNLIMITED)):
            raise ConfigError(f"topics={config.topics}: {item!r} is not name or name:partitions")
        problem = f"{name} is this server's own log" if name in KINDS else name_problem(name)
        if name in topics:
            problem = f"{name} is named twice"
        if problem is not None:
            raise ConfigError(f"topics={config.topics}: {problem}")
        topics[name] = int(count) if count else None
    return topics


def connection_overrides(config: Config) -> dict[str, int]:
    """Return the ``max.connections.per.ip.overrides`` property as host → limit. Raises ConfigError."""
    text = config.max_connections_per_ip_overrides
    overrides = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        host, _, limit = item.rpartition(":")
        if not host or not limit.isdecimal() or int(limit) > UNLIMITED:
            raise ConfigError(f"max.connections.per.ip.overrides={text}: {item!r} is not host:limit")
        overrides[host] = int(limit)
    return overrides


def metrics_address(config: Config) -> tuple[str, int] | None:
    """Return the ``metrics.listener`` property as host and port, or None. Raises ConfigError."""
    text = config.metrics_listener
    if not text:
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > LAST_PORT:
        raise ConfigError(f"metrics.listener={text}: not HOST:PORT, such as 127.0.0.1:9404")
    return host.strip("[]"), int(port)


def consumer_assignors(config: Config) -> list[str]:
    """Return the ``group.consumer.assignors`` property as names; the first one is the default. Raises ConfigError."""
    text = config.group_consumer_assignors
    names = [name.strip() for name in text.split(",")]
    problem = None
    for name in names:
        if name not in CONSUMER_ASSIGNORS:
            problem = f"{name!r} is not one of {', '.join(CONSUMER_ASSIGNORS)}; classes of one's own are not supported"
        elif names.count(name) > 1:
            problem = f"{name} is named twice"
    if problem is not None:
        raise ConfigError(f"group.consumer.assignors={text}: {problem}")
    return names


def migration_policy(config: Config) -> MigrationPolicy:
    """Return what the ``group.consumer.migration.policy`` property allows."""
    return _POLICIES[config.group_consumer_migration_policy]


# The first property of a pair must not be greater than the second one (Kafka's ``GroupCoordinatorConfig``,
# ``ShareGroupConfig``).
_BOUNDED: Final = (
    *(("consumer", what) for what in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms")),
    *(
        ("share", what)
        for what in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms", "record.lock.duration.ms")
    ),
)
_IN_ORDER: Final = tuple(
    pair
    for kind, what in _BOUNDED
    for pair in (
        (f"group.{kind}.min.{what}", f"group.{kind}.max.{what}"),
        (f"group.{kind}.min.{what}", f"group.{kind}.{what}"),
        (f"group.{kind}.{what}", f"group.{kind}.max.{what}"),
    )
)


def check_order(config: Config) -> None:
    """Check minima against maxima, and values against both. Raises ConfigError."""
    for less, more in _IN_ORDER:
        if _number(config, less) > _number(config, more):
            raise ConfigError(f"{less}={_number(config, less)} must not be greater than {more}={_number(config, more)}")
    for kind in ("consumer", "share"):
        heartbeat, session = f"group.{kind}.heartbeat.interval.ms", f"group.{kind}.session.timeout.ms"
        heartbeat_ms, session_ms = _number(config, heartbeat), _number(config, session)
        if heartbeat_ms >= session_ms:
            raise ConfigError(f"{heartbeat}={heartbeat_ms} must be less than {session}={session_ms}")


def _number(config: Config, name: str) -> int:
    number = getattr(config, name.replace(".", "_"))
    assert isinstance(number, int)
    return number


def loop_count(config: Config, cores: int = 1) -> int:
    """Return the ``loops`` property as a number; ``auto`` is one loop per core. Raises ConfigError.

    Each loop must own a shard of a permanent kind: other kinds may never be used.
    """
    counts = partition_counts(config)
    permanent = [kind for kind in KINDS.values() if kind.is_permanent and isinstance(kind.partitions, str)]
    largest = max(permanent, key=lambda kind: counts[kind.topic])
    most = counts[largest.topic]
    if config.loops == "auto":
        return min(cores, MAX_LOOPS, most)
    if config.loops > most:
        raise ConfigError(f"loops={config.loops}: {largest.partitions}={most} has fewer shards than loops")
    return config.loops


def with_loops(config: Config, cores: int) -> Config:
    """Return the configuration with a number for ``loops``. Raises ConfigError."""
    config = msgspec.structs.replace(config, loops=loop_count(config, cores))
    check_listeners(config)
    return config
