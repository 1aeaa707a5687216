"""The rule that was in force gives what was recorded, for each generation of random lives: what-if believes no log that it cannot
play. ``WHAT_IF_LIVES=10000`` plays so many (``make what-if``).
"""

from __future__ import annotations

import os
import random
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import Final

import pytest

from coordinator_server.client.consumer.assignors import Assignor, RangeAssignor, RoundRobinAssignor
from coordinator_server.client.consumer.sticky import CooperativeStickyAssignor, StickyAssignor
from coordinator_server.log.opening import job_shard
from coordinator_server.pipeline.index.answers import GroupHistory
from coordinator_server.pipeline.index.database import open_to_write
from coordinator_server.pipeline.index.feed import DIRECTORY, Updated, update_shard
from coordinator_server.pipeline.index.writer import IndexWriter
from coordinator_server.pipeline.input.topic_names import NO_NAMES
from coordinator_server.whatif.figures import Certainty
from coordinator_server.whatif.life import Life
from coordinator_server.whatif.play import play
from coordinator_server.whatif.reader import Batches, LifeReader
from coordinator_server.whatif.silences import Heard, certainty_of
from coordinator_server.whatif.topics import TopicHistory
from coordinator_server.whatif.turns import turns_of
from coordinator_server.whatif.verdict import reproduce
from tests.support.group_lives import GROUP, ClassicGroup, Consumer, Lives, ModernGroup
from tests.support.index import CLUSTER
from tests.support.life_directory import SHARD, write_life

LIVES: Final = int(os.environ.get("WHAT_IF_LIVES", "140"))
STEPS: Final = 12
ASKED_MS: Final = 6_000
CLIENTS: Final[dict[str, Assignor]] = {
    each.name: each for each in (RangeAssignor(), RoundRobinAssignor(), StickyAssignor(), CooperativeStickyAssignor())
}
SERVERS: Final = {"default": None, "uniform": "uniform", "server-range": "range"}
RULES: Final = (*CLIENTS, *SERVERS)


def lived(rule: str, seed: int) -> Lives:
    """A life by a rule. In every other one all members want the same."""
    is_alike = seed % 2 == 0
    if rule in CLIENTS:
        return ClassicGroup(seed, CLIENTS[rule], is_alike=is_alike).live(STEPS)
    return ModernGroup(seed, SERVERS[rule], is_alike=is_alike).live(STEPS)


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_in_force_gives_what_was_recorded(rule: str) -> None:
    generations = 0
    for seed in range(LIVES // len(RULES)):
        found = reproduce(lived(rule, seed).life().generations)
        generations += found.generations

        assert (found.differ, found.unknown) == ((), 0), seed
    assert generations > LIVES // len(RULES)


@pytest.mark.parametrize("rule", ["range", "roundrobin", "default", "server-range"])
def test_so_does_a_whole_life_from_its_beginning(rule: str) -> None:
    """What members have had is then what they were given, and not what the log says that they had."""
    for seed in range(LIVES // len(RULES)):
        turns = turns_of(lived(rule, seed).life().generations)
        for each in play(turns, None, {}):
            recorded = {seat: set(given) for seat, given in each.turn.assigned.items()}
            assert {seat: set(given) for seat, given in each.held.items()} == recorded, (seed, each.turn.generation.number)


class Committers:
    """Three members that send no heartbeats, and commit at random times."""

    def __init__(self, seed: int, session_ms: int) -> None:
        self.group = ClassicGroup(seed, CLIENTS["range"], is_alike=True, with_static=False)
        self.group.session_ms = session_ms
        self.group.members = [Consumer(self.group, f"c{number}", self.group.lives.wants) for number in range(3)]
        self.group.settle()
        self.heard = Heard(ASKED_MS)
        self.put_out = 0

    def live(self, script: list[tuple[int, int]]) -> None:
        """Play steps, which are a time and who commits then. Who has been put out joins again, which takes time, too."""
        begun_ms = self.group.lives.now_ms
        for at_ms, number in script:
            self.group.lives.log.advance(max(0, begun_ms + at_ms - self.group.lives.now_ms))
            member = self.group.members[number]
            if member.commit():
                self.heard.add(member.member_id, self.group.lives.now_ms)
                continue
            found = self.group.lives.log.shard.groups.classic.find(GROUP)
            gone = [each for each in self.group.members if found is None or each.member_id not in found.members]
            self.put_out += len(gone)
            for each in gone:
                each.member_id, each.must_join = "", True
            self.group.settle()


def test_sessions_that_are_known_to_last_do_and_no_more_end_than_are_said_to() -> None:
    """The same commits by members whose session is the shorter one."""
    outcomes = Counter[Certainty]()
    for seed in range(LIVES // len(RULES)):
        rng = random.Random(seed)
        longest_ms = rng.choice([1_500, 2_500, 4_000])
        pauses_ms = [rng.randint(1, longest_ms) for _ in range(30)]
        script = [(at_ms, number % 3) for number, at_ms in enumerate(accumulate(pauses_ms))]
        # What comes after the last commit of a member is not in the log.
        script += [(script[-1][0], number) for number in range(3)]
        long, short = Committers(seed, 60_000), Committers(seed, ASKED_MS)
        for each in (long, short):
            each.live(script)
        life = long.group.lives.life()
        silences = long.heard.silences(life.generations)
        certainty = certainty_of(turns_of(life.generations), silences, ASKED_MS)
        outcomes[certainty] += 1

        assert long.put_out == 0
        if certainty is not Certainty.UNKNOWN:
            assert short.put_out <= len(silences), (seed, silences)
    assert outcomes[Certainty.KNOWN]
    assert outcomes[Certainty.BOUND]


@pytest.mark.parametrize("rule", ["cooperative-sticky", "default"])
def test_a_directory_says_the_same_with_an_index_and_without(rule: str, tmp_path: Path) -> None:
    """Also if the index has read a part of the log only."""
    for seed in range(4):
        data = tmp_path / str(seed)
        lives = lived(rule, seed)
        end = write_life(data, lives)
        topics = TopicHistory(lives.catalog)

        def read(batches: Batches, begins_at: int) -> Life:
            reader = LifeReader(topics, GROUP)  # noqa: B023 - called at once
            reader.add(batches, end)  # noqa: B023 - called at once
            return reader.lives(begins_at)[GROUP]

        history = GroupHistory(data, GROUP, pytest.fail)
        from_log = history.read(read, end)
        found = [from_log]
        for upto in (end // 2, end):
            with open_to_write(data / DIRECTORY, CLUSTER) as database:
                writer = IndexWriter(database, NO_NAMES, 600)
                update_shard(writer, job_shard(data / SHARD), upto, Updated())
                writer.flush()
            found.append(history.read(read, end))

        assert found == [from_log] * 3
        assert reproduce(from_log.generations) == reproduce(lives.life().generations)
        assert from_log.generations
