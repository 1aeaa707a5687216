"""ConsumerGroupDescribe, ListGroups and DescribeGroups of consumer groups."""

from __future__ import annotations

import pytest

from coordinator_server.group.describe import GroupFilter
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_describe import DescribedGroup
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.consumer_group import log_of, write
from tests.support.consumer_records import UNRELEASED, UNREVOKED, Pair, current, group_epoch, left, member, target, target_epoch
from tests.support.group import GroupLog

ORDERS, PAYMENTS, GONE = (number.to_bytes(16, "big") for number in (1, 2, 9))


def described(log: GroupLog, group_id: str = "g") -> DescribedGroup:
    return log.shard.modern_group_at(log.committed_offset, ("consumer", group_id)).described()


def listed(log: GroupLog, states: tuple[str, ...] = (), types: tuple[str, ...] = ()) -> list[tuple[str, str, str, str]]:
    found = log.shard.list_groups(log.committed_offset, GroupFilter.of(states, types))
    return [(each.group_id, each.protocol_type, each.group_state, each.group_type) for each in found]


STEPS: list[tuple[str, list[Pair]]] = [
    ("Empty", [group_epoch("g", 1)]),
    ("Assigning", [member("g", "m"), group_epoch("g", 2)]),
    ("Reconciling", [target("g", "m", {ORDERS: [0, 1]}), target_epoch("g", 2)]),
    ("Stable", [current("g", "m", 2, {ORDERS: [0, 1]})]),
    ("Reconciling", [current("g", "m", 2, {ORDERS: [0]}, UNREVOKED, {ORDERS: [1]})]),
    ("Reconciling", [current("g", "m", 2, {ORDERS: [0]}, UNRELEASED)]),
    ("Stable", [current("g", "m", 2, {ORDERS: [0]})]),
    ("Empty", [left("g", "m"), target("g", "m", None), member("g", "m", None), group_epoch("g", 3)]),
]


def test_the_state_follows_from_epochs_and_members() -> None:
    """In both APIs, and as of the committed offset."""
    log = log_of()
    offsets = []
    for state, pairs in STEPS:
        write(log, pairs)
        offsets.append(log.committed_offset)
        assert (described(log).group_state, listed(log)) == (state, [("g", "consumer", state, "consumer")])


def test_filters_of_states_and_types_ignore_case() -> None:
    log = log_of(*(each for _, pairs in STEPS[:4] for each in pairs), group_epoch("h", 1))

    assert [each[0] for each in listed(log, states=("stable",))] == ["g"]
    assert [each[0] for each in listed(log, states=("EMPTY",), types=("Consumer",))] == ["h"]
    assert listed(log, types=("classic",)) == []


def test_what_is_not_durable_is_not_described() -> None:
    """A batch that is being written changes neither members nor epochs."""
    log = log_of(*(each for _, pairs in STEPS[:4] for each in pairs))
    before = described(log)
    offset = log.committed_offset
    log.registry.snapshot(offset)
    write(log, STEPS[-1][1])

    assert log.shard.modern_group_at(offset, ("consumer", "g")).described() == before
    assert described(log).members == []


def test_a_member_with_what_it_has_and_what_it_is_to_have() -> None:
    """What it must give up is still its own. Topics that are gone are left out."""
    log = log_of(
        group_epoch("g", 5),
        target_epoch("g", 5),
        member("g", "m", ["orders", "payments"]),
        target("g", "m", {PAYMENTS: [3, 1], GONE: [0]}),
        current("g", "m", 4, {ORDERS: [2], GONE: [0]}, UNREVOKED, {ORDERS: [1, 0]}),
    )

    group = described(log)

    [found] = group.members
    assert (group.group_epoch, group.assignment_epoch, group.assignor_name) == (5, 5, "range")
    assert (found.member_id, found.instance_id, found.rack_id, found.member_epoch) == ("m", None, "rack-1", 4)
    assert (found.client_id, found.client_host, found.subscribed_topic_names) == (
        "client of m",
        "/10.0.0.7",
        ["orders", "payments"],
    )
    has, target_ = (
        [(each.topic_id, each.topic_name, each.partitions) for each in assignment.topic_partitions]
        for assignment in (found.assignment, found.target_assignment)
    )
    assert has == [(ORDERS, "orders", [2, 0, 1])]
    assert target_ == [(PAYMENTS, "payments", [1, 3])]
    assert found.member_type == 1


def test_a_member_of_the_classic_protocol_is_of_type_0() -> None:
    assert [each.member_type for each in described(log_of(member("g", "m", is_classic=True))).members] == [0]


def test_the_assignor_that_most_members_ask_for() -> None:
    """Otherwise the default."""
    names = ["other", "other", "range", None]
    log = log_of(*(member("g", f"m{index}", assignor=name) for index, name in enumerate(names)))

    assert described(log).assignor_name == "other"
    assert described(log_of(member("g", "m", assignor=None))).assignor_name == "uniform"


def test_a_group_of_another_type_is_not_found() -> None:
    """By neither API."""
    log = log_of(group_epoch("g", 1))
    topic = OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 1)])
    log.run(GroupShard.commit_offsets, OffsetCommitRequest("simple", topics=[topic]), version=9)

    for group_id, message in (("none", "Group none not found."), ("simple", "Group simple is not a consumer group.")):
        with pytest.raises(CoordinatorError, match=message) as refused:
            described(log, group_id)
        assert refused.value.error is ErrorCode.GROUP_ID_NOT_FOUND
    with pytest.raises(CoordinatorError, match="is not a classic group") as refused:
        log.shard.describe_group(log.committed_offset, "g")
    assert refused.value.error is ErrorCode.GROUP_ID_NOT_FOUND
