"""What an operator can set: Kafka's property names, defaults and units, in one frozen Struct.

A property's Python name is Kafka's with dots made underscores. Properties that are ours alone are marked so; the two defaults that differ
from Kafka's say why. ``load`` reads the text form (``--override name=value``) and refuses what it does not know.
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

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Millis = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class ConfigError(ValueError):
    """A property that is unknown or has an unusable value; the message names it."""


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename=lambda name: name.replace("_", ".")):
    """All properties. ``Config()`` is Kafka's defaults."""

    # Who this server is, and where clients find it.
    node_id: Count = 1
    # host:port for clients when it is not the address they connected to (behind NAT, in containers). Kafka's listener prefix is accepted.
    # With several loops it is the first one's; the others have the ports after it.
    advertised_listeners: str = ""
    # Ours: how many processes serve, each with its own event loop, share of the groups, node id and port, counted from the first one's.
    loops: Annotated[int, Meta(ge=1, le=MAX_LOOPS)] | Literal["auto"] = 1
    # Ours: one of several loops that has not turned for so long is killed and started again. Time in which all stood still does not count.
    loops_hung_after_ms: Annotated[int, Meta(ge=500)] = 30_000

    # Topics: virtual ones, so that clients have something to subscribe to.
    auto_create_topics_enable: bool = True
    num_partitions: Positive = 1
    delete_topic_enable: bool = True
    # The most partitions that one DescribeTopicPartitions is answered with; the rest comes on the next page.
    max_request_partition_size_limit: Positive = 2000
    # Ours: topics to declare at start, "orders:6,payments:3"; those that exist stay as they are.
    topics: str = ""

    # Classic groups.
    group_min_session_timeout_ms: Millis = 6000
    group_max_session_timeout_ms: Millis = 1_800_000
    group_initial_rebalance_delay_ms: Millis = 3000
    group_max_size: Positive = 2**31 - 1

    # Offsets and their log.
    offset_metadata_max_bytes: Count = 4096
    # How many partitions the log has for groups, for transactional ids and for share partitions: fixed when a directory is made.
    offsets_topic_num_partitions: Positive = 50
    transaction_state_log_num_partitions: Positive = 50
    share_coordinator_state_topic_num_partitions: Positive = 50
    offsets_topic_segment_bytes: Annotated[int, Meta(ge=1024)] = 104_857_600
    # A segment ends, too, with the first record that is so much newer than the one it begins with (Kafka's log.roll.hours=168).
    log_roll_ms: Annotated[int, Meta(ge=1)] = 168 * 3_600_000
    # How long the offsets of an empty group, of a simple group, or of topics that a group has left are kept; how often that is looked at.
    offsets_retention_minutes: Positive = 10_080
    offsets_retention_check_interval_ms: Positive = 600_000
    # The largest record batch, and so the largest operation.
    message_max_bytes: Annotated[int, Meta(ge=1024)] = 1_048_588
    # How long a batch of a group shard may wait for more. -1: as long as the log is busy; 0: not at all, each operation is a batch of its own.
    group_coordinator_append_linger_ms: Annotated[int, Meta(ge=-1)] = -1
    # Ours: of the commits of a group for the same partitions that wait for the same write, only the last is written; all are answered when it is
    # durable. The log has then the state that they came to, and not each of them.
    offsets_commit_coalesce: bool = False
    # Ours. always: acknowledged means fdatasync'ed. os: acknowledged means handed to the operating system; power loss may lose it.
    log_flush: Literal["always", "os"] = "always"
    # Ours: how long, and how many bytes of a shard, records are kept that a compacted layer stands for; -1 is without limit. At least that
    # much is kept, and never less than a start needs.
    log_history_retention_ms: Annotated[int, Meta(ge=-1)] = 30 * 24 * 3_600_000
    log_history_retention_bytes: Annotated[int, Meta(ge=-1)] = -1
    log_retention_check_interval_ms: Annotated[int, Meta(ge=1)] = 300_000
    # The server compacts a shard by itself when so much of it has been written since its newest layer, and has to read at least so many
    # bytes for that (ours) in all shards; how often it looks. Kafka's names and defaults, but for the bytes and the timeout.
    log_cleaner_enable: bool = True
    log_cleaner_min_cleanable_ratio: Annotated[float, Meta(ge=0, le=1)] = 0.5
    log_cleaner_min_bytes: Count = 32 << 20
    log_cleaner_backoff_ms: Annotated[int, Meta(ge=1)] = 15_000
    log_cleaner_timeout_ms: Annotated[int, Meta(ge=1)] = 3_600_000
    # Ours: how much memory the process may take that does it. A shard that would take more is left as it is.
    log_cleaner_max_memory_bytes: Annotated[int, Meta(ge=64 << 20)] = 1 << 30
    # How old a tombstone has to be to be left out.
    log_cleaner_delete_retention_ms: Annotated[int, Meta(ge=0)] = 24 * 3_600_000
    # Ours: size of each of the two journal files.
    log_journal_bytes: Annotated[int, Meta(ge=1 << 16)] = 16 << 20

    # Ours: whether the log tells who was behind each change (principal, client id, host, member) and why, in headers of its records.
    log_provenance: bool = True

    # Kafka's default is 100 MiB; here the largest useful request is far smaller, and a valid array may take nine times its bytes in memory.
    socket_request_max_bytes: Positive = 16 << 20
    # The most that one Fetch of this server's own log is answered with. Kafka's default is 55 MiB; such an answer is made beside commits and heartbeats.
    fetch_max_bytes: Annotated[int, Meta(ge=1024)] = 1 << 20
    # Ours: requests of one connection that may wait for an answer before we stop reading from it.
    max_pending_requests_per_connection: Positive = 1000


def load(properties: Mapping[str, str]) -> Config:
    """Properties in text form over the defaults; raises ConfigError."""
    known = property_names()
    for name in properties:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ConfigError(f"unknown property {name}{hint} ('coordinator-server config' lists all)")
    for name, value in properties.items():
        try:
            msgspec.convert({name: value}, Config, strict=False)
        except msgspec.ValidationError as wrong:
            raise ConfigError(f"{name}={value}: {str(wrong).partition(' - at ')[0]}") from None
    config = msgspec.convert(dict(properties), Config, strict=False)
    declared_topics(config)
    loop_count(config)
    advertised_address(config)
    return config


def parse_overrides(overrides: Iterable[str]) -> dict[str, str]:
    """``["name=value", …]`` as a dict; the last of a name wins."""
    properties = {}
    for override in overrides:
        name, equals, value = override.partition("=")
        if not equals or not name.strip():
            raise ConfigError(f"--override takes name=value, not {override!r}")
        properties[name.strip()] = value.strip()
    return properties


def property_names() -> list[str]:
    """All property names, in the order of the declaration."""
    return [field.encode_name for field in msgspec.structs.fields(Config)]


def declared_topics(config: Config) -> dict[str, int]:
    """The ``topics`` property as name → partition count; raises ConfigError."""
    topics = {}
    for item in filter(None, (part.strip() for part in config.topics.split(","))):
        name, _, count = item.partition(":")
        if not name or (count and not count.isdecimal()) or count == "0":
            raise ConfigError(f"topics={config.topics}: {item!r} is not name or name:partitions")
        topics[name] = int(count) if count else config.num_partitions
    return topics


def advertised_address(config: Config) -> tuple[str, int] | None:
    """The ``advertised.listeners`` property as host and port, None when it is not set; raises ConfigError."""
    text = config.advertised_listeners
    if not text:
        return None
    host, colon, port = text.rpartition("://")[2].rpartition(":")
    if not colon or not host or not port.isdecimal() or "," in text:
        raise ConfigError(f"advertised.listeners={text}: one host:port, such as PLAINTEXT://coordinator.example:9092")
    last = int(port) + loop_count(config) - 1
    if last > LAST_PORT:
        raise ConfigError(
            f"advertised.listeners={text}: {loop_count(config)} loops end at port {last}, and {LAST_PORT} is the last one"
        )
    return host.strip("[]"), int(port)


def loop_count(config: Config, cores: int = 1) -> int:
    """The ``loops`` property as a number; ``auto`` is a loop for each core that there is. Raises ConfigError.

    Each loop owns a shard of a kind that is always there: other kinds may never be used.
    """
    counts = partition_counts(config)
    permanent = [kind for kind in KINDS.values() if kind.is_permanent and isinstance(kind.partitions, str)]
    largest = max(permanent, key=lambda kind: counts[kind.topic])
    most = counts[largest.topic]
    if config.loops == "auto":
        return min(cores, MAX_LOOPS, most)
    if config.loops > most:
        raise ConfigError(f"loops={config.loops}: {largest.partitions}={most} has no shard for each of them")
    return config.loops


def with_loops(config: Config, cores: int) -> Config:
    """The same with a number for ``loops``. Raises ConfigError."""
    config = msgspec.structs.replace(config, loops=loop_count(config, cores))
    advertised_address(config)
    return config
