"""Counts of what happens to groups."""

from __future__ import annotations

from typing import Any

from coordinator_server.server.hosting.group_counts import GroupCounts


def test_rebalances_count_by_reason_and_are_told_on() -> None:
    """A reason may be followed by the member; one that several members have counts once for a rebalance."""
    told: list[tuple[str, dict[str, Any]]] = []
    counts = GroupCounts(lambda name, **fields: told.append((name, fields)), lambda: 0)

    counts.tell("rebalanced", group_id="g", reasons=["member-joined a", "member-joined b", "session-timeout c"])
    counts.tell("rebalanced", group_id="g", reasons=["member-joined d"])
    counts.tell("rebalanced", group_id="g", reasons=[])
    counts.tell("session-expired", group_id="g", member_id="c")
    counts.tell("upgraded", group_id="g")

    assert counts.reasons == {"member-joined": 2, "session-timeout": 1, "none": 1}
    assert counts.expired == 1
    assert [name for name, _ in told] == ["rebalanced", "rebalanced", "rebalanced", "session-expired", "upgraded"]
