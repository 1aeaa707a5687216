"""What the log says of a life: generations that are missing, members that came back, groups in a format of their own; topics."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace

from coordinator_server.client.consumer.assignors import RangeAssignor
from coordinator_server.client.consumer.sticky import StickyAssignor
from coordinator_server.whatif.life import Life, Missing, Protocol, missing_between
from coordinator_server.whatif.reader import LifeReader
from coordinator_server.whatif.records import MemberRecord
from coordinator_server.whatif.topics import TopicHistory
from coordinator_server.whatif.verdict import Question, judge, missing_of, reproduce, sides_of
from protocol.messages.cluster_metadata import PartitionRecord, RemoveTopicRecord, TopicRecord
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from tests.support.generations import generation, held, member
from tests.support.group_lives import TOPICS, ClassicGroup, Consumer, ModernGroup

A = member("a")


def test_generations_without_a_record_are_named() -> None:
    """What compaction has removed, and what was never written: a group that rebalances before its leader has assigned."""
    found = missing_between([generation(3, [A]), generation(5, [A]), generation(8, [A])], begins_at=5)

    assert found == [Missing(1, 2, is_removed=True), Missing(4, 4, is_removed=True), Missing(6, 7, is_removed=False)]


def test_a_static_member_that_comes_back_is_no_new_generation() -> None:
    group = ClassicGroup(1, RangeAssignor(), is_alike=True)
    group.members = [Consumer(group, "c", group.lives.wants, "instance"), Consumer(group, "d", group.lives.wants)]
    group.settle()
    before = group.lives.life()
    group.restart_of(0, away_ms=0)
    group.settle()
    after = group.lives.life()

    assert len(group.lives.records) > len(before.generations)
    assert [each.number for each in after.generations] == [each.number for each in before.generations]
    assert (len(before.static), after.static) == (1, before.static | {group.members[0].member_id: "instance"})


@pytest.mark.parametrize(("other", "is_alike"), [(("a",), True), (("a", "b"), False)])
def test_a_coordinator_would_know_whether_members_want_the_same(other: tuple[str, ...], is_alike: bool) -> None:
    group = ClassicGroup(1, RangeAssignor())
    group.members = [Consumer(group, "c", ("a",)), Consumer(group, "d", other)]
    group.settle()

    assert group.lives.life().generations[-1].is_alike is is_alike


def test_a_group_that_is_made_again_begins_with_its_first_generation() -> None:
    """A group that only has offsets has a generation 0, of nobody."""
    reader, key = LifeReader(TopicHistory()), GroupMetadataKey("g")
    one, nobody = GroupMetadataValue("consumer", 1, None, None, -1, []), GroupMetadataValue("consumer", 0, None, None, -1, [])
    for offset, value in enumerate([one, nobody, None, None, one]):
        reader.take(MemberRecord("g", offset, offset, key, value, None))

    assert [(each.number, each.offset) for each in reader.lives(0)["g"].generations] == [(1, 0), (1, 4)]


def test_the_order_of_members_depends_on_how_many_there_were() -> None:
    """As in Java, whose maps never shrink."""
    group = ModernGroup(2, None)
    for topic in TOPICS:
        group.lives.grow(topic, 42)
    for change, times in ((group.enter, 16), (group.leave, 12), (group.enter, 6)):
        for _ in range(times):
            change()
            group.beat()
            group.lives.log.advance(1)
    generations = group.lives.life().generations

    assert len(generations) == 34
    assert reproduce(generations).differ == ()


def test_members_in_a_format_of_their_own_are_counted() -> None:
    reader = LifeReader(TopicHistory())
    for kind, data in (("connect", b"\0\1"), ("consumer", b"x")):
        value = GroupMetadataValue(kind, 1, "p", "m", -1, [MemberMetadata("m", None, "c", "/h", 1, 1, data, b"")])
        reader.take(MemberRecord(kind, 0, 0, GroupMetadataKey(kind), value, None))
    lives = reader.lives(0)

    assert [(each.generations, each.unreadable) for each in lives.values()] == [([], 1), ([], 1)]


def test_a_consumer_group_has_a_generation_for_each_target() -> None:
    life = ModernGroup(3, None).live(10).life()

    assert {each.protocol for each in life.generations} == {Protocol.CONSUMER}
    assert {each.assignor for each in life.generations} <= {"uniform", ""}
    assert all(each.reasons for each in life.generations)


def test_a_target_is_computed_from_the_one_before() -> None:
    generations = ModernGroup(4, None, is_alike=True).live(25).life().generations
    known = [(one, other) for one, other in pairwise(generations) if other.number == one.number + 1]

    assert any(one.assigned != other.assigned for one, other in known)
    for one, other in known:
        had = {seat: set(each) for seat, each in (other.before or {}).items() if seat in one.members}
        assert had == {seat: set(one.assigned[seat]) for seat in had}


def test_a_static_member_that_returns_has_what_it_had() -> None:
    """It has another member id and another subscription, so that there is a new target at once."""
    group = ModernGroup(3, None)
    group.enter(is_static=True)
    group.beat()
    group.lives.log.advance(5_000)
    [seat] = group.lives.life().generations[-1].members
    group.restart_of(0, ["a"])
    life = group.lives.life()
    *_, before, after = life.generations

    assert life.static == {each.members[seat].member_id: seat for each in (before, after)}
    assert before.members[seat].member_id != after.members[seat].member_id
    assert (after.before, after.fresh) == ({seat: before.assigned[seat]}, frozenset([seat]))


def test_a_target_that_compaction_has_kept_is_no_generation() -> None:
    """The members around it may be newer. It is one of those that are missing."""
    lives = ModernGroup(3, None).live(12)
    whole = lives.life().generations
    begins_at = whole[-2].offset
    found = lives.life(begins_at)

    assert [each.number for each in found.generations] == [each.number for each in whole[-2:]]
    assert found.missing[0] == Missing(1, whole[-2].number - 1, is_removed=True)


def test_what_another_rule_would_give_is_not_taken_for_what_was_recorded() -> None:
    """The proof can fail: a record that its assignor would not have made is found."""
    group = ClassicGroup(5, StickyAssignor(), is_alike=True)
    group.members = [Consumer(group, f"c{number}", group.lives.wants) for number in range(2)]
    group.settle()
    life = group.lives.life()
    generation = life.generations[-1]
    one, two = generation.assigned
    generation.assigned = {one: generation.assigned[two], two: generation.assigned[one]}
    found = judge(life, sides_of(life, Question())).reproduced

    assert (found.same, found.differ) == (len(life.generations) - 1, (generation.number,))
    assert found.moved > 0
    assert found.as_balanced == 1


def test_generations_by_an_unknown_assignor_are_counted() -> None:
    """The others are played. One of nobody is none."""
    strange = generation(1, [A], assignor="mine")
    found = reproduce([generation(1, []), strange, generation(2, [A], held(a="t0 t1 t2 t3 t4 t5")), strange])

    assert (found.generations, found.same, found.unknown) == (1, 1, 2)


def test_topics_over_time() -> None:
    """A topic that is made again has another id; one that is deleted is none."""
    one, two = b"1" * 16, b"2" * 16
    history = TopicHistory(
        [
            (10, TopicRecord("t", one)),
            (10, PartitionRecord(0, one)),
            (10, PartitionRecord(1, one)),
            (20, PartitionRecord(2, one)),
            (30, RemoveTopicRecord(one)),
            # What is said of a topic that is gone counts no more.
            (35, PartitionRecord(3, one)),
            (40, TopicRecord("t", two)),
            (40, PartitionRecord(0, two)),
            (50, PartitionRecord(4, one)),
            (60, RemoveTopicRecord(one)),
        ]
    )
    found = [history.at("t", at_ms) for at_ms in (9, 10, 20, 30, 35, 40, 60)]

    assert [None if each is None else (each.topic_id, each.partitions) for each in found] == [
        None,
        (one, 2),
        (one, 3),
        None,
        None,
        (two, 1),
        (two, 1),
    ]
    assert (history.name(one), history.name(two), history.name(b"3" * 16), history.at("u", 50)) == ("t", "t", None, None)


def test_numbers_that_are_skipped_are_missing() -> None:
    """Another protocol counts anew."""
    modern = replace(generation(9, []), protocol=Protocol.CONSUMER)
    found = missing_between([generation(2, []), generation(3, []), generation(6, []), modern], 0)

    assert found == [Missing(4, 5, is_removed=False)]
    assert missing_between([generation(1, [])], begins_at=5) == []


def test_a_period_lacks_what_is_missing_in_it() -> None:
    """And before it, if it begins with the first generation that there is."""
    found = [generation(each, [A]) for each in (3, 4, 8, 9)]
    whole = Life("g", found, missing_between(found, begins_at=4))

    assert whole.missing == [Missing(1, 2, is_removed=True), Missing(5, 7, is_removed=False)]
    assert missing_of(whole, found) == whole.missing
    assert missing_of(whole, found[:2]) == whole.missing[:1]
    assert missing_of(whole, found[1:]) == whole.missing[1:]
    assert missing_of(whole, found[3:]) == []
