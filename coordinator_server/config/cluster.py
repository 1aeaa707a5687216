"""The properties of several nodes that share one store."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from coordinator_server.config.description import FromKafka, Ours, Part


class ClusterConfig(Part, frozen=True, kw_only=True):
    """The store, and how its nodes know each other."""

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
