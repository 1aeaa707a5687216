"""The checkpoint that compaction adds to a layer: a start from it comes to the same state as a start from the records."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.group.shard import GroupShard
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.checkpoint import DATA, INDEX, REST, Block, write_checkpoint
from coordinator_server.log.layers.layer import newest_valid_layer, open_layer
from coordinator_server.log.local import LocalLogStore
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets.resting_block import encode_group
from coordinator_server.pipeline.compact.engine import Engine, PythonEngine, compact_shard
from coordinator_server.pipeline.compact.plan import plan_shard
from coordinator_server.pipeline.compact.vector_engine import VectorEngine
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.input.sealing import offline_store
from coordinator_server.pipeline.layer import checkpoint
from coordinator_server.pipeline.layer.checkpoint import add_checkpoint
from coordinator_server.pipeline.states.groups import digest_of, empty_shard, replay_batches
from coordinator_server.runtime.context import ShardContext
from coordinator_server.runtime.loader import ShardLoader, replay_batch
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import CLASSIC_GROUP_SERDE
from protocol.record_batch import TRANSACTIONAL, Record, iter_batches
from tests.support.group import Hard, hard_state
from tests.support.kafka_partition import ABORT, COMMIT, marker, of_transaction, plain
from tests.support.random_log import write_log
from tests.support.segments import (
    START_MS,
    Batch,
    append_segments,
    coordinator_log,
    encode,
    group_key,
    group_value,
    offset_key,
    offset_value,
    write_meta,
    write_segments,
)

SHARD = ShardId("__consumer_offsets", 7)


@pytest.fixture
def shard_dir(tmp_path: Path) -> Path:
    write_meta(tmp_path)
    return tmp_path / str(SHARD)


def compact(shard_dir: Path, engine: Callable[[], Engine] = PythonEngine) -> Path:
    """One published layer."""
    plan = plan_shard(shard_dir)
    assert plan is not None
    result = compact_shard(plan, None, engine())
    assert not result.no_checkpoint
    publish(Path(result.attempt), shard_dir, plan.to_offset)
    return shard_dir / f"layer-{plan.to_offset:020d}"


def loaded(store: LocalLogStore) -> tuple[GroupShard, int]:
    """The shard as a start loads it, and how many records that took."""
    context: ShardContext[GroupShard] = ShardContext(SHARD, 1, CLASSIC_GROUP_SERDE)
    context.shard = empty_shard()
    loader = ShardLoader(store, context)
    while not loader.step():
        pass
    return context.shard, context.records_loaded


def state_after_start(shard_dir: Path) -> tuple[Hard, int]:
    with offline_store(shard_dir.parent) as (store, _):
        shard, records = loaded(store)
        return hard_state(shard), records


def replayed(history: list[Batch]) -> Hard:
    return hard_state(replay_batches(map(encode, history)))


@pytest.mark.parametrize("seed", range(6))
def test_a_start_from_it_is_a_start_from_the_whole_log(shard_dir: Path, seed: int) -> None:
    """With a tail over it that goes on with the same groups: commits, deletions, generations."""
    early = list(coordinator_log(seed, 90))
    end = write_segments(shard_dir, early, 3)
    compact(shard_dir)
    assert state_after_start(shard_dir)[0] == replayed(early)
    tail = list(coordinator_log(seed + 50, 40, first_offset=end))
    append_segments(shard_dir, tail)

    state, records = state_after_start(shard_dir)

    assert state == replayed(early + tail)
    assert records < sum(len(batch.records) for batch in tail) + 60  # the tail, and the groups' metadata


def test_it_is_used_when_the_segments_it_stands_for_are_gone(shard_dir: Path) -> None:
    """As retention leaves them."""
    early = list(coordinator_log(3, 60))
    write_segments(shard_dir, early, 3)
    compact(shard_dir)
    for path in sorted(shard_dir.glob("*.log"))[:-1]:
        path.unlink()

    assert state_after_start(shard_dir)[0] == replayed(early)


def test_both_engines_write_the_same_checkpoint(shard_dir: Path, tmp_path: Path) -> None:
    """Byte for byte, also when it is made from a layer and its tail."""
    end = write_segments(shard_dir, coordinator_log(1, 80), 3)
    compact(shard_dir)
    append_segments(shard_dir, coordinator_log(2, 50, first_offset=end))
    other = tmp_path / "other" / shard_dir.name
    shutil.copytree(shard_dir, other)

    one, two = compact(shard_dir), compact(other, VectorEngine)

    for name in (DATA, INDEX, REST):
        assert (one / name).read_bytes() == (two / name).read_bytes(), name
    assert (one / DATA).stat().st_size > 1000


def test_records_that_are_not_of_offsets_stay_what_they_are(shard_dir: Path) -> None:
    """Types that this version does not know among them, with headers, times and offsets."""
    known = Record(1, START_MS + 5, group_key("g"), group_value(3, []), (("why", b"x"),))
    unknown = Record(4, START_MS + 9, b"\x00\x63key", b"value")
    offsets = [Record(n, START_MS, offset_key("g", "t", n), offset_value(n)) for n in (0, 2, 3)]
    rows = sorted([known, unknown, *offsets], key=lambda record: record.offset)
    write_segments(shard_dir, [Batch(tuple(rows))])
    layer = compact(shard_dir)

    assert (layer / REST).read_bytes() == encode(Batch((known, unknown)))


def test_the_digest_is_that_of_the_whole_log(shard_dir: Path) -> None:
    """At first, and after groups that rested have changed."""
    early = list(coordinator_log(8, 60))
    end = write_segments(shard_dir, early, 3)
    compact(shard_dir)
    whole = replay_batches(map(encode, early))
    with offline_store(shard_dir.parent) as (store, _):
        shard, _ = loaded(store)
        assert digest_of(shard) == digest_of(whole)
        for batch in coordinator_log(9, 40, first_offset=end):
            for each in (shard, whole):
                registry = each.groups.classic.stored._registry
                registry.snapshot(batch.records[0].offset)
                replay_batch(encode(batch), CLASSIC_GROUP_SERDE, each)
                registry.delete_up_to(batch.records[-1].offset + 1)
            assert digest_of(shard) == digest_of(whole)


def damages(layer: Path) -> Iterator[tuple[str, int]]:
    for name in (DATA, INDEX, REST):
        size = (layer / name).stat().st_size
        yield from ((name, position) for position in range(0, size, max(1, size // 12)))


def test_a_damaged_checkpoint_is_told_once_and_changes_nothing(shard_dir: Path) -> None:
    """Whichever byte of its files is wrong: the layer's records say the same, and one line says which file it was."""
    early = list(coordinator_log(4, 60))
    write_segments(shard_dir, early, 2)
    layer = compact(shard_dir)
    expected = replayed(early)
    for name, position in damages(layer):
        whole = (layer / name).read_bytes()
        (layer / name).write_bytes(whole[:position] + bytes((whole[position] ^ 0x10,)) + whole[position + 1 :])
        with capture_logs() as lines:
            state, _ = state_after_start(shard_dir)
        (layer / name).write_bytes(whole)

        assert state == expected
        [line] = lines
        assert (line["event"], name in line["why"]) == ("checkpoint-damaged", True)


def test_no_answer_is_given_where_block_and_records_are_damaged(shard_dir: Path) -> None:
    """Only the group whose block it is suffers."""
    rows = [Record(n, START_MS, offset_key(f"g{n}", "t", 0), offset_value(n)) for n in range(20)]
    write_segments(shard_dir, [Batch(tuple(rows))])
    layer = compact(shard_dir)
    records = next(path for path in layer.glob("0*.log"))
    for path, position in ((layer / DATA, 0), (records, 100)):
        data = bytearray(path.read_bytes())
        data[position] ^= 1
        path.write_bytes(data)
    answers: dict[str, Any] = {}
    with offline_store(shard_dir.parent) as (store, _):
        offsets = loaded(store)[0].groups.offsets
        for group_id in [f"g{n}" for n in range(20)]:
            try:
                answers[group_id] = offsets.of_group_at(group_id, LATEST)
            except DamagedLog as damage:
                answers[group_id] = damage

    refused = [group_id for group_id, answer in answers.items() if isinstance(answer, DamagedLog)]
    assert len(refused) == 1


def test_the_layer_is_held_while_a_server_rests_on_it(shard_dir: Path) -> None:
    """Who wants to remove it sees that somebody reads it; once the shard is given up nobody does."""
    write_segments(shard_dir, coordinator_log(4, 30), 2)
    compact(shard_dir)
    layer = newest_valid_layer(shard_dir)
    assert layer is not None
    manifest = str(layer.path / "manifest.json")
    with offline_store(shard_dir.parent) as (store, _):
        shard, _ = loaded(store)
        assert store._storage.unshared(manifest) is None
        shard.on_unloaded()
        hold = store._storage.unshared(manifest)
        assert hold is not None
        hold.close()


def test_a_record_that_cannot_be_read_leaves_a_layer_without_a_checkpoint(shard_dir: Path) -> None:
    """And the reason, which is for whoever wrote it."""
    rows = [Record(0, START_MS, offset_key("g", "t", 0), b"\x00\x63what is this")]
    write_segments(shard_dir, [Batch(tuple(rows))])
    plan = plan_shard(shard_dir)
    assert plan is not None

    result = compact_shard(plan, None, PythonEngine())

    assert "cannot be read" in result.no_checkpoint
    assert not (Path(result.attempt) / INDEX).exists()


@pytest.mark.parametrize("kind", [COMMIT, ABORT])
def test_markers_do_not_keep_a_layer_from_having_one(shard_dir: Path, kind: int) -> None:
    """Their transactions are over. A start rests on it, and finds the records where a block is damaged."""
    key = offset_key("g", "t", 0)
    log = [plain(0, (key, offset_value(1))), of_transaction(1, 7, (key, offset_value(2))), marker(2, 7, kind)]
    write_log(shard_dir, log, 1)
    layer = compact(shard_dir)
    expected = hard_state(replay_batches(log))
    assert [header.is_control for batch in open_layer(shard_dir, 3).read() for _, header in iter_batches(batch)] == [False, True]

    state, _ = state_after_start(shard_dir)
    (layer / DATA).write_bytes(bytes(1) + (layer / DATA).read_bytes()[1:])
    without_block, _ = state_after_start(shard_dir)

    assert state == without_block == expected


def test_an_open_transaction_leaves_a_layer_without_a_checkpoint(shard_dir: Path) -> None:
    """Its offsets are in nobody's state yet; a layer with such batches comes from an import."""
    shard_dir.mkdir()
    builder = BatchBuilder(7, START_MS, attributes=TRANSACTIONAL, producer_id=4, producer_epoch=1)
    builder.append(offset_key("g", "t", 0), offset_value(1))
    with LayerAttempt(shard_dir, 8) as attempt:
        attempt.append(7, builder.finish())
        attempt.close()

        assert "open in it at offset 7" in add_checkpoint(attempt)
        assert not attempt.checkpoint


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("at_once", [1, 40, 500])
def test_a_checkpoint_in_parts_has_the_same_bytes(
    shard_dir: Path, monkeypatch: pytest.MonkeyPatch, seed: int, at_once: int
) -> None:
    """However few records are in memory at a time, and nothing else is left in the layer."""
    write_segments(shard_dir, coordinator_log(seed, 80, groups=40))
    whole = {path.name: path.read_bytes() for path in compact(shard_dir).iterdir()}
    shutil.rmtree(next(shard_dir.glob("layer-*")))

    monkeypatch.setattr(checkpoint, "RECORDS_AT_ONCE", at_once)
    in_parts = {path.name: path.read_bytes() for path in compact(shard_dir).iterdir()}

    assert in_parts == whole
    assert len(whole[REST]) > 200


def lose_an_offset(items: Iterable[Any]) -> Any:
    return encode_group(list(items)[1:])


def lose_a_block(attempt: LayerAttempt, blocks: Iterable[Block], rest: Iterable[bytes]) -> None:
    write_checkpoint(attempt, list(blocks)[1:], rest)


def damage_a_block(attempt: LayerAttempt, blocks: Iterable[Block], rest: Iterable[bytes]) -> None:
    write_checkpoint(attempt, blocks, rest)
    path = attempt.path / DATA
    path.write_bytes(bytes(byte ^ 1 for byte in path.read_bytes()))


@pytest.mark.parametrize("at_once", [1, 10**6])
@pytest.mark.parametrize(
    ("name", "wrong", "why"),
    [
        ("encode_group", lose_an_offset, "other offsets of group 'group-0"),
        ("write_checkpoint", lose_a_block, "other groups"),
        ("write_checkpoint", damage_a_block, "checksum"),
    ],
)
def test_a_checkpoint_that_differs_from_its_records_is_not_published(
    shard_dir: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, name: str, wrong: Callable[..., Any], why: str
) -> None:
    """It is read back: no group may be missing, none may have other offsets, and every block has its checksum."""
    records = [Record(n, START_MS, offset_key(f"group-0{n % 3}", "orders", n), offset_value(n)) for n in range(9)]
    write_segments(shard_dir, [Batch(tuple(records))])
    monkeypatch.setattr(checkpoint, "RECORDS_AT_ONCE", at_once)
    monkeypatch.setattr(checkpoint, name, wrong)
    plan = plan_shard(shard_dir)
    assert plan is not None

    with pytest.raises((GateClosed, DamagedLog), match=why):
        compact_shard(plan, None, PythonEngine())
    assert not list(shard_dir.glob("*layer*"))


@pytest.mark.parametrize("at_once", [1, 10**6])
def test_a_record_that_cannot_be_read_leaves_no_part_of_a_checkpoint(
    shard_dir: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """The layer has its records, as it had before there were checkpoints."""
    monkeypatch.setattr(checkpoint, "RECORDS_AT_ONCE", at_once)
    good = [Record(n, START_MS, offset_key(f"group-{n}", "orders", 0), offset_value(n)) for n in range(9)]
    write_segments(shard_dir, [Batch((*good, Record(9, START_MS, offset_key("group-x", "orders", 0), b"\0\3\0")))])
    plan = plan_shard(shard_dir)
    assert plan is not None

    result = compact_shard(plan, None, PythonEngine())

    assert "a record cannot be read" in result.no_checkpoint
    assert sorted(path.name for path in Path(result.attempt).iterdir()) == [f"{0:020d}.log", "manifest.json"]
