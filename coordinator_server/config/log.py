"""The properties of the log: its topics and batches, and when they are durable.

``live.py`` has the history that stays and the cleaner.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from coordinator_server.config.description import FromKafka, Ours, Part, Positive


class LogConfig(Part, frozen=True, kw_only=True):
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
    offsets_commit_timeout_ms: Annotated[
        Positive,
        FromKafka(
            "How long a request may wait for the log. Then the client gets COORDINATOR_NOT_AVAILABLE, or what its API says "
            "instead, and tries again. The change may still be made."
        ),
    ] = 5000
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
            "When a change is acknowledged. always: when it is synced to disk with fdatasync. os: when it is written to the "
            "operating system; then a power loss may lose it, and a crash or kill -9 of the server does not."
        ),
    ] = "always"
    log_retention_check_interval_ms: Annotated[
        int, Meta(ge=1), FromKafka("The interval of the checks for history that may be removed.")
    ] = 300_000
    log_journal_bytes: Annotated[
        int, Meta(ge=1 << 16), Ours("The size of each of the two journal files. On a small disk they are smaller.")
    ] = 16 << 20
    log_silences_retention_days: Annotated[
        int,
        Meta(ge=0, le=36_500),
        Ours(
            "For how many days the server keeps which members sent nothing for how long, if that was at least "
            "group.min.session.timeout.ms: what-if judges shorter sessions by it. 0: it writes none, and removes those that there "
            "are. Nodes that share a database write none."
        ),
    ] = 30
    log_provenance: Annotated[
        bool, Ours("Whether record headers say who made each change (principal, client id, host, member), and why.")
    ] = True
    log_rebalances: Annotated[
        bool,
        Ours(
            "Whether the server's log messages have a line for each rebalance and each expired session, at most ten a minute for "
            "each group."
        ),
    ] = True
