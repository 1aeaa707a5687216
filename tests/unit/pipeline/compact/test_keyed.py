"""Compaction where transactions are: what is ended, what is kept unchanged, and for how long."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import InputFile
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.layer import open_layer
from coordinator_server.pipeline.compact.engine import Engine, PythonEngine, ShardResult, compact_shard
from coordinator_server.pipeline.compact.vector_engine import VectorEngine
from coordinator_server.pipeline.files.kafka.files import Partition
from coordinator_server.pipeline.rules import GROUP_RECORDS
from coordinator_server.pipeline.states.groups import digest_of, groups_of
from protocol.record_batch import TRANSACTIONAL, iter_batches, iter_records
from tests.support.inputs import plan_shard
from tests.support.kafka_log import kept_log
from tests.support.kafka_partition import ABORT, COMMIT, marker, of_transaction, plain
from tests.support.random_log import packed, write_log
from tests.support.replay import replay_batches
from tests.support.segments import START_MS, offset_key, offset_value

SHARD = "__consumer_offsets-7"
KEY = offset_key("group", "orders", 0)
OTHER = offset_key("group", "orders", 1)
VALUE = offset_value(5)
GZIP, LOG_APPEND_TIME = 1, 8


def compacted(shard_dir: Path, *log: bytes, cutoff_ms: int | None = None) -> list[bytes]:
    """The batches of the layer, after these have been appended."""
    write_log(shard_dir, log, 1)
    return list(open_layer(shard_dir, publish_layer(shard_dir, cutoff_ms).to_offset).read())


def publish_layer(shard_dir: Path, cutoff_ms: int | None = None) -> ShardResult:
    plan = plan_shard(shard_dir)
    assert plan is not None
    result = compact_shard(plan, cutoff_ms, PythonEngine())
    publish(Path(result.attempt), shard_dir, plan.to_offset)
    return result


def shape(batches: list[bytes]) -> list[tuple[int, int, list[int]]]:
    """Of each batch: producer id, attributes, and the offsets of its records."""
    return [
        (header.producer_id, header.attributes, [record.offset for record in iter_records(batch, at, header)])
        for batch in batches
        for at, header in iter_batches(batch)
    ]


@pytest.mark.parametrize(("kind", "stands"), [(COMMIT, 1), (ABORT, 0)])
def test_what_is_ended_is_plain(tmp_path: Path, kind: int, stands: int) -> None:
    """A committed record stands by its own offset, an aborted one never was; the marker stays as it is."""
    log = [plain(0, (KEY, VALUE)), of_transaction(1, 7, (KEY, offset_value(6))), marker(2, 7, kind)]

    layer = compacted(tmp_path / SHARD, *log)

    assert shape(layer) == [(-1, 0, [stands]), (7, 0x30, [2])]
    assert layer[1] == log[2]


def test_a_marker_goes_with_the_tombstones(tmp_path: Path) -> None:
    """Its time is before the cutoff, or it is not."""
    log = [of_transaction(0, 7, (KEY, VALUE)), marker(1, 7, COMMIT)]

    kept = compacted(tmp_path / "kept" / SHARD, *log, cutoff_ms=START_MS + 1)
    gone = compacted(tmp_path / "gone" / SHARD, *log, cutoff_ms=START_MS + 2)

    assert [len(kept), len(gone)] == [2, 1]
    assert gone == kept[:1]


def test_an_open_transaction_is_not_touched(tmp_path: Path) -> None:
    """Whole batches, to the byte, in their places between records that are cut anew; ended when its marker has come."""
    shard_dir = tmp_path / SHARD
    log = [
        plain(0, (OTHER, VALUE)),
        of_transaction(1, 7, (KEY, offset_value(50)), (KEY, offset_value(51))),
        plain(3, (offset_key("group", "orders", 2), VALUE)),
        packed(of_transaction(4, 7, (OTHER, offset_value(52))), GZIP),
    ]

    early = compacted(shard_dir, *log)
    late = compacted(shard_dir, marker(5, 7, COMMIT))

    assert shape(early) == [(-1, 0, [0]), (7, 0x10, [1, 2]), (-1, 0, [3]), (7, 0x11, [4])]
    assert [early[1], early[3]] == [log[1], log[3]]
    assert shape(late) == [(-1, 0, [2, 3, 4]), (7, 0x30, [5])]


def test_a_tombstone_stays_while_it_takes_something_back(tmp_path: Path) -> None:
    """Without it the commit of the transaction would bring back what was deleted meanwhile."""
    shard_dir = tmp_path / SHARD
    far = START_MS + 10**9
    log = [plain(0, (OTHER, None)), of_transaction(1, 7, (KEY, VALUE)), plain(2, (KEY, None))]

    early = compacted(shard_dir, *log, cutoff_ms=far)
    late = compacted(shard_dir, marker(3, 7, COMMIT), cutoff_ms=far)

    assert shape(early) == [(7, 0x10, [1]), (-1, 0, [2])]
    assert late == []


def test_a_commit_behind_such_a_tombstone_does_not_replace_it(tmp_path: Path) -> None:
    """Else the position would look as if the transaction might still change it."""
    log = [of_transaction(0, 7, (KEY, VALUE)), plain(1, (KEY, None), (KEY, offset_value(9)))]

    layer = compacted(tmp_path / SHARD, *log)

    assert shape(layer) == [(7, 0x10, [0]), (-1, 0, [1, 2])]
    assert digest_of(replay_batches(layer)) == digest_of(replay_batches(log))


def test_compressed_batches_are_unpacked(tmp_path: Path) -> None:
    """Their records are what they were; LogAppendTime is the time of each."""
    late = packed(plain(0, (KEY, VALUE), (OTHER, VALUE)), GZIP, LOG_APPEND_TIME)

    layer = compacted(tmp_path / SHARD, late, packed(plain(2, (KEY, None)), 4))

    assert shape(layer) == [(-1, 0, [1, 2])]
    [(at, header)] = iter_batches(layer[0])
    assert [record.timestamp for record in iter_records(layer[0], at, header)] == [START_MS, START_MS + 2]


def test_damage_inside_is_told_with_the_batch_s_place(tmp_path: Path) -> None:
    """A place in what was unpacked would be none in the file."""
    first = plain(0, (KEY, VALUE))

    with pytest.raises(DamagedLog, match=rf"{0:020d}\.log at byte {len(first)}: "):
        compacted(tmp_path / SHARD, first, packed(plain(1, (OTHER, b"x" * 2000))[:-50], GZIP))

    assert [path.name for path in sorted((tmp_path / SHARD).iterdir())] == [f"{0:020d}.log", f"{2:020d}.log"]


@pytest.mark.parametrize("engine", [PythonEngine(), VectorEngine()])
def test_what_kafka_has_written_comes_to_the_same(tmp_path: Path, engine: Engine) -> None:
    """All partitions of a real broker: cleaned, compressed, with transactions that were committed,
    aborted, crossed by a commit, and left open.
    """
    kinds = set()
    open_ones = 0
    for directory in sorted(kept_log(tmp_path / "kafka").log_dir.glob("__consumer_offsets-*")):
        log = [one.data[one.position : one.position + one.header.size] for one in Partition(directory).batches()]
        files = Partition(directory).files
        target = tmp_path / directory.name
        target.mkdir()
        with LayerAttempt(target, 10**6) as attempt:
            engine.write(GROUP_RECORDS, [InputFile(str(path), 0, 2**40, is_dense=False) for path in files], None, attempt)
            attempt.close()
            layer = list(attempt.preview().read())
        before, after = replay_batches(log), replay_batches(layer)
        assert (groups_of(after), digest_of(after)) == (groups_of(before), digest_of(before)), directory.name
        for batch in log:
            [(_, header)] = iter_batches(batch)
            kinds.add((header.is_control, header.is_transactional, bool(header.compression)))
        open_ones += sum(attributes == TRANSACTIONAL for _, attributes, _ in shape(layer))

    assert kinds == {(False, False, False), (False, False, True), (False, True, False), (True, True, False)}
    assert open_ones == 1
