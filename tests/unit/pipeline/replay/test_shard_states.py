from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

import pytest

from coordinator_server.log.errors import LogError
from coordinator_server.log.local import LocalLogStore
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import Failures
from coordinator_server.pipeline.compact.run import compact, compaction_lock, plans, run_python
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.input.sealing import seal
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.replay.shard_states import replay
from coordinator_server.pipeline.states.groups import groups_of
from coordinator_server.pipeline.states.shown_group import Group, Member, Offset
from protocol.coordinator_records import TRANSACTION_SERDE, CoordinatorRecord
from protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from protocol.record_batch import Record
from tests.support.kind_logs import LOGS, batches_of, catalog_log
from tests.support.replay import replay_batches
from tests.support.segments import (
    START_MS,
    Batch,
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


def log_of(*rows: tuple[bytes, bytes | None], first: int = 0) -> Batch:
    return Batch(tuple(Record(first + n, START_MS, key, value) for n, (key, value) in enumerate(rows)))


def append(data_dir: Path, batches: list[Batch]) -> None:
    """Through the store itself, so that some of it is only in the journal and the open segment."""
    calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
    store = LocalLogStore.open(data_dir, post=calls.put, node_id=1)
    for batch in batches:
        done: list[Failures | None] = []
        store.submit([Append(SHARD, 1, batch.records[0].offset, encode(batch))], done.append)
        while not done:
            calls.get()()
        assert done == [None]
    store.close()


def state(data_dir: Path, at: int | None = None) -> list[Group]:
    [found] = replay(data_dir, [str(SHARD)], at)
    assert found.is_whole
    return found.groups


def compact_all(data_dir: Path) -> None:
    with compaction_lock(data_dir):
        compact(plans(data_dir, seal(data_dir)), None, run_python, Progress())


def test_a_group_is_told_in_full() -> None:
    """Generation, protocol, leader, members with their partitions, offsets by topic and partition."""
    members = ["client-0-aa", "client-1-bb"]
    batch = log_of(
        (group_key("g"), group_value(3, members)),
        (offset_key("g", "orders", 1), offset_value(7, "note")),
        (offset_key("g", "orders", 0), offset_value(5)),
    )

    [group] = groups_of(replay_batches([encode(batch)]))

    assert (group.group_id, group.generation, group.protocol_type, group.protocol) == ("g", 3, "consumer", "range")
    assert group.leader == "client-0-aa"
    assert group.members == [
        Member("client-0-aa", "client-0", "/127.0.0.1", 10_000, {"orders": [0]}),
        Member("client-1-bb", "client-1", "/127.0.0.1", 10_000, {"orders": [1]}),
    ]
    assert group.offsets == [Offset("orders", 0, 5, -1, "", START_MS), Offset("orders", 1, 7, -1, "note", START_MS)]


def test_deleted_is_gone_and_unknown_is_skipped() -> None:
    """Tombstones take away; record types of a later version say nothing here."""
    batch = log_of(
        (group_key("g"), group_value(3, [])),
        (offset_key("h", "orders", 1), offset_value(7)),
        (group_key("g"), None),
        (b"\x7f\xff" + b"later", b"?"),
    )

    assert [group.group_id for group in groups_of(replay_batches([encode(batch)]))] == ["h"]


def test_an_assignment_of_another_protocol_stays_unread() -> None:
    """Only the consumers' own format is known; bytes that are not it are no error."""
    value = group_value(1, ["client-0-aa"])
    batch = log_of((group_key("g"), value.replace(b"\0\x06orders\0\0\0\x01\0\0\0\0", b"\0\x06orders\x7f\0\0\x01\0\0\0\0")))

    [group] = groups_of(replay_batches([encode(batch)]))

    assert [member.assignment for member in group.members] == [None]


@pytest.fixture
def history() -> list[Batch]:
    return list(coordinator_log(6, 60))


def test_a_layer_says_what_the_whole_log_says(tmp_path: Path, history: list[Batch]) -> None:
    """Replay after compaction, and after more was written behind the layer, equals replay of everything."""
    append(tmp_path, history[:40])
    early = state(tmp_path)
    compact_all(tmp_path)

    assert state(tmp_path) == early == groups_of(replay_batches(map(encode, history[:40])))

    append(tmp_path, history[40:])
    assert state(tmp_path) == groups_of(replay_batches(map(encode, history)))


@pytest.mark.parametrize("part", [0.0, 0.1, 0.4, 0.7, 0.99])
def test_any_past_offset(tmp_path: Path, history: list[Batch], part: float) -> None:
    """As of OFFSET is after the records before it: from segments where a newer layer has forgotten,
    from layer and tail elsewhere.
    """
    append(tmp_path, history[:40])
    compact_all(tmp_path)
    append(tmp_path, history[40:])
    at = int(part * (history[-1].records[-1].offset + 1))

    expected = groups_of(replay_batches(map(encode, history), upto=at))

    assert state(tmp_path, at) == expected


def test_a_state_before_the_kept_history_is_refused(tmp_path: Path, history: list[Batch]) -> None:
    """Once the segments before a layer are deleted, one line says from where on states are known."""
    end = write_segments(tmp_path / str(SHARD), history)
    write_meta(tmp_path)
    compact_all(tmp_path)
    for path in (tmp_path / str(SHARD)).glob("*.log"):
        if int(path.stem) < end:
            path.unlink()

    with pytest.raises(LogError, match=f"before offset {end}"):
        state(tmp_path, end // 2)


def test_an_unknown_shard_name_is_refused(tmp_path: Path) -> None:
    """The line says what names look like."""
    write_meta(tmp_path)

    with pytest.raises(CannotRun, match="__consumer_offsets-9"):
        list(replay(tmp_path, ["__consumer_offsets-9"]))


def test_all_shards_in_order(tmp_path: Path) -> None:
    """By topic, then by number; what is of no kind is none of them."""
    for number in (10, 9, 2):
        write_segments(tmp_path / f"__consumer_offsets-{number}", coordinator_log(number, 3))
    write_segments(tmp_path / "__cluster_metadata-0", catalog_log(1, 3))
    write_segments(tmp_path / "orders-0", coordinator_log(1, 3))
    write_meta(tmp_path)

    assert [found.shard for found in replay(tmp_path)] == [
        "__cluster_metadata-0",
        "__consumer_offsets-2",
        "__consumer_offsets-9",
        "__consumer_offsets-10",
    ]


@pytest.mark.parametrize("topic", LOGS)
def test_every_kind_has_a_state_and_a_digest(tmp_path: Path, topic: str) -> None:
    """As of the end, and as of an offset before it; the compacted log says the same."""
    write_meta(tmp_path)
    end = write_segments(tmp_path / f"{topic}-0", LOGS[topic](3, 40, 0))
    [now], [before] = list(replay(tmp_path)), list(replay(tmp_path, at=end // 2))

    compact_all(tmp_path)

    assert list(replay(tmp_path)) == [now]
    assert (now.seen_to, before.seen_to) == (end, end // 2)
    assert len({now.digest, before.digest, "0" * 32}) == 3
    is_catalog = topic == "__cluster_metadata"
    assert (bool(now.topics), bool(now.contents)) == (is_catalog, not is_catalog)
    assert now.groups == []


def test_transactional_ids_are_told_with_their_fields(tmp_path: Path) -> None:
    """By the last record of each; a tombstone takes it away."""
    keys = [TransactionLogKey(name) for name in ("one", "two", "one", "two")]
    values = [TransactionLogValue(producer_id=producer_id) for producer_id in (1, 2, 3)]
    records = [CoordinatorRecord(key, value, 1) for key, value in zip(keys, [*values, None], strict=True)]
    write_meta(tmp_path)
    write_segments(tmp_path / "__transaction_state-0", batches_of(TRANSACTION_SERDE, records))

    [found] = replay(tmp_path)

    assert found.noun == "transactional ids"
    [(part, fields)] = found.contents.items()
    assert (part, fields["producer_id"], fields["state"]) == ("transactional id one", 3, "Empty")
