"""The properties of share groups (KIP-932)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from coordinator_server.config.description import Count, FromKafka, Millis, Ours, Part, Positive


class ShareConfig(Part, frozen=True, kw_only=True):
    """A part of ``Config``."""

    # What a member keeps open at each loop that it fetches from.
    group_share_max_share_sessions: Annotated[
        Positive,
        FromKafka(
            "The maximum number of share sessions of a loop. A member that begins one more is refused after its maximum wait time.",
            unit="share sessions",
        ),
    ] = 2000
    share_sessions_max_partitions: Annotated[
        Positive,
        Ours(
            "The maximum number of partitions in all share sessions of a loop, because a session remembers what its requests have "
            "named. A request that exceeds it ends its session.",
            unit="partitions",
        ),
    ] = 1_000_000
    group_share_record_lock_duration_ms: Annotated[
        int,
        Meta(ge=1000, le=3_600_000),
        FromKafka(
            "How long a member may hold a record that it was given, in a group without a setting of its own. This server gives no "
            "records, and says it to members."
        ),
    ] = 30_000
    group_share_min_record_lock_duration_ms: Annotated[
        int, Meta(ge=1000, le=30_000), FromKafka("The shortest lock duration that a share group may have.")
    ] = 15_000
    group_share_max_record_lock_duration_ms: Annotated[
        int, Meta(ge=30_000, le=3_600_000), FromKafka("The longest lock duration that a share group may have.")
    ] = 60_000

    # The members of a group (group/share/).
    group_share_session_timeout_ms: Annotated[
        Positive, FromKafka("The session timeout of the members of a share group without a setting of its own.")
    ] = 45_000
    group_share_min_session_timeout_ms: Annotated[
        Positive, FromKafka("The shortest session timeout that a share group may have.")
    ] = 45_000
    group_share_max_session_timeout_ms: Annotated[
        Positive, FromKafka("The longest session timeout that a share group may have.")
    ] = 60_000
    group_share_heartbeat_interval_ms: Annotated[
        Positive, FromKafka("The heartbeat interval of the members of a share group without a setting of its own.")
    ] = 5000
    group_share_min_heartbeat_interval_ms: Annotated[
        Positive, FromKafka("The shortest heartbeat interval that a share group may have.")
    ] = 5000
    group_share_max_heartbeat_interval_ms: Annotated[
        Positive, FromKafka("The longest heartbeat interval that a share group may have.")
    ] = 15_000
    group_share_assignment_interval_ms: Annotated[
        Millis, FromKafka("The interval between assignments of a share group without a setting of its own.")
    ] = 1000
    group_share_min_assignment_interval_ms: Annotated[
        Millis, FromKafka("The shortest interval between assignments that a share group may have.")
    ] = 0
    group_share_max_assignment_interval_ms: Annotated[
        Millis, FromKafka("The longest interval between assignments that a share group may have.")
    ] = 15_000
    group_share_assignment_inline_max_size: Annotated[
        Count,
        Ours(
            "Up to this size, a share group's target assignment is computed at once; that of a larger group is computed by a child "
            "process, and until then heartbeats are answered with the old one. The size is the number of members and partitions, "
            "and of subscriptions if they differ.",
            unit="partitions",
        ),
    ] = 2000
    group_share_max_size: Annotated[
        int, Meta(ge=1, le=1000), FromKafka("The maximum number of members of a share group.", unit="members")
    ] = 200
