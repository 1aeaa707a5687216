"""What goes, what stays, and in which order."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from coordinator_server.config import Config
from coordinator_server.log.errors import OutcomeUnknown
from coordinator_server.log.file_names import layer_offsets
from coordinator_server.log.jobs import LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.retention import Removable, Retention, SealedSegment, removable
from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.shards import Append
from coordinator_server.log.storage import LOCAL, LocalStorage, Storage
from coordinator_server.log.store import FOREVER, History, Removed, RetentionRule
from coordinator_server.log.write.journal_writer import Sync
from coordinator_server.server.hosting.history import HistoryLines, open_retention
from tests.support.clock import ManualClock
from tests.support.log import ManualWorker, batch, shard, values

DAY = 24 * 3_600_000
KEEP_NOTHING = History(0)
THREE_DAYS = History(3 * DAY)


def days(count: int) -> list[SealedSegment]:
    """A segment of ten records a day."""
    return [SealedSegment(10 * day, 10 * day + 10, 1000, day * DAY) for day in range(count)]


def after(day: int, layers: list[int], history: History = THREE_DAYS, begin: int = 0) -> tuple[list[int], list[int]]:
    """Layers and segments that go at the end of a day."""
    segments = [segment for segment in days(day + 1) if segment.base >= begin]
    found = removable(begin, layers, segments, day * DAY + 1, history)
    return found.layers, found.segments


def test_without_a_layer_everything_stays() -> None:
    """Nothing stands for the records."""
    assert after(100, []) == ([], [])


def test_retention_keeps_young_segments() -> None:
    """Although a layer stands for it."""
    assert after(2, [20]) == ([], [])


def test_history_goes_up_to_a_layer_that_it_can_begin_with() -> None:
    """Segments of the days 0 to 4 are old; the layer at 30 is the newest that all of it lies behind."""
    assert after(7, [30, 70]) == ([], [0, 10, 20])
    assert after(7, [60, 70]) == ([], [])


def test_layers_between_the_stone_and_the_newest_go() -> None:
    """Three are kept at most: base, stone, newest."""
    assert after(7, [30, 40, 50, 60, 70]) == ([30, 40], [0, 10, 20, 30, 40])
    assert after(9, [10, 60, 70, 80, 90], History(8 * DAY)) == ([70, 80], [0])


def test_layers_are_verified_only_for_what_goes() -> None:
    """The base, which segments give way to, and the newest, which a start loads. Nothing is read when nothing goes."""

    def replaced_by(day: int, layers: list[int]) -> list[int]:
        return removable(0, layers, days(day + 1), day * DAY + 1, THREE_DAYS).replaced_by

    assert replaced_by(2, [20]) == replaced_by(7, []) == replaced_by(2, [10, 20]) == []
    assert replaced_by(7, [30, 70]) == [30, 70]
    assert replaced_by(2, [10, 20, 30]) == [30]
    assert replaced_by(7, [40]) == [40]


def test_history_ends_at_the_first_segment_that_is_not_old() -> None:
    """Clocks may go back: an old record behind a newer one is part of the history that is kept."""
    segments = [SealedSegment(10 * n, 10 * n + 10, 1000, at_ms) for n, at_ms in enumerate((0, 9 * DAY, 0, 0))]
    found = removable(0, [10, 30, 40], segments, 10 * DAY, THREE_DAYS)

    assert found == Removable([], [0], [10, 40])


def test_a_layer_before_the_base_goes() -> None:
    """Nothing begins with it any more."""
    assert after(9, [20, 40, 90], begin=20) == ([20], [20, 30])


def test_history_without_limit_keeps_all_segments() -> None:
    """And with them the first layer and the newest."""
    assert after(1000, [10, 20, 30], History(FOREVER)) == ([20], [])


def test_history_of_no_length_keeps_what_a_start_needs() -> None:
    """The newest layer and what comes after it."""
    assert after(5, [20, 50], KEEP_NOTHING) == ([20], [0, 10, 20, 30, 40])


def test_history_by_bytes() -> None:
    """The oldest segments go until no more than so many bytes of sealed ones are left, as far as a layer allows."""
    assert after(5, [10, 20, 30, 60], History(FOREVER, 4000)) == ([10], [0, 10])


def test_a_layer_with_a_gap_behind_it_stands_for_nothing() -> None:
    """That is damage, and nothing goes from a damaged shard."""
    assert after(9, [20, 30], KEEP_NOTHING, begin=40) == ([], [])


def test_history_moves_on_while_days_go_by() -> None:
    """With a compaction a day, never less than the history is kept, never more than twice that and a day;
    any moment can be rebuilt.
    """
    layers: list[int] = []
    begin = 0
    for day in range(100):
        layers.append(10 * day)
        gone_layers, gone = after(day, layers, History(7 * DAY), begin)
        layers = [each for each in layers if each not in gone_layers]
        begin = gone[-1] + 10 if gone else begin

        assert len(layers) <= 3
        assert begin == 0 or begin in layers
        assert begin <= max(0, 10 * (day - 6))
        assert begin >= 10 * (day - 16)


class Shard:
    """A real directory with some sealed segments of one batch each, and layers."""

    def __init__(self, data_dir: Path, count: int = 6) -> None:
        self.path = data_dir / str(shard(0))
        self.worker = ManualWorker()
        self.data_dir = data_dir
        self.open()
        for offset in range(count):
            self.store.submit([Append(shard(0), 0, offset, batch(offset, b"%d" % offset, at_ms=offset))], lambda _error: None)
            self.store.logs()[0].seal()
        self.told: list[Removed] = []
        self.failed: list[Exception] = []

    def open(self) -> None:
        self.store = LocalLogStore.open(
            self.data_dir, post=lambda call: None, options=LogOptions(sync=Sync.INLINE, worker=ManualWorker())
        )

    def restart(self) -> None:
        """The journal's head says how far the shard is durable now."""
        self.store.close()
        self.worker = ManualWorker()
        self.open()

    def layer(self, to_offset: int) -> None:
        with LayerAttempt(self.path, to_offset) as attempt:
            for offset in range(to_offset):
                attempt.append(offset, batch(offset, b"%d" % offset, at_ms=offset))
            publish(attempt.finish(LayerSummary(to_offset, 0, None, ""), []), self.path, to_offset)

    def check(
        self, history: History = KEEP_NOTHING, storage: Storage | None = None, now_ms: Callable[[], int] = lambda: 1000
    ) -> list[Removed]:
        """One round of retention, at the time 1000."""
        rule = RetentionRule(300_000, self.told.append, self.failed.append, now_ms, self.worker)
        job = Retention(self.store, history, rule, storage or LOCAL)
        if not self.worker.later:
            job.start()
        self.worker.pass_time()
        self.told.clear()
        self.worker.step()
        return self.told

    def segments(self) -> list[int]:
        return sorted(int(path.stem) for path in self.path.glob("*.log"))

    def values(self, from_offset: int = 0) -> list[bytes | None]:
        return values(self.store.read(shard(0), from_offset))


@pytest.fixture
def aged(tmp_path: Path) -> Iterator[Shard]:
    each = Shard(tmp_path)
    each.restart()
    yield each
    each.store.close()


def test_a_log_that_has_failed_loses_nothing(aged: Shard) -> None:
    """Nobody knows what it holds. The job ends."""
    aged.layer(4)
    aged.store.fail(OutcomeUnknown("EIO"))

    assert aged.check() == []
    assert aged.worker.later == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_retention_that_breaks_is_the_end_of_the_log(aged: Shard) -> None:
    """Its thread has ended, and nobody would remove anything any more."""
    has_begun = threading.Event()

    def broken() -> int:
        has_begun.set()
        return 1 // 0

    job = Retention(aged.store, KEEP_NOTHING, RetentionRule(1, aged.told.append, aged.failed.append, broken))
    aged.layer(4)
    job.start()
    assert has_begun.wait(20)
    job.close()

    assert "retention stopped" in str(aged.store.failure)


@pytest.mark.parametrize(
    ("layers", "history", "told"),
    [
        ([2, 4, 6], History(FOREVER), [Removed(shard(0), [4], [])]),
        ([4], KEEP_NOTHING, [Removed(shard(0), [], [0, 1, 2, 3])]),
        ([2, 4], History(FOREVER), []),
        ([], KEEP_NOTHING, []),
    ],
)
def test_retention_reports_removed_layers_and_segments(
    aged: Shard, layers: list[int], history: History, told: list[Removed]
) -> None:
    """A layer, or segments, or nothing."""
    for to_offset in layers:
        aged.layer(to_offset)

    assert aged.check(history) == told


def test_what_is_worthless_goes_and_reading_goes_on(aged: Shard) -> None:
    """Segments and their marks, and layers; what is read is the same."""
    aged.layer(2)
    aged.layer(4)
    before = aged.values()
    told = aged.check()

    assert told == [Removed(shard(0), [2], [0, 1, 2, 3])]
    assert aged.segments() == [4, 5, 6]
    assert sorted(path.name[:26] for path in aged.path.iterdir() if path.suffix != ".log") == [
        f"{4:020d}.marks",
        f"{5:020d}.marks",
        f"layer-{4:020d}",
    ]
    assert aged.values() == before
    assert aged.check() == []


def test_whoever_reads_can_tell_up_to_where_records_may_be_missing(aged: Shard) -> None:
    """As far as the newest layer that is valid stands, whether its segments are still there or not."""
    assert aged.store.compacted_to(shard(0)) == 0
    assert aged.store.compacted_to(shard(1)) == 0

    aged.layer(2)
    aged.layer(4)

    assert aged.store.compacted_to(shard(0)) == 4
    (aged.path / f"layer-{4:020d}" / "manifest.json").write_bytes(b"{}")
    assert aged.store.compacted_to(shard(0)) == 2


def test_what_the_journal_rests_on_stays(tmp_path: Path) -> None:
    """Its head says how much of which segment is durable: recovery asks for that segment."""
    aged = Shard(tmp_path)
    aged.layer(6)
    assert aged.check() == []
    aged.restart()

    assert aged.check() == [Removed(shard(0), [], [0, 1, 2, 3, 4, 5])]
    aged.store.close()


def test_the_log_opens_after_that(aged: Shard, tmp_path: Path) -> None:
    """From the layer and what comes after it."""
    aged.layer(6)
    aged.check()
    aged.store.close()
    again = LocalLogStore.open(tmp_path, post=lambda call: None, options=LogOptions(worker=ManualWorker()))

    assert values(again.read(shard(0), 0)) == [b"%d" % offset for offset in range(6)]
    again.close()


def test_a_reader_is_not_broken(aged: Shard) -> None:
    """What it reads stays until it is done, or gone: the segment that it reads first, and all after it; the layer."""
    reader = aged.store.read(shard(0), 2)
    assert next(reader) == batch(2, b"2", at_ms=2)
    aged.layer(5)

    assert aged.check() == [Removed(shard(0), [], [0, 1])]
    assert values(reader) == [b"3", b"4", b"5"]
    assert aged.check() == [Removed(shard(0), [], [2, 3, 4])]
    of_layer = aged.store.read(shard(0), 0)
    aged.layer(6)
    assert aged.check() == []
    assert values(of_layer) == [b"%d" % offset for offset in range(6)]
    assert aged.check() == [Removed(shard(0), [5], [5])]


def test_a_reader_that_was_never_begun_holds_until_it_is_gone(aged: Shard) -> None:
    """Nobody has to close what nobody read."""
    reader = aged.store.read(shard(0), 0)
    aged.layer(6)
    assert aged.check() == []
    del reader

    assert aged.check() == [Removed(shard(0), [], [0, 1, 2, 3, 4, 5])]


@pytest.mark.parametrize("damage", ["content", "manifest"])
def test_a_damaged_layer_stands_for_nothing(aged: Shard, damage: str) -> None:
    """Nothing goes on the word of a layer that is not as its manifest says; it is told, and stays for whoever looks into it."""
    aged.layer(4)
    file = next((aged.path / f"layer-{4:020d}").glob("*.log" if damage == "content" else "manifest.json"))
    content = bytearray(file.read_bytes())
    content[40] ^= 1
    file.write_bytes(content)
    told = aged.check()

    assert (told[0].layers, told[0].segments) == ([], [])
    assert told[0].damage is not None
    assert told[0].damage.path == str(file)
    assert aged.segments() == [0, 1, 2, 3, 4, 5, 6]


def test_a_clock_that_jumps_removes_nothing(tmp_path: Path) -> None:
    """Neither by 30 days ahead, nor back and ahead again: history ages while the server runs."""
    clock = ManualClock(wall_ms=1000)
    aged = Shard(tmp_path)
    aged.restart()
    aged.layer(6)
    with patch.object(aged.store, "retention") as made:
        open_retention(aged.store, Config(), clock, None, HistoryLines())
    now_ms = made.call_args.args[1].now_ms
    clock.jump_wall(40 * DAY)
    assert aged.check(History(30 * DAY), now_ms=now_ms) == []
    clock.advance(29 * DAY)
    clock.jump_wall(-60 * DAY)
    assert aged.check(History(30 * DAY), now_ms=now_ms) == []
    clock.jump_wall(60 * DAY)
    clock.advance(DAY)

    assert aged.check(History(30 * DAY), now_ms=now_ms) == [Removed(shard(0), [], [0, 1, 2, 3, 4, 5])]
    aged.store.close()


class Faulty(LocalStorage):
    """Fails, or dies, at the N-th call that changes something."""

    def __init__(self, left: int, error: BaseException) -> None:
        self.left = left
        self.error = error

    def _call(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise self.error

    def rename(self, old: str, new: str, /) -> None:
        self._call()
        super().rename(old, new)

    def remove(self, path: str, /) -> None:
        self._call()
        super().remove(path)

    def remove_dir(self, path: str, /) -> None:
        self._call()
        super().remove_dir(path)

    def sync_dir(self, path: str, /) -> None:
        if isinstance(self.error, OSError):
            return super().sync_dir(path)
        self._call()
        return super().sync_dir(path)


class Killed(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("make_error", [Killed, lambda: OSError(errno.EROFS, "read-only")])
def test_whatever_call_it_ends_at_nothing_is_lost(tmp_path: Path, make_error: Callable[[], BaseException]) -> None:
    """Killed or refused anywhere: all that is read is the same, at once and after the next start,
    and the next round ends the work.
    """
    expected = [b"%d" % offset for offset in range(4)]
    ends = 0
    for number in range(100):
        aged = Shard(tmp_path / str(number), 4)
        aged.restart()
        aged.layer(1)
        aged.layer(3)
        storage = Faulty(number, make_error())
        with suppress(Killed):
            aged.check(storage=storage)
        assert aged.values() == expected
        aged.store.close()
        if storage.left >= 0:
            break
        ends += 1
        aged.open()
        aged.worker = ManualWorker()
        assert aged.values() == expected
        aged.check()
        assert aged.segments() == [3, 4]
        assert layer_offsets(aged.path) == [3]
        assert not list(aged.path.glob(".layer*"))
        aged.store.close()

    assert ends > 8


def test_a_segment_that_could_not_be_removed_goes_later(aged: Shard) -> None:
    """The log has it until then, for readers and for the next round."""
    aged.layer(4)
    assert aged.check(storage=Faulty(0, OSError(errno.EROFS, "read-only"))) == []
    assert [str(each) for each in aged.failed] == ["[Errno 30] read-only"]
    assert aged.store.logs()[0].bases() == [0, 1, 2, 3, 4, 5, 6]
    aged.worker = ManualWorker()

    assert aged.check() == [Removed(shard(0), [], [0, 1, 2, 3])]
    assert aged.segments() == [4, 5, 6]


def test_a_sync_that_fails_is_final(aged: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the directory holds is not known any more."""
    aged.layer(4)

    def fail(_storage: LocalStorage, path: str) -> None:
        raise OSError(errno.EIO, "io", path)

    monkeypatch.setattr(LocalStorage, "sync_dir", fail)
    aged.check()
    monkeypatch.undo()

    assert isinstance(aged.store.failure, OutcomeUnknown)
