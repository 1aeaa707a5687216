"""Logs that are folded: what stays, where it stands, what is left alone, and what the gate sees."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from coordinator_server.log.jobs import InputFile
from coordinator_server.log.layers.attempt import publish
from coordinator_server.log.layers.layer import Layer, newest_valid_layer
from coordinator_server.pipeline.compact.engine import Engine, PythonEngine, ShardResult, compact_shard
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.input.files import read_batches
from coordinator_server.pipeline.rules import RULES, Fold, Folded, rule_of
from coordinator_server.pipeline.states.share import ShareState
from coordinator_server.pipeline.states.state import replay_into
from coordinator_server.share.fold import ShareFold
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, SHARE_SERDE, CoordinatorRecord
from protocol.messages.cluster_metadata import PartitionRecord, RemoveTopicRecord, TopicRecord
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue, StateBatch
from protocol.record_batch import TRANSACTIONAL, Record, iter_records, read_header
from tests.support.inputs import full_input, plan_shard
from tests.support.kind_logs import LOGS, TOPIC_ID, batches_of, share_log
from tests.support.segments import START_MS, Batch, append_segments, encode, write_segments

SHARE = "__share_group_state-3"
CATALOG = "__cluster_metadata-0"
FOLDED = [topic for topic, rule in RULES.items() if isinstance(rule.compaction, Folded)]

SNAPSHOT = CoordinatorRecord(ShareSnapshotKey("g", TOPIC_ID, 0), ShareSnapshotValue(1, 2, 3, 4, 5, 6, 7))
TOMBSTONE = CoordinatorRecord(ShareSnapshotKey("g", TOPIC_ID, 0), None)


def update(first: int) -> CoordinatorRecord:
    return CoordinatorRecord(
        ShareUpdateKey("g", TOPIC_ID, 0), ShareUpdateValue(1, 3, -1, 5, [StateBatch(first, first + 4, 0, 1)])
    )


def compacted(shard_dir: Path, cutoff_ms: int | None = None, engine: Engine | None = None) -> ShardResult:
    """Compact and publish."""
    plan = plan_shard(shard_dir)
    assert plan is not None
    result = compact_shard(plan, cutoff_ms, engine or PythonEngine())
    if result.attempt:
        publish(Path(result.attempt), shard_dir, result.to_offset)
    return result


def layer_of(shard_dir: Path) -> Layer:
    layer = newest_valid_layer(shard_dir)
    assert layer is not None
    return layer


def records_of(shard_dir: Path) -> list[Record]:
    return [record for batch in layer_of(shard_dir).read() for record in iter_records(batch, 0, read_header(batch))]


def files_of(shard_dir: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in layer_of(shard_dir).path.iterdir()}


def digest_of(shard_dir: Path, files: Sequence[InputFile]) -> str:
    batches = (data[position : position + header.size] for file in files for data, position, header in read_batches(file))
    return replay_into(rule_of(shard_dir.name).state(), batches).digest().digest


def engines() -> Iterator[tuple[str, Callable[[], Engine]]]:
    """The vectorised engine, and the one that many tasks feed."""
    pytest.importorskip("pyarrow", reason="the spark extra is not installed: make test brings it")
    from coordinator_server.pipeline.compact.shuffle import ShuffledEngine
    from coordinator_server.pipeline.compact.vector_engine import VectorEngine

    yield "vectorised", VectorEngine
    yield "many-tasks", lambda: ShuffledEngine(iter(()))


@pytest.mark.parametrize("topic", FOLDED)
@pytest.mark.parametrize("seed", range(5))
def test_a_layer_comes_to_the_state_of_the_whole_log(tmp_path: Path, topic: str, seed: int) -> None:
    """Every record of it stands where one stood.

    So does a layer of a layer and what came after it, with the records of one fold of everything.
    """
    shard_dir, at_once = tmp_path / f"{topic}-0", tmp_path / "once" / f"{topic}-0"
    end = write_segments(shard_dir, LOGS[topic](seed, 60, 0))
    first = compacted(shard_dir)
    append_segments(shard_dir, LOGS[topic](seed + 100, 40, end))
    shutil.copytree(shard_dir, at_once, ignore=shutil.ignore_patterns("layer-*"))

    second = compacted(shard_dir)
    compacted(at_once)

    whole = full_input(shard_dir, second.to_offset)[1]
    offsets = [record.offset for record in records_of(shard_dir)]
    assert first.records < first.records_in
    assert digest_of(shard_dir, whole) == digest_of(
        shard_dir, [InputFile(str(path), 0, second.to_offset, is_dense=False) for path in layer_of(shard_dir).files()]
    )
    assert offsets == sorted(set(offsets))
    assert records_of(shard_dir) == records_of(at_once)
    assert layer_of(shard_dir).manifest.records == len(offsets)


@pytest.mark.parametrize("topic", FOLDED)
def test_all_engines_write_the_same_bytes(tmp_path: Path, topic: str) -> None:
    """Manifest included, over segments and over a layer."""
    shard_dir = tmp_path / "plain" / f"{topic}-0"
    end = write_segments(shard_dir, LOGS[topic](7, 60, 0))
    compacted(shard_dir)
    append_segments(shard_dir, LOGS[topic](8, 40, end))
    for name, engine in engines():
        other = tmp_path / name / shard_dir.name
        shutil.copytree(shard_dir, other)
        compacted(other, START_MS + 30_000, engine())
    compacted(shard_dir, START_MS + 30_000)

    for name, _ in engines():
        assert files_of(tmp_path / name / shard_dir.name) == files_of(shard_dir)


def test_no_update_of_a_share_partition_is_lost(tmp_path: Path) -> None:
    """A snapshot and two updates are one snapshot at the last one's offset, with its time and its headers."""
    log = batches_of(SHARE_SERDE, [SNAPSHOT, update(10), update(20)], size=1, epoch=4)
    write_segments(tmp_path / SHARE, log)

    compacted(tmp_path / SHARE)

    [record] = records_of(tmp_path / SHARE)
    last = log[-1].records[0]
    assert (record.offset, record.timestamp, record.headers) == (2, last.timestamp, last.headers)
    decoded = SHARE_SERDE.decode(record.key, record.value)
    assert decoded is not None
    assert decoded.key == SNAPSHOT.key
    assert decoded.value == ShareSnapshotValue(1, 2, 3, 4, 5, 6, 7, [StateBatch(10, 14, 0, 1), StateBatch(20, 24, 0, 1)])
    [batch] = layer_of(tmp_path / SHARE).read()
    assert read_header(batch).leader_epoch == 4


@pytest.mark.parametrize(("cutoff_ms", "left"), [(None, 1), (START_MS + 1000, 1), (START_MS + 1001, 0)])
def test_a_tombstone_stays_until_the_cutoff(tmp_path: Path, cutoff_ms: int | None, left: int) -> None:
    """As in a keyed log."""
    write_segments(tmp_path / SHARE, batches_of(SHARE_SERDE, [SNAPSHOT, TOMBSTONE], size=1))

    result = compacted(tmp_path / SHARE, cutoff_ms)

    assert [record.value for record in records_of(tmp_path / SHARE)] == [None] * left
    assert (result.records, result.tombstones) == (left, left)


def test_records_keep_their_headers(tmp_path: Path) -> None:
    """Which say who wrote them."""
    log = batches_of(SHARE_SERDE, [SNAPSHOT], size=1)
    write_segments(tmp_path / SHARE, log)
    assert log[0].records[0].headers

    compacted(tmp_path / SHARE)

    [batch] = layer_of(tmp_path / SHARE).read()
    assert [record.headers for record in iter_records(batch, 0, read_header(batch), with_headers=True)] == [
        log[0].records[0].headers
    ]


def test_compaction_removes_all_records_of_a_deleted_topic(tmp_path: Path) -> None:
    """Other records stay byte by byte."""
    gone, there = b"\1" * 16, b"\2" * 16
    messages = [
        TopicRecord("gone", gone),
        PartitionRecord(0, gone, [1], [1], leader=1),
        TopicRecord("there", there),
        PartitionRecord(0, there, [1], [1], leader=1, leader_epoch=3),
        RemoveTopicRecord(gone),
    ]
    log = batches_of(CLUSTER_METADATA_SERDE, (CoordinatorRecord(message, None) for message in messages), size=2)
    write_segments(tmp_path / CATALOG, log)

    compacted(tmp_path / CATALOG)

    assert records_of(tmp_path / CATALOG) == list(log[1].records)


def test_records_before_the_end_of_a_layer_are_not_read_twice(tmp_path: Path) -> None:
    """A segment may begin before its layer ends."""
    shard_dir = tmp_path / SHARE
    log = batches_of(SHARE_SERDE, [SNAPSHOT, update(10), update(20), SNAPSHOT, update(30)], size=5)
    end = write_segments(shard_dir, log)
    (tmp_path / "short").mkdir()
    short = tmp_path / "short" / SHARE
    write_segments(short, [Batch(log[0].records[:3])])
    compacted(short)
    shutil.copytree(layer_of(short).path, shard_dir / layer_of(short).path.name)

    result = compacted(shard_dir)

    assert result.records_in == 1 + 2
    [record] = records_of(shard_dir)
    assert (record.offset, record.value) == (end - 1, folded_value([SNAPSHOT, update(30)]))


def folded_value(records: Sequence[CoordinatorRecord]) -> bytes | None:
    state = ShareState()
    fold = ShareFold(state.shard)
    for offset, record in enumerate(records):
        fold.add(offset, record)
    [(_, record)] = fold.records()
    return SHARE_SERDE.encode_value(record)


def strange_batches() -> dict[str, bytes]:
    key, value = SHARE_SERDE.encode_key(SNAPSHOT), SHARE_SERDE.encode_value(SNAPSHOT)
    assert value is not None
    transactional = BatchBuilder(0, START_MS, attributes=TRANSACTIONAL, producer_id=7)
    transactional.append(key, value)

    def plain(key: bytes | None, value: bytes) -> bytes:
        return encode(Batch((Record(0, START_MS, key, value),)))

    return {
        "transactional records in a log that has none": transactional.finish(),
        "records of types that are not known": plain(b"\0\7key", b"value"),
        "records that cannot be read (": plain(None, value),
        "unknown version": plain(key, b"\0\7" + value[2:]),
    }


@pytest.mark.parametrize("says", strange_batches())
def test_a_shard_that_is_not_understood_is_left_alone(tmp_path: Path, says: str) -> None:
    """A line names the file and the place, whatever the engine; nothing is lost that a later version may know."""
    shard_dir = tmp_path / SHARE
    shard_dir.mkdir()
    (shard_dir / f"{0:020d}.log").write_bytes(strange_batches()[says])
    (shard_dir / f"{1:020d}.log").touch()

    for engine in (PythonEngine(), *(make() for _, make in engines())):
        result = compacted(shard_dir, engine=engine)
        assert says in result.left_alone
        assert f"{SHARE}/{0:020d}.log at byte 0" in result.left_alone
    assert sorted(path.name for path in shard_dir.iterdir()) == [f"{0:020d}.log", f"{1:020d}.log"]


class Forgetful(ShareFold):
    """Loses the newest record."""

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        return iter(sorted(super().records(), key=lambda placed: placed[0])[:-1])


class Displacing(ShareFold):
    """Puts records where there were none."""

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        return ((offset + 1000, record) for offset, record in super().records())


class Stacking(ShareFold):
    """Puts all records at one offset."""

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        return ((0, record) for _, record in super().records())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [(Forgetful, "state with digest"), (Displacing, "offsets of .* that have no record"), (Stacking, "two records")],
)
def test_the_gate_stays_closed_when_the_output_says_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: type[ShareFold], says: str
) -> None:
    """And nothing is left behind."""

    def fold(state: ShareState) -> Fold:
        return wrong(state.shard)

    rule = RULES["__share_group_state"]
    monkeypatch.setitem(RULES, "__share_group_state", type(rule)(rule.kind, rule.state, Folded(fold)))
    write_segments(tmp_path / SHARE, share_log(1, 30))

    with pytest.raises(GateClosed, match=says):
        compacted(tmp_path / SHARE)

    assert not [path for path in (tmp_path / SHARE).iterdir() if "layer" in path.name]
