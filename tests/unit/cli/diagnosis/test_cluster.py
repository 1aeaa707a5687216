"""Why a group is not settled, in the words of ``doctor``."""

from __future__ import annotations

import pytest

from coordinator_server.cli.diagnosis.cluster import explain
from coordinator_server.client.admin.groups import CONSUMER, Description, Member


def member(name: str, epoch: int | None, assignment: dict[str, list[int]], target: dict[str, list[int]]) -> Member:
    return Member(name, None, f"client-{name}", "/192.0.2.1", epoch, assignment=assignment, target=target)


HOLDER = member("holder", 2, {"orders": [0, 1]}, {"orders": [0]})
LATE = member("late", 3, {}, {"orders": [1]})
SETTLED = member("late", 3, {"orders": [1]}, {"orders": [1]})


@pytest.mark.parametrize(
    ("kind", "state", "members", "why"),
    [
        (CONSUMER, "Reconciling", [HOLDER, LATE], "holder of client-holder at 192.0.2.1 has not given up orders 1"),
        (
            CONSUMER,
            "Reconciling",
            [member("slow", 2, {}, {}), SETTLED],
            "slow of client-slow at 192.0.2.1 has not confirmed epoch 3",
        ),
        (
            CONSUMER,
            "Assigning",
            [HOLDER],
            "waits for a heartbeat, with which it is assigned anew; its members: holder of client-holder",
        ),
        ("classic", "CompletingRebalance", [HOLDER], "waits for the leader's assignment; its members: holder of client-holder"),
        ("classic", "PreparingRebalance", [HOLDER, LATE], "waits for 2 members to join again: holder of client-holder"),
        ("share", "Odd", [], "stays in Odd"),
    ],
)
def test_who_holds_a_group_up(kind: str, state: str, members: list[Member], why: str) -> None:
    """And each names the command that says what began it."""
    what, action = explain(Description("g", kind, state, 1, epoch=3, assignment_epoch=3, members=members))

    assert what.startswith("group g ")
    assert why in what
    assert "'coordinator-server groups why g --data-dir DIR'" in action
