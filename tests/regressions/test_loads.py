"""Bugs of others in how a coordinator comes to its state: what it reads, and what it says meanwhile."""

from __future__ import annotations

import random
from collections.abc import Iterator, Set

import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.runtime.context import ShardState
from protocol.codec import encode
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages import consumer_group_records as consumer
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from tests.support.client import Client
from tests.support.configs import config_with
from tests.support.group import GroupLog, Hard, hard_state
from tests.support.members import form_group
from tests.support.runtime import TOPIC, MemoryStore, ToyRuntime
from tests.support.server import Server
from tests.support.simple_requests import committed, describe_group, make_topic, must_commit

HOUR_MS = 3_600_000


# --- KAFKA-8069


def test_kafka_8069_an_old_record_that_names_no_expiry_keeps_its_offset_for_the_whole_retention() -> None:
    """Version 1 has a field for it, whose -1 is no time in the past."""
    log = GroupLog(config_with(offsets_retention_minutes=24 * 60))
    key = CoordinatorRecord(OffsetCommitKey("g", "t", 0), None)
    value = OffsetCommitValue(offset=5, commit_timestamp=log.clock.wall_ms(), expire_timestamp=-1)
    record = GROUP_SERDE.decode(GROUP_SERDE.encode_key(key), b"\0\1" + encode(value, 1))
    assert record is not None
    log.committed.append(record)
    log.restart()

    log.advance(23 * HOUR_MS)
    assert _offsets(log) == [5]

    log.advance(2 * HOUR_MS)
    assert _offsets(log) == []


# --- KAFKA-15910, redpanda #4900: one server that was killed, and is asked before it has written anything


@pytest.fixture(scope="module")
def restarted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """It had a group with a member, a simple group, and one that was deleted with its offsets."""
    with Server(tmp_path_factory.mktemp("restarted")) as server:
        with Client(server.address) as client:
            make_topic(client, "orders", 2)
            [member] = form_group(server.address, "living", 1, session_timeout_ms=60_000)
            assert member.commit("orders", {0: 7}) == {0: ErrorCode.NONE}
            for name in ("simple", "deleted"):
                must_commit(client, name, "orders", {0: 5, 1: 6})
            [result] = client.ask(DeleteGroupsRequest(groups_names=["deleted"]), 2, DeleteGroupsResponse).results
            assert result.error_code == ErrorCode.NONE
            member.client.close()
        server.kill()
        server.start()
        with Client(server.address) as client:
            yield client


def test_kafka_15910_every_read_works_right_after_a_load(restarted: Client) -> None:
    """Reads are of what is committed, and after a load that is everything, before the first write as after it."""
    listed = restarted.ask(ListGroupsRequest(), 5, ListGroupsResponse)

    assert {(group.group_id, group.group_state) for group in listed.groups} == {("living", "Stable"), ("simple", "Empty")}
    assert (describe_group(restarted, "living").group_state, describe_group(restarted, "simple").group_state) == (
        "Stable",
        "Empty",
    )
    assert committed(restarted, "living") == {("orders", 0): 7}
    assert committed(restarted, "simple") == {("orders", 0): 5, ("orders", 1): 6}


def test_redpanda_4900_a_group_that_was_deleted_is_not_there_after_a_kill(restarted: Client) -> None:
    """Neither the group nor an offset of it, and it is described as dead."""
    described = describe_group(restarted, "deleted", version=5)

    assert (described.error_code, described.group_state) == (ErrorCode.NONE, "Dead")
    assert committed(restarted, "deleted") == {}


# --- KAFKA-16030, apache/kafka#4788, redpanda #12931


def test_kafka_16030_a_partition_that_goes_while_it_loads_is_never_active(toy: ToyRuntime) -> None:
    """Who asks is sent on, who waits for the load is not told that it went well, and a later load has it all."""
    for number in range(50):
        toy.put_all([f"{number}-{n}" for n in range(100)])
        toy.flush()
    after, told = ToyRuntime(store=toy.store), list[ErrorCode]()

    after.runtime.load(0, 1, told.append)
    after.turn()
    assert 0 < len(after.shards[0].numbers) < 5000
    after.runtime.unload(0, 2)
    for _turn in range(10):
        after.turn()

    assert (after.state(), after.put("a").error, told) == (None, ErrorCode.NOT_COORDINATOR, [ErrorCode.NOT_COORDINATOR])
    with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
        after.number("0-0")
    assert len(after.load(epoch=3).numbers) == 5000


def test_apache_kafka_4788_while_a_partition_loads_requests_are_told_so(toy: ToyRuntime) -> None:
    """COORDINATOR_LOAD_IN_PROGRESS, so that they wait; NOT_COORDINATOR would send them looking for somebody else."""
    after = ToyRuntime(store=toy.store)
    after.runtime.load(0, 1)

    assert after.put("a").error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    with pytest.raises(CoordinatorError, match="COORDINATOR_LOAD_IN_PROGRESS"):
        after.number("a")


def test_redpanda_12931_a_load_that_fails_half_way_serves_nothing_of_what_it_read(toy: ToyRuntime) -> None:
    """A state without its end would deny offsets that are there. It takes a load that reads everything."""
    toy.put("a", 1)
    toy.flush()
    toy.put("b", 2)
    toy.flush()
    damaged = MemoryStore()
    shard_id = ShardId(TOPIC, 0)
    damaged.logs[shard_id], damaged.ends[shard_id] = toy.store.logs[shard_id], 2
    damaged.damage = DamagedLog("x.log", 7, "crc")
    after = ToyRuntime(store=damaged)

    after.load()
    assert after.state() is ShardState.FAILED
    with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
        after.number("a")

    damaged.damage = None
    after.load(epoch=2)
    assert (after.number("a"), after.number("b")) == (1, 2)


# --- KAFKA-17306, KAFKA-19862: what compaction leaves


def test_kafka_17306_a_tombstone_of_what_is_not_there_means_nothing() -> None:
    """Compaction may have taken away what it ended; each type of record, alone in the log."""
    for key_type, _ in GROUP_SERDE.types.values():
        log = GroupLog()
        log.committed.append(CoordinatorRecord(key_type("g"), None))
        log.restart()

        assert hard_state(log.shard) == {}
        assert _listed(log) == []


def test_kafka_17306_offsets_may_come_before_the_group_that_committed_them() -> None:
    """The group is a simple one until its own records come, whatever the first of them is, and its offsets stay."""
    offset = CoordinatorRecord(OffsetCommitKey("g", "t", 0), OffsetCommitValue(offset=5))
    for record_type in (consumer.ConsumerGroupMemberMetadataKey, consumer.ConsumerGroupCurrentMemberAssignmentKey):
        log = GroupLog()
        log.committed += [offset, _written(record_type("g", "m")), _written(consumer.ConsumerGroupMetadataKey("g"))]
        log.restart()

        assert _listed(log) == [("g", "consumer")]
        assert _offsets(log) == [5]


def test_kafka_19862_a_log_that_is_compacted_while_it_is_read_comes_to_the_same() -> None:
    """A reader may meet any mix of old and compacted segments: every record that has a later one of its key may be missing."""
    records = _life_of_a_group()
    last = {GROUP_SERDE.encode_key(record): position for position, record in enumerate(records)}
    superseded = [position for position, record in enumerate(records) if last[GROUP_SERDE.encode_key(record)] != position]
    whole = _state_of(records)
    assert len(superseded) > 10

    for seed in range(300):
        missing = {position for position in superseded if random.Random(seed * 1000 + position).random() < 0.5}

        assert _state_of(records, missing) == whole, f"seed {seed}, without {sorted(missing)}"


def _life_of_a_group() -> list[CoordinatorRecord]:
    """Classic, deleted, a consumer group whose members come and go, empty, classic once more; offsets all the while."""
    rounds: list[list[CoordinatorRecord]] = [
        [_classic(1, "A"), _offset(1)],
        [_classic(2, "A", "B"), _offset(2)],
        [_classic(3), _ended(GroupMetadataKey("g"))],
        [_written(key) for key in _consumer_keys("m1")],
        [_offset(3), *(_written(key) for key in _consumer_keys("m2")), *(_ended(key) for key in _consumer_keys("m1")[:3])],
        [_written(key) for key in _consumer_keys("m1")],
        [_ended(key) for key in [*_consumer_keys("m1"), *_consumer_keys("m2")[:3]]],
        [_classic(1, "C"), _offset(4), CoordinatorRecord(OffsetCommitKey("g", "t", 1), None)],
    ]
    return [record for each in rounds for record in each]


def _consumer_keys(member_id: str) -> list[Message]:
    return [
        consumer.ConsumerGroupCurrentMemberAssignmentKey("g", member_id),
        consumer.ConsumerGroupTargetAssignmentMemberKey("g", member_id),
        consumer.ConsumerGroupMemberMetadataKey("g", member_id),
        consumer.ConsumerGroupTargetAssignmentMetadataKey("g"),
        consumer.ConsumerGroupMetadataKey("g"),
    ]


def _classic(generation: int, *members: str) -> CoordinatorRecord:
    value = GroupMetadataValue(
        protocol_type="consumer", generation=generation, members=[MemberMetadata(name) for name in members]
    )
    return CoordinatorRecord(GroupMetadataKey("g"), value)


def _offset(offset: int) -> CoordinatorRecord:
    return CoordinatorRecord(OffsetCommitKey("g", "t", 0), OffsetCommitValue(offset=offset))


def _written(key: Message) -> CoordinatorRecord:
    _, value = GROUP_SERDE.types[key.kafka.key or 0]
    return CoordinatorRecord(key, value())


def _ended(key: Message) -> CoordinatorRecord:
    return CoordinatorRecord(key, None)


def _state_of(records: list[CoordinatorRecord], missing: Set[int] = frozenset()) -> tuple[Hard, list[tuple[str, str]]]:
    """What a load makes of a log with holes: records keep their offsets."""
    shard = GroupLog().build(SnapshotRegistry())
    for offset, record in enumerate(records):
        if offset not in missing:
            shard.replay(offset, record)
    shard.on_loaded()
    return hard_state(shard), [(row.group_id, row.group_type) for row in shard.list_groups(LATEST)]


def _offsets(log: GroupLog) -> list[int]:
    answer = log.shard.fetch_offsets(log.committed_offset, OffsetFetchRequestGroup("g", topics=None)).answer()
    return [partition.committed_offset for topic in answer.topics for partition in topic.partitions]


def _listed(log: GroupLog) -> list[tuple[str, str]]:
    return [(row.group_id, row.group_type) for row in log.shard.list_groups(log.committed_offset)]
