"""Groups that nobody has touched for a while come to rest, and nobody can tell; a large group is changed without being read."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest

from coordinator_server.group import expiry
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.likeness import TELLING, are_alike
from coordinator_server.group.fetch import PlainFetch, fetch_plain
from coordinator_server.group.pass_step import OFFSETS_PER_LOOK, OFFSETS_PER_STEP
from coordinator_server.group.rest import IDLE_MS, MOST_OFFSETS, rest_if_idle
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets import group_offsets
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from tests.support.configs import config_with
from tests.support.group import FakeReply, GroupLog
from tests.support.resting import MemoryCheckpoint
from tests.unit.group.test_large_groups import decoded_rows

CHECK_MS = 600_000


def commit(log: GroupLog, group_id: str, offset: int, partitions: int = 3, note: str = "") -> None:
    rows = [OffsetCommitRequestPartition(index, offset, -1, note) for index in range(partitions)]
    request = OffsetCommitRequest(group_id, topics=[OffsetCommitRequestTopic("t", partitions=rows)])
    log.run(GroupShard.commit_offsets, request, version=8)


def join(log: GroupLog, group_id: str, member_id: str = "", version: int = 3) -> FakeReply:
    protocols = [JoinGroupRequestProtocol("range", b"")]
    request = JoinGroupRequest(group_id, 10_000, 10_000, member_id, protocol_type="consumer", protocols=protocols)
    reply = log.run(GroupShard.join_group, request, version=version)
    log.advance(1)
    return reply


def fetched(log: GroupLog, group_id: str) -> dict[int, int]:
    answer = log.shard.fetch_offsets(log.committed_offset, OffsetFetchRequestGroup(group_id, topics=None)).answer()
    return {each.partition_index: each.committed_offset for topic in answer.topics for each in topic.partitions}


def is_resting(log: GroupLog, group_id: str) -> bool:
    groups = log.shard.groups
    return group_id in groups.offsets and group_id not in groups.offsets.by_group


class Counted(MemoryCheckpoint):
    """Counts the groups that it has yielded."""

    yielded = 0

    def __iter__(self) -> Iterator[str]:
        for group_id in super().__iter__():
            self.yielded += 1
            yield group_id


def test_an_idle_group_comes_to_rest_and_wakes_with_a_commit() -> None:
    """One that commits all the time stays as it is. Neither has an object: nobody was a member."""
    log = GroupLog()
    commit(log, "idle", 5)
    commit(log, "idle", 6)
    for _ in range(CHECK_MS // IDLE_MS + 1):
        commit(log, "busy", 7)
        log.advance(IDLE_MS - 1)

    assert is_resting(log, "idle")
    assert not is_resting(log, "busy")
    assert log.shard.groups.classic.living("idle") is None
    assert log.shard.groups.classic.living("busy") is None
    assert log.hard_state() == log.replayed_state()
    assert {row.group_id: row.group_state for row in log.shard.list_groups(LATEST)} == {"idle": "Empty", "busy": "Empty"}
    assert fetched(log, "idle") == {0: 6, 1: 6, 2: 6}

    commit(log, "idle", 8, partitions=1)

    assert not is_resting(log, "idle")
    assert fetched(log, "idle") == {0: 8, 1: 6, 2: 6}
    assert log.hard_state() == log.replayed_state()


@pytest.mark.interpreted
def test_commits_that_replace_all_offsets_are_never_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for a commit after a rest, not by a pass that comes before the next rest, and not for that rest."""
    log = GroupLog()
    decoded = decoded_rows(monkeypatch)
    monkeypatch.setattr(group_offsets, "_spelled", Mock(side_effect=AssertionError))
    commit(log, "g", 5)
    log.advance(2 * CHECK_MS)
    assert is_resting(log, "g")

    commit(log, "g", 6)
    log.advance(CHECK_MS - IDLE_MS // 2)
    commit(log, "g", 7)
    log.advance(IDLE_MS)
    assert not is_resting(log, "g")
    log.advance(CHECK_MS)

    assert is_resting(log, "g")
    assert decoded == [0]
    assert fetched(log, "g") == {0: 7, 1: 7, 2: 7}
    assert decoded == [3]


@pytest.mark.parametrize("age_ms", [0, 1])
def test_a_group_that_commits_expires_when_it_is_due(age_ms: int) -> None:
    """Its offsets are not looked at before."""
    log = GroupLog(config_with(offsets_retention_minutes=1, offsets_retention_check_interval_ms=60_000 + age_ms))
    commit(log, "g", 5)

    log.advance(60_000 + age_ms)

    assert log.hard_state() == {}


def test_a_group_that_its_members_left_is_built_anew_as_it_was() -> None:
    log = GroupLog()
    member_id = join(log, "g").response.member_id
    log.run(GroupShard.leave_group, LeaveGroupRequest("g", members=[MemberIdentity(member_id)]), version=4)
    commit(log, "g", 5)
    log.advance(10_000)
    before = log.shard.groups.classic.living("g")
    generation = log.shard.generation(LATEST, "g")

    rest_if_idle(log.shard.groups, "g", log.clock.wall_ms() + 1, 0)

    assert before is not None
    assert log.shard.groups.classic.living("g") is None
    assert log.shard.generation(LATEST, "g") == generation
    again = log.shard.groups.classic.find("g")
    assert again is not None
    assert are_alike(before, again)
    again.pending_joins["somebody"] = None
    assert not are_alike(before, again)


def test_the_object_stays_while_somebody_may_come_back_to_it() -> None:
    """A client that was given a member id; an end of the group that is not written yet."""
    log = GroupLog()
    commit(log, "expecting", 5)
    member_id = join(log, "expecting", version=4).response.member_id
    commit(log, "left", 5)
    left = join(log, "left").response.member_id
    log.is_holding = True
    log.run(GroupShard.leave_group, LeaveGroupRequest("left", members=[MemberIdentity(left)]), version=4)

    for group_id in ("expecting", "left"):
        assert rest_if_idle(log.shard.groups, group_id, log.clock.wall_ms() + 1, 0) == 3
        assert log.shard.groups.classic.living(group_id) is not None

    log.flush()
    log.is_holding = False
    assert join(log, "expecting", member_id, version=4).response.error_code == ErrorCode.NONE


def test_a_digest_keeps_nothing_of_a_group_that_rests() -> None:
    log = GroupLog()
    commit(log, "g", 5)
    before = log.shard.digest(LATEST, 100)
    assert len(log.shard._digests._owners) == 1

    assert log.shard.groups.offsets.rest("g", log.clock.wall_ms() + 1) == 3

    assert not log.shard._digests._owners
    assert log.shard.digest(LATEST, 100) == before
    commit(log, "g", 6)
    assert log.shard.digest(LATEST, 100) != before


@pytest.mark.interpreted
def test_all_that_tells_groups_apart_is_compared() -> None:
    """A new attribute is in the list, or is named here."""
    assert {*TELLING, "_noted", "_total", "previous_state"} == set(ClassicGroup.__slots__)


def test_a_kept_answer_is_not_given_again_after_a_rest() -> None:
    """The offsets from which it was read change no more."""
    log = GroupLog()
    commit(log, "g", 5)
    request = PlainFetch(8, OffsetFetchRequestGroup("g"), [OffsetFetchRequestTopics("t", partition_indexes=[0])], False)
    answered = fetch_plain(log.shard.groups, log.committed_offset, request)
    assert answered is not None
    assert answered.again is not None
    assert answered.again(log.committed_offset)

    assert log.shard.groups.offsets.rest("g", log.clock.wall_ms() + 1) == 3
    commit(log, "g", 6)

    assert not answered.again(log.committed_offset)


def test_a_very_large_group_does_not_come_to_rest() -> None:
    log = GroupLog()
    commit(log, "g", 5, partitions=MOST_OFFSETS + 1)

    log.advance(3 * CHECK_MS)

    assert not is_resting(log, "g")


@pytest.mark.interpreted
@pytest.mark.parametrize("age_ms", [0, CHECK_MS - 1], ids=["they have just committed", "they come to rest"])
def test_a_step_looks_at_a_bounded_number_of_small_groups(age_ms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at a group takes as long as one at several offsets, also if nothing comes of it."""
    log = GroupLog(config_with(offsets_retention_minutes=60))
    count, looks = OFFSETS_PER_STEP, [0]

    def look(*of_group: Any) -> int:
        looks[-1] += 1
        return rest_if_idle(*of_group)

    monkeypatch.setattr(expiry, "rest_if_idle", look)
    log.advance(CHECK_MS - 1 - age_ms)
    for index in range(count):
        commit(log, f"group-{index}", 5)

    log.advance(age_ms + 60_000, lambda _: looks.append(0))

    assert sum(looks) == count
    assert max(looks) <= OFFSETS_PER_STEP // OFFSETS_PER_LOOK


def test_a_pass_looks_up_its_groups_one_by_one() -> None:
    """Also those of a checkpoint, and also in the compiled build: all of a shard at once were its longest step by far."""
    log = GroupLog()
    checkpoint = Counted([(index, OffsetCommitKey(f"old-{index}", "t", 0), OffsetCommitValue(1)) for index in range(100)], set())
    log.shard = log.build(log.registry)
    log.shard.use_checkpoint(checkpoint)
    log.shard.on_loaded()
    for index in range(100):
        commit(log, f"new-{index}", 5)
    groups = log.shard.groups

    left = groups.ids()
    seen = [next(left)]
    for index in range(50, 100):
        log.run(GroupShard.delete_groups, [f"new-{index}"], version=2)
    seen += [next(left) for _ in range(50)]

    assert len({each for each in seen if each.startswith("new-")}) == 50
    assert len(seen) == 51
    assert checkpoint.yielded == 1
    assert len(list(left)) == 99


def test_the_collector_of_garbage_looks_at_no_copy_of_all_groups() -> None:
    """All shards have one during their passes. For a million groups, one collection of the young objects looked at two million
    elements of lists and sets.
    """
    log, count = GroupLog(), 200
    for index in range(count):
        commit(log, f"group-{index:03d}", 5)
    groups = log.shard.groups
    before = {id(each) for each in gc.get_objects()}

    left = groups.ids()
    next(left)
    # From Python 3.14 on it looks at dicts of strings, too.
    kinds = (list, set, tuple) if sys.version_info >= (3, 14) else (list, set, tuple, dict)
    looked_at = [each for each in gc.get_objects() if id(each) not in before and isinstance(each, kinds)]

    assert [type(each) for each in looked_at if len(each) >= count and "group-000" in each] == []
    assert len(list(left)) == count - 1


def test_the_groups_of_a_checkpoint_are_read_one_by_one() -> None:
    """By whoever lists all that rest."""
    checkpoint = Counted([(index, OffsetCommitKey(f"old-{index}", "t", 0), OffsetCommitValue(1)) for index in range(100)], set())
    log = GroupLog()
    log.shard.use_checkpoint(checkpoint)

    groups = log.shard.groups.offsets.groups_at(LATEST)

    assert [next(groups) for _ in range(3)] == ["old-0", "old-1", "old-2"]
    assert checkpoint.yielded == 3


@pytest.mark.interpreted
@pytest.mark.parametrize("note", ["", "where the reader was"])
def test_the_first_change_of_a_large_group_reads_none_of_it(note: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next reader reads all of it, in steps, and finds the change, before it is durable and after."""
    count, step = 5_000, 1_000
    log = GroupLog()
    records = [(index, OffsetCommitKey("g", "t", index), OffsetCommitValue(1)) for index in range(count)]
    log.shard = log.build(log.registry)
    log.shard.use_checkpoint(MemoryCheckpoint(records, set()))
    log.shard.on_loaded()
    decoded = decoded_rows(monkeypatch)
    log.is_holding = True

    commit(log, "g", 2, note=note)

    assert sum(decoded) == 0
    while not log.shard.groups.offsets.prepare("g", step):
        decoded.append(0)
    assert fetched(log, "g") == dict.fromkeys(range(count), 1)
    log.flush()
    assert fetched(log, "g") == {index: 2 if index < 3 else 1 for index in range(count)}
    assert max(decoded) <= step
    assert sum(decoded) == count
