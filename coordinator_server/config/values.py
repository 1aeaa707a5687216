"""What the texts of ``topics`` and the like say, and which values do not fit together."""

from __future__ import annotations

import ipaddress
from typing import Final, NamedTuple

import msgspec

from coordinator_server.config.access import STANDARD_AUTHORIZER
from coordinator_server.config.config import LAST_PORT, MAX_LOOPS, Config
from coordinator_server.config.description import UNLIMITED
from coordinator_server.config.errors import ConfigError
from coordinator_server.config.listener_settings import PREFIX, parts_of
from coordinator_server.config.listeners import listener_names, listener_specs
from coordinator_server.config.properties import value_of
from coordinator_server.kinds import KINDS, partition_counts
from coordinator_server.topic_names import name_problem

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


def super_users(config: Config) -> frozenset[str]:
    """Return the principals of ``super.users``. Raises ConfigError, also for an authorizer that this server does not have."""
    if config.access.authorizer_class_name not in ("", STANDARD_AUTHORIZER):
        raise ConfigError(
            f"authorizer.class.name takes {STANDARD_AUTHORIZER} or nothing, not {config.access.authorizer_class_name!r}"
        )
    found = frozenset(each.strip() for each in config.access.super_users.split(";")) - {""}
    for each in sorted(found):
        if ":" not in each:
            raise ConfigError(f"super.users takes TYPE:NAME, separated by semicolons, such as User:admin, not {each!r}")
    return found


def unknown_user_iterations(config: Config) -> tuple[int, ...]:
    """Return the ``scram.unknown.user.iterations`` property as numbers. Raises ConfigError."""
    text = config.live.scram_unknown_user_iterations
    numbers = [item.strip() for item in text.split(",")]
    if not all(number.isdecimal() and _SCRAM_ITERATIONS[0] <= int(number) <= _SCRAM_ITERATIONS[1] for number in numbers):
        raise ConfigError(
            f"scram.unknown.user.iterations={text}: not numbers from {_SCRAM_ITERATIONS[0]} to {_SCRAM_ITERATIONS[1]}, "
            "separated by commas"
        )
    return tuple(map(int, numbers))


def check_listeners(config: Config) -> None:
    """Check the listeners, with as many loops as there are, and the properties of single ones. Raises ConfigError."""
    names = listener_names(config, loop_count(config))
    for name in config.live.listener_name:
        listener = parts_of(name).listener
        if listener not in names:
            raise ConfigError(f"{PREFIX}{name}: {listener} is none of the listeners ({', '.join(names)})")


def declared_topics(config: Config) -> dict[str, int | None]:
    """Return the ``topics`` property as name → partition count, None where it has no count. Raises ConfigError."""
    topics: dict[str, int | None] = {}
    for item in filter(None, (part.strip() for part in config.live.topics.split(","))):
        name, colon, count = item.partition(":")
        if not name or (colon and not (count.isdecimal() and 0 < int(count) <= UNLIMITED)):
            raise ConfigError(f"topics={config.live.topics}: {item!r} is not name or name:partitions")
        problem = f"{name} is this server's own log" if name in KINDS else name_problem(name)
        if name in topics:
            problem = f"{name} is named twice"
        if problem is not None:
            raise ConfigError(f"topics={config.live.topics}: {problem}")
        topics[name] = int(count) if count else None
    return topics


def connection_overrides(config: Config) -> dict[str, int]:
    """Return the ``max.connections.per.ip.overrides`` property as host → limit. Raises ConfigError."""
    text = config.live.max_connections_per_ip_overrides
    overrides = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        host, _, limit = item.rpartition(":")
        if not host or not limit.isdecimal() or int(limit) > UNLIMITED:
            raise ConfigError(f"max.connections.per.ip.overrides={text}: {item!r} is not host:limit")
        overrides[host] = int(limit)
    return overrides


def metrics_address(config: Config) -> tuple[str, int] | None:
    """Return the ``metrics.listener`` property as host and port, or None. Raises ConfigError."""
    return _http_address("metrics.listener", config.metrics_listener, "127.0.0.1:9404")


def any_metrics_address(name: str, text: str) -> tuple[str, int] | None:
    """Return where metrics are asked for by an option as host and port, or None. Raises ConfigError."""
    return _http_address(name, text, "127.0.0.1:9404")


def page_address(config: Config) -> tuple[str, int] | None:
    """Return the ``page.listener`` property as host and port, or None. Raises ConfigError.

    Where other machines reach it, it has TLS, its names, and a login: at a listener with SASL.
    """
    found = _http_address("page.listener", config.page_listener, "127.0.0.1:9405")
    if found is None or is_of_this_machine(found[0]):
        return found
    lacks = [
        needs
        for needs, has in (
            ("ssl.keystore.location", config.live.tls.ssl_keystore_location or config.live.tls.ssl_keystore_key),
            ("a listener with SASL, where viewers log in", any(each.protocol.has_sasl for each in listener_specs(config))),
            ("page.allowed.hosts, with the names that browsers use", config.page_allowed_hosts.strip()),
        )
        if not has
    ]
    if lacks:
        raise ConfigError(f"page.listener={config.page_listener}: other machines reach it, so it needs {'; and '.join(lacks)}")
    return found


def local_page_address(name: str, text: str) -> tuple[str, int] | None:
    """Return the address of a page without a login; ``name`` is who gives it.

    Raises ConfigError, also if other machines could reach it.
    """
    found = _http_address(name, text, "127.0.0.1:9405")
    if found is not None and not is_of_this_machine(found[0]):
        raise ConfigError(
            f"{name}={text}: this page has no login, so it listens on 127.0.0.1 or [::1] only; "
            "from elsewhere: ssh -L 9405:127.0.0.1:9405, or page.listener of the server, which has one"
        )
    return found


def any_page_address(name: str, text: str) -> tuple[str, int] | None:
    """Return the address of a page; ``name`` is who gives it. Raises ConfigError."""
    return _http_address(name, text, "127.0.0.1:9405")


def is_of_this_machine(host: str) -> bool:
    """Return whether a host is a loopback address, and no name that begins like one."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _http_address(name: str, text: str, example: str) -> tuple[str, int] | None:
    if not text:
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > LAST_PORT:
        raise ConfigError(f"{name}={text}: not HOST:PORT, such as {example}")
    return host.strip("[]"), int(port)


def consumer_assignors(config: Config) -> list[str]:
    """Return the ``group.consumer.assignors`` property as names; the first one is the default. Raises ConfigError."""
    text = config.consumer.group_consumer_assignors
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
    return _POLICIES[config.consumer.group_consumer_migration_policy]


# The first property of a pair must not be greater than the second one (Kafka's ``GroupCoordinatorConfig``,
# ``ShareGroupConfig``).
_BOUNDED: Final = (
    *(("consumer", what) for what in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms")),
    *(
        ("share", what)
        for what in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms", "record.lock.duration.ms")
    ),
    *(("streams", what) for what in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms")),
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
    replicas, most = "group.streams.num.standby.replicas", "group.streams.max.standby.replicas"
    if _number(config, replicas) > _number(config, most):
        raise ConfigError(f"{replicas}={_number(config, replicas)} must not be greater than {most}={_number(config, most)}")
    for kind in ("consumer", "share", "streams"):
        heartbeat, session = f"group.{kind}.heartbeat.interval.ms", f"group.{kind}.session.timeout.ms"
        heartbeat_ms, session_ms = _number(config, heartbeat), _number(config, session)
        if heartbeat_ms >= session_ms:
            raise ConfigError(f"{heartbeat}={heartbeat_ms} must be less than {session}={session_ms}")


def _number(config: Config, name: str) -> int:
    number = value_of(config, name)
    assert isinstance(number, int)
    return number


def loop_count(config: Config, cores: int = 1) -> int:
    """Return the ``loops`` property as a number; ``auto`` is one loop per core. Raises ConfigError.

    Each loop must own a shard of a permanent kind: other kinds may never be used.
    """
    counts = partition_counts(config.log)
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
