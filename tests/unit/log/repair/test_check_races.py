"""``log verify`` beside a server that takes a journal file into use, or removes what a layer stands for;
and what a layer must not hold.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from coordinator_server.log.file_names import layer_path
from coordinator_server.log.jobs import LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.layer import open_layer
from coordinator_server.log.repair.check import check
from coordinator_server.log.repair.check_shard import ShardCheck
from coordinator_server.log.repair.findings import Finding, Inspection, Report
from coordinator_server.log.repair.overlay import ReadOnlyStorage
from coordinator_server.log.shards import Append
from coordinator_server.log.storage import File
from tests.support.log import batch
from tests.support.log_dir import LAYER_TO, SHARDS, open_store, record_batch

FIRST = str(SHARDS[0])
CHECK_TIME = "coordinator_server.log.repair.check.time"


def kinds(report: Report) -> list[str]:
    return [each.kind for each in report.damage]


class Pauses:
    """What happens while the check waits, one after the other: its ``time``. Threads that other tests left wait by their own."""

    def __init__(self, *happen: Callable[[], object]) -> None:
        self._left = list(happen)
        self.count = 0

    def sleep(self, _seconds: float) -> None:
        self.count += 1
        if self._left:
            self._left.pop(0)()


def cut_journal(data: Path) -> Callable[[], object]:
    """Make a file shorter than its head says; a call puts it right."""
    path = max(data.rglob("*.journal"))
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    return lambda: path.write_bytes(content)


def test_a_journal_that_a_server_changes_meanwhile_is_read_again(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is damaged five times is told; what is whole the last time is not."""
    store = open_store(data)
    mend = cut_journal(data)
    monkeypatch.setattr(CHECK_TIME, pauses := Pauses())
    assert (kinds(check(str(data))), pauses.count) == (["journal"], 4)

    monkeypatch.setattr(CHECK_TIME, pauses := Pauses(*[lambda: None] * 3, mend))
    assert (kinds(check(str(data))), pauses.count) == ([], 4)
    store.close()


def test_a_journal_without_a_server_is_read_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing changes it."""
    cut_journal(data)
    monkeypatch.setattr(CHECK_TIME, pauses := Pauses())

    assert "journal" in kinds(check(str(data)))
    assert pauses.count == 0


def test_a_frame_with_a_batch_that_is_damaged(data: Path) -> None:
    """Its writer had it in its memory like that: the frame's own checksum holds."""
    store = open_store(data)
    end = store.end_offset(SHARDS[1])
    rotten = batch(end)[:-1] + b"?"
    store.submit([Append(SHARDS[1], 0, end, rotten)], lambda _error: None)
    shutil.copytree(data, copy := data.with_name("copy"), ignore=shutil.ignore_patterns(".lock"))
    store.close()

    [told, *_] = [each for each in check(str(copy)).damage if each.kind == "journal"]
    assert (told.position, f"in a whole frame, of {SHARDS[1]} at offset {end}: " in told.why) == (0, True)
    assert told.path.startswith(str(copy / "journal"))


class Racing(ReadOnlyStorage):
    """Something happens before a file is opened for the first time."""

    def __init__(self, part: str, happen: Callable[[], object]) -> None:
        self._part, self._happen = part, happen
        self._is_done = False

    def _look(self, path: str) -> None:
        if self._part in path and not self._is_done:
            self._is_done = True
            self._happen()

    def open(self, path: str, /, *, create: bool = False) -> File:
        self._look(path)
        return super().open(path, create=create)

    def open_read_only(self, path: str, /) -> File:
        self._look(path)
        return super().open_read_only(path)


def checked(data: Path, storage: ReadOnlyStorage) -> list[Finding]:
    report = Report(is_served=True)
    ShardCheck(str(data), Inspection(report, storage, lambda _done, _all: None, 0), set()).run(SHARDS[0], None)
    return report.damage


def test_segments_that_retention_removes_meanwhile_are_no_damage(data: Path) -> None:
    """The shard is looked at again: a layer stands for them."""

    def remove() -> None:
        for base in (0, 2):
            (data / FIRST / f"{base:020d}.log").unlink()

    assert checked(data, Racing(f"{FIRST}/{2:020d}.log", remove)) == []


def test_what_was_found_before_retention_was_faster_is_found_once(data: Path) -> None:
    """Damage before the segment that is gone is told one time."""
    path = data / FIRST / f"{4:020d}.log"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))

    def remove() -> None:
        for base in (0, 2):
            (data / FIRST / f"{base:020d}.log").unlink()

    found = checked(data, Racing(f"{FIRST}/{7:020d}.log", remove))
    assert [each.path for each in found] == [str(path)]


def test_a_layer_that_retention_removes_meanwhile_is_no_damage(data: Path) -> None:
    """One that is there and differs from its manifest is."""
    path = layer_path(data / FIRST, LAYER_TO)
    assert checked(data, Racing(f"{path.name}/{0:020d}.log", lambda: shutil.rmtree(path))) == []

    data_2 = Path(shutil.copytree(data, data.with_name("data-2")))
    layer_of(data_2, LAYER_TO)
    file = layer_path(data_2 / FIRST, LAYER_TO) / f"{0:020d}.log"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert [each.kind for each in checked(data_2, ReadOnlyStorage())] == ["layer"]


def layer_of(data: Path, to_offset: int, *batches: bytes) -> None:
    shutil.rmtree(layer_path(data / FIRST, to_offset), ignore_errors=True)
    with LayerAttempt(data / FIRST, to_offset) as attempt:
        attempt.append(0, *(batches or (batch(0),)))
        publish(attempt.finish(LayerSummary(1, 0, None, ""), []), data / FIRST, to_offset)


def test_a_layer_with_records_behind_its_end_is_damaged(data: Path) -> None:
    """A start would have them twice. Records right up to the end are its own."""
    layer_of(data, LAYER_TO, batch(0, count=LAYER_TO))
    assert [each for each in checked(data, ReadOnlyStorage()) if each.kind == "layer"] == []
    layer_of(data, LAYER_TO, batch(0, count=LAYER_TO + 1))

    [told] = [each for each in checked(data, ReadOnlyStorage()) if each.kind == "layer"]
    path = open_layer(data / FIRST, LAYER_TO).path
    assert (told.path, told.position, told.why) == (str(path), 0, f"records up to offset {LAYER_TO + 1} are in it")


def test_segments_that_begin_behind_every_layer(data: Path) -> None:
    """What is missing is told, with the offsets."""
    for base in (0, 2, 4):
        (data / FIRST / f"{base:020d}.log").unlink()

    [told] = [each for each in checked(data, ReadOnlyStorage()) if each.kind == "segment"]
    assert (Path(told.path).name, told.position, told.why) == (f"{7:020d}.log", 0, "offsets 4 to 7 before it are missing")


def test_a_segment_that_only_a_start_refuses(data: Path) -> None:
    """No head of the journal knows it, although the heads go on behind it."""
    (data / FIRST / f"{8:020d}.log").write_bytes(record_batch(SHARDS[0], 8))
    report = check(str(data))

    [told] = [each for each in report.damage if each.kind == "start"]
    assert (Path(told.path).name, told.position) == (f"{8:020d}.log", 0)
    assert "that the journal does not know" in told.why


def test_what_a_start_refuses_is_told_once(data: Path) -> None:
    """The damage itself has been told."""
    for base in (0, 2):
        (data / FIRST / f"{base:020d}.log").unlink()
    file = layer_path(data / FIRST, LAYER_TO) / f"{0:020d}.log"
    file.write_bytes(file.read_bytes()[:-1] + b"?")

    assert [(each.path, each.kind) for each in check(str(data)).damage if each.path == str(file)] == [(str(file), "layer")]
