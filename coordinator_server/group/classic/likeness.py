"""Whether two groups without members are the same to everybody, so that one may be discarded and the other built from the log."""

from __future__ import annotations

from typing import Final

from coordinator_server.group.classic.group import ClassicGroup

# All attributes but ``_noted``, ``_total`` and ``previous_state``.
TELLING: Final = (
    "_reasons",
    "awaiting_join_count",
    "current_state_timestamp",
    "generation_id",
    "group_id",
    "has_new_member",
    "join_key",
    "leader_id",
    "members",
    "memory_bytes",
    "pending_bytes",
    "pending_joins",
    "pending_syncs",
    "protocol_name",
    "protocol_type",
    "rebalancing_since_ms",
    "record_bytes",
    "state",
    "static_members",
    "storing_generation",
    "subscribed_topics",
    "supported_protocols",
    "sync_key",
)


def are_alike(group: ClassicGroup, other: ClassicGroup) -> bool:
    """Return whether the groups are equal for every request.

    The time of a group that has never had members is that of its first use, and counts for nothing.
    """
    differing = [name for name in TELLING if getattr(group, name) != getattr(other, name)]
    return not differing or (not group.protocol_type and differing == ["current_state_timestamp"])
