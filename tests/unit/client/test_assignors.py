"""The assignors of the client agree with Kafka's own, byte by byte of what goes on the wire."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

import pytest

from coordinator_server.client import Refused, TopicPartition
from coordinator_server.client.consumer.assignors import Assignment, Assignor, RangeAssignor, RoundRobinAssignor, wanted_topics
from coordinator_server.client.consumer.java_order import java_hash, java_order
from coordinator_server.client.consumer.sticky import CooperativeStickyAssignor, StickyAssignor, claims_of
from coordinator_server.client.consumer.subscription import (
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from tests.support.golden import STORED_ASSIGNMENTS, stored_lines

BY_NAME: dict[str, Assignor] = {each.name: each for each in (RangeAssignor(), RoundRobinAssignor(), CooperativeStickyAssignor())}
STICKY = "sticky"
GROUPS = [json.loads(line) for line in stored_lines(STORED_ASSIGNMENTS).splitlines()]


def subscriptions_of(group: Mapping[str, Any]) -> dict[str, Subscription]:
    return {
        each["id"]: Subscription(
            tuple(each["topics"]),
            tuple(TopicPartition(*partition) for partition in each["owned"]),
            each["generation"],
            group_instance_id=each["instance"],
        )
        for each in group["members"]
    }


@pytest.mark.parametrize("name", BY_NAME)
def test_they_agree_with_kafkas(name: str) -> None:
    groups = [each for each in GROUPS if each["assignor"] == name]

    assert len(groups) > 100
    for group in groups:
        found = BY_NAME[name].assign(group["partitions"], subscriptions_of(group))
        assert {key: encode_assignment(each).hex() for key, each in found.items()} == group["assignments"], group


def test_the_older_sticky_one_reads_what_kafkas_members_write_and_divides_as_it_does() -> None:
    groups = [each for each in GROUPS if each["assignor"] == STICKY]

    assert len(groups) > 100
    for group in groups:
        subscriptions = {
            each["id"]: decode_subscription(bytes.fromhex(group["subscriptions"][each["id"]]), each["instance"])
            for each in group["members"]
        }
        found = StickyAssignor().assign(group["partitions"], subscriptions)
        assert {key: encode_assignment(each).hex() for key, each in found.items()} == group["assignments"], group


def test_the_older_sticky_one_writes_what_it_reads() -> None:
    """Members without a past write nothing. Of data that cannot be read nothing is claimed; older clients name no generation."""
    mine = (TopicPartition("a", 0), TopicPartition("a", 2), TopicPartition("topic", 1))
    data = StickyAssignor().user_data(7, mine)
    assert data is not None

    assert claims_of(STICKY, Subscription((), user_data=data)) == (mine, 7)
    assert claims_of(STICKY, Subscription((), user_data=data[:-4])) == (mine, -1)
    assert claims_of(STICKY, Subscription((), user_data=data[:-6])) == ((), -1)
    assert claims_of(STICKY, Subscription((), user_data=None)) == ((), -1)
    assert StickyAssignor().user_data(-1) is None


def test_subscriptions_are_kafkas_bytes() -> None:
    for group in [each for each in GROUPS if each["assignor"] != STICKY]:
        for member_id, subscription in subscriptions_of(group).items():
            data = bytes.fromhex(group["subscriptions"][member_id])
            assert encode_subscription(subscription) == data
            read = decode_subscription(data, subscription.group_instance_id)
            assert set(read.topics) == set(subscription.topics)
            assert sorted(read.owned) == sorted(subscription.owned)
            assert read.generation_id == subscription.generation_id


@pytest.mark.parametrize("seed", range(60))
def test_sticky_groups_settle_balanced(seed: int) -> None:
    """Also if members want different topics: nothing moves in the end, and everything is given to one that wants it."""
    rng = random.Random(seed)
    partitions = {topic: rng.randint(1, 8) for topic in "abc"}
    wants = {f"m{i}": tuple(rng.sample("abc", rng.randint(1, 3))) for i in range(rng.randint(1, 6))}
    owned: Mapping[str, tuple[TopicPartition, ...]] = dict.fromkeys(wants, ())
    rounds: list[Assignment] = []
    for generation in range(6):
        subscriptions = {key: Subscription(topics, owned[key], generation) for key, topics in wants.items()}
        rounds.append(CooperativeStickyAssignor().assign(partitions, subscriptions))
        given = [each for assigned in rounds[-1].values() for each in assigned]
        assert len(given) == len(set(given))
        assert all(each.topic in wants[key] for key, assigned in rounds[-1].items() for each in assigned)
        for key, assigned in rounds[-1].items():
            others = {each for other, has in owned.items() if other != key for each in has}
            assert not others & set(assigned), "given before its owner gave it up"
        if generation == 1:
            # A member comes: some partitions move.
            wants["new"] = ("a", "b", "c")
        owned = {key: tuple(rounds[-1].get(key, ())) for key in wants}

    assert {key: sorted(each) for key, each in rounds[-1].items()} == {key: sorted(each) for key, each in rounds[-2].items()}
    wanted = {topic for topics in wants.values() for topic in topics}
    assert sum(map(len, rounds[-1].values())) == sum(count for topic, count in partitions.items() if topic in wanted)


def test_claims_of_older_clients_have_their_generation_in_user_data() -> None:
    old = Subscription(("a",), (TopicPartition("a", 0),), user_data=b"\0\0\0\2")
    new = Subscription(("a",), (TopicPartition("a", 0), TopicPartition("a", 1)), 3)
    found = CooperativeStickyAssignor().assign({"a": 2}, {"old": old, "new": new})

    # One of the two that the newer one has moves, and the older one gets it in the next round.
    assert found == {"old": [], "new": [TopicPartition("a", 0)]}


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0", b"\xff\xff\0\0\0\0", b"\0\3\0\0\0\1"])
def test_bytes_that_are_no_subscription_are_refused(data: bytes) -> None:
    with pytest.raises(Refused):
        decode_subscription(data)


def test_newer_versions_are_read() -> None:
    data = encode_assignment([TopicPartition("a", 1)])

    assert decode_assignment(b"\0\x09" + data[2:] + b"more") == (TopicPartition("a", 1),)


def test_topics_are_in_javas_order() -> None:
    """By UTF-16: a surrogate comes before what is above it. Items of shared work may have any name."""
    names = ("\uff5e", "\U0001f600", "a", "no such topic")

    assert wanted_topics(dict.fromkeys(names[:3], 1), {"m": Subscription(names)}) == ["a", "\U0001f600", "\uff5e"]


def test_hashes_are_javas() -> None:
    assert java_hash("hello") == 99162322
    assert java_hash("\N{GRINNING FACE}") == 1772899
    assert java_order(["b", "a", "q"]) == ["a", "q", "b"]
