"""The properties of several nodes that share one store."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from coordinator_server.config.description import FromKafka, Ours, Part


class ClusterConfig(Part, frozen=True, kw_only=True):
    """The store, and how its nodes know each other."""

    store: Annotated[
        str,
        Ours(
            "The database that has the log, the owners of shards and the nodes. All nodes with the same store are one cluster, "
            "each with a node.id of its own; one that is killed is replaced by the others. The data directory has only the node's "
            "socket. Without a store the log is in the data directory.",
            form="the URL of a PostgreSQL, such as postgresql://coordinator@db.example/coordinator",
        ),
    ] = ""
    store_password: Annotated[
        str,
        Ours(
            "The password for the store.",
            form="a reference to it, such as ${file:/etc/coordinator-server/secrets.properties:store.password}",
            is_secret=True,
        ),
    ] = ""
    store_objects: Annotated[
        str,
        Ours(
            "Where the files of layers go that compaction makes of the log in the store: an object store that all nodes and jobs "
            "reach. Without it they are in the database. Layers that are there stay where they are until newer ones replace them. "
            "Credentials are those of the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the role of the machine). "
            "All nodes should have the same: that of the node that started last holds. Needs coordinator-server[s3].",
            form="s3://BUCKET/PREFIX, with ?region=, ?endpoint_override=HOST:PORT and ?scheme=http for stores other than Amazon's",
        ),
    ] = ""
    store_needs_standby: Annotated[
        bool,
        Ours(
            "Whether nothing is acknowledged that no synchronous standby of the store has. The database decides which ones it "
            "waits for (synchronous_standby_names)."
        ),
    ] = False
    inter_node_listener_name: Annotated[
        str,
        Ours(
            "The one of the listeners that is for other nodes, and not for clients. Nodes that share a store need it. Its protocol "
            "is SSL, and both sides show a certificate: that of a node names the host of its address here. The trust store is for "
            "the authority of nodes alone.",
            form="the name of a listener, such as NODES",
        ),
    ] = ""
    broker_session_timeout_ms: Annotated[
        int,
        Meta(ge=500),
        FromKafka(
            "A node that has not renewed its lease for this long is replaced by others. It answers nobody from a tenth of that "
            "time earlier on."
        ),
    ] = 9_000
    broker_heartbeat_interval_ms: Annotated[
        int, Meta(ge=50), FromKafka("How often a node renews its lease. At most a third of broker.session.timeout.ms is used.")
    ] = 2_000
