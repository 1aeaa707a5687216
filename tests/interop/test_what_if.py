"""What-if and real clients: the rule in force gives what their leaders assigned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pytest

from coordinator_server.whatif.verdict import reproduce
from tests.interop.clients import OF_CONSUMER_GROUPS, ConfluentAdmin, MemberOptions
from tests.interop.crew import Crew
from tests.support.life_of_log import life_of
from tests.support.server import Server

PARTITIONS: Final = 7
MODERN: Final = MemberOptions(protocol="consumer")


def _classic(*assignors: str) -> list[MemberOptions]:
    return [MemberOptions(assignor=each, is_cooperative=each == "cooperative-sticky") for each in assignors]


CASES: Final[Mapping[str, Sequence[MemberOptions]]] = {
    "java": [*_classic("range", "roundrobin", "sticky", "cooperative-sticky"), MODERN],
    "confluent-kafka": [*_classic("range", "roundrobin", "cooperative-sticky"), MODERN],
    "franz-go": [MemberOptions(), MemberOptions(is_cooperative=True), MODERN],
    "kafka-python": [MemberOptions(), MemberOptions(is_cooperative=True)],
    "aiokafka": [MemberOptions()],
}
# They divide in ways of their own.
OTHERWISE: Final = ("confluent-kafka", "franz-go", "kafka-python")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each named client with each of its assignors."""
    given = metafunc.config.getoption("--clients")
    cases = [
        (client, each) for client, options in CASES.items() if given == "all" or client in given.split(",") for each in options
    ]
    names = [f"{client}-{each.assignor or each.protocol}{'-cooperative' * each.is_cooperative}" for client, each in cases]
    metafunc.parametrize(("client", "options"), cases, ids=names)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server"), OF_CONSUMER_GROUPS) as server:
        yield server


def test_the_rule_in_force_gives_what_was_recorded(client: str, options: MemberOptions, server: Server, fresh_name: str) -> None:
    """Of the sticky assignors of other libraries than Kafka's own, as many partitions to each."""
    ConfluentAdmin(server.bootstrap).create_topic(fresh_name, PARTITIONS)
    with Crew(client, server.bootstrap, fresh_name, fresh_name, PARTITIONS) as crew:
        crew.join(1, options).settle()
        crew.join(2, options).settle()
        crew.leave(crew.members[0])
        crew.settle()
        crew.join(1, options).settle()
        crew.die(crew.members[1])
        crew.settle()
        found = reproduce(life_of(server.data_dir, fresh_name).generations)

    assert found.generations >= 5
    assert found.unknown == 0
    if client not in OTHERWISE or not options.is_cooperative:
        assert found.differ == ()
    assert found.as_balanced == len(found.differ)
