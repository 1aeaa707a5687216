"""Every metric: its name, kind, labels and meaning, and what it is called in Kafka's JMX. docs/metrics.md is made of this table.

A name has the prefix ``coordinator_``; a counter's ends in ``_total``. No label is ``job`` or ``instance``: Prometheus adds
these, and renames one of ours. ``key`` is its name in the answers of ``control.sock``. Metrics of
a loop have the label ``loop`` before the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final

import msgspec
from msgspec import Struct

from coordinator_server.histogram_bounds import REQUEST_BOUNDS_S, SIZE_BOUNDS, SYNC_BOUNDS_S

PREFIX: Final = "coordinator_"


class Kind(Enum):
    """The type of a metric."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Family(Struct, frozen=True):
    """A metric.

    ``jmx`` is Kafka's name for the same or the nearest thing, or empty. ``bounds`` are those of a histogram's classes. Only nodes
    with a store have what ``is_of_store``.
    """

    key: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    jmx: str = ""
    bounds: tuple[float, ...] = ()
    is_of_loop: bool = True
    is_of_store: bool = False

    @property
    def name(self) -> str:
        """The full name, as queries have it."""
        return PREFIX + self.key + ("_total" if self.kind is Kind.COUNTER else "")


_REQUESTS: Final = "kafka.network:type=RequestMetrics"
_GROUPS: Final = "kafka.server:type=group-coordinator-metrics"
_SOCKETS: Final = "kafka.server:type=socket-server-metrics,listener=*,networkProcessor=*"

# Families of loops, in the samples of the operation ``metrics``.
OF_LOOPS: Final = (
    Family(
        "requests", Kind.COUNTER, "Requests received.", ("api", "version"), f"{_REQUESTS},name=RequestsPerSec,request=*,version=*"
    ),
    Family(
        "request_errors",
        Kind.COUNTER,
        "Errors in answers: of a whole request, or of each of its groups, topics or partitions.",
        ("api", "error"),
        f"{_REQUESTS},name=ErrorsPerSec,request=*,error=*",
    ),
    Family(
        "request_duration_seconds",
        Kind.HISTOGRAM,
        "Time from a request's arrival to its answer, waiting for others and for the disk included. Of heartbeats, commits, "
        "fetches and the like one in 64 is measured, of other APIs all; heartbeats that are answered as the last one was are not.",
        ("api",),
        f"{_REQUESTS},name=TotalTimeMs,request=*",
        REQUEST_BOUNDS_S,
    ),
    Family(
        "slow_turns",
        Kind.COUNTER,
        "Turns of the loop that took more than 200 ms, and some of more than 100 ms, by the API that was served then.",
        ("api",),
        f"{_GROUPS},name=event-processing-time-ms-max",
    ),
    Family("connections", Kind.GAUGE, "Open connections.", (), f"{_SOCKETS},name=connection-count"),
    Family(
        "parked_answers",
        Kind.GAUGE,
        "Requests that are not answered yet: they wait for the disk, for other members, or for a time.",
        (),
        "kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize,delayedOperation=*",
    ),
    Family(
        "waiting_connections",
        Kind.GAUGE,
        "Connections with requests that were received and have not begun.",
        (),
        "kafka.network:type=RequestChannel,name=RequestQueueSize",
    ),
    Family(
        "incidents",
        Kind.COUNTER,
        "What the server refused, shed, delayed or closed, by the name of its log line: connection-limit-reached, request-shed, "
        "connection-refused, connection-idle, group-full and more.",
        ("name",),
        f"{_SOCKETS},name=expired-connections-killed-count",
    ),
    Family(
        "access_refusals",
        Kind.COUNTER,
        "Requests that were denied (request-denied) and clients that were not authenticated (authentication-failed).",
        ("event",),
        f"{_SOCKETS},name=failed-authentication-total",
    ),
    Family(
        "journal_sync_duration_seconds",
        Kind.HISTOGRAM,
        "Time of each write of the journal until it is durable; the count is the number of syncs.",
        (),
        "kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs",
        SYNC_BOUNDS_S,
    ),
    Family(
        "batch_size_bytes",
        Kind.HISTOGRAM,
        "Sizes of the record batches that were written.",
        (),
        f"{_GROUPS},name=batch-flush-rate",
        SIZE_BOUNDS,
    ),
    Family(
        "submits",
        Kind.COUNTER,
        "Writes of the journal, each with the batches of all shards of a turn.",
        (),
        f"{_GROUPS},name=batch-flush-rate",
    ),
    Family("refused_submits", Kind.COUNTER, "Writes that failed, as on a full disk. The requests were answered with an error."),
    Family(
        "history_failures",
        Kind.COUNTER,
        "Times that history which is old enough was not removed or moved, by the line that says why: history-not-removed (it is "
        "tried again), or history-kept (what replaces it is damaged).",
        ("event",),
    ),
    Family(
        "shards",
        Kind.GAUGE,
        "Shards, which are partitions of internal topics, by state: loading, active, failed.",
        ("topic", "state"),
        f"{_GROUPS},name=num-partitions,state=*",
    ),
    Family("load_records", Kind.COUNTER, "Records that loads of shards have read.", ("topic",)),
    Family(
        "load_duration_seconds",
        Kind.GAUGE,
        "How long all shards took to load at the start.",
        (),
        f"{_GROUPS},name=partition-load-time-max",
    ),
    Family(
        "shard_moves",
        Kind.COUNTER,
        "Shards that have moved between loops while the server ran, or between nodes, by direction: in to this one, or out of it.",
        ("direction",),
    ),
    Family(
        "groups",
        Kind.GAUGE,
        "Groups by type and state. Counted every ten seconds, or less often where counting takes long.",
        ("type", "state"),
        f"{_GROUPS},name=group-count,protocol=*; {_GROUPS},name=consumer-group-count,state=*; "
        f"{_GROUPS},name=share-group-count,state=*; kafka.coordinator.group:type=GroupMetadataManager,name=NumGroups*",
    ),
    Family("group_members", Kind.GAUGE, "Members of groups, counted with the groups.", ("type",)),
    Family(
        "rebalances",
        Kind.COUNTER,
        "Completed rebalances of classic groups and new epochs of others, by reason. One with several reasons counts for each.",
        ("reason",),
        f"{_GROUPS},name=group-completed-rebalance-count; {_GROUPS},name=consumer-group-rebalance-count; "
        f"{_GROUPS},name=share-group-rebalance-count",
    ),
    Family(
        "refused_commits",
        Kind.COUNTER,
        "Commits that groups have refused, by error: the client is out of its group, or late. 'groups why' has the last ones of a "
        "group.",
        ("error",),
    ),
    Family("sessions_expired", Kind.COUNTER, "Members that were removed because they sent no heartbeat in time."),
    Family(
        "group_commit_age_seconds",
        Kind.GAUGE,
        "Time since the last commit of groups with members, for those where it is the longest (metrics.commit.age.groups.max).",
        ("group",),
    ),
    Family("transactional_ids", Kind.GAUGE, "Transactional ids by state, counted with the groups.", ("state",)),
    Family("uptime_seconds", Kind.GAUGE, "Time since the loop has opened its log."),
    Family("topics", Kind.GAUGE, "Topics.", (), "kafka.controller:type=KafkaController,name=GlobalTopicCount"),
    Family(
        "partitions",
        Kind.GAUGE,
        "Partitions of all topics.",
        (),
        "kafka.controller:type=KafkaController,name=GlobalPartitionCount",
    ),
    Family(
        "certificate_expiry_timestamp_seconds",
        Kind.GAUGE,
        "When the certificate of a listener expires, in seconds since 1970.",
        ("listener",),
    ),
    *(
        msgspec.structs.replace(each, is_of_store=True)
        for each in (
            Family("cluster_nodes", Kind.GAUGE, "Nodes of the cluster that are not marked dead, as this one has read."),
            Family(
                "cluster_unowned_shards",
                Kind.GAUGE,
                "Shards of the cluster that no living node owns. Requests for their groups wait.",
                (),
                "kafka.controller:type=KafkaController,name=OfflinePartitionsCount",
            ),
            Family("cluster_epochs", Kind.GAUGE, "Sum of the epochs of all shards: each rises when its shard gets an owner."),
            Family(
                "owned_shards",
                Kind.GAUGE,
                "Shards that this node owns.",
                ("topic",),
                "kafka.server:type=ReplicaManager,name=LeaderCount",
            ),
            Family(
                "node_takeovers",
                Kind.COUNTER,
                "Other nodes that this one has marked dead, by reason: silent for a lease, or gone for certain.",
                ("reason",),
                "kafka.controller:type=ControllerStats,name=LeaderElectionRateAndTimeMs",
            ),
            Family(
                "lease_remaining_seconds",
                Kind.GAUGE,
                "For how long this node may answer if it cannot renew its lease. At 0 it answers nobody.",
            ),
            Family("store_connected", Kind.GAUGE, "Whether there is a connection to the store over which commits are written."),
            Family(
                "store_statement_duration_seconds",
                Kind.HISTOGRAM,
                "Time of each statement until the store has answered, by session: writes (commits), renews (leases), moves "
                "(owners), loads and reads (logs of shards), inspects.",
                ("session",),
                "kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs",
                SYNC_BOUNDS_S,
            ),
            Family(
                "store_statements_in_doubt",
                Kind.COUNTER,
                "Statements without a known outcome, by session: the connection was lost, the store did not answer or has warned. "
                "Writes among them are resolved before anything else is answered of their shards.",
                ("session",),
            ),
            Family(
                "store_clock_difference_seconds",
                Kind.GAUGE,
                "How far the store's clock is ahead of this node's. Beyond 10 s in either direction the node takes no shards.",
            ),
        )
    ),
)

# What the process finds out itself, or from other operations.
LOOP_UP: Final = Family("loop_up", Kind.GAUGE, "Whether a loop serves: 0 while it loads, is started or does not answer.")
LOOP_STARTS: Final = Family("loop_starts", Kind.COUNTER, "Starts of a loop's process.")
CPU: Final = Family("process_cpu_seconds", Kind.COUNTER, "Processor time of a loop's process.")
MEMORY: Final = Family("process_resident_memory_bytes", Kind.GAUGE, "Resident memory of a loop's process.")
OPEN_FILES: Final = Family("process_open_fds", Kind.GAUGE, "Open files and sockets of a loop's process.")
MAX_FILES: Final = Family("process_max_fds", Kind.GAUGE, "The limit of open files of a loop's process.")
READY: Final = Family("ready", Kind.GAUGE, "Whether /readyz answers 200.", is_of_loop=False)
BUILD: Final = Family(
    "build_info",
    Kind.GAUGE,
    "Always 1, with the version of the server.",
    ("version", "build"),
    "kafka.server:type=app-info",
    is_of_loop=False,
)
LOG_BYTES: Final = Family(
    "log_bytes",
    Kind.GAUGE,
    "Bytes on disk, by internal topic; journal is the rest.",
    ("topic",),
    "kafka.log:type=Log,name=Size,topic=*",
    is_of_loop=False,
)
DISK_FREE: Final = Family("disk_free_bytes", Kind.GAUGE, "Room on the disk of the data directory.", is_of_loop=False)
DISK_SIZE: Final = Family("disk_size_bytes", Kind.GAUGE, "Size of the disk of the data directory.", is_of_loop=False)
COMPACTIONS: Final = Family(
    "compactions",
    Kind.COUNTER,
    "Runs of the cleaner by outcome.",
    ("outcome",),
    "kafka.log:type=LogCleaner,name=max-clean-time-secs",
    is_of_loop=False,
)
COMPACTED: Final = Family(
    "compacted_records", Kind.COUNTER, "Records that the cleaner has read and kept.", ("what",), is_of_loop=False
)
COMPACTION_TIME: Final = Family("compaction_seconds", Kind.COUNTER, "Time of all runs of the cleaner.", is_of_loop=False)
JOBS: Final = Family(
    "job_runs", Kind.COUNTER, "Runs of scheduled jobs by outcome.", ("schedule", "job_name", "outcome"), is_of_loop=False
)
JOB_TIME: Final = Family(
    "job_seconds", Kind.COUNTER, "Time of all runs of a scheduled job.", ("schedule", "job_name"), is_of_loop=False
)
JOB_RECORDS: Final = Family(
    "job_records", Kind.COUNTER, "Records that a scheduled job has read.", ("schedule", "job_name"), is_of_loop=False
)
JOB_DONE: Final = Family(
    "job_last_success_timestamp_seconds",
    Kind.GAUGE,
    "When a scheduled job was last done, in seconds since 1970.",
    ("schedule", "job_name"),
    is_of_loop=False,
)
SCRAPE_TIME: Final = Family("scrape_duration_seconds", Kind.GAUGE, "How long it took to ask the server.", is_of_loop=False)

OF_PROCESS: Final = (
    LOOP_UP,
    LOOP_STARTS,
    CPU,
    MEMORY,
    OPEN_FILES,
    MAX_FILES,
    READY,
    BUILD,
    LOG_BYTES,
    DISK_FREE,
    DISK_SIZE,
    COMPACTIONS,
    COMPACTED,
    COMPACTION_TIME,
    JOBS,
    JOB_TIME,
    JOB_RECORDS,
    JOB_DONE,
    SCRAPE_TIME,
)


def families() -> Iterator[Family]:
    """Yield every metric."""
    yield from OF_LOOPS
    yield from OF_PROCESS
