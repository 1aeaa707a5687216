"""Compaction of any log: what a start makes of it is what a start makes of the log itself, however often and in whatever steps it is compacted.

``PIPELINE_EXAMPLES=5000`` draws more of them (``make torture``).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.machine.digest import StateDigest
from coordinator_server.pipeline.compact.engine import Engine, PythonEngine, compact_shard
from coordinator_server.pipeline.compact.plan import plan_shard
from coordinator_server.pipeline.input.files import InputFile
from coordinator_server.pipeline.states.groups import digest_of, groups_of, replay_batches
from protocol.record_batch import Record, iter_batches, iter_records
from tests.support.random_log import LOG_APPEND_TIME, SPAN_MS, logs, write_log
from tests.support.segments import START_MS

pytest.importorskip("pyarrow", reason="the spark extra is not installed: make test brings it")

from coordinator_server.pipeline.compact.vector_engine import VectorEngine
from coordinator_server.pipeline.rules import GROUP_RECORDS

SHARD = "__consumer_offsets-7"
EXAMPLES = int(os.environ.get("PIPELINE_EXAMPLES", "60"))
many = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
cutoffs = st.none() | st.integers(0, SPAN_MS + 1).map(lambda at: START_MS + at)


def state(batches: Sequence[bytes]) -> tuple[object, StateDigest]:
    """Everything a start makes of batches, open transactions included."""
    shard = replay_batches(batches)
    return groups_of(shard), digest_of(shard)


def compacted(shard_dir: Path, cutoff_ms: int | None, engine: Callable[[], Engine] = PythonEngine) -> dict[str, bytes]:
    """Compact and publish; the layer's files."""
    plan = plan_shard(shard_dir)
    if plan is not None:
        result = compact_shard(plan, cutoff_ms, engine())
        assert not result.left_alone
        publish(Path(result.attempt), shard_dir, plan.to_offset)
    layer = newest_valid_layer(shard_dir)
    assert layer is not None
    return {path.name: path.read_bytes() for path in layer.path.iterdir()}


def records_of_layer(shard_dir: Path) -> list[bytes]:
    layer = newest_valid_layer(shard_dir)
    assert layer is not None
    return list(layer.read())


def fresh(tmp_path: Path, *names: str) -> list[Path]:
    """Empty directories, one example's."""
    shutil.rmtree(tmp_path, ignore_errors=True)
    return [tmp_path / name / SHARD for name in names]


def records(batches: Sequence[bytes]) -> dict[int, Record]:
    """By offset; where the batch says LogAppendTime, that is the time of each."""
    found = {}
    for batch in batches:
        [(at, header)] = iter_batches(batch)
        for record in iter_records(batch, at, header):
            found[record.offset] = record
            if header.attributes & LOG_APPEND_TIME:
                record.timestamp = header.max_timestamp
    return found


@many
@given(log=logs(), segments=st.integers(1, 4), cutoff_ms=cutoffs)
def test_a_layer_comes_to_what_its_log_comes_to(tmp_path: Path, log: list[bytes], segments: int, cutoff_ms: int | None) -> None:
    """Groups, offsets and open transactions; and with every end that the log may go on with."""
    [shard_dir] = fresh(tmp_path, "one")
    write_log(shard_dir, log, segments)

    compacted(shard_dir, cutoff_ms)

    assert state(records_of_layer(shard_dir)) == state(log)


@many
@given(log=logs(), at=st.integers(1, 29), segments=st.integers(1, 4), cutoff_ms=cutoffs)
def test_a_layer_and_its_tail_come_to_what_the_log_comes_to(
    tmp_path: Path, log: list[bytes], at: int, segments: int, cutoff_ms: int | None
) -> None:
    """Wherever the log is cut, in the middle of transactions too. And compacting in two steps writes the bytes that one step writes."""
    once, twice = fresh(tmp_path, "once", "twice")
    early, late = log[:at], log[at:]
    write_log(twice, early, segments)
    compacted(twice, cutoff_ms)
    assert state([*records_of_layer(twice), *late]) == state(log)
    if not late:
        return
    write_log(twice, late, segments)
    write_log(once, log, segments)

    compacted(once, cutoff_ms)
    compacted(twice, cutoff_ms)

    assert records_of_layer(once) == records_of_layer(twice)


@many
@given(log=logs(), segments=st.integers(1, 4), cutoff_ms=cutoffs)
def test_all_engines_write_the_same_bytes(tmp_path: Path, log: list[bytes], segments: int, cutoff_ms: int | None) -> None:
    """Manifest and checkpoint included; and compacting a layer again changes none of its records."""
    one, other = fresh(tmp_path, "plain", "vectorised")
    for directory in (one, other):
        write_log(directory, log, segments)

    files = compacted(one, cutoff_ms)

    assert compacted(other, cutoff_ms, VectorEngine) == files
    layer = newest_valid_layer(one)
    assert layer is not None
    inputs = [InputFile(str(path), 0, layer.to_offset, is_dense=False) for path in layer.files()]
    for engine in (PythonEngine(), VectorEngine()):
        with LayerAttempt(other, layer.to_offset) as attempt:
            engine.write(GROUP_RECORDS, inputs, cutoff_ms, attempt)
            attempt.close()
            assert {entry.name: (attempt.path / entry.name).read_bytes() for entry in attempt.entries} == {
                path.name: path.read_bytes() for path in layer.files()
            }
        shutil.rmtree(attempt.path)


@many
@given(log=logs(with_transactions=False), segments=st.integers(1, 4))
def test_records_stay_what_they_were(tmp_path: Path, log: list[bytes], segments: int) -> None:
    """Offset, time, key, value and headers, of the last record of each key."""
    [shard_dir] = fresh(tmp_path, "one")
    write_log(shard_dir, log, segments)

    compacted(shard_dir, None)

    before = records(log)
    last = {_position(record): record for record in before.values()}
    assert list(records(records_of_layer(shard_dir)).values()) == sorted(last.values(), key=lambda record: record.offset)


def _position(record: Record) -> bytes:
    """What it is about: a legacy key is about what the present one is about."""
    assert record.key is not None
    return b"\0\1" + record.key[2:] if record.key[:2] == b"\0\0" else record.key
