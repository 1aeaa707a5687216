"""Backups: what is in them, that the one before stays until the next is complete, and what a restore makes of them."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import main
from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.log.meta import read_meta
from coordinator_server.log.storage import LOCAL, LocalStorage
from coordinator_server.pipeline.backup.contents import MANIFEST, read_backup
from coordinator_server.pipeline.backup.cut import HOLD_MS, PATIENCE_S, cut_of_server
from coordinator_server.pipeline.backup.take import Moment, Taken, take_backup
from coordinator_server.pipeline.compact.run import compact, run_python
from coordinator_server.pipeline.errors import CannotRun, ServerRefused
from coordinator_server.pipeline.files.restore import check_backup, restore
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.replay.verify import Check, verify_shard
from tests.support.inputs import plan_shard
from tests.support.segments import coordinator_log, encode, write_meta, write_segments

SHARD = "__consumer_offsets-3"
OTHER = "__consumer_offsets-8"


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.mkdir()
    write_meta(path)
    return path


def write(data_dir: Path, shard: str, number: int, first: int = 0) -> int:
    """Some segments of records, and an empty one. Returns where it begins."""
    return write_segments(data_dir / shard, coordinator_log(number, 20, first_offset=first), 2, base=first)


def compacted(data_dir: Path, shard: str) -> None:
    plan = plan_shard(data_dir / shard)
    assert plan is not None
    compact([plan], None, run_python, Progress())


def take(data_dir: Path, target: Path, shards: Mapping[str, int], *, at_ms: int = 5, with_history: bool = True) -> Taken:
    meta = read_meta(LOCAL, str(data_dir))
    return take_backup(data_dir, target, meta, Moment(shards, at_ms, "1.0"), with_history=with_history)


def state(data_dir: Path, shard: str, upto: int) -> tuple[int, str]:
    verdict = verify_shard(Check(str(data_dir / shard), upto))
    assert verdict.is_proven
    return verdict.count, verdict.compacted


def ends(data_dir: Path, shard: str) -> list[int]:
    """Where batches end, of all segments."""
    from coordinator_server.pipeline.input.files import read_batches
    from tests.support.inputs import full_input

    bases = sorted(int(path.stem) for path in (data_dir / shard).glob("*.log"))
    return [header.next_offset for file in full_input(data_dir / shard, bases[-1])[1] for _, _, header in read_batches(file)]


def test_a_restore_is_the_state_of_the_moment(data_dir: Path, tmp_path: Path) -> None:
    """Cut in the middle of a segment, with and without a layer; nothing later is in it."""
    end, other = write(data_dir, SHARD, 1), write(data_dir, OTHER, 2)
    compacted(data_dir, OTHER)
    cuts = ends(data_dir, SHARD)
    assert len(cuts) > 4
    for number, cut in enumerate([*cuts[1:-1:7], end]):
        target, restored = tmp_path / f"backup-{number}", tmp_path / f"restored-{number}"
        take(data_dir, target, {SHARD: cut, OTHER: other, "__consumer_offsets-9": 0})

        done = restore(target, restored)

        assert check_backup(target) == done
        assert (done.shards, done.taken_ms) == (2, 5)
        assert (restored / "meta.properties").read_bytes() == (data_dir / "meta.properties").read_bytes()
        # Recovery takes the last segment for the open one.
        (restored / SHARD / f"{cut:020d}.log").touch()
        assert state(restored, SHARD, cut) == state(data_dir, SHARD, cut)
        assert sorted(path.name for path in restored.iterdir()) == [SHARD, OTHER, "meta.properties"]


def test_a_backup_copies_only_new_files(data_dir: Path, tmp_path: Path) -> None:
    """The next backup adds to the last one, and drops what is not in it any more."""
    end = write(data_dir, SHARD, 1)
    cut = ends(data_dir, SHARD)[-2]
    target = tmp_path / "backup"
    first = take(data_dir, target, {SHARD: cut})
    assert first.copied_files == first.files

    compacted(data_dir, SHARD)
    second = take(data_dir, target, {SHARD: end})
    third = take(data_dir, target, {SHARD: end})
    without = take(data_dir, target, {SHARD: end}, with_history=False)

    layer = len(list((data_dir / SHARD).glob("layer-*/*")))
    assert (second.copied_files, second.removed_files) == (1 + layer, 0)
    assert (third.copied_files, third.copied_bytes) == (0, 0)
    assert (without.files, without.copied_files, without.removed_files) == (layer + 1, 0, first.files - 1)
    restored = tmp_path / "restored"
    restore(target, restored)
    (restored / SHARD / f"{end:020d}.log").touch()
    assert state(restored, SHARD, end) == state(data_dir, SHARD, end)


def test_an_open_segment_is_copied_up_to_the_moment(data_dir: Path, tmp_path: Path) -> None:
    """The server goes on writing: its next batch may be there in part. The next backup copies the segment anew."""
    end, target = write(data_dir, SHARD, 1), tmp_path / "backup"
    opened = data_dir / SHARD / f"{end:020d}.log"
    batches = list(coordinator_log(2, 9, first_offset=end))
    data = b"".join(map(encode, batches))
    for number in (4, 7):
        whole = b"".join(map(encode, batches[:number]))
        opened.write_bytes(data[: len(whole) + 70])
        cut = batches[number].records[0].offset

        taken = take(data_dir, target, {SHARD: cut})

        assert (target / SHARD / opened.name).read_bytes() == whole
    assert (taken.copied_files, taken.copied_bytes) == (1, len(whole))


class DyingStorage(LocalStorage):
    """A disk whose user is killed at one of its changes of names."""

    def __init__(self, left: int) -> None:
        self.left = left

    def rename(self, old: str, new: str, /) -> None:
        if not self.left:
            raise OSError(5, "killed")
        self.left -= 1
        super().rename(old, new)


def test_the_last_backup_is_valid_until_the_next_is(data_dir: Path, tmp_path: Path) -> None:
    """At whichever file it is killed; and the next one goes on where that was."""
    end = write(data_dir, SHARD, 1)
    cut, target = ends(data_dir, SHARD)[-2], tmp_path / "backup"
    meta = read_meta(LOCAL, str(data_dir))
    take(data_dir, target, {SHARD: cut}, at_ms=1)
    wanted = check_backup(target)
    end = write(data_dir, SHARD, 1, end)
    kills = 0
    while True:
        try:
            take_backup(data_dir, target, meta, Moment({SHARD: end}, 2, "1.0"), storage=DyingStorage(kills))
        except OSError:
            assert check_backup(target) == wanted
            kills += 1
        else:
            break
    assert kills > 1
    assert check_backup(target).taken_ms == 2


def test_a_disk_without_room_is_named(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The system's words alone do not say which disk."""

    def full(*_arguments: object, **_options: object) -> Taken:
        raise OSError(errno.ENOSPC, "No space left on device")

    write(data_dir, SHARD, 1)
    monkeypatch.setattr("coordinator_server.cli.backup.take_backup", full)

    assert main(["backup", "--data-dir", str(data_dir), "--to", str(tmp_path / "backup")]) == 1
    told = f"the backup to {tmp_path}/backup is not complete: [Errno 28] No space left on device; run it again"
    assert capsys.readouterr().err == f"coordinator-server: {told}\n"


@pytest.mark.parametrize("kills", range(4))
def test_a_first_backup_that_was_killed_is_begun_again(data_dir: Path, tmp_path: Path, kills: int) -> None:
    """Until then it is none."""
    end, target, meta = write(data_dir, SHARD, 1), tmp_path / "backup", read_meta(LOCAL, str(data_dir))
    with pytest.raises(OSError, match="killed"):
        take_backup(data_dir, target, meta, Moment({SHARD: end}, 2, "1.0"), storage=DyingStorage(kills))
    with pytest.raises(CannotRun, match="is no backup"):
        check_backup(target)

    take(data_dir, target, {SHARD: end})

    assert check_backup(target).files > 1


def test_what_is_damaged_is_not_copied(data_dir: Path, tmp_path: Path) -> None:
    """The file and the place are named, and the last backup stays."""
    end, target = write(data_dir, SHARD, 1), tmp_path / "backup"
    segment = sorted((data_dir / SHARD).glob("*.log"))[1]
    segment.write_bytes(segment.read_bytes()[:-1] + b"\xff")

    with pytest.raises(DamagedLog) as damage:
        take(data_dir, target, {SHARD: end})

    assert str(segment) in str(damage.value)
    assert not (target / MANIFEST).exists()


def test_what_is_missing_is_no_backup(data_dir: Path, tmp_path: Path) -> None:
    """A hole between segments, or before them."""
    end = write(data_dir, SHARD, 1)
    segments = sorted((data_dir / SHARD).glob("*.log"))
    assert len(segments) == 3
    content = segments[0].read_bytes()
    for path in segments[:2]:
        kept = path.read_bytes()
        path.unlink()
        with pytest.raises(LogError):
            take(data_dir, tmp_path / path.stem, {SHARD: end})
        path.write_bytes(kept)
    assert segments[0].read_bytes() == content


def damaged(target: Path, name: str) -> None:
    path = target / name
    path.write_bytes(b"\xff" + path.read_bytes()[1:])


def test_a_damaged_backup_is_not_restored(data_dir: Path, tmp_path: Path) -> None:
    """Whatever byte it is. What was restored of it is no data directory, and the next restore takes its place."""
    end, target, restored = write(data_dir, SHARD, 1), tmp_path / "backup", tmp_path / "restored"
    take(data_dir, target, {SHARD: end})
    for file in read_backup(target).files:
        whole = (target / file.name).read_bytes()
        for spoil in (lambda path: path.write_bytes(b"\xff" + path.read_bytes()[1:]), Path.unlink):
            spoil(target / file.name)
            with pytest.raises(DamagedLog):
                check_backup(target)
            with pytest.raises(DamagedLog):
                restore(target, restored)
            with pytest.raises(LogError, match="was not finished"):
                read_meta(LOCAL, str(restored))
            (target / file.name).write_bytes(whole)

    assert restore(target, restored) == check_backup(target)


def test_backup_and_restore_overwrite_no_directory(data_dir: Path, tmp_path: Path) -> None:
    """A restore makes a new directory; a backup goes into an empty one, or its own."""
    end, target = write(data_dir, SHARD, 1), tmp_path / "backup"
    take(data_dir, target, {SHARD: end})
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    other = tmp_path / "other"
    other.mkdir()
    (other / "meta.properties").write_text(
        (data_dir / "meta.properties").read_text().replace("cluster.id=", "cluster.id=x").partition("checksum")[0]
    )

    for where in (data_dir, tmp_path / "photos"):
        with pytest.raises(CannotRun, match="not empty"):
            restore(target, where)
        with pytest.raises(CannotRun, match="has other files"):
            take(data_dir, where, {SHARD: end})
    with pytest.raises(CannotRun, match="is a backup of the cluster"):
        take(other, target, {})


def test_a_manifest_of_another_format(data_dir: Path, tmp_path: Path) -> None:
    """It is named; so is one that is none."""
    end, target = write(data_dir, SHARD, 1), tmp_path / "backup"
    take(data_dir, target, {SHARD: end})
    found = json.loads((target / MANIFEST).read_text())
    for content, why in ((found | {"format": 2}, "has format 2"), ({}, "not the manifest")):
        (target / MANIFEST).write_text(json.dumps(content))
        with pytest.raises(CannotRun, match=why):
            check_backup(target)


def loop(number: int, *, pid: int = 1, hold: int = 1, in_flight: int = 0, catalog: int = 5, at: int = 7) -> dict[str, Any]:
    shards = {f"__consumer_offsets-{number}": at} | ({"__cluster_metadata-0": 5} if number == 0 else {})
    return {"loop": number, "pid": pid, "hold": hold, "in_flight": in_flight, "catalog": catalog, "shards": shards}


class Answers:
    """A server's answers to ``cut``. The last one is repeated."""

    def __init__(self, answers: Iterable[Sequence[dict[str, Any]] | None]) -> None:
        self.left = list(answers)
        self.holds: list[int] = []
        self.now_s = 0.0

    def __call__(self, hold_ms: int) -> dict[str, Any] | None:
        self.holds.append(hold_ms)
        found = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        return None if found is None else {"cut": found}

    def cut(self) -> dict[str, int] | None:
        return cut_of_server(self, lambda: self.now_s, self.pause)

    def pause(self, seconds: float) -> None:
        self.now_s += seconds


def test_one_loop_needs_one_answer() -> None:
    """And nothing is held then."""
    answers = Answers([[loop(0)]])

    assert answers.cut() == {"__consumer_offsets-0": 7, "__cluster_metadata-0": 5}
    assert answers.holds == [HOLD_MS]
    assert Answers([None]).cut() is None


@pytest.mark.parametrize(
    "restless",
    [
        {"in_flight": 1},
        {"pid": 2},
        {"hold": 2},
    ],
    ids=str,
)
def test_several_loops_have_to_be_quiet_twice(restless: dict[str, int]) -> None:
    """What was on its way, a restart, or an end of the hold in between, and it begins anew. The last answers count."""
    answers = Answers(
        [
            [loop(0), loop(1)],
            [loop(0), loop(1, **restless)],
            [loop(0), loop(1, at=8)],
            [loop(0), loop(1, at=9)],
            [loop(0), loop(1, at=10)],
        ]
    )

    found = answers.cut()

    assert found is not None
    assert found["__consumer_offsets-1"] > 8
    assert answers.holds[-1] == 0


def test_no_loop_is_ahead_of_the_catalog() -> None:
    """Its replica may be newer than the answer of the loop that has the catalog."""
    ahead = [loop(0), loop(1, catalog=6)]
    answers = Answers([ahead, ahead, [loop(0), loop(1)]])

    assert answers.cut() is not None
    assert len(answers.holds) == 4


def test_loops_that_are_never_quiet() -> None:
    """It ends, says so, and lets them go."""
    answers = Answers([[loop(0), loop(1, in_flight=3)]])

    with pytest.raises(ServerRefused, match="sent messages to each other"):
        answers.cut()

    assert answers.now_s > PATIENCE_S
    assert answers.holds[-1] == 0
