"""What an operator can set: Kafka's property names, defaults and units, in one frozen Struct.

A property's Python name is Kafka's name with dots replaced by underscores. A comment says "Ours" if
Kafka does not have the property, and gives the reason if the default differs from Kafka's. ``load``
reads the text form (``--override name=value``), and refuses unknown properties.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from coordinator_server.kinds import KINDS, partition_counts

MAX_LOOPS = 64
LAST_PORT = 65535
UNLIMITED = 2**31 - 1

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1, le=UNLIMITED)]
Millis = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class ConfigError(ValueError):
    """A property is unknown or has a bad value; the message names it."""


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename=lambda name: name.replace("_", ".")):
    """All properties. ``Config()`` has the defaults."""

    # The server's id, and the address for clients.
    node_id: Count = 1
    # host:port for clients, if it is not the address that they connected to (behind NAT, in containers). Kafka's listener prefix is
    # accepted. With several loops this is the address of loop 0; the others use the next ports.
    advertised_listeners: str = ""
    # Ours: number of processes. Each has its own event loop, its part of the groups, and the next node id and port.
    loops: Annotated[int, Meta(ge=1, le=MAX_LOOPS)] | Literal["auto"] = 1
    # Ours: time after which one of several loops that does not respond is killed and restarted. Time in which the whole machine was
    # paused does not count.
    loops_hung_after_ms: Annotated[int, Meta(ge=500)] = 30_000

    # Topics. They have no records; clients subscribe to them.
    auto_create_topics_enable: bool = True
    # Ours: number of topics at which no more are created automatically, because any client that asks for metadata creates them.
    auto_create_topics_max: Count = 10_000
    # Ours: number of topics and of partitions of all topics at which no more are created. Kafka has no limit but that of its memory.
    topics_max: Positive = 100_000
    topics_max_partitions: Positive = 1_000_000
    # Ours: number of groups that may have settings, whether they exist or not.
    group_configs_max: Count = 10_000
    num_partitions: Positive = 1
    delete_topic_enable: bool = True
    # Maximum number of partitions in one DescribeTopicPartitions response; the next page has the rest.
    max_request_partition_size_limit: Positive = 2000
    # Ours: topics to create at start, "orders:6,payments:3". Existing topics are not changed.
    topics: str = ""

    # Classic groups.
    group_min_session_timeout_ms: Millis = 6000
    group_max_session_timeout_ms: Millis = 1_800_000
    group_initial_rebalance_delay_ms: Millis = 3000
    # Kafka's default, which is no limit. The two below and message.max.bytes, which the group's record must fit into, limit groups by bytes.
    group_max_size: Positive = 2**31 - 1
    # Ours: what the members of a group and the ids of those that are about to join may take in memory. Kafka has no limit. A group whose
    # record fits into message.max.bytes needs a few times that, because a member sends metadata for each of its protocols.
    group_max_bytes: Annotated[int, Meta(ge=1 << 16)] = 16 << 20
    # Ours: the same for the members of all groups of a loop.
    members_max_bytes: Annotated[int, Meta(ge=1 << 16)] = 512 << 20
    # Ours: number of protocols of a member. Clients have one to five.
    group_member_max_protocols: Positive = 100

    # Offsets and their log.
    offset_metadata_max_bytes: Count = 4096
    # Number of partitions of __consumer_offsets, __transaction_state and __share_group_state: fixed when a data directory is created.
    offsets_topic_num_partitions: Positive = 50
    transaction_state_log_num_partitions: Positive = 50
    share_coordinator_state_topic_num_partitions: Positive = 50
    offsets_topic_segment_bytes: Annotated[int, Meta(ge=1024)] = 104_857_600
    # A segment also ends before the first record that is newer than the segment's first by more than this (Kafka's log.roll.hours=168).
    log_roll_ms: Annotated[int, Meta(ge=1)] = 168 * 3_600_000
    # Retention of the offsets of an empty group, of a simple group, and of topics that a group no longer subscribes to; interval of the
    # check.
    offsets_retention_minutes: Positive = 10_080
    offsets_retention_check_interval_ms: Positive = 600_000
    # Maximum size of a record batch, and so of an operation.
    message_max_bytes: Annotated[int, Meta(ge=1024)] = 1_048_588
    # How long a batch of a group shard may wait for more records. -1: while the log is busy; 0: never, each operation is a batch of its own.
    group_coordinator_append_linger_ms: Annotated[int, Meta(ge=-1)] = -1
    # Ours: write only the last of a group's commits for the same partitions that wait for the same write. All are answered when it is
    # durable. The log then has the resulting state, and not each commit.
    offsets_commit_coalesce: bool = False
    # Ours. always: acknowledged means synced with fdatasync. os: acknowledged means written to the operating system; a power loss may lose it.
    log_flush: Literal["always", "os"] = "always"
    # Ours: minimum time and minimum bytes per shard for which records stay after a compacted layer replaces them; -1: for ever. What a start
    # needs always stays.
    log_history_retention_ms: Annotated[int, Meta(ge=-1)] = 30 * 24 * 3_600_000
    log_history_retention_bytes: Annotated[int, Meta(ge=-1)] = -1
    log_retention_check_interval_ms: Annotated[int, Meta(ge=1)] = 300_000
    # The server compacts a shard if at least this ratio of it is newer than its newest layer, and if there are at least min.bytes to read in
    # all shards; interval of the check; timeout of a compaction. Kafka's names and defaults; min.bytes and timeout.ms are ours.
    log_cleaner_enable: bool = True
    log_cleaner_min_cleanable_ratio: Annotated[float, Meta(ge=0, le=1)] = 0.5
    log_cleaner_min_bytes: Count = 32 << 20
    log_cleaner_backoff_ms: Annotated[int, Meta(ge=1)] = 15_000
    log_cleaner_timeout_ms: Annotated[int, Meta(ge=1)] = 3_600_000
    # Ours: memory limit of the process that compacts. It skips a shard that needs more.
    log_cleaner_max_memory_bytes: Annotated[int, Meta(ge=64 << 20)] = 1 << 30
    # Age at which compaction removes a tombstone.
    log_cleaner_delete_retention_ms: Annotated[int, Meta(ge=0)] = 24 * 3_600_000
    # Ours: size of each of the two journal files.
    log_journal_bytes: Annotated[int, Meta(ge=1 << 16)] = 16 << 20

    # Ours: whether record headers say who made each change (principal, client id, host, member), and why.
    log_provenance: bool = True

    # Kafka's default is 100 MiB. Here the largest useful request is far smaller, and a valid array may take nine times its bytes in memory.
    socket_request_max_bytes: Positive = 16 << 20
    # Maximum bytes in the response to one Fetch of this server's own log. Kafka's default is 55 MiB; here the response competes with commits
    # and heartbeats.
    fetch_max_bytes: Annotated[int, Meta(ge=1024)] = 1 << 20
    # Ours: number of unanswered requests at which the server stops reading from a connection.
    max_pending_requests_per_connection: Positive = 1000
    # Bytes of requests of all connections that are received in part, or wait in large pieces; at least socket.request.max.bytes. Beyond
    # them, the connections that make no progress for the longest time are closed. -1: unlimited, Kafka's default; Kafka stops reading.
    queued_max_request_bytes: Annotated[int, Meta(ge=-1)] = 64 << 20
    # Ours: time without a byte in the middle of a request after which its connection is closed.
    socket_request_stalled_after_ms: Annotated[int, Meta(ge=1000)] = 30_000
    # Time without a byte in either direction after which a connection is closed; -1: never.
    connections_max_idle_ms: Annotated[int, Meta(ge=-1)] = 600_000

    # Limits of connections, of each loop: it is a broker for its clients. The limit of open files, less the files of the log, is a limit of
    # connections, too. Connections beyond a limit are closed at once.
    max_connections: Positive = UNLIMITED
    max_connections_per_ip: Annotated[int, Meta(ge=0, le=UNLIMITED)] = UNLIMITED
    # "host:limit,address:limit"
    max_connections_per_ip_overrides: str = ""
    # New connections per second, on average over ten seconds. Faster ones are accepted later.
    max_connection_creation_rate: Positive = UNLIMITED


def load(properties: Mapping[str, str]) -> Config:
    """Return the defaults with these properties, given as text. Raises ConfigError."""
    known = property_names()
    for name in properties:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ConfigError(f"unknown property {name}{hint} ('coordinator-server config' lists all properties)")
    for name, value in properties.items():
        try:
            msgspec.convert({name: value}, Config, strict=False)
        except msgspec.ValidationError as wrong:
            raise ConfigError(f"{name}={value}: {str(wrong).partition(' - at ')[0]}") from None
    config = msgspec.convert(dict(properties), Config, strict=False)
    declared_topics(config)
    loop_count(config)
    advertised_address(config)
    connection_overrides(config)
    return config


def parse_overrides(overrides: Iterable[str]) -> dict[str, str]:
    """Return ``["name=value", …]`` as a dict; the last value of a name wins. Raises ConfigError."""
    properties = {}
    for override in overrides:
        name, equals, value = override.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"--override takes name=value, not {override!r}")
        properties[name.strip()] = value.strip()
    return properties


def property_names() -> list[str]:
    """Return all property names, in the order of their declaration."""
    return [field.encode_name for field in msgspec.structs.fields(Config)]


def declared_topics(config: Config) -> dict[str, int]:
    """Return the ``topics`` property as name → partition count. Raises ConfigError."""
    topics = {}
    for item in filter(None, (part.strip() for part in config.topics.split(","))):
        name, _, count = item.partition(":")
        if not name or (count and not count.isdecimal()) or count == "0":
            raise ConfigError(f"topics={config.topics}: {item!r} is not name or name:partitions")
        topics[name] = int(count) if count else config.num_partitions
    return topics


def advertised_address(config: Config) -> tuple[str, int] | None:
    """Return the ``advertised.listeners`` property as host and port; None if it is not set. Raises ConfigError."""
    text = config.advertised_listeners
    if not text:
        return None
    host, colon, port = text.rpartition("://")[2].rpartition(":")
    if not colon or not host or not port.isdecimal() or "," in text:
        raise ConfigError(f"advertised.listeners={text}: one host:port is required, such as PLAINTEXT://coordinator.example:9092")
    last = int(port) + loop_count(config) - 1
    if last > LAST_PORT:
        raise ConfigError(
            f"advertised.listeners={text}: {loop_count(config)} loops need ports up to {last}, and {LAST_PORT} is the last one"
        )
    return host.strip("[]"), int(port)


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
    advertised_address(config)
    return config
