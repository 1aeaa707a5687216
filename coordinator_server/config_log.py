"""The properties of the log: its topics and batches, when they are durable, the history that stays, and the cleaner."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from coordinator_server.config_tls import TlsConfig
from coordinator_server.properties import Count, FromKafka, Ours, Positive


class LogConfig(TlsConfig, frozen=True, kw_only=True):
    """A part of ``Config``."""

    offsets_topic_num_partitions: Annotated[
        Positive, FromKafka("The partitions of __consumer_offsets, fixed when a data directory is created.")
    ] = 50
    transaction_state_log_num_partitions: Annotated[
        Positive, FromKafka("The partitions of __transaction_state, fixed when a data directory is created.")
    ] = 50
    share_coordinator_state_topic_num_partitions: Annotated[
        Positive, FromKafka("The partitions of __share_group_state, fixed when a data directory is created.")
    ] = 50
    offsets_topic_segment_bytes: Annotated[
        int, Meta(ge=1024), FromKafka("The size at which a segment of an internal topic ends.")
    ] = 104_857_600
    log_roll_ms: Annotated[
        int,
        Meta(ge=1),
        FromKafka(
            "A segment also ends before the first record that is newer than the segment's first by more than this. In Kafka the "
            "default comes from log.roll.hours=168."
        ),
    ] = 168 * 3_600_000
    message_max_bytes: Annotated[int, Meta(ge=1024), FromKafka("The maximum size of a record batch, and so of an operation.")] = (
        1_048_588
    )
    group_coordinator_append_linger_ms: Annotated[
        int,
        Meta(ge=-1),
        FromKafka(
            "How long a batch of a group shard may wait for more records. -1: while the log is busy; 0: never, each operation is a "
            "batch of its own."
        ),
    ] = -1
    offsets_commit_coalesce: Annotated[
        bool,
        Ours(
            "Whether only the last of a group's commits for the same partitions that wait for the same write is written. All are "
            "answered when it is durable. The log then has the resulting state, and not each commit."
        ),
    ] = False
    log_flush: Annotated[
        Literal["always", "os"],
        Ours(
            "When a change is acknowledged. always: when it is synced to disk with fdatasync. os: when it is written to the operating "
            "system; then a power loss may lose it, and a crash or kill -9 of the server does not."
        ),
    ] = "always"
    log_history_retention_ms: Annotated[
        int,
        Meta(ge=-1),
        Ours(
            "Records that a compacted layer replaces are removed at this age; -1: age removes none. What a start needs always stays.",
            is_reloadable=True,
        ),
    ] = 30 * 24 * 3_600_000
    log_history_retention_bytes: Annotated[
        int,
        Meta(ge=-1),
        Ours(
            "The oldest records that a compacted layer replaces are removed, whatever their age, while the log of their shard is larger "
            "than this; -1: size removes none.",
            is_reloadable=True,
        ),
    ] = -1
    log_retention_check_interval_ms: Annotated[
        int, Meta(ge=1), FromKafka("The interval of the checks for history that may be removed.")
    ] = 300_000
    log_cleaner_enable: Annotated[
        bool, FromKafka("Whether the server compacts its log in the background.", is_reloadable=True)
    ] = True
    log_cleaner_min_cleanable_ratio: Annotated[
        float,
        Meta(ge=0, le=1),
        FromKafka("A shard is compacted if at least this ratio of it is newer than its newest layer.", is_reloadable=True),
    ] = 0.5
    log_cleaner_min_bytes: Annotated[
        Count,
        Ours("Nothing is compacted while the shards that are due have fewer new bytes than this together.", is_reloadable=True),
    ] = 32 << 20
    log_cleaner_backoff_ms: Annotated[
        int, Meta(ge=1), FromKafka("The interval of the checks for shards to compact.", is_reloadable=True)
    ] = 15_000
    log_cleaner_timeout_ms: Annotated[
        int, Meta(ge=1), Ours("The time after which a compaction is ended, and tried again later.", is_reloadable=True)
    ] = 3_600_000
    log_cleaner_max_memory_bytes: Annotated[
        int,
        Meta(ge=64 << 20),
        Ours("The memory limit of the process that compacts. It skips a shard that needs more.", is_reloadable=True),
    ] = 1 << 30
    log_cleaner_engine: Annotated[
        Literal["plain", "spark", "auto"],
        Ours(
            "What compacts in that process. plain: Python alone. spark: a Spark session of its own, with one task at a time "
            "(pip install 'coordinator-server[spark]'). auto: plain, and spark for the shards that need more memory than the limit, "
            "if it is installed.",
            is_reloadable=True,
        ),
    ] = "auto"
    log_cleaner_delete_retention_ms: Annotated[
        int, Meta(ge=0), FromKafka("Compaction removes tombstones that are older than this.", is_reloadable=True)
    ] = 24 * 3_600_000
    log_journal_bytes: Annotated[
        int, Meta(ge=1 << 16), Ours("The size of each of the two journal files. On a small disk they are smaller.")
    ] = 16 << 20
    log_provenance: Annotated[
        bool, Ours("Whether record headers say who made each change (principal, client id, host, member), and why.")
    ] = True
    log_rebalances: Annotated[
        bool,
        Ours(
            "Whether the server's log messages have a line for each rebalance and each expired session, at most ten a minute for each "
            "group."
        ),
    ] = True
