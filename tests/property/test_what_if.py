"""The rule that was in force gives what was recorded, for each generation of random lives: what-if believes no log that it cannot
play. ``WHAT_IF_LIVES=10000`` plays so many (``make what-if``).
"""

from __future__ import annotations

import os
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
from coordinator_server.whatif.life import Life
from coordinator_server.whatif.play import play
from coordinator_server.whatif.reader import Batches, LifeReader
from coordinator_server.whatif.topics import TopicHistory
from coordinator_server.whatif.turns import turns_of
from coordinator_server.whatif.verdict import reproduce
from tests.support.group_lives import GROUP, ClassicGroup, Lives, ModernGroup
from tests.support.index import CLUSTER
from tests.support.life_directory import SHARD, write_life

LIVES: Final = int(os.environ.get("WHAT_IF_LIVES", "140"))
STEPS: Final = 12
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
