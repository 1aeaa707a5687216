"""The conversion of a large classic group: prepared in steps, replayed at once, and the same as any other."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.group.migration import preparation, upgrade
from coordinator_server.group.modern.target_assignment import TargetAssignment
from coordinator_server.group.registry import Groups
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict, TimelineValue
from protocol.error_codes import ErrorCode
from tests.support.classic_members import ClassicMember, assignment, subscription
from tests.support.group import FakeReply
from tests.support.heartbeats import Beats

pytestmark = pytest.mark.interpreted

MEMBERS = 7
NATIVE = "m"
# The group has had a generation for each member.
CONVERTED = MEMBERS + 1


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "MEMBERS_AT_ONCE", 4)
    monkeypatch.setattr(preparation, "MEMBERS_PER_STEP", 2)


def classic_group() -> tuple[Beats, list[ClassicMember]]:
    """A stable group with a partition for each member; the second one is static, the last one has no partition."""
    beats = Beats(t=MEMBERS - 1, u=1)
    members = [ClassicMember(beats, instance_id="i" if number == 1 else None) for number in range(MEMBERS)]
    for number, member in enumerate(members):
        member.join()
        for other in members[:number]:
            other.ask_to_join(None)
    share = [(member, assignment({"t": [number]} if number < MEMBERS - 1 else {})) for number, member in enumerate(members)]
    members[0].sync(*share)
    for member in members[1:]:
        member.sync()
    beats.taken()
    return beats, members


def step(beats: Beats) -> None:
    """The next timer that is due."""
    due = beats.log.timer.pop_due(beats.log.clock.now_ms())
    assert due is not None
    beats.log._take_result(due[1](), None, None)


def plain(value: Any) -> Any:
    match value:
        case TimelineValue():
            return value.value
        case TimelineDict():
            return {key: plain(each) for key, each in value.items()}
        case TargetAssignment():
            return value.target
    return value


def state(groups: Groups) -> dict[str, Any]:
    """All that is known of the group, in whatever order."""
    found: dict[str, Any] = {"type": groups.type_of("g").name, "memory": groups.consumer.member_bytes.value}
    found["topics"] = {topic: list(groups.consumer.subscribed_to(topic)) for topic in ("t", "u")}
    group = groups.consumer.by_id.get("g")
    for kind in type(group).__mro__:
        for name in getattr(kind, "__slots__", ()):
            if name not in ("_compared", "_services"):
                found[name] = plain(getattr(group, name))
    return found


def replayed(beats: Beats) -> Groups:
    """The groups of another shard, which has read the same log, record by record."""
    shard = beats.log.build(SnapshotRegistry())
    for offset, record in enumerate([*beats.log.committed, *beats.log.pending]):
        shard.replay(offset, record)
    return shard.groups


def test_a_heartbeat_waits_until_the_members_are_prepared(small_steps: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing of a member is read any more."""
    beats, members = classic_group()
    reply = beats.member(NATIVE).join()
    steps = 0
    while not reply.is_answered:
        if steps == 4:
            monkeypatch.setattr(upgrade, "_member", lambda *_: pytest.fail("this was prepared"))
        step(beats)
        steps += 1

    assert (steps, reply.error) == (5, None)
    assert reply.response.member_epoch == CONVERTED
    assert beats.group.members.keys() == {NATIVE, *(member.member_id for member in members)}
    assert beats.taken()[0] == "-GroupMetadata"


@pytest.mark.parametrize("is_prepared", [True, False])
def test_the_group_is_that_of_its_records(is_prepared: bool, request: pytest.FixtureRequest) -> None:
    """And so it is when it has become a classic one again, and one of the consumer protocol once more."""
    if is_prepared:
        request.getfixturevalue("small_steps")
    beats, members = classic_group()
    beats.member(NATIVE).join()
    beats.log.advance(0)
    assert state(beats.log.shard.groups) == state(replayed(beats))
    for _ in range(4):
        beats.member(NATIVE).beat(owned=True)
        for member in members:
            member.follow()
    beats.member(NATIVE).leave()
    groups = beats.log.shard.groups
    assert (groups.type_of("g").name, groups.consumer.member_bytes.value, groups.consumer.subscribed_to("t")) == (
        "classic",
        0,
        (),
    )
    assert state(groups) == state(replayed(beats))


def test_an_append_that_fails_leaves_both_groups_as_they_were(small_steps: None) -> None:
    """The reply has the error, and the next heartbeat is prepared anew."""
    beats, _ = classic_group()
    beats.log.is_holding = True
    reply = beats.member(NATIVE).join()
    beats.log.advance(0)
    assert not reply.is_answered
    beats.log.fail()

    assert reply.error is ErrorCode.NOT_COORDINATOR
    groups = beats.log.shard.groups
    assert (groups.type_of("g").name, groups.consumer.member_bytes.value, groups.consumer.subscribed_to("t")) == (
        "classic",
        0,
        (),
    )
    beats.log.is_holding = False
    again = beats.member(NATIVE).join()
    beats.log.advance(0)
    assert again.response.member_epoch == CONVERTED
    assert len(beats.group.members) == MEMBERS + 1


def test_what_changes_meanwhile_counts(small_steps: None) -> None:
    """A member that joins again with other topics, one that leaves, and a topic that is gone."""
    beats, members = classic_group()
    reply = beats.member(NATIVE).join()
    for _ in range(4):
        step(beats)
    members[0].ask_to_join(subscription("u"))
    members[3].leave()
    beats.log.topics.delete("t")
    beats.log.advance(0)

    assert reply.error is None
    assert beats.group.members[members[0].member_id].metadata.subscribed_topic_names == ["u"]
    assert members[3].member_id not in beats.group.members
    assert not any(member.assigned for member in beats.group.members.values())
    assert state(beats.log.shard.groups) == state(replayed(beats))


def test_a_second_heartbeat_waits_too(small_steps: None) -> None:
    """It finds a consumer group."""
    beats, _ = classic_group()
    replies = [beats.member(name).join() for name in (NATIVE, "n")]
    beats.log.advance(0)

    assert [reply.response.member_epoch for reply in replies] == [CONVERTED, CONVERTED + 1]


def test_a_conversion_that_is_impossible_is_refused_then(small_steps: None) -> None:
    """With the reason that it has without preparation."""
    beats, members = classic_group()
    classic = beats.log.shard.groups.classic.find("g")
    assert classic is not None
    classic.members[members[2].member_id].assignment = b"?"
    reply = beats.member(NATIVE).join()
    beats.log.advance(0)

    assert reply.error is ErrorCode.GROUP_ID_NOT_FOUND
    assert beats.taken() == []


def test_an_unload_refuses_what_waits(small_steps: None) -> None:
    beats, _ = classic_group()
    reply: FakeReply = beats.member(NATIVE).join()
    beats.log.shard.on_unloaded()

    assert reply.error is ErrorCode.NOT_COORDINATOR
    assert ("conversion", "g") not in beats.log.timer.keys
