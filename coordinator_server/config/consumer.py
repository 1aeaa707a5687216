"""The properties of consumer groups (KIP-848). A group may have settings of its own within the minima and maxima."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from coordinator_server.config.description import UNLIMITED, Count, FromKafka, Millis, Ours, Part, Positive


class ConsumerConfig(Part, frozen=True, kw_only=True):
    """A part of ``Config``."""

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
            "Up to this size, a group's target assignment is computed at once; that of a larger group is computed by a child "
            "process, and until then heartbeats are answered with the old one. The size is the number of members and partitions, "
            "and of subscriptions if they differ.",
            unit="partitions",
        ),
    ] = 2500
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
            "The time after which the topics that match the regular expressions of a consumer group are found anew, also if none "
            "was created."
        ),
    ] = 600_000
