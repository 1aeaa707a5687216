"""The kernel of the newer groups with a third type (``tests/toy/crew.py``), made as CONTRIBUTING.md says."""

from __future__ import annotations

import pytest

from coordinator_server.group.shard import GroupShard
from coordinator_server.group.types import GROUP_TYPES
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult, Reply, RequestContext
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from tests.support.group import FakeReply, GroupLog
from tests.toy.crew import INLINE_MAX_SIZE, LEAVE, SETTINGS, Beat, Beaten, Crew, CrewType, heartbeat


def type_of(shard: GroupShard) -> CrewType:
    found = shard.groups.types["crew"]
    assert isinstance(found, CrewType)
    return found


def beat(shard: GroupShard, context: RequestContext, request: Beat, reply: Reply[Beaten]) -> CoordinatorResult[Beaten]:
    return heartbeat(type_of(shard).context, request)


def delete(shard: GroupShard, context: RequestContext, group_id: str, reply: Reply[None]) -> CoordinatorResult[None]:
    type_of(shard).admit_delete(group_id)
    return CoordinatorResult(None, type_of(shard).tombstones(group_id))


class Crews:
    """A shard with a topic ``t`` of four partitions, and what it writes for crew ``g``."""

    def __init__(self) -> None:
        self.records: list[CoordinatorRecord] = []
        self.log = GroupLog(None, lambda _offset, record, _why: self.records.append(record))
        self.log.topics.create(t=4)

    @property
    def crew(self) -> Crew:
        return type_of(self.log.shard).groups.by_id["g"]

    def beat(self, name: str, epoch: int, topic: str = "") -> FakeReply:
        return self.log.run(beat, Beat("g", name, epoch, topic), version=0)

    def numbers(self, name: str) -> list[int]:
        return [number for numbers in self.crew.target(name).values() for number in numbers]

    def taken(self) -> list[str]:
        names = [
            ("" if each.value is not None else "-") + type(each.key).__name__.removeprefix("StreamsGroup").removesuffix("Key")
            for each in self.records
        ]
        self.records.clear()
        return names


@pytest.fixture
def crews(monkeypatch: pytest.MonkeyPatch) -> Crews:
    monkeypatch.setitem(GROUP_TYPES, "crew", CrewType)
    return Crews()


def test_a_join_is_a_member_an_epoch_and_a_target(crews: Crews) -> None:
    """In the order of all newer groups' records."""
    assert crews.beat("a", 0, "t").response.member_epoch == 2
    assert crews.taken() == [
        "MemberMetadata",
        "Metadata",
        "TargetAssignmentMember",
        "TargetAssignmentMetadata",
        "CurrentMemberAssignment",
    ]
    crews.beat("b", 0, "t")

    assert (crews.numbers("a"), crews.numbers("b")) == ([0, 2], [1, 3])
    assert crews.log.news[0] == ("rebalanced", {"group_id": "g", "epoch": 2, "members": 1, "reasons": ["member-joined a"]})


def test_a_steady_heartbeat_writes_nothing(crews: Crews) -> None:
    """The metadata hash is compared once, and again when a topic has changed: then there is a new epoch."""
    crews.beat("a", 0, "t")
    crews.taken()
    assert (crews.beat("a", 2).response.member_epoch, crews.taken()) == (2, [])

    crews.log.topics.extend("t", 5)
    assert crews.beat("a", 2).response.member_epoch == 3
    assert crews.numbers("a") == [0, 1, 2, 3, 4]


def test_a_wrong_epoch_is_fenced(crews: Crews) -> None:
    """With the texts that name the type."""
    crews.beat("a", 0, "t")
    refused = crews.beat("a", 7)
    assert (refused.error, (refused.message or "")[:66]) == (
        ErrorCode.FENCED_MEMBER_EPOCH,
        "The streams group member has a greater member epoch (7) than the o",
    )
    assert crews.beat("x", 3).error == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("is_silent", [False, True])
def test_a_member_that_leaves_frees_its_part(crews: Crews, *, is_silent: bool) -> None:
    """By its request, or at the end of its session: the tombstones have the order that readers rely on."""
    crews.beat("a", 0, "t")
    crews.beat("b", 0, "t")
    crews.taken()
    if is_silent:
        crews.log.advance(SETTINGS.session_timeout_ms - 1)
        crews.beat("a", 2)
        crews.taken()
        crews.log.advance(1)
        assert crews.log.news[-2][0] == "session-expired"
    else:
        crews.beat("b", LEAVE)

    assert crews.taken() == ["-CurrentMemberAssignment", "-TargetAssignmentMember", "-MemberMetadata", "Metadata"]
    crews.beat("a", crews.crew.members["a"].current.member_epoch)
    assert crews.numbers("a") == [0, 1, 2, 3]


def test_a_failed_append_is_taken_back(crews: Crews) -> None:
    crews.beat("a", 0, "t")
    crews.log.is_holding = True
    crews.beat("b", 0, "t")
    crews.log.fail()
    crews.log.is_holding = False

    assert list(crews.crew.members) == ["a"]
    assert list(type_of(crews.log.shard).context.sessions["g"]) == ["a"]


def test_a_restart_keeps_the_state_and_starts_the_sessions(crews: Crews) -> None:
    """What the log rebuilds is the live state, with the same digest."""
    crews.beat("a", 0, "t")
    crews.beat("b", 0, "t")
    before, digest = crews.log.hard_state(), crews.log.shard.digest(crews.log.committed_offset, 100)
    assert before == crews.log.replayed_state()
    crews.log.restart()

    assert crews.log.hard_state() == before
    assert crews.log.shard.digest(crews.log.committed_offset, 100) == digest
    crews.log.advance(SETTINGS.session_timeout_ms)
    assert not crews.crew.members


def test_it_is_listed_and_described(crews: Crews) -> None:
    """As of the committed offset."""
    crews.beat("a", 0, "t")
    crews.log.is_holding = True
    crews.beat("b", 0, "t")
    offset = crews.log.committed_offset
    [listed] = crews.log.shard.list_groups(offset)
    head = type_of(crews.log.shard).group_at("g", offset).described()

    assert (listed.group_state, listed.group_type, listed.protocol_type) == ("Stable", "crew", "crew")
    assert (head.group_epoch, head.assignment_epoch, [each.member_id for each in head.members]) == (2, 2, ["a"])
    assert [each.partitions for each in head.members[0].assignment.topic_partitions] == [[0, 1, 2, 3]]


def test_a_large_target_is_computed_by_a_child(crews: Crews) -> None:
    """And its records, which stay encoded, read as the type reads its targets."""
    names = [f"m{number:02}" for number in range(INLINE_MAX_SIZE + 2)]
    for name in names:
        crews.beat(name, 0, "t")
    assert crews.crew.assignment_epoch < crews.crew.group_epoch
    crews.log.advance(0)
    crews.log.finish_tasks()

    assert crews.crew.assignment_epoch == crews.crew.group_epoch
    assert sorted(number for name in names for number in crews.numbers(name)) == [0, 1, 2, 3]
    assert crews.log.hard_state() == crews.log.replayed_state()


def test_an_empty_crew_can_be_deleted(crews: Crews) -> None:
    """All of its records go."""
    crews.beat("a", 0, "t")
    with pytest.raises(CoordinatorError, match="NON_EMPTY_GROUP"):
        type_of(crews.log.shard).admit_delete("g")
    crews.beat("a", LEAVE)
    crews.log.run(delete, "g", version=0)

    assert "g" not in type_of(crews.log.shard)
    assert list(crews.log.shard.list_groups(crews.log.committed_offset)) == []
