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
from coordinator_server.log.jobs import Block
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.checkpoint import DATA, INDEX, REST, Checkpoint, write_checkpoint
from coordinator_server.log.layers.layer import newest_valid_layer, open_layer
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import LOCAL
from coordinator_server.log.store import LogStore
from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets.resting_block import encode_group
from coordinator_server.pipeline.compact.engine import Engine, PythonEngine, compact_shard
from coordinator_server.pipeline.compact.vector_engine import VectorEngine
from coordinator_server.pipeline.errors import GateClosed
from coordinator_server.pipeline.input.data_dir import offline_store
from coordinator_server.pipeline.layer import checkpoint
from coordinator_server.pipeline.states.groups import digest_of, empty_shard
from coordinator_server.runtime.context import ShardContext
from coordinator_server.runtime.layer_checkpoint import LayerCheckpoint
from coordinator_server.runtime.loader import BatchReplay, ShardLoader, replay_batch
from coordinator_server.runtime.producers import ActiveProducer
from protocol.coordinator_records import CLASSIC_GROUP_SERDE
from protocol.record_batch import Record, iter_batches
from tests.support.group import Hard, hard_state
from tests.support.inputs import plan_shard
from tests.support.kafka_partition import ABORT, COMMIT, marker, of_transaction, plain
from tests.support.random_log import write_log
from tests.support.replay import replay_batches
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


def loaded(store: LogStore) -> tuple[GroupShard, int]:
    """The shard as a start loads it, and how many records that took."""
    context: ShardContext[GroupShard] = ShardContext(SHARD, 1, CLASSIC_GROUP_SERDE)
    context.shard = empty_shard()
    loader = ShardLoader(store, context)
    while not loader.step():
        pass
    return context.shard, context.records_loaded


def open_checkpoint(shard_dir: Path) -> Iterator[bytes]:
    layer = newest_valid_layer(shard_dir)
    assert layer is not None
    return Checkpoint(layer).other_batches()


def started(shard_dir: Path, batches: Iterable[bytes], *, use_checkpoint: bool = True) -> ShardContext[GroupShard]:
    """A shard that has replayed batches, on the newest layer's blocks or on none."""
    context: ShardContext[GroupShard] = ShardContext(SHARD, 1, CLASSIC_GROUP_SERDE)
    context.shard = empty_shard()
    layer = newest_valid_layer(shard_dir)
    assert layer is not None
    if use_checkpoint:
        context.shard.use_checkpoint(LayerCheckpoint(Checkpoint(layer), CLASSIC_GROUP_SERDE))
    replay = BatchReplay(CLASSIC_GROUP_SERDE, context.shard, context.producers).replay
    for batch in batches:
        replay(batch)
    return context


def producers_of(context: ShardContext[GroupShard]) -> Iterator[tuple[int, ActiveProducer]]:
    return ((each.id, each) for each in context.producers.active_at(LATEST))


def state_after_start(shard_dir: Path) -> tuple[Hard, int]:
    with offline_store(shard_dir.parent, "test") as (store, _):
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
    with offline_store(shard_dir.parent, "test") as (store, _):
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
    with offline_store(shard_dir.parent, "test") as (store, _):
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
    with offline_store(shard_dir.parent, "test") as (store, _):
        shard, _ = loaded(store)
        assert LOCAL.unshared(manifest) is None
        shard.on_unloaded()
        hold = LOCAL.unshared(manifest)
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


POSITION = offset_key("g", "t", 0)
OPEN = [
    plain(0, (group_key("g"), group_value(1, [])), (POSITION, offset_value(1)), (offset_key("g", "t", 1), offset_value(1))),
    of_transaction(3, 6, (POSITION, offset_value(2))),
    marker(4, 6, COMMIT),
    of_transaction(5, 8, (POSITION, offset_value(3))),
    marker(6, 8, ABORT),
    marker(7, 6, COMMIT),
    of_transaction(8, 7, (POSITION, offset_value(4)), (offset_key("other", "t", 0), offset_value(4))),
    of_transaction(10, 8, (POSITION, offset_value(5))),
    of_transaction(11, 7, (offset_key("g", "t", 1), offset_value(6))),
]


@pytest.mark.parametrize("at_once", [1, 10**6])
@pytest.mark.parametrize(
    "later",
    [
        [],
        [plain(12, (POSITION, offset_value(9)))],
        [plain(12, (POSITION, None))],
        [plain(12, (POSITION, None)), plain(13, (POSITION, offset_value(9)), (POSITION, offset_value(10)))],
        [of_transaction(12, 7, (POSITION, None)), plain(13, (POSITION, offset_value(9)))],
        [plain(12, (b"\0\0" + POSITION[2:], None)), plain(13, (POSITION, offset_value(9)))],
        [plain(12, (group_key("g"), None)), plain(13, (POSITION, None), (offset_key("g", "t", 1), None))],
    ],
)
def test_a_start_from_a_layer_with_open_transactions_knows_them(
    shard_dir: Path, monkeypatch: pytest.MonkeyPatch, later: list[bytes], at_once: int
) -> None:
    """The same offsets, producers and last stable offset as from the records, and the same state after their ends, in any order."""
    monkeypatch.setattr(checkpoint, "RECORDS_AT_ONCE", at_once)
    log = [*OPEN, *later]
    end = write_log(shard_dir, log, 2)
    compact(shard_dir)

    for ends in ([], [(7, COMMIT), (8, ABORT)], [(8, COMMIT), (7, COMMIT)], [(7, ABORT), (8, COMMIT)]):
        markers = [marker(end + at, *each) for at, each in enumerate(ends)]
        context = started(shard_dir, [*open_checkpoint(shard_dir), *markers])
        expected = started(shard_dir, [*log, *markers], use_checkpoint=False)

        assert hard_state(context.shard) == hard_state(expected.shard)
        assert digest_of(context.shard) == digest_of(expected.shard)
        assert dict(producers_of(context)) == dict(producers_of(expected))
        assert context.producers.last_stable_offset(end) == expected.producers.last_stable_offset(end)


def test_damage_brings_back_nothing_of_an_open_transaction(shard_dir: Path) -> None:
    """The records that replace a damaged block are those that are in no transaction."""
    log = [*OPEN, plain(12, (offset_key("other", "t", 1), offset_value(1)))]
    write_log(shard_dir, log, 1)
    layer = compact(shard_dir)
    (layer / DATA).write_bytes(bytes((layer / DATA).stat().st_size))

    assert state_after_start(shard_dir)[0] == hard_state(replay_batches(log))


def test_of_many_markers_a_start_replays_the_last_of_each_producer(shard_dir: Path) -> None:
    """A start takes no longer because producers have ended many transactions."""
    log = [marker(offset, offset % 3, COMMIT) for offset in range(900)]
    write_log(shard_dir, log, 1)
    layer = compact(shard_dir)

    assert state_after_start(shard_dir)[1] == 3
    assert len(list(iter_batches((layer / REST).read_bytes()))) == 3


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


def test_the_end_of_a_transaction_is_in_no_part(shard_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its marker is kept in the layer, between records."""
    key, other = offset_key("group", "orders", 0), offset_key("group", "orders", 1)
    log = [
        of_transaction(0, 7, (key, offset_value(5))),
        marker(1, 7, COMMIT),
        plain(2, (group_key("group"), group_value(1, []))),
        plain(3, (other, offset_value(6))),
    ]
    write_log(shard_dir, log, 1)
    whole = {path.name: path.read_bytes() for path in compact(shard_dir).iterdir()}
    shutil.rmtree(next(shard_dir.glob("layer-*")))

    monkeypatch.setattr(checkpoint, "RECORDS_AT_ONCE", 1)

    assert {path.name: path.read_bytes() for path in compact(shard_dir).iterdir()} == whole
    assert state_after_start(shard_dir)[0] == hard_state(replay_batches(log))


def lose_an_offset(items: Iterable[Any]) -> Any:
    return encode_group(list(items)[1:])


def lose_a_block(attempt: LayerAttempt, blocks: Iterable[Block], rest: Iterable[bytes]) -> None:
    write_checkpoint(attempt.add_file, list(blocks)[1:], rest)


def damage_a_block(attempt: LayerAttempt, blocks: Iterable[Block], rest: Iterable[bytes]) -> None:
    write_checkpoint(attempt.add_file, blocks, rest)
    path = attempt.path / DATA
    path.write_bytes(bytes(byte ^ 1 for byte in path.read_bytes()))


@pytest.mark.parametrize("at_once", [1, 10**6])
@pytest.mark.parametrize(
    ("name", "wrong", "why"),
    [
        ("encode_group", lose_an_offset, "other offsets of group 'group-0"),
        ("add_checkpoint", lose_a_block, "other groups"),
        ("add_checkpoint", damage_a_block, "checksum"),
    ],
)
def test_a_checkpoint_that_differs_from_its_records_is_not_published(
    shard_dir: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, name: str, wrong: Callable[..., Any], why: str
) -> None:
    """It is read back: no group may be missing, none may have other offsets, and every block has its checksum."""
    records = [Record(n, START_MS, offset_key(f"group-0{n % 3}", "orders", n), offset_value(n)) for n in range(9)]
    write_segments(shard_dir, [Batch(tuple(records))])
    monkeypatch.setattr(checkpoint, "RECORDS_AT_ONCE", at_once)
    monkeypatch.setattr(LayerAttempt if name == "add_checkpoint" else checkpoint, name, wrong)
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
