"""Batches that compaction keeps as they are: markers, and those of open transactions."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from coordinator_server.log.jobs import FileEntry
from coordinator_server.log.layers.attempt import LayerAttempt
from coordinator_server.log.layers.layer import Layer, Manifest
from coordinator_server.pipeline.compact.engine import PythonEngine
from protocol.control_records import control_type
from protocol.record_batch import iter_records, read_header
from tests.support.inputs import compacted_input
from tests.support.kafka_partition import marker, of_transaction, plain
from tests.support.random_log import end_of, write_log
from tests.support.segments import offset_key, offset_value

pytest.importorskip("pyarrow", reason="the spark extra is not installed: make test brings it")

from coordinator_server.pipeline.compact import vector_engine
from coordinator_server.pipeline.compact.vector_engine import VectorEngine
from coordinator_server.pipeline.rules import GROUP_RECORDS

SHARD = "__consumer_offsets-7"


def of_many_producers(producers: int = 7, transactions: int = 60) -> list[bytes]:
    """A log that is half transactions, of which some are open at its end. Some have a control record that ends none."""
    rng, found = random.Random(3), list[bytes]()
    for number in range(transactions):
        producer = rng.randrange(producers)
        pairs = [(offset_key(rng.choice("gh"), "t", each), offset_value(number)) for each in range(rng.randint(1, 4))]
        found.append(plain(end_of(found[-1]) if found else 0, *pairs))
        found.append(of_transaction(end_of(found[-1]), producer, *pairs))
        if number < transactions - 3:
            found.append(marker(end_of(found[-1]), producer, rng.choice((0, 1, 1, 5))))
    return found


@pytest.mark.parametrize(("file_bytes", "run_bytes"), [(400, 1 << 20), (1 << 20, 100), (700, 250), (1, 1)])
def test_unchanged_batches_are_cut_into_files_as_others_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file_bytes: int, run_bytes: int
) -> None:
    """However many of them are copied at a time."""
    end = write_log(tmp_path / SHARD, of_many_producers(), 3)
    inputs = compacted_input(tmp_path / SHARD, end)[1]
    monkeypatch.setattr(vector_engine, "RUN_BYTES", run_bytes)
    found = []
    for engine in (PythonEngine(), VectorEngine()):
        with LayerAttempt(tmp_path / SHARD, end, file_bytes) as attempt:
            result = engine.write(GROUP_RECORDS, inputs, None, attempt)
            attempt.close()
        paths = [attempt.path / entry.name for entry in attempt.entries]
        assert engine.digest(paths) == result.digest
        found.append({path.name: path.read_bytes() for path in paths})

    assert found[0] == found[1]
    assert (len(found[0]) > 1) == (file_bytes < 1 << 20)


def test_for_a_checkpoint_only_old_markers_are_left_out(tmp_path: Path) -> None:
    """Nothing else, and of each producer's markers the last one of a file stays."""
    log = of_many_producers()
    (tmp_path / "layer").mkdir()
    (tmp_path / "layer" / f"{0:020d}.log").write_bytes(b"".join(log))
    entry = FileEntry(f"{0:020d}.log", 0, 0)
    layer = Layer(tmp_path / "layer", Manifest(SHARD, end_of(log[-1]), 0, 0, "", (entry,), ()))

    read = [batch for batch, _ in VectorEngine().for_checkpoint(layer)]

    left_out = [batch for batch in log if batch not in read]
    last = {read_header(batch).producer_id: batch for batch in log if is_marker(batch)}
    assert [batch for batch in log if batch in read] == read
    assert left_out == [batch for batch in log if is_marker(batch) and batch not in last.values()]
    assert len(left_out) > len(last)


def is_marker(batch: bytes) -> bool:
    header = read_header(batch)
    return header.is_control and all(control_type(each.key) in (0, 1) for each in iter_records(batch, 0, header))
