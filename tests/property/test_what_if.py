"""The rule that was in force gives what was recorded, for each generation of random lives: what-if believes no log that it cannot
play. ``WHAT_IF_LIVES=10000`` plays so many (``make what-if``).
"""

from __future__ import annotations

import os
import random
from collections import Counter
from functools import partial
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
from coordinator_server.whatif.life import SESSION_MS, Life
from coordinator_server.whatif.measured import MeasuredSilences
from coordinator_server.whatif.play import play
from coordinator_server.whatif.reader import Batches, LifeReader
from coordinator_server.whatif.silences import Heard, certainty_of
from coordinator_server.whatif.topics import TopicHistory
from coordinator_server.whatif.turns import turns_of
from coordinator_server.whatif.verdict import reproduce
from tests.support.group_lives import GROUP, ClassicGroup, Consumer, Lives, ModernGroup
from tests.support.heartbeats import config_of
from tests.support.index import CLUSTER
from tests.support.life_directory import SHARD, write_life
from tests.support.measured import SHARD as MEASURED
from tests.support.measured import MeasuringTimer

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


class Party:
    """Three members that send nothing but commits, or nothing but heartbeats, at random times."""

    def __init__(self, seed: int, session_ms: int, *, commits: bool) -> None:
        self.commits = commits
        self.group = ClassicGroup(seed, CLIENTS["range"], is_alike=True, with_static=False)
        self.group.session_ms = session_ms
        self.group.members = [Consumer(self.group, f"c{number}", self.group.lives.wants) for number in range(3)]
        self.group.settle()
        self.heard = Heard(ASKED_MS, MeasuredSilences((), GROUP, SHARD, ASKED_MS))
        self.begun_ms = self.group.lives.now_ms
        self.put_out = 0

    def live(self, script: list[tuple[int, int]]) -> None:
        """Play steps, which are a time and who acts then. Who has been put out joins again, which takes time, too."""
        for at_ms, number in script:
            self.group.lives.log.advance(max(0, self.begun_ms + at_ms - self.group.lives.now_ms))
            member = self.group.members[number]
            if self._is_known(member):
                self.heard.add(member.member_id, self.group.lives.now_ms)
                continue
            found = self.group.lives.log.shard.groups.classic.find(GROUP)
            gone = [each for each in self.group.members if found is None or each.member_id not in found.members]
            self.put_out += len(gone)
            for each in gone:
                each.member_id, each.must_join = "", True
            self.group.settle()

    def _is_known(self, member: Consumer) -> bool:
        if self.commits:
            return member.commit()
        member.beat()
        return bool(member.member_id) and not member.must_join


def script_of(rng: random.Random) -> list[tuple[int, int]]:
    """Who acts when, in turn. In the end all do: what comes after the last sign of a member is not counted."""
    longest_ms = rng.choice([1_500, 2_500, 4_000])
    times_ms = list(accumulate(rng.randint(1, longest_ms) for _ in range(30)))
    return [*((at_ms, number % 3) for number, at_ms in enumerate(times_ms)), *((times_ms[-1], number) for number in range(3))]


def test_sessions_that_are_known_to_last_do_and_no_more_end_than_are_said_to() -> None:
    """The same commits by members whose session is the shorter one."""
    outcomes = Counter[Certainty]()
    for seed in range(LIVES // len(RULES)):
        script = script_of(random.Random(seed))
        long, short = Party(seed, 60_000, commits=True), Party(seed, ASKED_MS, commits=True)
        for each in (long, short):
            each.live(script)
        silences = long.heard.silences(long.group.lives.life().generations)
        certainty = certainty_of(silences)
        outcomes[certainty] += 1

        assert long.put_out == 0
        if certainty is not Certainty.UNKNOWN:
            assert short.put_out <= len(silences), (seed, silences)
    assert outcomes[Certainty.KNOWN]
    assert outcomes[Certainty.BOUND]


def test_so_do_those_that_the_server_has_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heartbeats, which no record has, are known of all members. In every other life lines are lost."""
    monkeypatch.setattr("tests.support.group.ManualTimer", partial(MeasuringTimer, least_ms=1_000))
    monkeypatch.setattr("coordinator_server.server.hosting.silences.EVERY_MS", 7_000)
    outcomes = Counter[tuple[bool, Certainty]]()
    for seed in range(LIVES // len(RULES) * 2):
        rng, loses = random.Random(seed), seed % 2 == 1
        script = script_of(rng)
        long, short = Party(seed, 60_000, commits=False), Party(seed, ASKED_MS, commits=False)
        timer = long.group.lives.log.timer
        assert isinstance(timer, MeasuringTimer)
        for begin in range(0, len(script), 5):
            timer.files.fails = loses and rng.random() < 0.1
            long.live(script[begin : begin + 5])
        short.live(script)
        timer.files.fails = False
        measured = MeasuredSilences(timer.stop(), GROUP, str(MEASURED), ASKED_MS)
        silences = Heard(ASKED_MS, measured).silences(long.group.lives.life().generations)
        certainty = certainty_of(silences)
        outcomes[loses, certainty] += 1

        assert long.put_out == 0
        if certainty is not Certainty.UNKNOWN:
            assert short.put_out <= len(silences), (seed, silences)
        if not loses:
            assert bool(short.put_out) == bool(silences), (seed, silences)
    assert set(outcomes) == {(loses, each) for loses in (True, False) for each in Certainty} - {(False, Certainty.UNKNOWN)}


def test_so_do_those_of_members_of_consumer_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose commits are no sign of life, nor are generations."""
    monkeypatch.setattr("tests.support.group.ManualTimer", partial(MeasuringTimer, least_ms=1_000))
    monkeypatch.setattr(
        "tests.support.group_lives.config_of", partial(config_of, group_consumer_min_session_timeout_ms=str(ASKED_MS))
    )
    outcomes = Counter[bool]()
    for seed in range(LIVES // len(RULES)):
        script, put_out, groups = script_of(random.Random(seed)), Counter[int](), {}
        for session_ms in (SESSION_MS, ASKED_MS):
            group = groups[session_ms] = ModernGroup(seed, None)
            log = group.lives.log
            log.own_settings[GROUP] = {"consumer.session.timeout.ms": str(session_ms)}
            for _ in range(3):
                group.enter()
            begun_ms = group.lives.now_ms
            for at_ms, number in script:
                log.advance(begun_ms + at_ms - group.lives.now_ms)
                group.beat_of(group.members[number])
                if not group.members[number].epoch:
                    put_out[session_ms] += 1
                    group.beat_of(group.members[number])
        timer = groups[SESSION_MS].lives.log.timer
        assert isinstance(timer, MeasuringTimer)
        measured = MeasuredSilences(timer.stop(), GROUP, str(MEASURED), ASKED_MS)
        silences = Heard(ASKED_MS, measured).silences(groups[SESSION_MS].lives.life().generations)
        outcomes[bool(silences)] += 1

        assert not put_out[SESSION_MS]
        assert put_out[ASKED_MS] == len(silences), (seed, silences)
    assert set(outcomes) == {True, False}


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
