"""Three consumers on six partitions, by every client library: who owns what as members come, go and die; what commits survive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.interop.crew import Crew
from tests.support.server import Server


def test_three_members_share_six_partitions(crew: Crew) -> None:
    """Each partition is owned by exactly one member, and none goes without."""
    owners = crew.join(3).settle()

    assert [len(member.owned) for member in crew.members] == [2, 2, 2]
    assert sorted(owners) == [0, 1, 2, 3, 4, 5]


def test_other_members_take_over_the_partitions_of_a_member_that_leaves(crew: Crew) -> None:
    """A member that closes its consumer hands its partitions to the others without waiting for its session to end."""
    crew.join(3).settle()

    crew.leave(crew.members[0])

    assert sorted(crew.settle()) == [0, 1, 2, 3, 4, 5]
    assert [len(member.owned) for member in crew.members] == [3, 3]


def test_other_members_take_over_the_partitions_of_a_member_that_died(crew: Crew) -> None:
    """A member that dies without a word is out when its session times out."""
    crew.join(3).settle()

    crew.die(crew.members[1])

    assert sorted(crew.settle()) == [0, 1, 2, 3, 4, 5]


def test_a_newcomer_gets_its_share(crew: Crew) -> None:
    """A join rebalances a settled group."""
    crew.join(2).settle()

    crew.join(1).settle()

    assert [len(member.owned) for member in crew.members] == [2, 2, 2]


def test_commits_are_read_back_by_whoever_asks(crew: Crew) -> None:
    """A position committed by a partition's owner is what every member of the group reads; one never committed is none."""
    owners = crew.join(2).settle()
    for partition in range(5):
        owners[partition].commit({partition: 100 + partition})

    seen = [member.committed(range(6)) for member in crew.members]

    assert seen == [{0: 100, 1: 101, 2: 102, 3: 103, 4: 104, 5: None}] * 2


def test_members_survive_a_killed_server(crew_on: Callable[[str], Crew], tmp_path: Path) -> None:
    """After kill -9 and a new start the members find their way back by themselves, and every acknowledged position is there."""
    with Server(tmp_path) as server:
        crew = crew_on(server.bootstrap)
        owners = crew.join(3).settle()
        for partition, owner in owners.items():
            owner.commit({partition: 1000 + partition})

        server.kill()
        server.start()

        assert crew.members[0].committed(range(6)) == {partition: 1000 + partition for partition in range(6)}
        for partition, owner in crew.settle().items():
            owner.commit({partition: 2000 + partition})
        assert crew.members[2].committed(range(6)) == {partition: 2000 + partition for partition in range(6)}
