"""Consumers move from the classic protocol to that of KIP-848 and back, one by one, while their group works:
nobody loses or doubles a partition.

With the clients that have both protocols, as far as ``--clients`` names them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from tests.interop.clients import OF_CONSUMER_GROUPS, MemberOptions
from tests.interop.crew import Crew, MemberProcess
from tests.support.eventually import eventually
from tests.support.server import Server

# What a reader of pipes may see later than it was said.
LATE_S = 0.3


@pytest.fixture(scope="module")
def bootstrap(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose consumer groups have short intervals; or what ``--bootstrap`` names, with settings like these."""
    if given := request.config.getoption("--bootstrap"):
        yield given
        return
    with Server(tmp_path_factory.mktemp("migration"), OF_CONSUMER_GROUPS) as server:
        yield server.bootstrap


@pytest.fixture
def group(client: str, bootstrap: str, crew_of: Callable[[str, str], Crew]) -> Crew:
    """A group without members, on a topic of six partitions."""
    return crew_of(client, bootstrap)


@pytest.mark.parametrize("is_cooperative", [False, True], ids=["eager", "cooperative"])
def test_members_move_there_and_back_one_by_one(client: str, group: Crew, is_cooperative: bool) -> None:
    """Each ends, and starts in the other protocol.

    After each step every partition has an owner, who reads what the last one committed.
    """
    if is_cooperative and client == "confluent-kafka":
        pytest.skip("its assignor keeps data in the assignments, and such groups are not converted, as in Kafka")
    protocols = {name: MemberOptions(is_cooperative=is_cooperative, protocol=name) for name in ("classic", "consumer")}
    everybody = [*group.join(2, protocols["classic"]).members]
    group.settle()
    for step, name in enumerate(["consumer", "consumer", "classic", "classic"], 1):
        for partition, owner in group.settle().items():
            owner.commit({partition: step})
        group.leave(group.members[0])
        everybody.append(group.join(1, protocols[name]).members[-1])
        owners = group.settle()
        assert {partition: owner.committed([partition])[partition] for partition, owner in owners.items()} == dict.fromkeys(
            owners, step
        )

    assert overlaps(everybody) == []


def test_members_of_both_protocols_share_a_group(group: Crew) -> None:
    """Half of them of each; one of each dies without a word."""
    for name in ("classic", "consumer", "consumer"):
        group.join(1, MemberOptions(protocol=name)).settle()
    eventually(lambda: [len(member.owned) for member in group.members] == [2, 2, 2])

    group.die(group.members[1])
    group.settle()
    group.join(1, MemberOptions(protocol="classic")).settle()
    group.die(group.members[0])

    assert sorted(group.settle()) == list(range(group.partitions))


def test_static_members_keep_their_partitions_as_they_move(group: Crew) -> None:
    """They restart within their session, into the other protocol: others do not notice."""
    instances = [MemberOptions(f"i{number}", session_timeout_ms=60_000) for number in range(2)]
    for options in instances:
        group.join(1, options)
    group.settle()
    before = [member.owned for member in group.members]

    for protocol in ("consumer", "classic"):
        for number, options in enumerate(instances):
            leaver = group.members[number]
            told = [len(member.history) for member in group.members]
            leaver.end()
            group.join(1, options._replace(protocol=protocol))
            group.members[number] = group.members.pop()
            group.settle()
            other = 1 - number
            assert len(group.members[other].history) == told[other] or group.members[other].owned == before[other]
            assert group.members[number].owned == before[number]


def overlaps(members: list[MemberProcess]) -> list[tuple[int, float]]:
    """The partitions that two members had at the same time, with the seconds."""
    held: dict[int, list[tuple[float, float]]] = {}
    for member in members:
        since: dict[int, float] = {}
        for at, owned in zip(member.times, member.history, strict=True):
            for partition in [each for each in since if each not in owned]:
                held.setdefault(partition, []).append((since.pop(partition), at))
            for partition in owned:
                since.setdefault(partition, at)
        ends = member.times[-1] if not member.is_alive() else float("inf")
        for partition, begun in since.items():
            held.setdefault(partition, []).append((begun, ends))
    found = []
    for partition, times in held.items():
        for (_, end), (begin, _) in itertools.pairwise(sorted(times)):
            if end - begin > LATE_S:
                found.append((partition, end - begin))
    return found
