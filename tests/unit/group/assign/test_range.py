"""The range assignor divides each topic into ranges."""

from __future__ import annotations

import pytest

from coordinator_server.group.assign.range import assign_ranges
from coordinator_server.group.assign.spec import CannotAssign, GroupSpec, Member, Subscription
from coordinator_server.group.assign.target import change_targets

A, B = b"a" * 16, b"b" * 16


def group(
    instances: dict[str, str | None], counts: dict[bytes, int], targets: dict[str, dict[bytes, list[int]]] | None = None
) -> GroupSpec:
    members = [
        Member(each, instance, 0, (targets or {}).get(each, {}), targets is not None) for each, instance in instances.items()
    ]
    return GroupSpec(members, [Subscription(tuple(counts), len(counts))], True, counts)


def test_each_topic_is_divided_in_ranges() -> None:
    """The first members get one partition more. Topics with as many partitions are divided alike."""
    found = assign_ranges(group({"m2": None, "m1": None}, {A: 3, B: 3}))

    assert found == {"m1": {A: [0, 1], B: [0, 1]}, "m2": {A: [2], B: [2]}}


def test_static_members_come_first_in_order_of_their_instance_ids() -> None:
    found = assign_ranges(group({"a": None, "b": "two", "c": "one"}, {A: 3}))

    assert found == {"c": {A: [0]}, "b": {A: [1]}, "a": {A: [2]}}


def test_members_without_a_range_get_an_empty_target() -> None:
    assert assign_ranges(group({"m1": None, "m2": None}, {A: 1})) == {"m1": {A: [0]}, "m2": {}}


def test_members_share_only_topics_they_both_want() -> None:
    members = [Member("m1", None, 0, {}), Member("m2", None, 1, {})]
    subscriptions = [Subscription((A,), 1), Subscription((A, B), 2)]

    found = assign_ranges(GroupSpec(members, subscriptions, False, {A: 3, B: 2}))

    assert found == {"m1": {A: [0, 1]}, "m2": {A: [2], B: [0, 1]}}


def test_a_topic_that_does_not_exist_is_refused() -> None:
    members = [Member("m1", None, 0, {})]

    with pytest.raises(CannotAssign):
        assign_ranges(GroupSpec(members, [Subscription((A,), 1)], True, {}))


def test_members_whose_target_stays_get_no_record() -> None:
    """The order of partitions does not matter, and a member without a target of its own gets a record in any case."""
    spec = group({"m1": None, "m2": None, "m3": None}, {A: 3}, {"m1": {A: [0]}, "m2": {A: [1, 2]}})
    spec.members[2].has_target = False
    spec.members[2].target = {A: [2]}

    assert change_targets(assign_ranges, spec) == [("m2", {A: [1]}), ("m3", {A: [2]})]
