"""A shard read while retention removes what a layer stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import layer_path, segment_path
from coordinator_server.log.jobs import Block, LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.read.segment_reader import Span, read_span
from coordinator_server.log.read.shard_reader import end_time, latest_time, open_checkpoint, read_from
from coordinator_server.log.shards import Append
from coordinator_server.log.storage import remove_tree
from coordinator_server.log.store import TimedOffset
from coordinator_server.log.write.segments import Limits, Segments, ShardLog
from tests.support.log import DATA, OpenLog, batch, shard, values
from tests.support.storage import SimulatedDisk, SimulatedHold

DIRECTORY = Path(DATA) / str(shard(0))


class RacingDisk(SimulatedDisk):
    """Something happens just before a file is held for a reader."""

    before_share: Callable[[str], None] | None = None

    def share(self, path: str, /) -> SimulatedHold:
        if self.before_share is not None:
            happen, self.before_share = self.before_share, None
            happen(path)
        return super().share(path)


def value(offset: int) -> bytes:
    return b"value %d" % offset


def opened(disk: SimulatedDisk, times: list[int]) -> ShardLog:
    """A shard of one batch per timestamp, two to a segment."""
    log = OpenLog(disk)
    for offset, ms in enumerate(times):
        log.append(Append(shard(0), 0, offset, batch(offset, value(offset), at_ms=ms)))
        if offset % 2:
            log.seal()
    log.write_out()
    return log.store.logs()[0]


def layer(disk: SimulatedDisk, to_offset: int, times: list[int], kept: Iterable[int] | None = None) -> None:
    """A layer with all records before an offset, or with those that compaction has kept, and with a checkpoint."""
    with LayerAttempt(DIRECTORY, to_offset, storage=disk) as attempt:
        for offset in kept or range(to_offset):
            attempt.append(offset, batch(offset, value(offset), at_ms=times[offset]))
        attempt.add_checkpoint([Block("g", b"data", 1, (0, 0))], [])
        assert publish(attempt.finish(LayerSummary(to_offset, 0, None, ""), []), DIRECTORY, to_offset, disk)


def remove(disk: SimulatedDisk, log: ShardLog, *bases: int) -> None:
    """Segments that retention has removed."""
    for base in bases:
        log.hide(base)
        disk.remove(segment_path(log.directory, base))


def read(disk: SimulatedDisk, log: ShardLog, from_offset: int = 0) -> list[bytes | None]:
    return values(read_from(disk, log, from_offset))


def test_a_segment_that_goes_while_a_read_begins() -> None:
    """The layer that stands for it is read instead."""
    times, disk = [0] * 6, RacingDisk()
    log = opened(disk, times)

    def happen(_path: str) -> None:
        layer(disk, 4, times)
        remove(disk, log, 0, 2)

    disk.before_share = happen
    assert read(disk, log) == [value(offset) for offset in range(6)]


def test_a_layer_that_goes_while_a_read_begins() -> None:
    """A newer one stands for more."""
    times, disk = [0] * 6, RacingDisk()
    log = opened(disk, times)
    layer(disk, 2, times)
    remove(disk, log, 0)
    held: list[str] = []

    def happen(path: str) -> None:
        held.append(path)
        layer(disk, 4, times)
        remove_tree(disk, str(layer_path(DIRECTORY, 2)))

    disk.before_share = lambda _path: setattr(disk, "before_share", happen)
    assert read(disk, log) == [value(offset) for offset in range(6)]
    assert held == [str(layer_path(DIRECTORY, 2) / "manifest.json")]


def test_a_file_that_is_gone_although_nothing_was_removed() -> None:
    """It is an error, and not a reason to try for ever."""
    times, disk = [0] * 6, SimulatedDisk()
    log = opened(disk, times)
    for has_layer in (False, True):
        if has_layer:
            layer(disk, 2, times)
        disk.remove(segment_path(log.directory, 2))
        with pytest.raises(FileNotFoundError):
            read(disk, log, 2)


def test_a_checkpoint_that_goes_while_it_is_opened() -> None:
    """The one of the newer layer is opened, and held."""
    times, disk = [0] * 6, RacingDisk()
    log = opened(disk, times)
    layer(disk, 2, times)

    def happen(_path: str) -> None:
        layer(disk, 4, times)
        remove_tree(disk, str(layer_path(DIRECTORY, 2)))

    disk.before_share = happen
    checkpoint = open_checkpoint(disk, log)
    assert checkpoint is not None
    assert checkpoint.to_offset == 4
    assert disk.unshared(str(layer_path(DIRECTORY, 4) / "manifest.json")) is None
    checkpoint.close()
    checkpoint.close()
    assert disk.unshared(str(layer_path(DIRECTORY, 4) / "manifest.json")) is not None


def test_segments_that_begin_behind_what_is_wanted() -> None:
    """Without a layer, records are missing."""
    disk = SimulatedDisk()
    log = opened(disk, [0] * 6)
    remove(disk, log, 0)

    assert read(disk, log, 2) == [value(offset) for offset in range(2, 6)]
    with pytest.raises(DamagedLog, match="offsets 1 to 2 before it are missing") as caught:
        read(disk, log, 1)
    assert (caught.value.path, caught.value.position) == (segment_path(log.directory, 2), 0)


@pytest.mark.parametrize(
    ("times", "latest"),
    [
        ([10, 50, 20, 30, 30, 5], TimedOffset(1, 50)),
        ([10, 20, 20, 40, 40, 5], TimedOffset(3, 40)),
        ([10, 20, 30, 20, 10, 50], TimedOffset(5, 50)),
        ([50, 20, 50, 20, 10, 50], TimedOffset(0, 50)),
        ([50, 20, 30, 20, 10, 40], TimedOffset(0, 50)),
    ],
)
def test_the_latest_record_may_be_in_a_layer(times: list[int], latest: TimedOffset) -> None:
    """Of several with the largest timestamp it is the first. Of a layer those records count whose segments are gone."""
    disk, checks = SimulatedDisk(), list[int]()
    log = opened(disk, times)
    assert latest_time(disk, log) == latest
    layer(disk, 4, times)
    remove(disk, log, 0)

    assert latest_time(disk, log, lambda: checks.append(1)) == latest
    assert len(checks) > 2


@pytest.mark.parametrize("kept", [[0], [1]])
def test_the_only_record_of_a_shard_may_be_in_a_layer(kept: list[int]) -> None:
    """The first of the log, too."""
    times, disk = [10, 20], SimulatedDisk()
    log = opened(disk, times)
    layer(disk, 2, times, kept)
    remove(disk, log, 0)

    assert latest_time(disk, log) == TimedOffset(kept[0], times[kept[0]])


def test_an_empty_shard_has_no_latest_record() -> None:
    """There is nothing to compare."""
    disk = SimulatedDisk()
    log = ShardLog(disk, str(DIRECTORY), shard(0), Segments([], 0, 0), Limits(1 << 20))

    assert latest_time(disk, log) is None


def test_the_last_time_is_in_a_segment_although_a_layer_replaces_it() -> None:
    """Compaction has not kept the last record."""
    times, disk = [10, 20, 30, 40], SimulatedDisk()
    log = opened(disk, times)
    layer(disk, 4, times, [0, 2])

    assert end_time(disk, log) == 40


@pytest.mark.parametrize(("removed", "expected"), [([0], 40), ([0, 2], 30)])
def test_the_last_time_is_in_a_layer_when_its_segments_are_gone(removed: list[int], expected: int) -> None:
    times, disk = [10, 20, 30, 40], SimulatedDisk()
    log = opened(disk, times)
    layer(disk, 4, times, [0, 2])
    remove(disk, log, *removed)

    assert end_time(disk, log) == expected


def test_a_log_of_which_nothing_is_left_has_no_last_time() -> None:
    times, disk = [10, 20], SimulatedDisk()
    log = opened(disk, times)
    with LayerAttempt(DIRECTORY, 2, storage=disk) as attempt:
        assert publish(attempt.finish(LayerSummary(0, 0, None, ""), []), DIRECTORY, 2, disk)
    remove(disk, log, 0)

    assert end_time(disk, log) == -1


def test_damage_before_a_layers_end_leaves_the_layers_last_time() -> None:
    """A start does not need that segment."""
    times, disk = [10, 20, 30, 40], SimulatedDisk()
    log = opened(disk, times)
    layer(disk, 4, times, [0, 2])
    path = segment_path(log.directory, 2)
    disk.put(path, disk.content(path)[:-1] + b"?")

    assert end_time(disk, log) == 30


def test_a_layer_is_not_needed_behind_its_end() -> None:
    """Nor is it verified: a reader who has got that far goes on, though it is damaged."""
    times, disk = [0] * 6, SimulatedDisk()
    log = opened(disk, times)
    layer(disk, 4, times)
    remove(disk, log, 0, 2)
    path = str(layer_path(DIRECTORY, 4) / f"{0:020d}.log")
    disk.put(path, disk.content(path)[:-1] + b"?")

    assert read(disk, log, 4) == [value(4), value(5)]
    with pytest.raises(DamagedLog):
        read(disk, log, 3)


def test_segments_behind_a_layer_are_not_read_for_the_latest_time() -> None:
    """Their marks have it: damage in one of them shows only to those who read it."""
    times, disk = [10, 50, 20, 30, 30, 5], SimulatedDisk()
    log = opened(disk, times)
    layer(disk, 2, times)
    remove(disk, log, 0)
    path = segment_path(log.directory, 2)
    disk.put(path, disk.content(path)[:-1] + b"?")

    assert latest_time(disk, log) == TimedOffset(1, 50)


def test_an_empty_segment_without_a_file_is_read() -> None:
    """A power loss may have taken its name, and nothing was in it."""
    disk = SimulatedDisk()
    log = opened(disk, [0] * 6)
    assert log.bases()[-1] == 6
    disk.remove(segment_path(log.directory, 6))

    assert read(disk, log) == [value(offset) for offset in range(6)]
    assert list(read_span(disk, Span(segment_path(log.directory, 6), 6, 0, 0))) == []


def test_a_checkpoint_that_is_dropped_is_closed() -> None:
    """A load that fails does not say so."""
    times, disk = [0] * 6, SimulatedDisk()
    log = opened(disk, times)
    layer(disk, 2, times)
    before = len(disk.open_files)
    checkpoint = open_checkpoint(disk, log)
    assert len(disk.open_files) == before + 1
    del checkpoint

    assert len(disk.open_files) == before
    assert disk.unshared(str(layer_path(DIRECTORY, 2) / "manifest.json")) is not None
