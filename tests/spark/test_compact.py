"""The Spark job on local[2], held to the plain engine."""

from __future__ import annotations

import os
import shutil
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coordinator_server.pipeline.compact.run import CompactResult, compact, compaction_lock, plans, run_python
from coordinator_server.pipeline.progress import Progress
from protocol.batch_builder import BatchBuilder
from tests.support.kind_logs import LOGS
from tests.support.random_log import SPAN_MS, logs, write_log
from tests.support.segments import START_MS, append_segments, coordinator_log, write_segments

pytest.importorskip("pyspark", reason="the spark extra is not installed: make test brings it")

from coordinator_server.pipeline.compact.spark import TASK_BYTES, run_spark
from coordinator_server.pipeline.compact.vector_engine import KEY_BYTES
from coordinator_server.pipeline.errors import ShardFailed

SHARDS = 11


def write_data(data_dir: Path, seed: int = 0) -> None:
    for number in range(SHARDS):
        write_segments(data_dir / f"__consumer_offsets-{number}", coordinator_log(seed + number, 10 + 9 * number), 4)


def on_spark(
    spark: Any, data_dir: Path, cutoff_ms: int | None = None, progress: Progress | None = None, task_bytes: int = TASK_BYTES
) -> CompactResult:
    with compaction_lock(data_dir):
        run = partial(run_spark, spark, task_bytes=task_bytes)
        return compact(plans(data_dir, {}), cutoff_ms, run, progress or Progress())


def in_python(data_dir: Path, cutoff_ms: int | None = None) -> CompactResult:
    with compaction_lock(data_dir):
        return compact(plans(data_dir, {}), cutoff_ms, run_python, Progress())


def contents(data_dir: Path) -> dict[str, bytes]:
    return {str(path.relative_to(data_dir)): path.read_bytes() for path in data_dir.rglob("*") if path.is_file()}


def test_the_same_bytes_as_the_plain_engine(spark: Any, tmp_path: Path) -> None:
    """From segments, and again from the layer and what came after it, with a cutoff."""
    for name in ("spark", "python"):
        write_data(tmp_path / name)

    first = (on_spark(spark, tmp_path / "spark"), in_python(tmp_path / "python"))
    for name in ("spark", "python"):
        for number in (2, 5):
            shard_dir = tmp_path / name / f"__consumer_offsets-{number}"
            append_segments(shard_dir, coordinator_log(50, 30, first_offset=int(max(shard_dir.glob("*.log")).stem)))
    cutoff_ms = START_MS + 10**9
    second = (on_spark(spark, tmp_path / "spark", cutoff_ms), in_python(tmp_path / "python", cutoff_ms))

    assert [len(result.layers) for result in (*first, *second)] == [SHARDS, SHARDS, 2, 2]
    assert contents(tmp_path / "spark") == contents(tmp_path / "python")


def test_a_shard_with_too_many_keys_for_a_task(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are shuffled: the same bytes, and the same result, as in one task."""
    for name in ("giant", "python"):
        write_data(tmp_path / name)
    told: list[int] = []
    progress = Progress()
    monkeypatch.setattr(progress, "advance", lambda shards, _: told.append(shards))
    expected = in_python(tmp_path / "python")
    keys = sorted(layer.records for layer in expected.layers)

    found = on_spark(spark, tmp_path / "giant", progress=progress, task_bytes=keys[-3] * KEY_BYTES)

    assert told[-2:] == [SHARDS - 1, SHARDS]
    assert contents(tmp_path / "giant") == contents(tmp_path / "python")
    assert [layer.records_in for layer in found.layers] == [layer.records_in for layer in expected.layers]


def test_a_second_compaction_changes_nothing(spark: Any, tmp_path: Path) -> None:
    """compact(compact(x)) is compact(x)."""
    write_data(tmp_path)
    on_spark(spark, tmp_path)
    before = contents(tmp_path)

    assert on_spark(spark, tmp_path) == CompactResult()
    assert contents(tmp_path) == before


def test_damage_in_a_task_is_one_line_and_publishes_nothing(spark: Any, tmp_path: Path) -> None:
    """File and position come through Spark as they are."""
    write_data(tmp_path)
    segment = min((tmp_path / "__consumer_offsets-4").glob("*.log"))
    segment.write_bytes(segment.read_bytes()[:-1] + b"\xff")

    with pytest.raises(ShardFailed, match=rf"{segment} at byte \d+: checksum") as caught:
        on_spark(spark, tmp_path)

    assert "\n" not in str(caught.value)
    assert not [name for name in contents(tmp_path) if "layer" in name]


@pytest.mark.parametrize("task_bytes", [TASK_BYTES, 1])
def test_every_kind_has_the_bytes_of_the_plain_engine(spark: Any, tmp_path: Path, task_bytes: int) -> None:
    """Keyed or folded, in one task or, where that can be, in many."""
    for name in ("spark", "python"):
        for topic, log in LOGS.items():
            write_segments(tmp_path / name / f"{topic}-0", log(1, 60, 0))

    found = on_spark(spark, tmp_path / "spark", START_MS + 30_000, task_bytes=task_bytes)
    in_python(tmp_path / "python", START_MS + 30_000)

    assert (len(found.layers), found.left_alone) == (len(LOGS), ())
    assert contents(tmp_path / "spark") == contents(tmp_path / "python")


def test_a_shard_that_is_not_understood_is_left_alone(spark: Any, tmp_path: Path) -> None:
    """The others are compacted."""
    write_data(tmp_path)
    builder = BatchBuilder(0, START_MS, attributes=0x10)
    builder.append(b"key", b"value")
    (tmp_path / "__consumer_offsets-99").mkdir()
    (tmp_path / "__consumer_offsets-99" / f"{0:020d}.log").write_bytes(builder.finish())
    (tmp_path / "__consumer_offsets-99" / f"{1:020d}.log").touch()

    result = on_spark(spark, tmp_path)

    assert len(result.layers) == SHARDS
    assert ["__consumer_offsets-99" in line for line in result.left_alone] == [True]


class Deadly:
    """A cutoff that kills whoever compares a timestamp with it."""

    def __le__(self, other: object) -> bool:
        os.kill(os.getpid(), signal.SIGKILL)
        return False


def test_a_worker_that_dies_publishes_nothing(spark: Any, tmp_path: Path) -> None:
    """A Python worker killed in the middle of its task: the job fails in one line, and what it left behind goes."""
    write_data(tmp_path)

    with pytest.raises(ShardFailed, match="Python worker") as caught:
        on_spark(spark, tmp_path, cutoff_ms=Deadly())  # type: ignore[arg-type]

    assert "\n" not in str(caught.value)
    assert not [name for name in contents(tmp_path) if "layer" in name]


def test_progress_ends_at_all_records(spark: Any, tmp_path: Path) -> None:
    """The tasks count, the driver tells."""
    told: list[tuple[int, int]] = []

    class Told(Progress):
        def advance(self, shards: int, records: int) -> None:
            told.append((shards, records))

    write_data(tmp_path)
    result = on_spark(spark, tmp_path, progress=Told())

    assert told[-1] == (SHARDS, sum(layer.records_in for layer in result.layers))


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(histories=st.lists(logs(), min_size=3, max_size=3), cutoff_ms=st.none() | st.just(START_MS + SPAN_MS // 2))
def test_any_log_gives_the_same_bytes(spark: Any, tmp_path: Path, histories: list[list[bytes]], cutoff_ms: int | None) -> None:
    """With all that a log may hold (``tests/property/test_compaction.py`` says what that means, for the plain engine)."""
    shutil.rmtree(tmp_path)
    for name in ("spark", "python"):
        for number, history in enumerate(histories):
            write_log(tmp_path / name / f"__consumer_offsets-{number}", history, 3)

    on_spark(spark, tmp_path / "spark", cutoff_ms)
    in_python(tmp_path / "python", cutoff_ms)

    assert contents(tmp_path / "spark") == contents(tmp_path / "python")
