"""What a client of the protocol of KIP-848 has to find, here and on a real broker: one set of scenarios for all that have it.

`make interop` runs it with both. Where Java is missing, there is no broker, and its half is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.interop.clients import OF_CONSUMER_GROUPS, MemberOptions
from tests.interop.crew import Crew
from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker
from tests.support.server import Server

OF_A_BROKER = {**OF_CONSUMER_GROUPS, "group.consumer.max.session.timeout.ms": 60_000}
CONSUMER = MemberOptions(protocol="consumer")


@pytest.fixture(scope="module", params=["ours", "kafka"])
def bootstrap(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server, or a broker, whose consumer groups have short intervals."""
    directory: Path = tmp_path_factory.mktemp(request.param)
    if request.param == "ours":
        with Server(directory, OF_CONSUMER_GROUPS) as server:
            yield server.bootstrap
        return
    with KafkaBroker(directory) as broker:
        broker.start(OF_A_BROKER)
        yield f"127.0.0.1:{broker.address[1]}"


@pytest.fixture
def group(client: str, bootstrap: str, crew_of: Callable[[str, str], Crew]) -> Crew:
    """A group without members, on a topic of six partitions."""
    return crew_of(client, bootstrap)


def test_join_rebalance_and_takeover(group: Crew) -> None:
    """Members share the partitions; what one leaves or dies with goes to the others. Nobody loses what it keeps."""
    group.join(2, CONSUMER).settle()
    before = [len(member.history) for member in group.members]

    group.join(1, CONSUMER).settle()

    eventually(lambda: [len(member.owned) for member in group.members] == [2, 2, 2])
    for member, told in zip(group.members, before, strict=False):
        kept = set(member.history[told - 1]) & set(member.owned)
        assert all(kept <= set(owned) for owned in member.history[told:]), member.history
    group.leave(group.members[0])
    group.settle()
    group.die(group.members[0])
    assert sorted(group.settle()) == [0, 1, 2, 3, 4, 5]


def test_static_restart(group: Crew) -> None:
    """A static member that ends and starts again within its session has what it had, and nobody else notices."""
    named = [CONSUMER._replace(instance_id=f"instance-{number}") for number in range(2)]
    for options in named:
        group.join(1, options)
    group.settle()
    eventually(lambda: [len(member.owned) for member in group.members] == [3, 3])
    other, restarted = group.members
    had = restarted.owned
    told = len(other.history)

    group.members.remove(restarted)
    restarted.end()
    group.join(1, named[1]).settle()

    assert group.members[1].owned == had
    assert all(owned == other.owned for owned in other.history[told - 1 :]), other.history[told - 1 :]


def test_regular_expression(group: Crew) -> None:
    """A member with an expression shares with one that names the topic."""
    group.join(1, CONSUMER._replace(has_regex=True)).settle()
    group.join(1, CONSUMER).settle()

    eventually(lambda: [len(member.owned) for member in group.members] == [3, 3])


def test_commit_and_read_back(group: Crew) -> None:
    """Members commit with their epochs. What an owner has committed is read by the next one."""
    owners = group.join(2, CONSUMER).settle()
    for partition, owner in owners.items():
        owner.commit({partition: 100 + partition})
    positions = {partition: 100 + partition for partition in range(6)}

    assert [member.committed(range(6)) for member in group.members] == [positions] * 2
    for member in list(group.members):
        group.leave(member)
    group.join(1, CONSUMER).settle()
    assert group.members[0].committed(range(6)) == positions
