"""What SIGHUP changes in a running server.

Every reader has the same object, and reads a property each time that it needs it. ``adopt`` alone changes it. Parts of the server
that keep what they have read are notified (``server/reconfiguration.py``).
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from coordinator_server.config.description import UNLIMITED, Count, FromKafka, Millis, Ours, PerListener, Positive, dotted
from coordinator_server.config.oauthbearer import OAuthBearerConfig
from coordinator_server.config.tls import TlsConfig


class LiveConfig(Struct, kw_only=True, forbid_unknown_fields=True, rename=dotted):
    """The properties that change while the server runs."""

    listener_name: Annotated[dict[str, str], PerListener()] = field(default_factory=dict)

    stop_timeout_ms: Annotated[
        int,
        Meta(ge=500),
        Ours(
            "The time within which the server ends after SIGTERM. It first answers the requests whose records are durable. A log "
            "that is not closed by then is recovered at the next start. A node with a store gives its shards to others before, "
            "which may take 15 s more.",
            follows="loops.hung.after.ms",
        ),
    ] = 5000
    metrics_commit_age_groups_max: Annotated[
        Count,
        Ours(
            "The number of groups for which metrics have the time since the last commit: of each loop, those with members whose "
            "last commits are the oldest. 0: none.",
            unit="groups",
            follows="metrics.allowed.hosts",
        ),
    ] = 100

    # Topics. They have no records; clients subscribe to them.
    auto_create_topics_enable: Annotated[bool, FromKafka("Whether a topic is created when a client asks for its metadata.")] = (
        True
    )
    auto_create_topics_max: Annotated[
        Count,
        Ours(
            "Once this many topics exist, none is created automatically, because any client that asks for metadata creates them.",
            unit="topics",
        ),
    ] = 10_000
    topics_max: Annotated[Positive, Ours("The maximum number of topics.", unit="topics")] = 100_000
    topics_max_partitions: Annotated[Positive, Ours("The maximum number of partitions of all topics together.")] = 1_000_000
    group_configs_max: Annotated[
        Count,
        Ours(
            "The maximum number of groups with settings of their own, whether they exist or not.",
            unit="groups",
        ),
    ] = 10_000
    num_partitions: Annotated[Positive, FromKafka("The partitions of a topic that is created without a number.")] = 1
    delete_topic_enable: Annotated[bool, FromKafka("Whether clients may delete topics.")] = True
    topics: Annotated[
        str,
        Ours(
            "Topics to create at the start. An existing topic gets partitions that it lacks; if it has more, the server does not "
            "start. Without a number a new topic has num.partitions.",
            form="NAME or NAME:PARTITIONS, separated by commas, such as orders:6,payments:3",
            follows="max.request.partition.size.limit",
        ),
    ] = ""

    # Classic groups.
    group_min_session_timeout_ms: Annotated[Millis, FromKafka("The shortest session timeout that a member may ask for.")] = 6000
    group_max_session_timeout_ms: Annotated[Millis, FromKafka("The longest session timeout that a member may ask for.")] = (
        1_800_000
    )
    group_initial_rebalance_delay_ms: Annotated[
        Millis,
        FromKafka("How long an empty group that gets a member waits for more members before its first rebalance."),
    ] = 3000
    group_max_size: Annotated[
        Positive,
        FromKafka(
            "The maximum number of members of a group. The default is no limit: group.max.bytes, members.max.bytes and "
            "message.max.bytes, which the group's record must fit into, limit groups by bytes.",
            unit="members",
        ),
    ] = UNLIMITED
    group_max_bytes: Annotated[
        int,
        Meta(ge=1 << 16),
        Ours(
            "The memory that the members of a group may take, with the ids of those that are about to join. A group whose record "
            "fits into message.max.bytes needs a few times that, because a member sends metadata for each of its protocols.",
        ),
    ] = 16 << 20
    members_max_bytes: Annotated[int, Meta(ge=1 << 16), Ours("The memory that the members of all groups of a loop may take.")] = (
        512 << 20
    )
    group_member_max_protocols: Annotated[
        Positive, Ours("The maximum number of protocols that a member offers. Clients have one to five.")
    ] = 100

    # Offsets.
    offsets_retention_minutes: Annotated[
        Positive,
        FromKafka(
            "How long offsets stay of an empty group, of a simple group, and of topics that a group does not subscribe to any "
            "more.",
            follows="offset.metadata.max.bytes",
        ),
    ] = 10_080

    # Connections. The limits are those of each loop: it is a broker for its clients.
    connections_max_idle_ms: Annotated[
        int,
        Meta(ge=-1),
        FromKafka(
            "A connection is closed after this time without a byte in either direction; -1: never. After a change, the time of "
            "every connection begins anew.",
            follows="socket.request.stalled.after.ms",
        ),
    ] = 600_000
    max_connections: Annotated[
        Positive,
        FromKafka(
            "The maximum number of connections of a loop; more are closed at once. The limit of open files, less the files of the "
            "log, limits connections, too. listener.name.NAME.max.connections is that of one listener.",
        ),
    ] = UNLIMITED
    max_connections_per_ip: Annotated[
        int,
        Meta(ge=0, le=UNLIMITED),
        FromKafka(
            "The maximum number of connections of a loop from one address; more are closed at once.",
            unit="connections",
        ),
    ] = UNLIMITED
    max_connections_per_ip_overrides: Annotated[
        str,
        FromKafka(
            "Addresses with another limit than max.connections.per.ip.",
            form="HOST:LIMIT, separated by commas, such as 10.0.0.7:100,build.example:20",
        ),
    ] = ""
    max_connection_creation_rate: Annotated[
        Positive,
        FromKafka(
            "The maximum rate of new connections of a loop, on average over ten seconds. Faster ones are accepted later. "
            "listener.name.NAME.max.connection.creation.rate is that of one listener.",
            unit="connections per second",
        ),
    ] = UNLIMITED

    # Logins.
    sasl_enabled_mechanisms: Annotated[
        str,
        FromKafka(
            "The SASL mechanisms of listeners with SASL_PLAINTEXT or SASL_SSL. The users of SCRAM are in the catalog "
            "(coordinator-server users, kafka-configs.sh), those of PLAIN in sasl.jaas.config; OAUTHBEARER takes whom a token "
            "of sasl.oauthbearer.jwks.endpoint.url's keys names.",
            form="PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER, one or more, separated by commas",
            kafka_default="GSSAPI",
            follows="acls.max",
        ),
    ] = ""
    sasl_jaas_config: Annotated[
        str,
        FromKafka(
            "The users of PLAIN, with their passwords: listener.name.NAME.plain.sasl.jaas.config. That of OAUTHBEARER may have "
            "ssl.truststore.location and its siblings, for a URL with keys. Other mechanisms need none.",
            form='org.apache.kafka.common.security.plain.PlainLoginModule required user_NAME="PASSWORD" …;',
            is_secret=True,
        ),
    ] = ""
    connections_max_reauth_ms: Annotated[
        Count,
        FromKafka(
            "The time after which a client must authenticate again (KIP-368). A client that has not done so is closed with its "
            "next request. 0 never asks for it.",
            follows="sasl.login.timeout.ms",
        ),
    ] = 0
    scram_unknown_user_iterations: Annotated[
        str,
        Ours(
            "The iterations that users who do not exist appear to have, so that they do not reveal which users exist. Name "
            "those that your users have; a number that stands twice is twice as frequent.",
            form="numbers from 4096 to 16384, separated by commas",
            follows="connection.failed.authentication.delay.ms",
        ),
    ] = "4096"

    # The history that the log keeps, and the cleaner.
    log_history_retention_ms: Annotated[
        int,
        Meta(ge=-1),
        Ours(
            "Records that a compacted layer replaces are removed at this age; -1: age removes none. What a start needs always "
            "stays.",
            follows="log.flush",
        ),
    ] = 30 * 24 * 3_600_000
    log_history_retention_bytes: Annotated[
        int,
        Meta(ge=-1),
        Ours(
            "The oldest records that a compacted layer replaces are removed, whatever their age, while the log of their shard is "
            "larger than this; -1: size removes none.",
        ),
    ] = -1
    log_local_retention_ms: Annotated[
        int,
        Meta(ge=-2),
        FromKafka(
            "Records that a compacted layer replaces, and that are kept, move from the store to store.objects at this age, and are "
            "read there; -1: none moves for its age; -2: as log.history.retention.ms. Without store.objects none moves."
        ),
    ] = -2
    log_local_retention_bytes: Annotated[
        int,
        Meta(ge=-2),
        FromKafka(
            "The oldest records that a compacted layer replaces, and that are kept, move from the store to store.objects, whatever "
            "their age, while those of their shard that are not moved are larger than this; -1: none moves for their size; -2: "
            "as log.history.retention.bytes."
        ),
    ] = -2
    log_cleaner_enable: Annotated[
        bool, FromKafka("Whether the server compacts its log in the background.", follows="log.retention.check.interval.ms")
    ] = True
    log_cleaner_min_cleanable_ratio: Annotated[
        float,
        Meta(ge=0, le=1),
        FromKafka("A shard is compacted if at least this ratio of it is newer than its newest layer."),
    ] = 0.5
    log_cleaner_min_bytes: Annotated[
        Count,
        Ours("Nothing is compacted while the shards that are due have fewer new bytes than this together."),
    ] = 32 << 20
    log_cleaner_backoff_ms: Annotated[int, Meta(ge=1), FromKafka("The interval of the checks for shards to compact.")] = 15_000
    log_cleaner_timeout_ms: Annotated[
        int, Meta(ge=1), Ours("The time after which a compaction is ended, and tried again later.")
    ] = 3_600_000
    log_cleaner_max_memory_bytes: Annotated[
        int,
        Meta(ge=64 << 20),
        Ours("The memory limit of the process that compacts. It skips a shard that needs more."),
    ] = 1 << 30
    log_cleaner_engine: Annotated[
        Literal["plain", "spark", "auto"],
        Ours(
            "What compacts in that process. plain: Python alone. spark: a Spark session of its own, with one task at a time "
            "(pip install 'coordinator-server[spark]'). auto: plain, and spark for the shards that need more memory than the "
            "limit, if it is installed.",
        ),
    ] = "auto"
    log_cleaner_delete_retention_ms: Annotated[
        int, Meta(ge=0), FromKafka("Compaction removes tombstones that are older than this.")
    ] = 24 * 3_600_000

    oauthbearer: OAuthBearerConfig = field(default_factory=OAuthBearerConfig)
    tls: TlsConfig = field(default_factory=TlsConfig)

    def adopt(self, changed: LiveConfig) -> None:
        """Take the values of a configuration that ``changes`` has returned."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(changed, name))
