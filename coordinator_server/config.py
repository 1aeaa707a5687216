"""What an operator can set: Kafka's property names, defaults and units, in one frozen Struct.

A property's Python name is Kafka's name with dots replaced by underscores. Its annotation says what
it is, and whether it is Kafka's (``properties.py``). ``config_values.py`` reads the text form.

``Config`` is one Struct in several files. A Struct has one base only, so each part is the base of the
next: ``ShareConfig``, ``AccessConfig``, ``SaslConfig``, ``TlsConfig``, ``LogConfig``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from coordinator_server.config_log import LogConfig
from coordinator_server.properties import (
    UNLIMITED,
    Count,
    FromKafka,
    Millis,
    Ours,
    PerListener,
    Positive,
    Property,
    properties_of,
)

MAX_LOOPS = 64
LAST_PORT = 65535
DEFAULT_LISTENER = "PLAINTEXT://127.0.0.1:9092"


class ConfigError(ValueError):
    """A property is unknown or has a bad value; the message names it."""


class Config(LogConfig, frozen=True, kw_only=True):
    """All properties. ``Config()`` has the defaults."""

    # The server and its address.
    node_id: Annotated[
        Count, FromKafka("The server's id as a broker. Further loops have the next ids.", unit="", kafka_default=None)
    ] = 1
    listeners: Annotated[
        str,
        FromKafka(
            "The addresses to listen on, each with a name. A name is a security protocol, or has one in "
            "listener.security.protocol.map. An address without a host is every address of the machine, port 0 a free port. With "
            "several loops these are the addresses of loop 0; the others use the next ports. A property of ssl.* or sasl.* that is given "
            "as listener.name.NAME.ssl.* or listener.name.NAME.MECHANISM.sasl.* is that of one listener.",
            form="NAME://HOST:PORT, separated by commas, such as PLAINTEXT://127.0.0.1:9092,SSL://:9193",
            kafka_default="PLAINTEXT://:9092",
        ),
    ] = DEFAULT_LISTENER
    advertised_listeners: Annotated[
        str,
        FromKafka(
            "The addresses for clients, if they are not those that they connect to (behind NAT, in containers). With several loops "
            "they are the addresses of loop 0; the others use the next ports.",
            form="NAME://HOST:PORT for each listener that needs one, separated by commas, or HOST:PORT if there is one listener",
        ),
    ] = ""
    listener_security_protocol_map: Annotated[
        str,
        FromKafka(
            "The security protocol of each listener's name: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL.",
            form="NAME:PROTOCOL, separated by commas, such as INTERNAL:PLAINTEXT,EXTERNAL:SSL",
        ),
    ] = "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT"
    listener_name: Annotated[dict[str, str], PerListener()] = field(default_factory=dict)
    log_dirs: Annotated[
        str,
        FromKafka("The data directory, if the option --data-dir does not name it.", form="the path of one directory"),
    ] = ""
    loops: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_LOOPS)] | Literal["auto"],
        Ours(
            "The number of processes. Each has its own event loop, its part of the groups, and the next node id and port. auto is one "
            "per core."
        ),
    ] = 1
    loops_hung_after_ms: Annotated[
        int,
        Meta(ge=500),
        Ours(
            "One of several loops that does not respond for this long is killed and restarted. Time in which the whole machine was "
            "paused does not count."
        ),
    ] = 30_000

    stop_timeout_ms: Annotated[
        int,
        Meta(ge=500),
        Ours(
            "The time within which the server ends after SIGTERM. It first answers the requests whose records are durable. A log that "
            "is not closed by then is recovered at the next start.",
            is_reloadable=True,
        ),
    ] = 5000

    # Metrics and health, over HTTP.
    metrics_listener: Annotated[
        str,
        Ours(
            "The address that answers HTTP requests for /metrics (Prometheus), /livez and /readyz, in a process of its own. Without one "
            "there is none. Everybody who reaches it can read it.",
            form="HOST:PORT, such as 127.0.0.1:9404",
        ),
    ] = ""
    metrics_allowed_hosts: Annotated[
        str,
        Ours(
            "The names that HTTP requests to metrics.listener may give the server (the header Host). On a loopback address, names and "
            "addresses of this machine are allowed besides, and no others; on other addresses all are, unless there are some here.",
            form="names of hosts, separated by commas",
        ),
    ] = ""
    metrics_commit_age_groups_max: Annotated[
        Count,
        Ours(
            "The number of groups for which metrics have the time since the last commit: of each loop, those with members whose last "
            "commits are the oldest. 0: none.",
            unit="groups",
            is_reloadable=True,
        ),
    ] = 100

    # Topics. They have no records; clients subscribe to them.
    auto_create_topics_enable: Annotated[
        bool, FromKafka("Whether a topic is created when a client asks for its metadata.", is_reloadable=True)
    ] = True
    auto_create_topics_max: Annotated[
        Count,
        Ours(
            "Once this many topics exist, none is created automatically, because any client that asks for metadata creates them.",
            unit="topics",
            is_reloadable=True,
        ),
    ] = 10_000
    topics_max: Annotated[Positive, Ours("The maximum number of topics.", unit="topics", is_reloadable=True)] = 100_000
    topics_max_partitions: Annotated[
        Positive, Ours("The maximum number of partitions of all topics together.", is_reloadable=True)
    ] = 1_000_000
    group_configs_max: Annotated[
        Count,
        Ours(
            "The maximum number of groups with settings of their own, whether they exist or not.",
            unit="groups",
            is_reloadable=True,
        ),
    ] = 10_000
    num_partitions: Annotated[
        Positive, FromKafka("The partitions of a topic that is created without a number.", is_reloadable=True)
    ] = 1
    delete_topic_enable: Annotated[bool, FromKafka("Whether clients may delete topics.", is_reloadable=True)] = True
    max_request_partition_size_limit: Annotated[
        Positive,
        FromKafka(
            "The maximum number of partitions in one DescribeTopicPartitions response. The next page has the rest.",
            unit="partitions",
        ),
    ] = 2000
    topics: Annotated[
        str,
        Ours(
            "Topics to create at the start. An existing topic gets partitions that it lacks; if it has more, the server does not "
            "start. Without a number a new topic has num.partitions.",
            form="NAME or NAME:PARTITIONS, separated by commas, such as orders:6,payments:3",
            is_reloadable=True,
        ),
    ] = ""

    # Classic groups.
    group_min_session_timeout_ms: Annotated[
        Millis, FromKafka("The shortest session timeout that a member may ask for.", is_reloadable=True)
    ] = 6000
    group_max_session_timeout_ms: Annotated[
        Millis, FromKafka("The longest session timeout that a member may ask for.", is_reloadable=True)
    ] = 1_800_000
    group_initial_rebalance_delay_ms: Annotated[
        Millis,
        FromKafka(
            "How long an empty group that gets a member waits for more members before its first rebalance.", is_reloadable=True
        ),
    ] = 3000
    group_max_size: Annotated[
        Positive,
        FromKafka(
            "The maximum number of members of a group. The default is no limit: group.max.bytes, members.max.bytes and "
            "message.max.bytes, which the group's record must fit into, limit groups by bytes.",
            unit="members",
            is_reloadable=True,
        ),
    ] = UNLIMITED
    group_max_bytes: Annotated[
        int,
        Meta(ge=1 << 16),
        Ours(
            "The memory that the members of a group may take, with the ids of those that are about to join. A group whose record fits "
            "into message.max.bytes needs a few times that, because a member sends metadata for each of its protocols.",
            is_reloadable=True,
        ),
    ] = 16 << 20
    members_max_bytes: Annotated[
        int, Meta(ge=1 << 16), Ours("The memory that the members of all groups of a loop may take.", is_reloadable=True)
    ] = 512 << 20
    group_member_max_protocols: Annotated[
        Positive, Ours("The maximum number of protocols that a member offers. Clients have one to five.", is_reloadable=True)
    ] = 100

    # Consumer groups (KIP-848). A group may have settings of its own within the minima and maxima.
    group_consumer_session_timeout_ms: Annotated[
        Positive, FromKafka("The session timeout of the members of a consumer group without a setting of its own.")
    ] = 45_000
    group_consumer_min_session_timeout_ms: Annotated[
        Positive, FromKafka("The shortest session timeout that a consumer group may have.")
    ] = 45_000
    group_consumer_max_session_timeout_ms: Annotated[
        Positive, FromKafka("The longest session timeout that a consumer group may have.")
    ] = 60_000
    group_consumer_heartbeat_interval_ms: Annotated[
        Positive, FromKafka("The heartbeat interval of the members of a consumer group without a setting of its own.")
    ] = 5000
    group_consumer_min_heartbeat_interval_ms: Annotated[
        Positive, FromKafka("The shortest heartbeat interval that a consumer group may have.")
    ] = 5000
    group_consumer_max_heartbeat_interval_ms: Annotated[
        Positive, FromKafka("The longest heartbeat interval that a consumer group may have.")
    ] = 15_000
    group_consumer_assignment_interval_ms: Annotated[
        Millis, FromKafka("The interval between assignments of a consumer group without a setting of its own.")
    ] = 1000
    group_consumer_min_assignment_interval_ms: Annotated[
        Millis, FromKafka("The shortest interval between assignments that a consumer group may have.")
    ] = 0
    group_consumer_max_assignment_interval_ms: Annotated[
        Millis, FromKafka("The longest interval between assignments that a consumer group may have.")
    ] = 15_000

    group_consumer_max_size: Annotated[
        Positive, FromKafka("The maximum number of members of a consumer group.", unit="members")
    ] = UNLIMITED
    group_consumer_assignors: Annotated[
        str,
        FromKafka(
            "The assignors that the members of consumer groups may ask for. A member that asks for none gets the first one.",
            form="uniform and range, one or both, separated by a comma",
        ),
    ] = "uniform,range"
    group_consumer_assignment_inline_max_size: Annotated[
        Count,
        Ours(
            "Up to this size, a group's target assignment is computed at once; that of a larger group is computed by a child process, "
            "and until then heartbeats are answered with the old one. The size is the number of members and partitions, and of "
            "subscriptions if they differ.",
            unit="partitions",
        ),
    ] = 4000
    group_consumer_migration_policy: Annotated[
        Literal["bidirectional", "upgrade", "downgrade", "disabled"],
        FromKafka(
            "Which groups with members may change their protocol: classic groups become consumer groups when a member of the new "
            "protocol joins (upgrade), consumer groups become classic when only members of the old one are left (downgrade)."
        ),
    ] = "bidirectional"
    group_consumer_regex_refresh_interval_ms: Annotated[
        int,
        Meta(ge=10_000, le=UNLIMITED),
        FromKafka(
            "The time after which the topics that match the regular expressions of a consumer group are found anew, also if none was "
            "created."
        ),
    ] = 600_000

    # Offsets and their expiry.
    offset_metadata_max_bytes: Annotated[Count, FromKafka("The maximum size of the metadata of a committed offset.")] = 4096
    offsets_retention_minutes: Annotated[
        Positive,
        FromKafka(
            "How long offsets stay of an empty group, of a simple group, and of topics that a group does not subscribe to any more.",
            is_reloadable=True,
        ),
    ] = 10_080
    offsets_retention_check_interval_ms: Annotated[Positive, FromKafka("The interval of the checks for offsets that expire.")] = (
        600_000
    )

    # Transactions.
    transaction_max_timeout_ms: Annotated[Positive, FromKafka("The longest timeout that a producer may ask for.")] = 900_000
    transactional_id_expiration_ms: Annotated[
        Positive, FromKafka("How long a transactional id without an open transaction is remembered.")
    ] = 604_800_000
    transaction_abort_timed_out_transaction_cleanup_interval_ms: Annotated[
        Positive, FromKafka("The interval of the checks for transactions that exceed their timeout, which are aborted.")
    ] = 10_000
    transaction_remove_expired_transaction_cleanup_interval_ms: Annotated[
        Positive, FromKafka("The interval of the checks for transactional ids that expire.")
    ] = 3_600_000
    transaction_max_partitions: Annotated[
        Positive,
        Ours(
            "The maximum number of partitions in a transaction, because each change writes all of them. Kafka has no limit but "
            "message.max.bytes."
        ),
    ] = 10_000
    producer_id_expiration_ms: Annotated[
        Positive, FromKafka("How long a log remembers a producer without an open transaction.")
    ] = 86_400_000
    producer_id_expiration_check_interval_ms: Annotated[
        Positive, FromKafka("The interval of the checks for producers that expire.")
    ] = 600_000

    # The states of share partitions.
    share_coordinator_snapshot_update_records_per_snapshot: Annotated[
        int,
        Meta(ge=0, le=500),
        FromKafka("After how many updates of a share partition its whole state is written again.", unit="records"),
    ] = 500
    share_coordinator_cold_partition_snapshot_interval_ms: Annotated[
        Positive,
        FromKafka(
            "The interval of the checks for share partitions whose whole state was last written longer ago than this, and the time "
            "after which it is written again."
        ),
    ] = 300_000
    share_coordinator_append_linger_ms: Annotated[
        int,
        Meta(ge=-1),
        FromKafka(
            "How long a batch of states of share partitions may wait for more records. -1: while the log is busy; 0: never, each "
            "operation is a batch of its own."
        ),
    ] = -1

    # Requests.
    socket_request_max_bytes: Annotated[
        Positive,
        FromKafka(
            "The maximum size of a request. The largest useful one is far smaller here than in Kafka, and a valid array may take nine "
            "times its bytes in memory.",
            kafka_default=100 << 20,
        ),
    ] = 16 << 20
    fetch_max_bytes: Annotated[
        int,
        Meta(ge=1024),
        FromKafka(
            "The maximum bytes in the response to one Fetch of an internal topic. It competes here with commits and heartbeats.",
            kafka_default=55 << 20,
        ),
    ] = 1 << 20
    max_pending_requests_per_connection: Annotated[
        Positive,
        Ours("The number of unanswered requests at which the server stops reading from a connection.", unit="requests"),
    ] = 1000
    queued_max_request_bytes: Annotated[
        int,
        Meta(ge=-1),
        FromKafka(
            "The bytes of requests of all connections that are received in part, or wait in large pieces; at least "
            "socket.request.max.bytes counts. Beyond them the connections with the most bytes are closed, where Kafka stops reading: first "
            "those that are not authenticated yet, which have an eighth of the bytes; none that is authenticated and waits for the "
            "server. -1: no limit.",
            kafka_default=-1,
        ),
    ] = 64 << 20
    socket_request_stalled_after_ms: Annotated[
        int, Meta(ge=1000), Ours("A connection is closed after this time without a byte in the middle of a request.")
    ] = 30_000

    # Connections. The limits are those of each loop: it is a broker for its clients.
    connections_max_idle_ms: Annotated[
        int,
        Meta(ge=-1),
        FromKafka(
            "A connection is closed after this time without a byte in either direction; -1: never. After a change, the time of every "
            "connection begins anew.",
            is_reloadable=True,
        ),
    ] = 600_000
    max_connections: Annotated[
        Positive,
        FromKafka(
            "The maximum number of connections of a loop; more are closed at once. The limit of open files, less the files of the log, "
            "limits connections, too. listener.name.NAME.max.connections is that of one listener.",
            is_reloadable=True,
        ),
    ] = UNLIMITED
    max_connections_per_ip: Annotated[
        int,
        Meta(ge=0, le=UNLIMITED),
        FromKafka(
            "The maximum number of connections of a loop from one address; more are closed at once.",
            unit="connections",
            is_reloadable=True,
        ),
    ] = UNLIMITED
    max_connections_per_ip_overrides: Annotated[
        str,
        FromKafka(
            "Addresses with another limit than max.connections.per.ip.",
            form="HOST:LIMIT, separated by commas, such as 10.0.0.7:100,build.example:20",
            is_reloadable=True,
        ),
    ] = ""
    max_connection_creation_rate: Annotated[
        Positive,
        FromKafka(
            "The maximum rate of new connections of a loop, on average over ten seconds. Faster ones are accepted later. "
            "listener.name.NAME.max.connection.creation.rate is that of one listener.",
            unit="connections per second",
            is_reloadable=True,
        ),
    ] = UNLIMITED

    # Quotas of clients. Each loop measures for itself: it is a broker for its clients.
    quota_window_num: Annotated[
        Positive,
        FromKafka(
            "The number of windows over which request times and the connections of an address are measured.", unit="windows"
        ),
    ] = 11
    quota_window_size_seconds: Annotated[
        Positive,
        FromKafka("The length of such a window. A client waits for a window at most before its next request.", unit="seconds"),
    ] = 1
    client_quotas_max: Annotated[
        Positive, Ours("The maximum number of quotas; AlterClientQuotas refuses more.", unit="quotas")
    ] = 10_000


def property_names() -> list[str]:
    """Return all property names, in the order of their declaration. Those of ``LogConfig`` and its bases come last."""
    of_bases = properties_of(LogConfig)
    return sorted(properties_of(Config), key=of_bases.__contains__)


def is_property(name: str) -> bool:
    """Return whether there is a property of this name."""
    return name in properties_of(Config)


def property_named(name: str) -> Property:
    """Return the description of a property."""
    return properties_of(Config)[name]
