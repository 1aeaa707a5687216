"""The reference engine, held to a dict."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import InputFile
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.layer import open_layer
from coordinator_server.pipeline.compact.engine import PythonEngine, ShardResult, compact_shard
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.layer.batches import MAX_RECORDS
from coordinator_server.pipeline.layer.record_digest import RecordDigest
from coordinator_server.pipeline.rules import GROUP_RECORDS
from protocol.batch_builder import BatchBuilder
from protocol.record_batch import CONTROL, TRANSACTIONAL, BatchHeader, Record, iter_records, read_header
from tests.support.inputs import plan_shard
from tests.support.segments import (
    START_MS,
    Batch,
    append_segments,
    coordinator_log,
    encode,
    offset_key,
    offset_value,
    write_segments,
)

SHARD = "__consumer_offsets-7"


def compacted(shard_dir: Path, cutoff_ms: int | None = None) -> ShardResult:
    """Compact and publish."""
    plan = plan_shard(shard_dir)
    assert plan is not None
    result = compact_shard(plan, cutoff_ms, PythonEngine())
    if result.attempt:
        publish(Path(result.attempt), shard_dir, result.to_offset)
    return result


def layer_batches(shard_dir: Path, to_offset: int) -> list[tuple[BatchHeader, list[Record]]]:
    batches = open_layer(shard_dir, to_offset).read()
    return [(header := read_header(batch), list(iter_records(batch, 0, header))) for batch in batches]


def layer_records(shard_dir: Path, to_offset: int) -> list[Record]:
    return [record for _, records in layer_batches(shard_dir, to_offset) for record in records]


def layer_bytes(shard_dir: Path, to_offset: int) -> list[tuple[str, bytes]]:
    return [(path.name, path.read_bytes()) for path in open_layer(shard_dir, to_offset).files()]


def naive(batches: list[Batch], cutoff_ms: int | None) -> list[Record]:
    """What should be left, in three lines."""
    latest = {record.key: record for batch in batches for record in batch.records}
    stays = (r for r in latest.values() if r.value is not None or cutoff_ms is None or r.timestamp >= cutoff_ms)
    return sorted(stays, key=lambda record: record.offset)


@st.composite
def histories(draw: st.DrawFn) -> list[Batch]:
    """Logs of few keys that are overwritten and deleted a lot."""
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, 12),
                st.none() | st.binary(max_size=40),
                st.integers(0, 100),
                st.booleans(),
                st.lists(st.tuples(st.text(max_size=4), st.none() | st.binary(max_size=5)), max_size=2),
                st.booleans(),
            ),
            min_size=1,
            max_size=60,
        )
    )
    batches: list[Batch] = []
    records: list[Record] = []
    epoch = 0
    for offset, (key, value, time_ms, cuts, headers, changes) in enumerate(rows):
        records.append(Record(offset, START_MS + time_ms, b"k%d" % key, value, tuple(headers)))
        if cuts or offset == len(rows) - 1:
            batches.append(Batch(tuple(records), epoch))
            records = []
            epoch += changes
    return batches


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(history=histories(), segments=st.integers(1, 5), cutoff=st.none() | st.integers(0, 100))
def test_the_last_record_of_every_key_stays(tmp_path: Path, history: list[Batch], segments: int, cutoff: int | None) -> None:
    """With its offset, timestamp and headers; tombstones too, but for those before the cutoff."""
    shutil.rmtree(tmp_path / SHARD, ignore_errors=True)
    cutoff_ms = None if cutoff is None else START_MS + cutoff
    end = write_segments(tmp_path / SHARD, history, segments)

    result = compacted(tmp_path / SHARD, cutoff_ms)

    expected = naive(history, cutoff_ms)
    assert layer_records(tmp_path / SHARD, end) == expected
    assert (result.records, result.tombstones) == (len(expected), sum(record.value is None for record in expected))
    assert result.records_in == end


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(history=histories(), cut=st.integers(0, 60), segments=st.integers(1, 4))
def test_a_layer_stands_for_what_it_was_made_from(tmp_path: Path, history: list[Batch], cut: int, segments: int) -> None:
    """Compacting a layer and what came after it gives the bytes that compacting everything at once gives."""
    shutil.rmtree(tmp_path, ignore_errors=True)
    once, twice = tmp_path / "once" / SHARD, tmp_path / "twice" / SHARD
    end = write_segments(once, history, segments)
    early, late = history[:cut], history[cut:]
    if not early or not late:
        return
    write_segments(twice, early, segments)
    compacted(twice)
    append_segments(twice, late, segments)

    compacted(once)
    compacted(twice)

    assert layer_bytes(once, end) == layer_bytes(twice, end)


def test_batches_are_cut_again(tmp_path: Path) -> None:
    """At most 200 records, of one leader epoch; the first gives base offset and time, and gaps are allowed."""
    end = write_segments(tmp_path / SHARD, coordinator_log(1, 150))

    compacted(tmp_path / SHARD)

    batches = layer_batches(tmp_path / SHARD, end)
    assert {header.count for header, _ in batches} >= {MAX_RECORDS}
    assert max(header.count for header, _ in batches) == MAX_RECORDS
    for header, records in batches:
        assert (header.base_offset, header.base_timestamp) == (records[0].offset, records[0].timestamp)
        assert header.max_timestamp == max(record.timestamp for record in records)
        assert header.last_offset == records[-1].offset
    epochs = [header.leader_epoch for header, _ in batches]
    assert epochs == sorted(epochs)
    assert len(set(epochs)) > 1


def test_large_records_make_small_batches(tmp_path: Path) -> None:
    """A batch takes a megabyte of keys and values, or one record that is larger."""
    sizes = [400_000, 400_000, 400_000, 3_000_000, 10, 10]
    records = tuple(Record(n, START_MS, b"%d" % n, b"x" * size) for n, size in enumerate(sizes))
    end = write_segments(tmp_path / SHARD, [Batch(records)])

    compacted(tmp_path / SHARD)

    assert [header.count for header, _ in layer_batches(tmp_path / SHARD, end)] == [2, 1, 1, 2]


def test_offsets_far_apart_do_not_share_a_batch(tmp_path: Path) -> None:
    """An offset delta is an int32."""
    shard_dir = tmp_path / SHARD
    far = 2**31
    with LayerAttempt(shard_dir_made(shard_dir), far + 2) as attempt:
        PythonEngine().write(GROUP_RECORDS, [_source(tmp_path, [0, 5]), _source(tmp_path, [far + 1])], None, attempt)
        attempt.close()
        assert [entry.size > 0 for entry in attempt.entries] == [True]
        data = (attempt.path / attempt.entries[0].name).read_bytes()

    first = read_header(data)
    assert (first.count, read_header(data, first.size).base_offset) == (2, far + 1)


def shard_dir_made(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _source(directory: Path, offsets: list[int]) -> InputFile:
    path = directory / f"{offsets[0]:020d}.log"
    path.write_bytes(encode(Batch(tuple(Record(offset, START_MS, b"%d" % offset, b"") for offset in offsets))))
    return InputFile(str(path), 0, 2**40, is_dense=False)


@pytest.mark.parametrize(
    ("shard", "attributes", "producer_id", "key", "says"),
    [
        (SHARD, TRANSACTIONAL, -1, b"key", "transactional records without a producer"),
        (SHARD, TRANSACTIONAL | CONTROL, -1, b"\0\0\0\1", "transactional records without a producer"),
        (SHARD, CONTROL, -1, b"\0\0\0\1", "transactional records without a producer"),
        (SHARD, 0, 5, b"key", "a producer's outside of transactions"),
        (SHARD, 0x80, -1, b"key", "attributes 0x80"),
        (SHARD, 0, -1, None, "records without a key"),
        ("__transaction_state-3", TRANSACTIONAL, 5, b"key", "transactional records in a log that has none"),
    ],
)
def test_a_shard_that_is_not_understood_is_left_alone(
    tmp_path: Path, shard: str, attributes: int, producer_id: int, key: bytes | None, says: str
) -> None:
    """The shard stays as it is, and a line says why."""
    builder = BatchBuilder(0, START_MS, attributes=attributes, producer_id=producer_id)
    builder.append(key, b"value")
    (shard_dir_made(tmp_path / shard) / f"{0:020d}.log").write_bytes(builder.finish())
    (tmp_path / shard / f"{1:020d}.log").touch()

    result = compacted(tmp_path / shard)

    assert says in result.left_alone
    assert f"{shard}/{0:020d}.log at byte 0" in result.left_alone
    assert sorted(path.name for path in (tmp_path / shard).iterdir()) == [f"{0:020d}.log", f"{1:020d}.log"]


def test_a_legacy_tombstone_takes_what_the_present_key_has_put(tmp_path: Path) -> None:
    """Both name one position: when the tombstone goes, nothing comes back."""
    present, legacy = offset_key("g", "t", 0), b"\0\0" + offset_key("g", "t", 0)[2:]
    rows = (Record(0, START_MS, present, offset_value(1)), Record(1, START_MS, legacy, None))
    end = write_segments(tmp_path / SHARD, [Batch(rows)])

    compacted(tmp_path / SHARD, START_MS + 1)

    assert layer_records(tmp_path / SHARD, end) == []


def test_keys_of_other_topics_are_what_they_are(tmp_path: Path) -> None:
    """Type 0 and type 1 are two things in a topic of another coordinator."""
    shard_dir = tmp_path / "__transaction_state-3"
    rows = (Record(0, START_MS, b"\0\1key", b"snapshot"), Record(1, START_MS, b"\0\0key", b"update"))
    end = write_segments(shard_dir, [Batch(rows)])

    compacted(shard_dir)

    assert layer_records(shard_dir, end) == list(rows)


@pytest.mark.parametrize("harm", ["a bit", "a segment gone", "cut"])
def test_damage_is_named_and_nothing_is_left_behind(tmp_path: Path, harm: str) -> None:
    """A sealed segment that is not whole, or not there, stops the job with file and position."""
    shard_dir = tmp_path / SHARD
    write_segments(shard_dir, coordinator_log(2, 40))
    segments = sorted(shard_dir.glob("*.log"))
    match harm:
        case "a bit":
            data = bytearray(segments[1].read_bytes())
            data[len(data) // 2] ^= 4
            segments[1].write_bytes(data)
        case "a segment gone":
            segments[1].unlink()
        case "cut":
            segments[1].write_bytes(segments[1].read_bytes()[:-7])

    with pytest.raises(DamagedLog) as caught:
        compacted(shard_dir)

    assert caught.value.path == str(segments[0 if harm == "a segment gone" else 1])
    assert not [path for path in shard_dir.iterdir() if "layer" in path.name]


def test_the_gate_stays_closed_when_the_output_differs(tmp_path: Path) -> None:
    """What was written is read back; one key too few, and nothing is published."""

    class Forgetful(PythonEngine):
        def digest(self, paths: object, /) -> RecordDigest:
            return RecordDigest(1, (2, 3))

    write_segments(tmp_path / SHARD, coordinator_log(3, 10))
    plan = plan_shard(tmp_path / SHARD)
    assert plan is not None

    with pytest.raises(GateClosed, match=SHARD):
        compact_shard(plan, None, Forgetful())

    assert not [path for path in (tmp_path / SHARD).iterdir() if "layer" in path.name]
