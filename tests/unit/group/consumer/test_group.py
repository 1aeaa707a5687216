"""The hard state of consumer groups: what their records come to, in any order that a log can have."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import pytest

from coordinator_server.group.consumer import records
from coordinator_server.group.consumer.group import NO_EPOCH, ConsumerGroup, SubscriptionCount, consumer_groups
from coordinator_server.group.consumer.member import ConsumerGroupMember, Epochs, MemberState, current_assignment
from coordinator_server.group.consumer.records import RECORDS
from coordinator_server.group.modern.reconciling_group import GroupState
from coordinator_server.group.modern.records import tombstone
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.messages.consumer_group_records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRegularExpressionKey,
    TopicPartitions,
)

T, U = b"t" * 16, b"u" * 16
EMPTY: Epochs = {}


class Log:
    """The consumer groups of a shard, and the records replayed into them."""

    def __init__(self, *first: CoordinatorRecord) -> None:
        self.registry = SnapshotRegistry()
        self.groups = consumer_groups(self.registry)
        self.end = 0
        self.replay(*first)

    def replay(self, *new: CoordinatorRecord) -> None:
        table = self.groups.replay
        for record in new:
            table[type(record.key)](self.end, record.key, record.value)
            self.end += 1

    @property
    def group(self) -> ConsumerGroup:
        return self.groups.by_id["g"]


def subscribed(
    member_id: str, *topics: str, instance_id: str | None = None, regex: str = "", assignor: str | None = None, protocol: str = ""
) -> CoordinatorRecord:
    classic = ClassicMemberMetadata(1000, [ClassicProtocol(protocol, b"x")]) if protocol else None
    metadata = ConsumerGroupMemberMetadataValue(
        instance_id, None, "c", "/h", list(topics), regex, 5000, assignor, classic_member_metadata=classic
    )
    return RECORDS.member("g", ConsumerGroupMember(member_id, metadata))


def has(
    member_id: str, epoch: int, assigned: Epochs, pending: Epochs = EMPTY, state: MemberState = MemberState.STABLE
) -> CoordinatorRecord:
    value = current_assignment(epoch, epoch - 1, state, assigned, pending)
    return RECORDS.current("g", ConsumerGroupMember(member_id).with_current(value))


def test_a_new_group_has_epoch_1() -> None:
    """And so does its target assignment, before there is a record of either."""
    group = Log(subscribed("m", "a")).group

    assert (group.group_epoch, group.metadata_hash, group.assignment_epoch, group.assignment_timestamp) == (1, 0, 1, 0)


def test_a_member_is_what_its_two_records_say() -> None:
    log = Log(
        subscribed("m", "a", "b", instance_id="i"), has("m", 4, {T: {0: 3, 1: 4}}, {U: {5: 2}}, MemberState.UNREVOKED_PARTITIONS)
    )
    member = log.group.members["m"]

    assert (member.member_epoch, member.previous_member_epoch, member.state) == (4, 3, MemberState.UNREVOKED_PARTITIONS)
    assert (member.assigned, member.pending_revocation) == ({T: {0: 3, 1: 4}}, {U: {5: 2}})
    assert member.instance_id == "i"
    assert log.group.static_member("i") is member
    assert log.group.static_member("j") is log.group.static_member(None) is None


def test_a_member_without_an_assignment_has_epoch_0() -> None:
    member = Log(subscribed("m", "a")).group.members["m"]

    assert (member.member_epoch, member.previous_member_epoch, member.state, member.assigned) == (0, -1, MemberState.STABLE, {})


def test_a_state_of_a_later_kafka_is_unknown() -> None:
    key = ConsumerGroupCurrentMemberAssignmentKey("g", "m")
    group = Log(CoordinatorRecord(key, ConsumerGroupCurrentMemberAssignmentValue(1, 0, 9))).group

    assert group.members["m"].state is MemberState.UNKNOWN
    assert not group.members["m"].is_reconciled_to(1)


def test_partitions_of_older_logs_have_the_members_epoch() -> None:
    """From before KIP-1251, or with a list of the wrong length. A static member that is away has none below 0."""
    key = ConsumerGroupCurrentMemberAssignmentKey("g", "m")
    parts = [TopicPartitions(T, [0, 1]), TopicPartitions(U, [2, 3], [7])]

    for epoch, expected in ((5, 5), (-2, 0)):
        value = ConsumerGroupCurrentMemberAssignmentValue(epoch, 4, 0, parts)
        member = Log(CoordinatorRecord(key, value)).group.members["m"]
        assert member.assigned == {T: {0: expected, 1: expected}, U: {2: expected, 3: expected}}


def test_a_partition_has_the_epoch_of_its_owner_until_it_is_released() -> None:
    """Also while its revocation is pending, and while the owner is a static member that is away."""
    log = Log(has("m", 4, {T: {0: 1}}, {T: {1: 1}}))
    assert [log.group.partition_epoch(T, each) for each in range(3)] == [4, 4, NO_EPOCH]

    log.replay(has("m", -2, {T: {0: 0}}))
    assert [log.group.partition_epoch(T, each) for each in range(2)] == [-2, NO_EPOCH]

    log.replay(has("m", 5, {}))
    assert not log.group.partition_epochs


def test_a_partition_moves_in_either_order_of_the_records() -> None:
    """A compacted log may have the new owner's record before the old owner's last one."""
    before, gone, new = has("old", 3, {T: {0: 3}}), has("old", 4, {}), has("new", 5, {T: {0: 5}})
    for order in ((before, gone, new), (before, new, gone), (gone, new), (new, gone)):
        assert Log(*order).group.partition_epoch(T, 0) == 5


def test_an_owner_that_compaction_left_behind_keeps_nothing() -> None:
    """The record with which it gave the partition up is gone; its next one comes after the new owner's."""
    log = Log(has("a", 11, {T: {0: 11}}), has("b", 12, {T: {0: 12}}), has("a", 13, {T: {1: 13}}))
    assert [log.group.partition_epoch(T, each) for each in range(2)] == [12, 13]

    log = Log(has("a", 11, {T: {0: 11}}), has("b", 12, {T: {0: 12}}), has("b", 13, {}), has("a", 14, {U: {0: 14}}))
    assert (log.group.partition_epoch(T, 0), log.group.partition_epoch(U, 0)) == (NO_EPOCH, 14)


def test_every_order_of_the_last_records_is_the_same_group() -> None:
    """And none is refused: compaction keeps the last record of each key, in the order of the log."""
    last = [
        subscribed("m", "a", regex="r", assignor="range"),
        has("m", 3, {T: {0: 3}}),
        RECORDS.target("g", "m", {T: [0]}),
        RECORDS.epoch("g", 3, 77),
        RECORDS.target_epoch("g", 3, 1000),
        records.regex_record("g", "r", ["b", "a"], 5, 900),
    ]

    for order in permutations(last):
        group = Log(*order).group
        assert (group.group_epoch, group.metadata_hash, group.assignment_epoch, group.assignment_timestamp) == (3, 77, 3, 1000)
        assert group.target("m") == {T: [0]}
        assert group.subscribed_topics == {"a": SubscriptionCount(1, 1), "b": SubscriptionCount(0, 1)}
        assert (group.regex_members, group.server_assignors) == ({"r": 1}, {"range": 1})
        assert group.partition_epoch(T, 0) == 3
        assert group.state_at() == GroupState.STABLE


def test_tombstones_alone_are_nothing() -> None:
    """Those of records that compaction has removed, in any order."""
    for order in permutations(RECORDS.group_tombstones("g", ["m"], ["m"], [ConsumerGroupRegularExpressionKey("g", "r")])[:5]):
        assert not Log(*order).groups.by_id


def test_a_group_ends_with_its_last_record() -> None:
    """Whichever it is, the legacy record of topics included."""
    legacy = CoordinatorRecord(ConsumerGroupPartitionMetadataKey("g"), ConsumerGroupPartitionMetadataValue())
    first = [
        subscribed("m", "a"),
        has("m", 1, {}),
        RECORDS.target("g", "m", {}),
        RECORDS.epoch("g", 3, 77),
        RECORDS.target_epoch("g", 3, 1000),
        records.regex_record("g", "r", ["a"], 5, 900),
        legacy,
    ]
    for last in first:
        log = Log(*first)
        assert log.group.has_partition_metadata
        for record in first:
            if record is not last:
                log.replay(CoordinatorRecord(record.key, None))
        assert "g" in log.groups.by_id
        log.replay(CoordinatorRecord(last.key, None))
        assert "g" not in log.groups.by_id


def test_all_tombstones_leave_nothing() -> None:
    """No group, and no topic that a group is remembered for."""
    log = Log(subscribed("m", "a", instance_id="i"), has("m", 1, {T: {0: 1}}), records.regex_record("g", "r", ["b"], 5, 900))
    group = log.group
    assert (set(log.groups.subscribed_to("a")), set(log.groups.subscribed_to("b"))) == ({"g"}, {"g"})

    log.replay(*RECORDS.group_tombstones("g", list(group.members), list(group.targets), group.other_keys()))

    assert not log.groups.by_id
    assert not log.groups.subscribed_to("a")
    assert not log.groups.subscribed_to("b")
    assert not group.static_members
    assert not group.partition_epochs


def test_a_replaced_static_member_keeps_its_instance() -> None:
    """The new member's record comes before or after the tombstone of the old one."""
    new, gone = subscribed("new", "a", instance_id="i"), tombstone(RECORDS.member_key("g", "old"))
    for order in ([new, gone], [gone, new]):
        log = Log(subscribed("old", "a", instance_id="i"), RECORDS.epoch("g", 2, 0), *order)
        assert log.group.static_members == {"i": "new"}


def test_subscriptions_are_counted() -> None:
    """A topic counts once per member that names it, and once per regular expression."""
    log = Log(subscribed("m", "a", "b", "a"), subscribed("n", "b"), records.regex_record("g", "r", ["b"], 1, 1))
    assert log.group.subscribed_topics == {"a": SubscriptionCount(1, 0), "b": SubscriptionCount(2, 1)}

    log.replay(subscribed("m", "c", regex="r"), records.regex_record("g", "r", ["c", "d"], 2, 2))
    assert log.group.subscribed_topics == {
        "b": SubscriptionCount(1, 0),
        "c": SubscriptionCount(1, 1),
        "d": SubscriptionCount(0, 1),
    }
    assert log.group.regex_members == {"r": 1}

    log.replay(records.regex_tombstone("g", "r"), records.regex_tombstone("g", "r"))
    assert log.group.subscribed_topics == {"b": SubscriptionCount(1, 0), "c": SubscriptionCount(1, 0)}


def test_classic_members_are_counted_by_protocol() -> None:
    log = Log(subscribed("m", "a", protocol="range"), subscribed("n", "a", protocol="range"), subscribed("o", "a"))
    assert (log.group.classic_members.value, log.group.classic_protocols) == (2, {"range": 2})

    log.replay(subscribed("m", "a"), subscribed("n", "a", protocol="sticky"))
    assert (log.group.classic_members.value, log.group.classic_protocols) == (1, {"sticky": 1})


def test_the_state_follows_epochs_and_members() -> None:
    log = Log(RECORDS.epoch("g", 2, 0))
    states = [log.group.state_at()]
    for record in (
        subscribed("m", "a"),
        RECORDS.target_epoch("g", 2, 1),
        has("m", 2, {T: {0: 2}}, state=MemberState.UNRELEASED_PARTITIONS),
        has("m", 2, {T: {0: 2}}),
    ):
        log.replay(record)
        states.append(log.group.state_at())

    empty, assigning, reconciling, stable = list(GroupState)[:4]
    assert states == [empty, assigning, reconciling, reconciling, stable]


def test_the_number_of_stable_members_is_counted() -> None:
    """The state is the same as if every member was looked at, in any order of the records, also as of an earlier offset."""
    rng = Random(7)
    log, expected = Log(), []
    for _ in range(400):
        name = rng.choice("mn")
        log.replay(
            rng.choice(
                [
                    subscribed(name, "a"),
                    tombstone(RECORDS.member_key("g", name)),
                    has(name, rng.randint(1, 3), {}, state=rng.choice(list(MemberState))),
                    tombstone(RECORDS.current_key("g", name)),
                    RECORDS.target_epoch("g", rng.randint(1, 3), 0),
                    RECORDS.epoch("g", 1, 0),
                ]
            )
        )
        log.registry.snapshot(log.end)
        group = log.groups.by_id.get("g")
        if group is not None:
            stable = all(each.is_reconciled_to(group.assignment_epoch) for each in group.members.values())
            expected.append((log.end, group, bool(group.members), stable))

    empty, _, reconciling, stable_state = list(GroupState)[:4]
    for end, group, has_members, is_stable in expected:
        assert group.state_at(end) == (empty if not has_members else stable_state if is_stable else reconciling)
    assert {each[2:] for each in expected} == {(False, True), (True, False), (True, True)}


def test_a_failed_append_is_taken_back() -> None:
    """With everything that is derived from the records, and the offset that answers wait for."""
    log = Log(subscribed("m", "a", instance_id="i"), has("m", 1, {T: {0: 1}}), RECORDS.epoch("g", 2, 7))
    log.registry.snapshot(log.end)
    log.replay(subscribed("m", "b"), has("m", 2, {T: {1: 2}}), RECORDS.epoch("g", 3, 8), subscribed("n", "b"))
    log.replay(RECORDS.target("g", "m", {T: [1]}))
    assert log.group.end_offset.value == 8

    log.registry.revert_to(3)

    group = log.group
    assert (list(group.members), group.static_members, group.subscribed_topics) == (
        ["m"],
        {"i": "m"},
        {"a": SubscriptionCount(1, 0)},
    )
    assert (group.group_epoch, group.partition_epoch(T, 0), group.partition_epoch(T, 1)) == (2, 1, NO_EPOCH)
    assert (set(log.groups.subscribed_to("a")), set(log.groups.subscribed_to("b"))) == ({"g"}, set())
    assert not group.targets
    assert group.end_offset.value == 3


def test_records_have_kafkas_bytes() -> None:
    """Kafka's keys and values: versions, tagged fields, names sorted, an epoch for each partition."""
    metadata = ConsumerGroupMemberMetadataValue("i", None, "c", "/h", ["a", "b"], "", 300000, None, classic_member_metadata=None)
    member = ConsumerGroupMember("m", metadata).with_current(current_assignment(3, 2, MemberState.STABLE, {T: {0: 2, 1: 3}}, {}))
    written = [
        RECORDS.epoch("g", 3, 77),
        RECORDS.member("g", member),
        RECORDS.target_epoch("g", 3, 1000),
        RECORDS.target("g", "m", {T: [0, 1]}),
        RECORDS.current("g", member),
        records.regex_record("g", "r", ["b", "a"], 5, 900),
    ]

    assert [(GROUP_SERDE.encode_key(each).hex(), (GROUP_SERDE.encode_value(each) or b"").hex()) for each in written] == [
        ("0003000167", "0000" + "00000003" + "010008" + "000000000000004d"),
        (
            "000500016700016d",
            "0000" + "0269" + "00" + "0263" + "032f68" + "03" + "0261" + "0262" + "01" + "000493e0" + "00" + "01000100",
        ),
        ("0006000167", "0000" + "00000003" + "010008" + "00000000000003e8"),
        ("000700016700016d", "0000" + "02" + T.hex() + "03" + "00000000" + "00000001" + "00" + "00"),
        (
            "000800016700016d",
            "0000" + "00000003" + "00000002" + "00" + "02" + T.hex() + "03" + "0000000000000001"
            "01" + "00" + "09" + "03" + "0000000200000003" + "01" + "00",
        ),
        ("0010000167000172", "0000" + "03" + "0261" + "0262" + "0000000000000005" + "0000000000000384" + "00"),
    ]


@pytest.mark.interpreted
def test_a_member_with_many_topics_is_a_few_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not some for each topic: what it has, in the next epoch, and when it has left."""
    topic_ids = [bytes([number]) * 16 for number in range(60)]
    log = Log(subscribed("m", "a"))
    changes: list[str] = []
    for name in ("__setitem__", "__delitem__", "put_all", "remove_all"):
        real = getattr(TimelineDict, name)

        def counted(container: Any, *args: Any, real: Any = real, name: str = name) -> None:
            changes.append(name)
            real(container, *args)

        monkeypatch.setattr(TimelineDict, name, counted)
    log.registry.snapshot(log.end)
    counts = []
    for epoch in (3, 4):
        changes.clear()
        log.replay(has("m", epoch, {topic_id: {0: epoch, 1: epoch} for topic_id in topic_ids}))
        counts.append(len(changes))
        assert {log.group.partition_epoch(topic_id, 1) for topic_id in topic_ids} == {epoch}
    changes.clear()
    log.replay(*RECORDS.member_tombstones("g", "m"))
    counts.append(len(changes))

    assert max(counts) < 20
