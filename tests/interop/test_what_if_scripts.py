"""What another rule would have done is what clients do that have it, when the same joins and leaves are played again.

``WHAT_IF_SCRIPTS=20`` plays so many scripts (``make what-if``). The clients are librdkafka's, of both protocols; with --live, the
coordinator is a real broker's.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple

import pytest

from coordinator_server.whatif.figures import moved_between
from coordinator_server.whatif.life import Held, Life
from coordinator_server.whatif.play import play, recorded
from coordinator_server.whatif.rules import RULES
from coordinator_server.whatif.turns import Turn, turns_of
from tests.interop.clients import OF_CONSUMER_GROUPS, ConfluentAdmin, ConfluentConsumer, MemberOptions
from tests.support.eventually import eventually
from tests.support.kafka_broker import KafkaBroker
from tests.support.life_of_log import life_of, life_of_broker
from tests.support.server import Server

PARTITIONS: Final = 7
SCRIPTS: Final = int(os.environ.get("WHAT_IF_SCRIPTS", "2"))
PLAYED: Final = ("range", "roundrobin", "cooperative-sticky", "uniform")
# The order in which these give partitions depends on nothing but the instance ids of members.
EXACT: Final = ("range", "roundrobin")


class Coordinator(NamedTuple):
    """Where groups live, and how their lives are read."""

    bootstrap: str
    life: Callable[[str], Life]


@pytest.fixture(scope="module")
def coordinator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Coordinator]:
    directory = tmp_path_factory.mktemp("coordinator")
    if request.config.getoption("--live"):
        broker = KafkaBroker(directory)
        broker.start({**OF_CONSUMER_GROUPS, "group.min.session.timeout.ms": 1000})
        yield Coordinator(":".join(map(str, broker.address)), partial(life_of_broker, broker.log_dir))
        broker.stop()
    else:
        with Server(directory, OF_CONSUMER_GROUPS) as server:
            yield Coordinator(server.bootstrap, partial(life_of, server.data_dir))


class Step(NamedTuple):
    """A member joins, goes for good, or restarts at once."""

    what: str
    name: str


def script(seed: int) -> list[Step]:
    rng, members, steps = random.Random(seed), ["i0"], [Step("join", "i0")]
    for number in range(1, 6):
        what = rng.choice(["join", "join", "go", "restart"]) if 1 < len(members) < 4 else "join" if len(members) == 1 else "go"
        name = f"i{number}" if what == "join" else rng.choice(members)
        steps.append(Step(what, name))
        if what == "join":
            members.append(name)
        elif what == "go":
            members.remove(name)
    return steps


class Party:
    """The members of a group, each with an instance id, by one rule. They are polled in one thread."""

    def __init__(self, bootstrap: str, group: str, rule: str) -> None:
        self._join: Callable[[str], ConfluentConsumer] = lambda name: ConfluentConsumer(
            bootstrap, group, group, _options(rule, name)
        )
        self._members: dict[str, ConfluentConsumer] = {}
        self._owned: dict[str, list[int]] = {}

    def play(self, steps: list[Step]) -> None:
        for what, name in steps:
            if what != "join":
                self._members.pop(name).close()
                self._owned.pop(name)
            if what != "go":
                self._members[name] = self._join(name)
                self._owned[name] = []
            self._settle()
        for member in self._members.values():
            member.close()

    def _settle(self) -> None:
        eventually(self._is_settled, 90, lambda: self._owned)

    def _is_settled(self) -> bool:
        for name, member in self._members.items():
            member.poll()
            for owned in member.owned():
                self._owned[name] = owned
        everything = sorted(partition for owned in self._owned.values() for partition in owned)
        return everything == list(range(PARTITIONS)) and all(self._owned.values())


def _options(rule: str, name: str) -> MemberOptions:
    if rule == "uniform":
        return MemberOptions(instance_id=name, protocol="consumer")
    return MemberOptions(instance_id=name, assignor=rule, is_cooperative=rule == "cooperative-sticky", session_timeout_ms=2000)


@pytest.mark.parametrize("seed", range(SCRIPTS))
def test_another_rule_does_what_clients_that_have_it_do(seed: int, coordinator: Coordinator, fresh_name: str) -> None:
    """The same joins, ends of sessions and restarts, by two rules. Who gets what, or how many, and how many move."""
    was, other = PLAYED[seed % 4], PLAYED[(seed + 1 + seed // 4 % 3) % 4]
    groups = {f"{fresh_name}-{rule}": rule for rule in (was, other)}
    for group in groups:
        ConfluentAdmin(coordinator.bootstrap).create_topic(group, PARTITIONS)
    threads = [
        threading.Thread(target=Party(coordinator.bootstrap, group, rule).play, args=(script(seed),))
        for group, rule in groups.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one, another = (_changes(coordinator.life(group)) for group in groups)
    expected = _shown(other, one, [each.held for each in play(one, RULES[other], {})])

    assert _shown(other, another, [each.held for each in recorded(another, {})]) == expected
    assert len(expected) > 2


def _changes(life: Life) -> list[Turn]:
    """The turns in which members came or went, the last one of several with the same members.

    A client may join before it or the coordinator knows the topic, or again for no reason that others see.
    """
    found: list[Turn] = []
    for turn in turns_of(life.generations):
        if found and found[-1].generation.members.keys() == turn.generation.members.keys():
            found.pop()
        if turn.generation.members:
            found.append(turn)
    return found


def _shown(rule: str, turns: list[Turn], outcomes: list[Held]) -> list[object]:
    """Who is there, who has what, and how many partitions moved. Where other ids than instance ids count, how many each has."""
    shown: list[object] = []
    before: Held = {}
    for turn, held in zip(turns, outcomes, strict=True):
        moved = moved_between(before, held, turn.generation)
        shown.append((sorted(held), _numbers(held) if rule in EXACT else sorted(map(len, held.values())), moved))
        before = held
    return shown


def _numbers(held: Held) -> Mapping[str, list[int]]:
    return {seat: sorted(each.partition for each in partitions) for seat, partitions in held.items()}
