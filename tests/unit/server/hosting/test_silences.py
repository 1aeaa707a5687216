"""The silences that a loop measures: which are noted, and what its files say of when it has."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from coordinator_server.client.consumer.assignors import RangeAssignor
from coordinator_server.kinds import TRANSACTIONS
from coordinator_server.log.day_files import DAY_MS
from coordinator_server.log.shards import ShardId
from coordinator_server.runtime.silences import UNMEASURED
from coordinator_server.runtime.timers import ShardTimers, TimerQueue
from coordinator_server.server.hosting import silences as module
from coordinator_server.server.hosting.silence_files import DIRECTORY, Cover, SilenceFiles, Silent, read_measured
from coordinator_server.server.hosting.silences import EVERY_MS, SESSIONS, SOON_MS, Silences, open_silences
from tests.support.clock import ManualClock
from tests.support.group import GroupLog
from tests.support.group_lives import ClassicGroup, Consumer, ModernGroup
from tests.support.measured import SHARD, AtOnce, Lines, MeasuringTimer, fire
from tests.support.noted import noted_logs

LEAST_MS = 6000
OTHER = ShardId(SHARD.topic, 8)


class Loop:
    """A loop of which only the timers run."""

    def __init__(self, files: SilenceFiles) -> None:
        self.clock, self.queue = ManualClock(), TimerQueue()
        self.began_ms = self.clock.wall_ms()
        self.silences = Silences(files, LEAST_MS, self.clock, ShardTimers(self.queue, self.clock, fire), AtOnce())

    def pass_time(self, ms: int) -> int:
        self.clock.advance(ms)
        self.queue.run(self.clock.now_ms())
        return self.clock.wall_ms()

    def silent(self, member: str, ms: int, shard: ShardId = SHARD, name: str = "session") -> None:
        """A silence that ends now."""
        now_ms = self.clock.now_ms()
        self.silences._since.setdefault(shard.partition, self.clock.wall_ms())
        module._OfShard(self.silences, shard.partition).note((name, "g", member), now_ms - ms, now_ms)


@pytest.fixture
def files() -> Lines:
    return Lines()


@pytest.fixture
def loop(files: Lines) -> Loop:
    return Loop(files)


def test_a_line_has_what_was_silent_and_when_that_was_measured(loop: Loop, files: Lines) -> None:
    """The first one soon, so that it is known since when the shard is here."""
    first = loop.silences.of(SHARD)
    loop.pass_time(SOON_MS)
    second = loop.silences.of(OTHER)
    loop.pass_time(SOON_MS)
    begun, both = files.lines
    loop.silent("m", 7000)
    at_ms = loop.pass_time(EVERY_MS)
    second.end()
    loop.pass_time(EVERY_MS)
    began = loop.began_ms

    assert (begun.covers, begun.until_ms) == ([Cover(began, began + SOON_MS, (7,))], began + SOON_MS)
    assert both.covers == [Cover(began + SOON_MS, began + 2 * SOON_MS, (7, 8))]
    third, fourth = files.lines[2:]
    assert (third.least_ms, third.covers) == (LEAST_MS, [Cover(began + 2 * SOON_MS, at_ms, (7, 8))])
    assert third.silences == [Silent("g", "m", at_ms - EVERY_MS - 7000, at_ms - EVERY_MS)]
    assert fourth.covers == [Cover(at_ms, at_ms + EVERY_MS, (7,)), Cover(at_ms, at_ms, (8,), is_over=True)]
    first.end()
    first.end()
    loop.silences.close()
    assert files.lines[4].covers == [Cover(at_ms + EVERY_MS, at_ms + EVERY_MS, (7,), is_over=True)]
    assert len(files.lines) == 5


def test_only_sessions_of_groups_are_measured(loop: Loop, files: Lines) -> None:
    assert loop.silences.of(ShardId(TRANSACTIONS.topic, 1)) is UNMEASURED
    loop.silences.of(SHARD)
    for name in (*SESSIONS, "join", "share-session"):
        loop.silent(name, LEAST_MS, name=name)
    loop.silent("short", LEAST_MS - 1)
    module._OfShard(loop.silences, 7).note("a text", 0, LEAST_MS)
    loop.pass_time(SOON_MS)

    assert {each.member_id for each in files.lines[0].silences} == SESSIONS


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of a test measure silences of a second and more."""
    monkeypatch.setattr("tests.support.group.ManualTimer", partial(MeasuringTimer, least_ms=1000))


def measured(log: GroupLog) -> list[tuple[str, int]]:
    """Who was silent for how long, when the server has stopped."""
    assert isinstance(log.timer, MeasuringTimer)
    found = [each for line in log.timer.stop() for each in line.silences]
    return [(each.member_id, each.until_ms - each.since_ms) for each in found]


@pytest.mark.usefixtures("measuring")
def test_a_classic_member_is_not_silent_while_it_waits_for_others() -> None:
    """For their JoinGroups, and for the leader's SyncGroup. Before it was, also if it leaves, or comes back as a static member."""
    group = ClassicGroup(1, RangeAssignor(), is_alike=True)
    a, b, c = (Consumer(group, name, group.lives.wants, "i" if name == "c" else None) for name in "abc")
    group.members = [a, b, c]
    group.settle()
    log, ids = group.lives.log, [each.member_id for each in (a, b, c)]
    assert a.leads is not None

    def beat(*members: Consumer) -> None:
        """Nine seconds pass, in which these members send heartbeats, and neither join nor sync."""
        for _ in range(10):
            log.advance(900)
            for each in members:
                each.must_join = each.has_joined = False
                each.beat()

    beat(a, b, c)
    log.advance(2000)
    a.join()
    for each in (b, c):
        each.beat()
    beat(b, c)
    log.advance(1100)
    b.join()
    c.join()
    log.advance(1200)
    b.sync()
    beat(a, c)
    a.sync()
    log.advance(1300)
    b.leave()
    Consumer(group, "c", group.lives.wants, "i").join()
    found = measured(log)

    assert [[ms for member_id, ms in found if member_id == each] for each in ids] == [
        [2000, 2100, 1300],
        [2000, 1100, 1200, 1300],
        [2000, 1100, 2100, 1300],
    ]


@pytest.mark.usefixtures("measuring")
def test_a_member_of_a_consumer_group_is_silent_between_heartbeats() -> None:
    group = ModernGroup(1, None)
    group.enter()
    [member] = group.members
    for ms in (900, 1000, 7000):
        group.lives.log.advance(ms)
        group.beat()
    group.lives.log.advance(1300)
    group.leave()

    assert measured(group.lives.log) == [(member.member_id, ms) for ms in (1000, 7000, 1300)]


def test_of_too_many_silences_the_longer_half_is_kept(loop: Loop, files: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the line says which sessions can be judged by them."""
    monkeypatch.setattr(module, "MOST", 4)
    loop.silences.of(SHARD)
    for number, ms in enumerate([9000, 7000, 8000, 7500, 9500, 8000, 8100]):
        loop.silent(f"m{number}", ms)
    loop.pass_time(SOON_MS)
    loop.silent("later", LEAST_MS)
    loop.pass_time(EVERY_MS)

    assert (files.lines[0].least_ms, {each.member_id for each in files.lines[0].silences}) == (8001, {"m0", "m2", "m4", "m6"})
    assert (files.lines[1].least_ms, len(files.lines[1].silences)) == (LEAST_MS, 1)


def test_a_line_that_cannot_be_written_is_lost(loop: Loop, files: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    loop.silences.of(SHARD)
    files.fails = True
    with noted_logs(monkeypatch) as logs:
        loop.pass_time(SOON_MS)
    files.fails = False
    now_ms = loop.pass_time(EVERY_MS)

    assert [each["event"] for each in logs] == ["silences-not-written"]
    assert [each.covers for each in files.lines] == [[Cover(now_ms - EVERY_MS, now_ms, (7,))]]


def test_a_day_has_a_file_for_each_loop_and_old_ones_are_removed(tmp_path: Path) -> None:
    loops = [Loop(SilenceFiles(tmp_path, number, keep_days=1)) for number in range(2)]
    for each in loops:
        each.silences.of(SHARD)
        each.pass_time(SOON_MS)
    written = list(read_measured(tmp_path))
    [day] = sorted((tmp_path / DIRECTORY).iterdir())
    (day / "loop-0.jsonl").write_bytes((day / "loop-0.jsonl").read_bytes() + b'{"until_ms": 5, "lea')
    loops[0].pass_time(DAY_MS)

    assert sorted(path.name for path in day.iterdir()) == ["loop-0.jsonl", "loop-1.jsonl"]
    assert [each.covers for each in written] == [[Cover(loops[0].began_ms, loops[0].began_ms + SOON_MS, (7,))]] * 2
    assert len(list(read_measured(tmp_path))) == 3, "a torn line is none"
    loops[0].pass_time(DAY_MS)
    assert not day.exists()
    assert len(list(read_measured(tmp_path))) == 2


def test_a_server_that_measures_none_removes_what_there_is(tmp_path: Path) -> None:
    """What it does not measure would seem to be a time without a server."""
    loop = Loop(SilenceFiles(tmp_path, 0, keep_days=30))
    loop.silences.of(SHARD)
    loop.pass_time(SOON_MS)
    timers = ShardTimers(loop.queue, loop.clock, fire)

    measuring = open_silences(SilenceFiles(tmp_path, 0, keep_days=30), 0, loop.clock, timers, AtOnce())
    assert measuring is not None
    assert measuring.least_ms == 1
    assert len(list(read_measured(tmp_path))) == 1
    assert open_silences(SilenceFiles(tmp_path, 0, keep_days=0), LEAST_MS, loop.clock, timers, AtOnce()) is None
    assert list(read_measured(tmp_path)) == []
