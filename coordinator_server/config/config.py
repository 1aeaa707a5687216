"""Every property of the server, in one Struct. ``Config()`` has the defaults.

A property's Python name is Kafka's name with dots replaced by underscores. Its annotation says what it is, and whether it is
Kafka's (``description.py``). A part is a Struct of its own: ``config.log.log_flush``. ``config.live`` has what SIGHUP changes;
nothing else of a ``Config`` changes.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, field

from coordinator_server.config.access import AccessConfig
from coordinator_server.config.cluster import ClusterConfig
from coordinator_server.config.consumer import ConsumerConfig
from coordinator_server.config.description import Count, FromKafka, Ours, Part, Positive
from coordinator_server.config.live import LiveConfig
from coordinator_server.config.log import LogConfig
from coordinator_server.config.share import ShareConfig
from coordinator_server.config.streams import StreamsConfig
from coordinator_server.config.transactions import TransactionConfig

MAX_LOOPS: Final = 64
LAST_PORT: Final = 65535
DEFAULT_LISTENER: Final = "PLAINTEXT://127.0.0.1:9092"


class Config(Part, frozen=True, kw_only=True):
    """All properties: those of the server and its requests here, the others in parts."""

    # The server and its address.
    node_id: Annotated[
        Count, FromKafka("The server's id as a broker. Further loops have the next ids.", unit="", kafka_default=None)
    ] = 1
    listeners: Annotated[
        str,
        FromKafka(
            "The addresses to listen on, each with a name. A name is a security protocol, or has one in "
            "listener.security.protocol.map. An address without a host is every address of the machine, port 0 a free port. With "
            "several loops these are the addresses of loop 0; the others use the next ports. A property of ssl.* or sasl.* that "
            "is given as listener.name.NAME.ssl.* or listener.name.NAME.MECHANISM.sasl.* is that of one listener.",
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
    log_dirs: Annotated[
        str,
        FromKafka("The data directory, if the option --data-dir does not name it.", form="the path of one directory"),
    ] = ""
    loops: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_LOOPS)] | Literal["auto"],
        Ours(
            "The number of processes. Each has its own event loop, its part of the groups, and the next node id and port. auto is "
            "one per core."
        ),
    ] = 1
    loops_hung_after_ms: Annotated[
        int,
        Meta(ge=500),
        Ours(
            "One of several loops that does not respond for this long is killed and restarted. Time in which the whole machine was "
            "paused does not count. So long may a change of topics, ACLs or users wait for a loop that is stopped."
        ),
    ] = 5_000

    # Several nodes.
    cluster: ClusterConfig = field(default_factory=ClusterConfig)

    # Metrics and health, over HTTP.
    metrics_listener: Annotated[
        str,
        Ours(
            "The address that answers HTTP requests for /metrics (Prometheus), /livez and /readyz, in a process of its own. "
            "Without one there is none. Everybody who reaches it can read it.",
            form="HOST:PORT, such as 127.0.0.1:9404",
        ),
    ] = ""
    metrics_allowed_hosts: Annotated[
        str,
        Ours(
            "The names that HTTP requests to metrics.listener may give the server (the header Host). On a loopback address, names "
            "and addresses of this machine are allowed besides, and no others; on other addresses all are, unless there are some "
            "here.",
            form="names of hosts, separated by commas",
        ),
    ] = ""

    # The page for a browser.
    page_listener: Annotated[
        str,
        Ours(
            "The address of the page for a browser (docs/page.md), in a process of its own. Without one there is none. On a "
            "loopback address everybody on this machine can read it. On others it has TLS, with ssl.keystore.location, and a login "
            "of the users of a listener with SASL, who see what they may describe. It needs the extra packages [page].",
            form="HOST:PORT, such as 127.0.0.1:9405",
        ),
    ] = ""
    page_allowed_hosts: Annotated[
        str,
        Ours(
            "The names that HTTP requests to page.listener may give the server (the header Host): on a loopback address besides "
            "names and addresses of this machine, for a proxy in front of it. On other addresses they are required.",
            form="names of hosts, separated by commas",
        ),
    ] = ""

    max_request_partition_size_limit: Annotated[
        Positive,
        FromKafka(
            "The maximum number of partitions in one DescribeTopicPartitions response. The next page has the rest.",
            unit="partitions",
        ),
    ] = 2000

    # Groups and offsets.
    consumer: ConsumerConfig = field(default_factory=ConsumerConfig)

    # Offsets and their expiry.
    offset_metadata_max_bytes: Annotated[Count, FromKafka("The maximum size of the metadata of a committed offset.")] = 4096
    offsets_retention_check_interval_ms: Annotated[Positive, FromKafka("The interval of the checks for offsets that expire.")] = (
        600_000
    )
    transactions: TransactionConfig = field(default_factory=TransactionConfig)

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
            "The maximum size of a request. The largest useful one is far smaller here than in Kafka, and a valid array may take "
            "nine times its bytes in memory.",
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
            "socket.request.max.bytes counts. Beyond them the connections with the most bytes are closed, where Kafka stops "
            "reading: first those that are not authenticated yet, which have an eighth of the bytes; none that is authenticated "
            "and waits for the server. -1: no limit.",
            kafka_default=-1,
        ),
    ] = 64 << 20
    socket_request_stalled_after_ms: Annotated[
        int, Meta(ge=1000), Ours("A connection is closed after this time without a byte in the middle of a request.")
    ] = 30_000

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

    share: ShareConfig = field(default_factory=ShareConfig)
    streams: StreamsConfig = field(default_factory=StreamsConfig)
    access: AccessConfig = field(default_factory=AccessConfig)
    log: LogConfig = field(default_factory=LogConfig)

    # What SIGHUP changes.
    live: LiveConfig = field(default_factory=LiveConfig)
