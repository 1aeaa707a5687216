"""A shard by many tasks, without Spark: a dict and a sort stand for the shuffle. Held to the reference engine, byte for byte."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from coordinator_server.log.layers.attempt import publish
from coordinator_server.log.layers.layer import open_layer
from coordinator_server.pipeline.compact import vector_engine
from coordinator_server.pipeline.compact.engine import Engine, PythonEngine, ShardResult, compact_shard
from coordinator_server.pipeline.compact.shuffle import ShuffledEngine, last_offsets
from coordinator_server.pipeline.compact.vector_engine import file_groups
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.input import pieces
from coordinator_server.pipeline.input.columns import Columns, Ints
from coordinator_server.pipeline.rules import GROUP_RECORDS
from protocol.batch_builder import BatchBuilder
from protocol.record_batch import Record
from tests.support.inputs import compacted_input, plan_shard
from tests.support.segments import START_MS, Batch, append_segments, coordinator_log, write_segments

SHARD = "__consumer_offsets-7"
BY_TRANSACTION = 0x10


def shuffled(shard_dir: Path, seed: int = 0) -> Iterator[Ints]:
    """What the shuffle hands to the writer, in pieces of any length."""
    plan = plan_shard(shard_dir)
    assert plan is not None
    last: dict[bytes | None, int] = {}
    for group in file_groups(compacted_input(shard_dir, plan.to_offset)[1]):
        for batch in last_offsets(group, GROUP_RECORDS):
            for key, offset in zip(batch["key"].to_pylist(), batch["offset"].to_pylist(), strict=True):
                last[key] = max(offset, last.get(key, -1))
    offsets, rng = sorted(last.values()), random.Random(seed)
    while offsets:
        count = rng.choice((0, 1, 7, 500))
        yield np.array(offsets[:count], np.int64)
        offsets = offsets[count:]


def compacted(shard_dir: Path, engine: Engine, cutoff_ms: int | None = None) -> ShardResult:
    plan = plan_shard(shard_dir)
    assert plan is not None
    result = compact_shard(plan, cutoff_ms, engine)
    publish(Path(result.attempt), shard_dir, result.to_offset)
    return result


def same_layers(one: Path, other: Path) -> bool:
    found = [{path.name: path.read_bytes() for path in each.glob("layer-*/*")} for each in (one / SHARD, other / SHARD)]
    return bool(found[0]) and found[0] == found[1]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("group_bytes", [1, 40_000])
def test_the_bytes_of_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, group_bytes: int) -> None:
    """From segments, and again from the layer and what came after it, with a cutoff that some tombstones are behind."""
    monkeypatch.setattr(vector_engine, "GROUP_BYTES", group_bytes)
    monkeypatch.setattr(pieces, "PIECE_BYTES", group_bytes // 4)
    results = []
    for name in ("shuffled", "reference"):
        shard = tmp_path / name / SHARD
        write_segments(shard, coordinator_log(seed, 120), 9)
        results.append(compacted(shard, ShuffledEngine(shuffled(shard)) if name == "shuffled" else PythonEngine()))
        end = append_segments(shard, coordinator_log(seed + 100, 40, first_offset=results[-1].to_offset), 3)
        cutoff_ms = START_MS + 1000 * end
        results.append(compacted(shard, ShuffledEngine(shuffled(shard)) if name == "shuffled" else PythonEngine(), cutoff_ms))

    assert same_layers(tmp_path / "shuffled", tmp_path / "reference")
    assert [each.records_in for each in results[:2]] == [each.records_in for each in results[2:]]
    assert any(each.tombstones for each in results)


def test_a_file_that_is_not_plain(tmp_path: Path) -> None:
    """Then the reference does the whole shard: here, a batch of a transaction that is open."""
    for name in ("shuffled", "reference"):
        shard = tmp_path / name / SHARD
        end = write_segments(shard, coordinator_log(3, 40), 4, sealed=False)
        builder = BatchBuilder(end, START_MS, attributes=BY_TRANSACTION, producer_id=5, producer_epoch=0, base_sequence=0)
        builder.append(b"\0\1key", b"value")
        (shard / f"{end:020d}.log").write_bytes(builder.finish())
        (shard / f"{end + 1:020d}.log").touch()
        compacted(shard, ShuffledEngine(shuffled(shard)) if name == "shuffled" else PythonEngine())

    assert same_layers(tmp_path / "shuffled", tmp_path / "reference")


@pytest.mark.parametrize("wrong", [lambda offsets: offsets + 1, lambda offsets: np.append(offsets, 10**9)])
def test_an_offset_that_no_file_has_closes_the_gate(tmp_path: Path, wrong: object) -> None:
    """Nothing is left behind."""
    shard = tmp_path / SHARD
    write_segments(shard, coordinator_log(1, 20), 3)
    right = np.concatenate(list(shuffled(shard)))

    with pytest.raises(GateClosed, match="offset"):
        compacted(shard, ShuffledEngine(iter([wrong(right)])))  # type: ignore[operator]

    assert not [path for path in shard.iterdir() if path.is_dir()]


@pytest.mark.parametrize(("cutoff_ms", "left"), [(START_MS + 1, 1), (START_MS + 2, 0)])
def test_a_tombstone_of_the_cutoff_stays(tmp_path: Path, cutoff_ms: int, left: int) -> None:
    """Only what is older goes, as in the reference."""
    shard = tmp_path / SHARD
    write_segments(shard, [Batch((Record(0, START_MS, b"key", b"value"), Record(1, START_MS + 1, b"key", None)))])

    assert compacted(shard, ShuffledEngine(shuffled(shard)), cutoff_ms).tombstones == left


def test_memory_holds_a_file_and_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for its batch to be full is less than a batch, however many files went before."""
    shard = tmp_path / SHARD
    write_segments(shard, coordinator_log(5, 200), 20)
    waiting = []
    write = vector_engine.write_batches

    def watched(kept: list[Columns], attempt: object, *, is_end: bool = True) -> list[Columns]:
        left = write(kept, attempt, is_end=is_end)  # type: ignore[arg-type]
        waiting.append(sum(map(len, left)))
        return left

    monkeypatch.setattr("coordinator_server.pipeline.compact.shuffle.write_batches", watched)
    result = compacted(shard, ShuffledEngine(shuffled(shard)))

    assert len(waiting) > 10
    assert max(waiting) <= 200
    assert open_layer(shard, result.to_offset).manifest.records == result.records > 400
