"""Passes over a group with very many offsets: every step is short, all of them together are linear, and the group may change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.group import digest
from coordinator_server.group.describe import EVERY_GROUP
from coordinator_server.group.digest import GroupDigests
from coordinator_server.group.pass_step import OFFSETS_PER_STEP, RECORDS_PER_STEP
from coordinator_server.group.pass_times import PassTimes
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets import resting_block, resting_groups
from coordinator_server.offsets.digest import offsets_digest
from coordinator_server.offsets.fetch import OFFSETS_PER_STEP as FETCHED_PER_STEP
from coordinator_server.offsets.group_offsets import GroupOffsets
from coordinator_server.offsets.resting_block import Row, decode_offsets
from coordinator_server.offsets.values import CommittedRows, OffsetAndMetadata
from protocol.commit_rows import partitions_of
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from tests.support.commit_rows import rows_of
from tests.support.configs import config_with
from tests.support.group import GroupLog
from tests.support.resting import MemoryCheckpoint

HOUR_MS = 3_600_000
OLD, NEW = bytes(15) + b"\1", bytes(15) + b"\2"
MANY = 12_000
# What a step may look at and delete.
LOOKS, RECORDS = OFFSETS_PER_STEP, RECORDS_PER_STEP


def decoded_rows(patch: pytest.MonkeyPatch) -> list[int]:
    """How many rows of blocks are decoded: the last element counts. A test appends one for each step."""
    decoded = [0]

    def count_rows(block: bytes) -> Iterator[Row]:
        for row in decode_offsets(block):
            decoded[-1] += 1
            yield row

    for module in (resting_groups, resting_block):
        patch.setattr(module, "decode_offsets", count_rows)
    return decoded


class Looks:
    """Counts the offsets that are looked at, by step: read by position, and listed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read = [0]
        self.listed = 0
        get, items, keys = GroupOffsets.get, GroupOffsets.items, GroupOffsets.__iter__

        def count_get(offsets: GroupOffsets, position: Any) -> Any:
            self.read[-1] += 1
            return get(offsets, position)

        def count_items(offsets: GroupOffsets) -> Iterable[Any]:
            self.listed += len(offsets)
            return items(offsets)

        def count_keys(offsets: GroupOffsets) -> Iterator[Any]:
            self.listed += len(offsets)
            return keys(offsets)

        monkeypatch.setattr(GroupOffsets, "get", count_get)
        monkeypatch.setattr(GroupOffsets, "items", count_items)
        monkeypatch.setattr(GroupOffsets, "__iter__", count_keys)

    def begin_step(self, _ms: int = 0) -> None:
        self.read.append(0)


def offsets_in(log: GroupLog, group: str, topic: str, count: int, age_ms: int = 0) -> None:
    """A group has that many offsets of a topic, committed some time ago."""
    committed_ms = log.clock.wall_ms() - age_ms
    rows = (((topic, index), OffsetAndMetadata(5, -1, "", committed_ms, index, -1, OLD)) for index in range(count))
    log.shard.groups.offsets.to_change(group).single().fill(rows)


def left(log: GroupLog, group: str) -> set[tuple[str, int]]:
    offsets = log.shard.groups.offsets.by_group.get(group)
    return set() if offsets is None else set(offsets.keys())


def commit(log: GroupLog, group: str, topic: str, partition: int, topic_id: bytes = OLD) -> None:
    asked = OffsetCommitRequestTopic(topic, topic_id, [OffsetCommitRequestPartition(partition, 7)])
    log.run(GroupShard.commit_offsets, OffsetCommitRequest(group, topics=[asked]), version=10)


def expire(log: GroupLog, begin_step: Callable[[int], None]) -> None:
    log.advance(11 * 60_000, begin_step)


def delete_topic(log: GroupLog, begin_step: Callable[[int], None]) -> None:
    log.run(GroupShard.delete_topics, [DeletedTopic("t", OLD)], version=0)
    log.advance(10_000, begin_step)


@pytest.mark.parametrize("start", [expire, delete_topic])
def test_a_step_looks_at_a_bounded_number_of_offsets(
    start: Callable[[GroupLog, Callable[[int], None]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each offset is looked at once in all steps together, and the group's offsets are listed once."""
    log = GroupLog(config_with(offsets_retention_minutes=60))
    offsets_in(log, "g", "t", MANY, age_ms=2 * HOUR_MS)
    looks = Looks(monkeypatch)

    start(log, looks.begin_step)

    assert not left(log, "g")
    assert len(looks.read) > MANY // RECORDS
    assert max(looks.read) <= RECORDS
    assert sum(looks.read) == MANY
    assert looks.listed == MANY


@pytest.mark.parametrize("start", [expire, delete_topic])
def test_an_expiry_step_visits_an_offset_once(
    start: Callable[[GroupLog, Callable[[int], None]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step without tombstones looks at more offsets."""
    log = GroupLog(config_with(offsets_retention_minutes=60))
    offsets_in(log, "g", "u", 3 * MANY)
    offsets_in(log, "g", "t", 5, age_ms=2 * HOUR_MS)
    looks = Looks(monkeypatch)

    start(log, looks.begin_step)

    assert len(left(log, "g")) == 3 * MANY
    assert max(looks.read) <= LOOKS
    assert looks.listed == 3 * MANY + 5


def test_a_large_group_is_looked_at_again_when_its_first_offset_may_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the pass that found out took several steps."""
    log = GroupLog(config_with(offsets_retention_minutes=60))
    offsets_in(log, "g", "t", 2 * LOOKS, age_ms=HOUR_MS // 2)
    offsets_in(log, "g", "u", LOOKS)
    looks = Looks(monkeypatch)
    seen = []

    for _ in range(3):
        log.advance(11 * 60_000)
        seen.append(sum(looks.read))

    assert seen == [3 * LOOKS, 3 * LOOKS, 6 * LOOKS]
    assert left(log, "g") == {("u", index) for index in range(LOOKS)}


def test_offsets_committed_between_the_steps_of_an_expiry_stay() -> None:
    """The group has not come to its end, either."""
    log = GroupLog(config_with(offsets_retention_minutes=60))
    offsets_in(log, "g", "t", MANY, age_ms=2 * HOUR_MS)
    steps = 0

    def between(_ms: int) -> None:
        nonlocal steps
        steps += 1
        if steps == 3:
            commit(log, "g", "t", MANY - 1)
            commit(log, "g", "new", 0)

    expire(log, between)

    assert left(log, "g") == {("t", MANY - 1), ("new", 0)}


def test_a_group_deleted_between_the_steps_of_an_expiry_is_left_alone() -> None:
    """A new group of the same id is not deleted with it."""
    log = GroupLog(config_with(offsets_retention_minutes=60))
    offsets_in(log, "g", "t", 2_500, age_ms=2 * HOUR_MS)
    steps = 0

    def between(_ms: int) -> None:
        nonlocal steps
        steps += 1
        if steps == 2:
            log.run(GroupShard.delete_groups, ["g"], version=2)
            assert not left(log, "g")
            commit(log, "g", "new", 0)

    expire(log, between)

    assert left(log, "g") == {("new", 0)}


def test_steps_that_were_not_written_are_made_up_for_by_the_next_pass() -> None:
    """The offsets are back, and the group was not deleted."""
    log = GroupLog(config_with(offsets_retention_minutes=60))
    offsets_in(log, "g", "t", 2_500, age_ms=2 * HOUR_MS)
    log.is_holding = True
    expire(log, lambda _ms: None)
    log.fail()
    assert len(left(log, "g")) == 2_500
    log.is_holding = False

    expire(log, lambda _ms: None)

    assert not left(log, "g")


def test_offsets_of_a_new_topic_committed_between_the_steps_of_a_deletion_stay() -> None:
    """A step reads the present topic id of each offset."""
    log = GroupLog()
    offsets_in(log, "g", "t", MANY)
    steps = 0

    def between(_ms: int) -> None:
        nonlocal steps
        steps += 1
        if steps == 3:
            commit(log, "g", "t", MANY - 1, NEW)

    delete_topic(log, between)

    assert left(log, "g") == {("t", MANY - 1)}


def test_groups_are_listed_while_they_change() -> None:
    """Each at most once, as it is when its step comes; a group that exists all the time is never missed."""
    log = GroupLog()
    for group in ("simple", "gone", "joined"):
        commit(log, group, "t", 0)
    candidates = log.shard.candidates(log.committed_offset)

    first = [next(candidates)]
    log.run(GroupShard.delete_groups, ["gone"], version=2)
    commit(log, "new", "t", 0)
    metadata = GroupMetadataValue("consumer", 3, None, None, 0, [])
    log.shard.groups.classic.replay(log.end_offset, GroupMetadataKey("joined"), metadata)
    listed = [
        group.group_id
        for group_ids in (first, candidates)
        for group in log.shard.list_groups(log.committed_offset, EVERY_GROUP, group_ids)
    ]

    assert sorted(set(listed) - {"gone"}) == ["joined", "simple"]
    assert len(listed) == len(set(listed))


def test_a_group_whose_deletion_is_not_durable_is_listed() -> None:
    """Also in steps that begin meanwhile."""
    log = GroupLog()
    commit(log, "g", "t", 0)
    log.is_holding = True
    log.run(GroupShard.delete_groups, ["g"], version=2)

    candidates = log.shard.candidates(log.committed_offset)

    assert [group.group_id for group in log.shard.list_groups(log.committed_offset, EVERY_GROUP, candidates)] == ["g"]


def test_a_list_of_groups_reads_nothing_of_a_checkpoint() -> None:
    """That a group is in it is all that the list needs; a description of a simple group, too."""
    log = GroupLog()
    checkpoint = MemoryCheckpoint([(0, OffsetCommitKey("g", "t", 0), OffsetCommitValue(7))], set())
    log.shard = log.build(log.registry)
    log.shard.use_checkpoint(checkpoint)

    assert [group.group_id for group in log.shard.list_groups(log.committed_offset)] == ["g"]
    assert log.shard.describe_group(log.committed_offset, "g").group_state == "Empty"
    assert checkpoint.read == []


def test_a_group_too_large_to_be_deleted_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tombstones would not fit into a batch, as in Kafka; they are not made. Other groups are deleted."""
    log = GroupLog()
    offsets_in(log, "g", "t", 30_000)
    offsets_in(log, "h", "t", 3)
    looks = Looks(monkeypatch)

    reply = log.run(GroupShard.delete_groups, ["g", "h"], version=2)

    assert [(each.group_id, each.error_code) for each in reply.response] == [
        ("g", ErrorCode.UNKNOWN_SERVER_ERROR),
        ("h", ErrorCode.NONE),
    ]
    assert (len(left(log, "g")), len(left(log, "h"))) == (30_000, 0)
    assert looks.listed == 3


def test_an_offset_of_a_large_group_is_deleted_without_listing_them(monkeypatch: pytest.MonkeyPatch) -> None:
    log = GroupLog()
    offsets_in(log, "g", "t", MANY)
    looks = Looks(monkeypatch)

    asked = OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(index) for index in (1, MANY, 1)])
    log.run(GroupShard.delete_offsets, OffsetDeleteRequest("g", [asked]), version=0)

    assert looks.listed == 0
    assert len(left(log, "g")) == MANY - 1


@pytest.mark.parametrize("start", [expire, delete_topic])
def test_a_large_group_of_a_checkpoint_is_read_in_steps(
    start: Callable[[GroupLog, Callable[[int], None]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows are decoded once, in portions."""
    log = GroupLog(config_with(offsets_retention_minutes=60))
    committed_ms = log.clock.wall_ms() - 2 * HOUR_MS
    keys = [OffsetCommitKey("g", "t", index) for index in range(3 * LOOKS)]
    value = OffsetCommitValue(7, commit_timestamp=committed_ms, topic_id=OLD)
    checkpoint = MemoryCheckpoint([(index, key, value) for index, key in enumerate(keys)], set())
    log.shard = log.build(log.registry)
    log.shard.use_checkpoint(checkpoint)
    log.shard.on_loaded()
    decoded = decoded_rows(monkeypatch)

    start(log, lambda _ms: decoded.append(0))

    assert not left(log, "g")
    assert max(decoded) <= LOOKS
    assert sum(decoded) == 3 * LOOKS
    assert checkpoint.read == ["g"]


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_large_group_is_hashed_in_steps(is_busy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest is that of the end, also if the group changes between the steps."""
    log = GroupLog()
    offsets_in(log, "g", "t", MANY)
    commit(log, "h", "t", 0)
    hashed = [0]

    def count_hashed(group_id: str, offsets: Iterable[Any], producer_id: int | None = None) -> tuple[int, int]:
        found = offsets_digest(group_id, offsets, producer_id)
        hashed[-1] += found[1]
        return found

    monkeypatch.setattr(digest, "offsets_digest", count_hashed)

    while (found := log.shard.digest(log.committed_offset, 1_000)) is None:
        hashed.append(0)
        if is_busy and len(hashed) == 5:
            commit(log, "g", "t", 7)

    looked_at, most = sum(hashed), max(hashed)
    expected = GroupDigests(log.shard.groups, SnapshotRegistry()).ask(LATEST, 10**9, with_groups=False)
    assert expected is not None
    assert found.digest == expected.digest
    assert looked_at == MANY + 1 + is_busy * MANY
    assert is_busy or most <= 1_000


def test_a_large_group_of_a_checkpoint_is_read_in_steps_to_be_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many of its offsets a step as are hashed in one."""
    log = GroupLog()
    records = [(index, OffsetCommitKey("g", "t", index), OffsetCommitValue(7)) for index in range(MANY)]
    log.shard.use_checkpoint(MemoryCheckpoint(records, set()))
    decoded = decoded_rows(monkeypatch)
    while (found := log.shard.digest(log.committed_offset, 1_000)) is None:
        decoded.append(0)

    read, most = sum(decoded), max(decoded)
    expected = GroupDigests(log.shard.groups, SnapshotRegistry()).ask(LATEST, 10**9, with_groups=False)
    assert expected is not None
    assert found.digest == expected.digest
    assert (read, most) == (MANY, 1_000)


def test_fetches_that_take_longer_than_a_step() -> None:
    """Those of all of a large group, or of anything of one that has to be converted before."""
    log = GroupLog()
    offsets_in(log, "g", "t", MANY)
    commit(log, "h", "t", 0)
    rows = rows_of([OffsetCommitRequestPartition(index, 5) for index in range(MANY)])
    log.shard.groups.offsets.to_change("rows").put_rows(("t", partitions_of(rows)), CommittedRows(0, 0, OLD, rows))

    def is_at_once(group_id: str, topics: list[OffsetFetchRequestTopics] | None) -> bool:
        request = OffsetFetchRequestGroup(group_id, topics=topics)
        return log.shard.fetching_work(log.committed_offset, request) <= FETCHED_PER_STEP

    one = [OffsetFetchRequestTopics("t", partition_indexes=[0])]
    assert [is_at_once("rows", topics) for topics in (one, None)] == [False, False]
    assert [is_at_once("g", topics) for topics in (one, None)] == [True, False]
    assert [is_at_once("h", topics) for topics in (one, None)] == [True, True]
    assert [is_at_once("unknown", topics) for topics in (one, None)] == [True, True]


def test_a_large_group_that_was_hashed_in_steps_has_a_digest_of_its_own() -> None:
    """It is told, and taken off the total when the group changes."""
    log = GroupLog()
    offsets_in(log, "g", "t", MANY)
    commit(log, "h", "t", 0)
    for partition in (7, 8):
        while (found := log.shard.digest(log.committed_offset, 1_000, with_parts=True)) is None:
            pass
        expected = GroupDigests(log.shard.groups, SnapshotRegistry()).ask(LATEST, 10**9, with_groups=True)

        assert expected is not None
        assert found.parts.keys() == {"g", "h"}
        assert (found.digest, found.parts) == (expected.digest, expected.parts)
        commit(log, "g", "t", partition)


def test_a_small_fetch_of_a_large_group_says_how_much_it_has_to_convert() -> None:
    """After large plain commits, and when the group rests in a checkpoint. So the server takes steps for it."""
    asked = OffsetFetchRequestGroup("g", topics=[OffsetFetchRequestTopics("t", partition_indexes=[0])])
    log = GroupLog()
    rows = rows_of([OffsetCommitRequestPartition(index, 5) for index in range(MANY)])
    offsets = log.shard.groups.offsets.to_change("g")
    offsets.put_rows(("t", partitions_of(rows)), CommittedRows(0, 0, OLD, rows))
    resting = GroupLog()
    checkpoint = MemoryCheckpoint(
        [(index, OffsetCommitKey("g", "t", index), OffsetCommitValue(5)) for index in range(MANY)], set()
    )
    resting.shard.use_checkpoint(checkpoint)

    for shard in (log.shard, resting.shard):
        assert shard.fetching_work(0, asked) == MANY
        while not shard.prepare_offsets(0, "g"):
            pass
        shard.fetch_offsets(LATEST, asked)
        assert shard.fetching_work(0, asked) == 0


def test_the_steps_of_all_shards_of_a_loop_run_one_after_the_other() -> None:
    """A deletion of topics comes to all of them at once."""
    times = PassTimes()
    logs = [GroupLog() for _ in range(5)]
    for log in logs:
        log.shard = GroupShard(replace(log.context, pass_times=times), log.registry)
        offsets_in(log, "g", "t", 2 * RECORDS)
        log.run(GroupShard.delete_topics, [DeletedTopic("t", OLD)], version=0)
        log.run(GroupShard.delete_topics, [DeletedTopic("t", OLD)], version=0)
    deleted = [2 * RECORDS - len(left(log, "g")) for log in logs]
    due = [log.timer.due_in(("delete-topics",)) for log in logs]

    for log in logs:
        log.advance(1_000)

    assert deleted == [RECORDS, 0, 0, 0, 0]
    assert len(set(due)) == len(due)
    assert [left(log, "g") for log in logs] == [set()] * 5


@pytest.mark.parametrize("start", [expire, delete_topic])
def test_a_pass_goes_on_when_its_steps_are_late(start: Callable[[GroupLog, Callable[[int], None]], None]) -> None:
    """The loop was busy for longer than the interval of the steps."""
    log = GroupLog(config_with(offsets_retention_minutes=60))
    offsets_in(log, "g", "t", 5 * RECORDS, age_ms=2 * HOUR_MS)

    start(log, lambda _ms: log.clock.advance(50))

    assert not left(log, "g")
