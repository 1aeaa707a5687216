"""The properties of streams groups (KIP-1071)."""

from __future__ import annotations

from typing import Annotated

from coordinator_server.config.description import Count, FromKafka, Millis, Ours, Part, Positive


class StreamsConfig(Part, frozen=True, kw_only=True):
    """A part of ``Config``."""

    group_streams_session_timeout_ms: Annotated[
        Positive, FromKafka("The session timeout of the members of a streams group without a setting of its own.")
    ] = 45_000
    group_streams_min_session_timeout_ms: Annotated[
        Positive, FromKafka("The shortest session timeout that a streams group may have.")
    ] = 45_000
    group_streams_max_session_timeout_ms: Annotated[
        Positive, FromKafka("The longest session timeout that a streams group may have.")
    ] = 60_000
    group_streams_heartbeat_interval_ms: Annotated[
        Positive, FromKafka("The heartbeat interval of the members of a streams group without a setting of its own.")
    ] = 5000
    group_streams_min_heartbeat_interval_ms: Annotated[
        Positive, FromKafka("The shortest heartbeat interval that a streams group may have.")
    ] = 5000
    group_streams_max_heartbeat_interval_ms: Annotated[
        Positive, FromKafka("The longest heartbeat interval that a streams group may have.")
    ] = 15_000
    group_streams_assignment_interval_ms: Annotated[
        Millis, FromKafka("The interval between assignments of a streams group without a setting of its own.")
    ] = 1000
    group_streams_min_assignment_interval_ms: Annotated[
        Millis, FromKafka("The shortest interval between assignments that a streams group may have.")
    ] = 0
    group_streams_max_assignment_interval_ms: Annotated[
        Millis, FromKafka("The longest interval between assignments that a streams group may have.")
    ] = 15_000
    group_streams_initial_rebalance_delay_ms: Annotated[
        Millis,
        FromKafka(
            "How long a streams group without a setting of its own waits for more members after its first one, before it assigns "
            "tasks."
        ),
    ] = 3000
    group_streams_num_standby_replicas: Annotated[
        Count,
        FromKafka(
            "The number of standby replicas of each stateful task in a streams group without a setting of its own.",
            unit="replicas",
        ),
    ] = 0
    group_streams_max_standby_replicas: Annotated[
        Count, FromKafka("The largest number of standby replicas that a streams group may have.", unit="replicas")
    ] = 2
    group_streams_assignment_inline_max_size: Annotated[
        Count,
        Ours(
            "Up to this size, a streams group's target assignment is computed at once; that of a larger group is computed by a "
            "child process, and until then heartbeats are answered with the old one. The size is the number of members and tasks, "
            "standby replicas included.",
            unit="tasks",
        ),
    ] = 1000
    group_streams_max_size: Annotated[
        Positive, FromKafka("The maximum number of members of a streams group.", unit="members")
    ] = 2**31 - 1
