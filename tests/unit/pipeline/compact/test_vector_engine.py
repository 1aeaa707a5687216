"""The vectorised engine, held to the reference."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coordinator_server.log.layers.attempt import publish
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.pipeline.compact.engine import Engine, PythonEngine, ShardResult, compact_shard
from coordinator_server.pipeline.layer.record_digest import digest_records
from coordinator_server.pipeline.states.state import replay_into
from coordinator_server.pipeline.states.transactions import TransactionalIdsState
from protocol.batch_builder import BatchBuilder, empty_batch
from protocol.record_batch import Record, iter_batches
from tests.support.inputs import plan_shard
from tests.support.kafka_partition import COMMIT, marker, of_transaction
from tests.support.kind_logs import transaction_log
from tests.support.random_log import write_log
from tests.support.segments import START_MS, Batch, append_segments, coordinator_log, encode, write_segments

pytest.importorskip("pyarrow", reason="the spark extra is not installed: make test brings it")

import numpy as np

from coordinator_server.pipeline.compact import vector_engine
from coordinator_server.pipeline.compact.column_digest import digest_columns
from coordinator_server.pipeline.compact.vector_engine import TooManyKeys, VectorEngine
from coordinator_server.pipeline.input import columns
from coordinator_server.pipeline.input.columns import Irregular, map_file, read_columns

SHARD = "__consumer_offsets-7"


def attempt_of(shard_dir: Path, engine: Engine, cutoff_ms: int | None = None) -> tuple[ShardResult, dict[str, bytes]]:
    """Counts and files."""
    plan = plan_shard(shard_dir)
    assert plan is not None
    result = compact_shard(plan, cutoff_ms, engine)
    files = {path.name: path.read_bytes() for path in Path(result.attempt).iterdir()}
    shutil.rmtree(result.attempt)
    return ShardResult(
        result.directory, result.to_offset, result.records_in, result.bytes_in, result.records, result.tombstones
    ), files


def assert_same(shard_dir: Path, cutoff_ms: int | None = None) -> dict[str, bytes]:
    reference, vectorised = (attempt_of(shard_dir, engine, cutoff_ms) for engine in (PythonEngine(), VectorEngine()))
    assert vectorised == reference
    return reference[1]


def read_all(path: Path) -> list[tuple[int, int, bytes, bool]]:
    """What the vectorised reader makes of a segment."""
    found = read_columns(map_file(path), None, 2**62)
    facts = zip(found.offset.tolist(), found.timestamp.tolist(), found.keys().to_pylist(), found.value_size.tolist(), strict=True)
    return [(offset, timestamp, key, size < 0) for offset, timestamp, key, size in facts]


@pytest.mark.parametrize("batches", [3, 200])
def test_columns_are_the_records(tmp_path: Path, batches: int) -> None:
    """Few batches are walked in plain Python, many with numpy: the same columns."""
    history = list(coordinator_log(4, batches))
    assert (batches > columns.NARROW) == (batches == 200)
    write_segments(tmp_path / SHARD, history, 1)

    found = read_all(tmp_path / SHARD / f"{0:020d}.log")

    assert found == [(r.offset, r.timestamp, r.key, r.value is None) for batch in history for r in batch.records]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cutoff_ms", [None, START_MS + 60_000])
def test_both_engines_write_the_same_bytes(tmp_path: Path, seed: int, cutoff_ms: int | None) -> None:
    """Manifest included: overwrites, tombstones, headers, epochs, several segments, and a layer that was there before."""
    shard_dir = tmp_path / SHARD
    end = write_segments(shard_dir, coordinator_log(seed, 80), 5)
    assert_same(shard_dir, cutoff_ms)
    plan = plan_shard(shard_dir)
    assert plan is not None
    Path(compact_shard(plan, None, VectorEngine()).attempt).rename(shard_dir / f"layer-{end:020d}")
    append_segments(shard_dir, coordinator_log(seed + 10, 40, first_offset=end), 3)

    files = assert_same(shard_dir, cutoff_ms)

    assert b"layer-" in files["manifest.json"]


@pytest.mark.parametrize(("cutoff_ms", "left"), [(START_MS + 1, 1), (START_MS + 2, 0)])
def test_a_tombstone_of_the_cutoff_stays(tmp_path: Path, cutoff_ms: int, left: int) -> None:
    """Only what is older goes, as in the reference."""
    write_segments(tmp_path / SHARD, [Batch((Record(0, START_MS, b"key", b"value"), Record(1, START_MS + 1, b"key", None)))])
    assert_same(tmp_path / SHARD, cutoff_ms)

    assert attempt_of(tmp_path / SHARD, VectorEngine(), cutoff_ms)[0].tombstones == left


def test_groups_of_files_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shard that is read in many groups and written in many slices gives the bytes it gives in one."""
    write_segments(tmp_path / SHARD, coordinator_log(5, 120), 20)
    whole = assert_same(tmp_path / SHARD)
    monkeypatch.setattr(vector_engine, "GROUP_BYTES", 20_000)
    monkeypatch.setattr(vector_engine, "WRITE_RECORDS", 300)

    assert assert_same(tmp_path / SHARD) == whole


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.binary(max_size=3) | st.binary(min_size=60, max_size=70),
            st.none() | st.binary(max_size=3) | st.binary(min_size=100, max_size=140) | st.just(b"x" * 70_000),
            st.integers(-(2**40), 2**40),
            st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=2),
            st.integers(0, 3),
        ),
        min_size=1,
        max_size=120,
    ),
    segments=st.integers(1, 4),
)
def test_any_records_give_the_same_bytes(
    tmp_path: Path,
    rows: list[tuple[bytes, bytes | None, int, list[tuple[str, bytes | None]], int]],
    segments: int,
) -> None:
    """Empty keys, times that run backwards, large and missing values, batches of any size."""
    shutil.rmtree(tmp_path / SHARD, ignore_errors=True)
    batches: list[Batch] = []
    records: list[Record] = []
    for offset, (key, value, time_ms, headers, more) in enumerate(rows):
        records.append(Record(offset, START_MS + time_ms, key, value, tuple(headers)))
        if not more or offset == len(rows) - 1:
            batches.append(Batch(tuple(records), len(batches) // 7))
            records = []
    write_segments(tmp_path / SHARD, batches, segments)

    assert_same(tmp_path / SHARD)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.binary(max_size=300), st.none() | st.binary(max_size=300)), min_size=1, max_size=60))
def test_the_digest_is_the_reference_s(records: list[tuple[bytes, bytes | None]]) -> None:
    """Computed over whole columns, it is the same number."""
    data = encode(Batch(tuple(Record(n, START_MS, key, value) for n, (key, value) in enumerate(records))))

    found = digest_columns([read_columns(np.frombuffer(data, np.uint8), 0, len(records))])

    assert found == digest_records(records)


def stretched_varint() -> bytes:
    """A key of length 1 whose length is written in two bytes: legal, and nobody does it."""
    plain = bytearray(encode(Batch((Record(0, START_MS, b"k", b"v"),))))
    at = plain.index(b"\x02k")
    body = bytes(plain[61:at]) + b"\x82\x00" + bytes(plain[at + 1 :])
    return resealed(bytes(plain[:61]) + bytes([body[0] + 2]) + body[1:])


def resealed(data: bytes) -> bytes:
    """With length and checksum made right."""
    from crc32c import crc32c

    return data[:8] + (len(data) - 12).to_bytes(4) + data[12:17] + crc32c(data[21:]).to_bytes(4) + data[21:]


def test_a_varint_that_is_too_long_is_the_reference_s(tmp_path: Path) -> None:
    """The vectorised reader does not copy what it would not write: the reference reads it, and the bytes are the same."""
    (tmp_path / SHARD).mkdir()
    segment = tmp_path / SHARD / f"{0:020d}.log"
    segment.write_bytes(stretched_varint())
    (tmp_path / SHARD / f"{1:020d}.log").touch()

    with pytest.raises(Irregular):
        read_columns(map_file(segment), 0, 1)
    assert_same(tmp_path / SHARD)


@pytest.mark.parametrize("position", [*range(0, 12, 3), *range(16, 61, 3)])
def test_a_damaged_header_is_irregular(position: int) -> None:
    """Whatever byte of it but the leader epoch's, which no checksum covers: the reference then says what is wrong."""
    builder = BatchBuilder(0, START_MS)
    builder.append(b"key", b"value")
    data = bytearray(builder.finish())
    data[position] ^= 0x41

    with pytest.raises(Irregular):
        read_columns(np.frombuffer(bytes(data), np.uint8), 0, 1)


@settings(max_examples=300)
@given(st.data())
def test_no_bytes_escape_as_anything_but_irregular(data: st.DataObject) -> None:
    """A batch whose checksum holds but whose records are nonsense does not crash the reader or run it over the end."""
    body = bytearray(encode(Batch(tuple(Record(n, START_MS, b"k%d" % n, b"v" * n) for n in range(20)))))
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(61, len(body) - 1))] = data.draw(st.integers(0, 255))

    try:
        found = read_columns(np.frombuffer(resealed(bytes(body)), np.uint8), 0, 20)
    except Irregular:
        return
    assert len(found) == 20
    assert (found.key_start <= found.key_end).all()
    assert (found.end <= len(body)).all()


def test_a_thousand_tiny_segments(tmp_path: Path) -> None:
    """Some of a batch without records. A file costs little beside what is in it."""
    batches: list[bytes] = []
    for offset in range(1000):
        whole = encode(Batch((Record(offset, START_MS + offset, b"\0\1k%d" % (offset % 90), b"v%d" % offset),)))
        batches.append(empty_batch(offset, 1) if offset % 10 == 9 else whole)

    assert write_log(tmp_path / SHARD, batches, 1000) == 1000
    assert_same(tmp_path / SHARD)


def test_one_giant_record(tmp_path: Path) -> None:
    """Among small ones: it gets a batch of its own."""
    sizes = [10, 4 << 20, 10, 10]
    batches = [Batch((Record(n, START_MS, b"\0\1k%d" % n, b"x" * size),)) for n, size in enumerate(sizes)]
    write_segments(tmp_path / SHARD, batches, 2)

    files = assert_same(tmp_path / SHARD)

    assert [header.count for _, header in iter_batches(files[f"{0:020d}.log"])] == [1, 1, 2]


def test_a_value_that_leaves_no_room_for_headers_is_irregular() -> None:
    """It ends where its record does: the number of headers is missing."""
    whole = bytearray(encode(Batch((Record(0, START_MS, b"k", b"v"),))))
    at = whole.index(b"\x02v")
    whole[at] = 4

    with pytest.raises(Irregular):
        read_columns(np.frombuffer(resealed(bytes(whole)), np.uint8), 0, 1)


@pytest.mark.parametrize("seed", range(3))
def test_a_log_of_transactional_ids_needs_no_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Tombstones, and a layer that was there before; and the layer comes to the state of the log."""
    shard_dir = tmp_path / "__transaction_state-3"
    early = transaction_log(seed, 60)
    end = write_segments(shard_dir, early, 3)
    assert_same(shard_dir)
    plan = plan_shard(shard_dir)
    assert plan is not None
    monkeypatch.setattr(vector_engine, "PythonEngine", None)
    publish(Path(compact_shard(plan, None, VectorEngine()).attempt), shard_dir, plan.to_offset)
    late = transaction_log(seed + 50, 40, end)
    append_segments(shard_dir, late)

    plan = plan_shard(shard_dir)
    assert plan is not None
    publish(Path(compact_shard(plan, None, VectorEngine()).attempt), shard_dir, plan.to_offset)

    layer = newest_valid_layer(shard_dir)
    assert layer is not None
    whole = replay_into(TransactionalIdsState(), map(encode, [*early, *late]))
    compacted = replay_into(TransactionalIdsState(), layer.read())
    assert (compacted.contents(), compacted.digest()) == (whole.contents(), whole.digest())
    assert len(whole) > 1


@pytest.mark.parametrize("with_markers", [False, True])
def test_a_shard_with_more_keys_than_memory_has_room_for(tmp_path: Path, with_markers: bool) -> None:
    """It is given up, and nothing is left; a marker takes as much as a key."""
    shard_dir = tmp_path / SHARD
    if with_markers:
        log = [of_transaction(0, 7, (b"\0\1a", b"1"), (b"\0\1b", b"2")), marker(2, 7, COMMIT)]
        write_log(shard_dir, log, 1)
    else:
        write_segments(shard_dir, [Batch(tuple(Record(n, START_MS, b"\0\1%d" % (n % 3), b"x") for n in range(20)))])
    plan = plan_shard(shard_dir)
    assert plan is not None

    with pytest.raises(TooManyKeys):
        compact_shard(plan, None, VectorEngine(most_keys=2))

    assert not [path for path in shard_dir.iterdir() if path.is_dir()]
    assert compact_shard(plan, None, VectorEngine(most_keys=3)).attempt
