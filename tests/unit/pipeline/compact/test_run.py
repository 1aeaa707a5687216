"""A whole data directory: plan, run, publish all or nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.file_names import layer_offsets, segment_name
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.layer import file_entry, newest_valid_layer, open_layer
from coordinator_server.pipeline.compact.engine import PythonEngine, ShardResult, compact_shard
from coordinator_server.pipeline.compact.plan import ShardPlan
from coordinator_server.pipeline.compact.run import CompactResult, compact, compaction_lock, plans, run_python
from coordinator_server.pipeline.errors import Busy
from coordinator_server.pipeline.progress import Progress
from tests.support.inputs import shard_directories
from tests.support.kind_logs import LOGS
from tests.support.segments import append_segments, coordinator_log, write_segments

ROOT = Path(__file__).resolve().parents[4]


class Told(Progress):
    """What a job has said of how it gets on."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def start(self, shards: int, size: int = 0) -> None:
        self.calls.append(("start", shards))

    def advance(self, shards: int, records: int) -> None:
        self.calls.append(("advance", shards, records))

    def stop(self) -> None:
        self.calls.append(("stop",))


def write_data(data_dir: Path, shards: int = 3) -> dict[str, int]:
    """End offsets by shard."""
    names = [f"__consumer_offsets-{number}" for number in range(shards)]
    return {name: write_segments(data_dir / name, coordinator_log(seed, 30), 3) for seed, name in enumerate(names)}


def run(data_dir: Path, cutoff_ms: int | None = None, progress: Progress | None = None) -> CompactResult:
    with compaction_lock(data_dir):
        return compact(plans(data_dir, {}), cutoff_ms, run_python, progress or Progress())


def contents(data_dir: Path) -> dict[str, bytes]:
    return {str(path.relative_to(data_dir)): path.read_bytes() for path in data_dir.rglob("*") if path.is_file()}


def test_every_shard_gets_a_layer(tmp_path: Path) -> None:
    """That stands for everything sealed; segments stay as they are."""
    ends = write_data(tmp_path)
    before = contents(tmp_path)

    result = run(tmp_path)

    assert {layer.shard: layer.to_offset for layer in result.layers} == ends
    assert {path.name: layer_offsets(path) for path in shard_directories(tmp_path)} == {name: [end] for name, end in ends.items()}
    assert contents(tmp_path).items() >= before.items()


def test_a_manifest_names_what_the_layer_was_made_from(tmp_path: Path) -> None:
    """Segments, and a layer by its own manifest: with their sizes and checksums."""
    ends = write_data(tmp_path)
    shard = tmp_path / "__consumer_offsets-1"
    first = sorted(path.name for path in shard.glob("*.log"))[:-1]
    run(tmp_path)
    layer = open_layer(shard, ends[shard.name])
    assert [entry.name for entry in layer.manifest.inputs] == first
    append_segments(shard, coordinator_log(9, 10, first_offset=ends[shard.name]))
    run(tmp_path)
    newest = newest_valid_layer(shard)
    assert newest is not None

    later = sorted(path.name for path in shard.glob("*.log") if path.name >= segment_name(ends[shard.name]))[:-1]
    names = [f"{layer.path.name}/manifest.json", *later]
    assert later
    assert newest.manifest.inputs == tuple(file_entry(shard / name, name) for name in names)


def test_a_second_compaction_changes_no_byte(tmp_path: Path) -> None:
    """compact(compact(x)) is compact(x), byte for byte."""
    write_data(tmp_path)
    run(tmp_path)
    before = contents(tmp_path)

    assert run(tmp_path) == CompactResult()
    assert contents(tmp_path) == before


def test_only_shards_with_news_are_done(tmp_path: Path) -> None:
    """The newest layer and what was sealed since become the next one; the older one stays."""
    ends = write_data(tmp_path)
    run(tmp_path)
    end = append_segments(tmp_path / "__consumer_offsets-1", coordinator_log(9, 10, first_offset=ends["__consumer_offsets-1"]))

    result = run(tmp_path)

    assert [layer.shard for layer in result.layers] == ["__consumer_offsets-1"]
    assert layer_offsets(tmp_path / "__consumer_offsets-1") == [end, ends["__consumer_offsets-1"]]


def test_no_further_than_who_sealed_vouches_for(tmp_path: Path) -> None:
    """A running server may be about to seal more: those files may still change."""
    write_data(tmp_path, 1)
    first_sealed = sorted(int(path.stem) for path in (tmp_path / "__consumer_offsets-0").glob("*.log"))[1]

    [plan] = plans(tmp_path, {"__consumer_offsets-0": first_sealed})

    assert plan.to_offset == first_sealed


@pytest.mark.parametrize("name", ["orders-0", "journal", "lost+found"])
def test_what_is_no_shard_of_ours_is_not_touched(tmp_path: Path, name: str) -> None:
    """Whatever is in it."""
    write_segments(tmp_path / name, coordinator_log(1, 5))

    assert plans(tmp_path, {}) == []


def test_every_kind_is_compacted(tmp_path: Path) -> None:
    """By its own rule."""
    for topic, log in LOGS.items():
        write_segments(tmp_path / f"{topic}-0", log(1, 40, 0))

    result = run(tmp_path)

    assert {layer.shard for layer in result.layers} == {f"{topic}-0" for topic in LOGS}
    assert all(0 < layer.records < layer.records_in for layer in result.layers)
    assert result.left_alone == ()


def test_a_layer_with_another_cutoff_is_another_layer(tmp_path: Path) -> None:
    """The cutoff is in the manifest, and its tombstones are gone."""
    write_data(tmp_path / "all")
    write_data(tmp_path / "none")

    kept = run(tmp_path / "all")
    dropped = run(tmp_path / "none", cutoff_ms=2**62)

    assert sum(layer.tombstones for layer in kept.layers) > 0
    assert [layer.tombstones for layer in dropped.layers] == [0, 0, 0]
    assert [a.records - a.tombstones for a in kept.layers] == [b.records for b in dropped.layers]


def test_one_bad_shard_and_nothing_is_published(tmp_path: Path) -> None:
    """Neither before nor after it; and no attempt stays."""
    write_data(tmp_path)
    segment = min((tmp_path / "__consumer_offsets-1").glob("*.log"))
    segment.write_bytes(segment.read_bytes()[:-1] + b"\xff")
    before = contents(tmp_path)
    told = Told()

    with pytest.raises(DamagedLog, match=segment.name):
        run(tmp_path, progress=told)

    after = contents(tmp_path)
    after.pop(".compact.lock")
    assert after == before
    assert [call[0] for call in told.calls] == ["start", "advance", "stop"]


def test_progress_counts_shards_and_records(tmp_path: Path) -> None:
    """All that were read, by the end."""
    ends = write_data(tmp_path)
    told = Told()

    run(tmp_path, progress=told)

    assert told.calls[0] == ("start", 3)
    assert told.calls[-2:] == [("advance", 3, sum(ends.values())), ("stop",)]


def test_a_second_concurrent_compaction_waits(tmp_path: Path) -> None:
    """The second is told to wait, and takes nothing away from the first."""
    write_data(tmp_path, 1)
    with compaction_lock(tmp_path):
        attempt = LayerAttempt(tmp_path / "__consumer_offsets-0", 5)

        with pytest.raises(Busy, match="another compaction"):
            run(tmp_path)

        assert attempt.path.exists()


def test_stale_attempts_go_with_the_next_run(tmp_path: Path) -> None:
    """A writer that died has left a directory that nobody will publish."""
    write_data(tmp_path, 1)
    stale = LayerAttempt(tmp_path / "__consumer_offsets-0", 5).path

    run(tmp_path)

    assert not stale.exists()


def test_stale_attempts_go_also_where_there_is_nothing_to_compact(tmp_path: Path) -> None:
    """With the lock, which says that nobody writes them any more."""
    write_data(tmp_path, 2)
    stale = [LayerAttempt(tmp_path / f"__consumer_offsets-{number}", 5).path for number in range(2)]

    with compaction_lock(tmp_path):
        assert [path.exists() for path in stale] == [False, False]


def test_a_task_run_twice_leaves_one_layer(tmp_path: Path) -> None:
    """As Spark does when it speculates: the doubled attempt is not published, and goes."""
    write_data(tmp_path, 1)

    def twice(todo: Sequence[ShardPlan], cutoff_ms: int | None, progress: Progress) -> list[ShardResult]:
        return [[compact_shard(plan, cutoff_ms, PythonEngine()) for _ in range(2)][-1] for plan in todo]

    with compaction_lock(tmp_path):
        compact(plans(tmp_path, {}), None, twice, Progress())

    names = [path.name for path in (tmp_path / "__consumer_offsets-0").iterdir() if "layer" in path.name]
    assert len(names) == 1
    assert names[0].startswith("layer-")


def test_two_attempts_at_once_make_one_layer(tmp_path: Path) -> None:
    """Whoever publishes second finds a valid layer there, and leaves it."""
    write_data(tmp_path, 1)
    [plan] = plans(tmp_path, {})
    one, other = (compact_shard(plan, None, PythonEngine()) for _ in range(2))

    published = [publish(Path(result.attempt), Path(plan.directory), plan.to_offset) for result in (one, other)]

    assert published == [True, False]
    assert plans(tmp_path, {}) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from coordinator_server.log import storage
from coordinator_server.pipeline.compact import run as job
from coordinator_server.pipeline.progress import Progress

steps = int(sys.argv[2])
def counted(call):
    def wrapped(*args, **kwargs):
        global steps
        steps -= 1
        if steps == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)
    return wrapped
# Every step after which something else is on disk.
for module, names in ((os, ("rename", "fsync", "makedirs")), (storage, ("_data_sync",))):
    for name in names:
        setattr(module, name, counted(getattr(module, name)))
with job.compaction_lock(Path(sys.argv[1])):
    job.compact(job.plans(Path(sys.argv[1]), {}), None, job.run_python, Progress())
"""


@pytest.mark.parametrize("step", [1, 3, 7, 8, 14, 15, 16, 17, 18])
def test_a_kill_in_the_middle_publishes_no_half(tmp_path: Path, step: int) -> None:
    """Whatever is published is whole, and the next run ends with the bytes of one that was never killed."""
    write_data(tmp_path / "killed", 2)
    write_data(tmp_path / "whole", 2)
    run(tmp_path / "whole")

    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "killed"), str(step)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )

    assert ended.returncode == -signal.SIGKILL
    whole = contents(tmp_path / "whole")
    half = {name: data for name, data in contents(tmp_path / "killed").items() if "/layer-" in name}
    assert half.items() <= whole.items()
    assert {name.rpartition("/")[0] for name in half} == {name.rpartition("/")[0] for name in half if "manifest" in name}
    run(tmp_path / "killed")
    assert contents(tmp_path / "killed") == whole
