"""What a log is compared with of a cluster that goes on meanwhile."""

from __future__ import annotations

import pytest

from coordinator_server.pipeline.replay.beside_cluster import Asked, GroupThere, compared
from coordinator_server.pipeline.states.shown_group import Group, Member, Offset


def there(offset: int | None = None, members: tuple[str, ...] | None = (), epoch: int | None = None) -> GroupThere:
    return GroupThere({} if offset is None else {("orders", 0): offset}, members, epoch)


def here(offset: int | None = None, members: str = "", epoch: int | None = None) -> Group:
    offsets = [] if offset is None else [Offset("orders", 0, offset, -1, "", 0)]
    return Group("g", epoch=epoch, offsets=offsets, members=[Member(each, "", "", None, None) for each in members])


@pytest.mark.parametrize(
    ("ours", "before", "after", "count", "differs"),
    [
        (here(7), there(7), there(7), 2, []),
        (here(8), there(7), there(7), 2, ["orders-0: 8 in the log, 7 in the cluster"]),
        (here(), there(7), there(7), 2, ["orders-0: none in the log, 7 in the cluster"]),
        (here(7), there(), there(), 2, ["orders-0: 7 in the log, none in the cluster"]),
        # It went up meanwhile.
        (here(8), there(7), there(9), 2, []),
        (here(6), there(7), there(9), 2, ["orders-0: 6 in the log, 7 to 9 in the cluster"]),
        (here(), there(7), there(9), 2, ["orders-0: none in the log, 7 to 9 in the cluster"]),
        # It went back, or was made or deleted: who knows what was between.
        (here(3), there(9), there(7), 1, []),
        (here(3), there(), there(7), 1, []),
        (here(members="ab"), there(members=("a", "b")), there(members=("a", "b")), 1, []),
        (
            here(members="a"),
            there(members=("a", "b")),
            there(members=("a", "b")),
            1,
            ["members: a in the log, a, b in the cluster"],
        ),
        (here(members="a"), there(members=("a",)), there(members=("a", "b")), 0, []),
        # A rebalance goes on.
        (here(members="a"), there(members=None), there(members=None), 0, []),
        (here(epoch=4), there(epoch=4), there(epoch=4), 2, []),
        (here(epoch=4), there(epoch=5), there(epoch=5), 2, ["epoch: 4 in the log, 5 in the cluster"]),
        (here(epoch=4), there(epoch=4), there(epoch=5), 0, []),
    ],
)
def test_what_both_answers_say_is_compared(
    ours: Group, before: GroupThere, after: GroupThere, count: int, differs: list[str]
) -> None:
    found = compared([ours], Asked({"g": before}, {"g": after}))

    assert (found.compared, found.differences) == (count, [f"group g: {each}" for each in differs])


def test_a_group_of_one_side_alone() -> None:
    assert compared([here(7)], Asked()).differences == ["group g: orders-0: 7 in the log, none in the cluster"]
    assert compared([], Asked({"g": there(7)}, {"g": there(7)})).differences == [
        "group g: orders-0: none in the log, 7 in the cluster"
    ]
    assert compared([], Asked()).compared == 0
