"""Compaction of any log: what a start makes of it is what a start makes of the log itself,
however often and in whatever steps it is compacted.

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

from coordinator_server.log.jobs import InputFile
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.checkpoint import Checkpoint
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.compact.engine import Engine, PythonEngine, compact_shard
from coordinator_server.pipeline.states.groups import digest_of, empty_shard, groups_of
from coordinator_server.runtime.layer_checkpoint import LayerCheckpoint
from coordinator_server.runtime.loader import BatchReplay
from coordinator_server.runtime.producers import Producers
from protocol.coordinator_records import GROUP_SERDE
from protocol.record_batch import Record, iter_batches, iter_records
from tests.support.inputs import plan_shard
from tests.support.kafka_partition import marker
from tests.support.random_log import LOG_APPEND_TIME, PRODUCERS, SPAN_MS, logs, write_log
from tests.support.replay import replay_batches
from tests.support.segments import START_MS

pytest.importorskip("pyarrow", reason="the spark extra is not installed: make test brings it")

from coordinator_server.pipeline.compact import vector_engine
from coordinator_server.pipeline.compact.vector_engine import VectorEngine
from coordinator_server.pipeline.input import pieces
from coordinator_server.pipeline.rules import GROUP_RECORDS

SHARD = "__consumer_offsets-7"
EXAMPLES = int(os.environ.get("PIPELINE_EXAMPLES", "30"))
many = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
producers = st.sampled_from(PRODUCERS)
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


class Started:
    """A shard as a start loads it."""

    def __init__(self, checkpoint: Checkpoint | None = None) -> None:
        registry = SnapshotRegistry()
        self.shard, self.producers = empty_shard(), Producers(registry)
        if checkpoint is not None:
            self.shard.use_checkpoint(LayerCheckpoint(checkpoint, GROUP_SERDE))
        self._replay = BatchReplay(GROUP_SERDE, self.shard, self.producers).replay

    def replay(self, batches: Sequence[bytes]) -> None:
        for batch in batches:
            self._replay(batch)


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
@given(log=logs(), segments=st.integers(1, 4), cutoff_ms=cutoffs, ends=st.lists(st.tuples(producers, st.integers(0, 1))))
def test_a_start_from_a_checkpoint_comes_to_what_its_log_comes_to(
    tmp_path: Path, log: list[bytes], segments: int, cutoff_ms: int | None, ends: list[tuple[int, int]]
) -> None:
    """Groups, offsets, open transactions and producers; and so it is after any markers that follow."""
    [shard_dir] = fresh(tmp_path, "one")
    end = write_log(shard_dir, log, segments)
    compacted(shard_dir, cutoff_ms)
    layer = newest_valid_layer(shard_dir)
    assert layer is not None
    if not layer.manifest.checkpoint:
        return
    checkpoint = Checkpoint(layer)
    markers = [marker(end + at, *each) for at, each in enumerate(ends)]

    for tail in ([], markers):
        whole, resting = Started(), Started(checkpoint)
        whole.replay([*log, *tail])
        resting.replay([*checkpoint.other_batches(), *tail])

        assert (groups_of(resting.shard), digest_of(resting.shard)) == (groups_of(whole.shard), digest_of(whole.shard))
        assert resting.producers.last_stable_offset(LATEST) == whole.producers.last_stable_offset(LATEST)
        known = {each.id: each for each in resting.producers.active_at(LATEST)}
        expected = {each.id: each for each in whole.producers.active_at(LATEST)}
        assert known == expected or cutoff_ms is not None
        assert {each.id for each in expected.values() if each.first_offset >= 0} <= set(known)


@many
@given(log=logs(), at=st.integers(1, 29), segments=st.integers(1, 4), cutoff_ms=cutoffs)
def test_a_layer_and_its_tail_come_to_what_the_log_comes_to(
    tmp_path: Path, log: list[bytes], at: int, segments: int, cutoff_ms: int | None
) -> None:
    """Wherever the log is cut, in the middle of transactions too.

    And compacting in two steps writes the bytes that one step writes.
    """
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
    """Manifest and checkpoint included, with keys in files too; and compacting a layer again changes none of its records."""
    one, small, other = fresh(tmp_path, "plain", "small", "vectorised")
    for directory in (one, small, other):
        write_log(directory, log, segments)

    files = compacted(one, cutoff_ms)

    assert compacted(small, cutoff_ms, lambda: PythonEngine(key_bytes=500)) == files
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


class NoEngine:
    """The reference where it is not to be used."""

    def write(self, *_: object) -> None:
        raise AssertionError("the log cannot be read as columns")


@many
@given(log=logs(for_columns=True), at=st.integers(1, 29), segments=st.integers(1, 4), cutoff_ms=cutoffs)
def test_transactions_are_settled_in_columns(
    tmp_path: Path, log: list[bytes], at: int, segments: int, cutoff_ms: int | None
) -> None:
    """The bytes of the reference, without its help: wherever the log is cut, over a layer, and with files read one by one."""
    one, other = fresh(tmp_path, "plain", "vectorised")
    for part in filter(None, (log[:at], log[at:])):
        for directory in (one, other):
            write_log(directory, part, segments)

        files = compacted(one, cutoff_ms)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(vector_engine, "PythonEngine", NoEngine)
            patch.setattr(vector_engine, "GROUP_BYTES", at % 2 * vector_engine.GROUP_BYTES)
            patch.setattr(pieces, "PIECE_BYTES", at % 3 * 300)
            assert compacted(other, cutoff_ms, VectorEngine) == files


@many
@given(log=logs(with_transactions=False), segments=st.integers(1, 4))
def test_compaction_keeps_the_last_record_of_each_key_unchanged(tmp_path: Path, log: list[bytes], segments: int) -> None:
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
