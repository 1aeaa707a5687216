"""Why a group is not settled, in the words of ``doctor``."""

from __future__ import annotations

import pytest

from coordinator_server.cli.diagnosis.cluster import explain
from coordinator_server.client.admin.groups import CONSUMER, Description, Member
from coordinator_server.group.holdup import FIRST_DELAY, NOT_JOINED, NOT_JOINED_WITH_ID, Holdup


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
        ("classic", "CompletingRebalance", [HOLDER], "waits for the leader's assignment"),
        ("classic", "PreparingRebalance", [HOLDER, LATE], "waits until all of its 2 members have joined again"),
        ("share", "Odd", [], "stays in Odd"),
    ],
)
def test_doctor_names_the_members_that_hold_up_a_rebalance(kind: str, state: str, members: list[Member], why: str) -> None:
    """And each names the command that says what began it."""
    what, action = explain(Description("g", kind, state, 1, epoch=3, assignment_epoch=3, members=members))

    assert what.startswith("group g ")
    assert why in what
    assert "'coordinator-server groups why g --data-dir DIR'" in action


def test_doctor_names_late_members_only_from_the_servers_answer() -> None:
    """And nobody else is named: not a member that has just joined. Without its answer none is."""
    group = Description("g", "classic", "PreparingRebalance", 1, members=[HOLDER, LATE])
    late = Holdup("g", "classic", group.state, NOT_JOINED, "late", "client-late", "192.0.2.1", out_in_ms=44_300)

    what, action = explain(group, [late])

    assert what == "group g does not settle: late of client-late at 192.0.2.1 has not joined again (put out in 44 s)"
    assert "groups evict g --member ID" in action
    assert "holder" not in what
    what, action = explain(group)
    assert "holder" not in what
    assert "late" not in what
    assert "'coordinator-server groups waiting g --data-dir DIR'" in action


def test_what_is_no_member_is_told_too() -> None:
    delay = Holdup("g", "classic", "PreparingRebalance", FIRST_DELAY, out_in_ms=2_000)
    held = [Holdup("g", "classic", "PreparingRebalance", NOT_JOINED_WITH_ID, f"id-{each}") for each in range(3)]

    what, action = explain(Description("g", "classic", "PreparingRebalance", 1), [delay])
    many, _ = explain(Description("g", "classic", "PreparingRebalance", 1), [*held, delay])

    assert what == "group g does not settle: it waits for more members to join (goes on in 2 s)"
    assert "evict" not in action
    assert many.endswith("id-2 has not joined with the id that it got and 1 more")
