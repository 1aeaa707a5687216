"""Internal topics as clients see them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from coordinator_server.server.hosting.internal_topics import InternalTopics
from tests.toy.rows import FOLDED, KEYED, plug, unplug

COUNTS = {"__cluster_metadata": 1, "__consumer_offsets": 50, KEYED.topic: 7}


@pytest.fixture(autouse=True)
def toys() -> Iterator[None]:
    plug()
    yield
    unplug()


def test_those_that_are_always_there_are_listed() -> None:
    """The catalog's own is nobody's to look for; any other exists once the catalog lists it."""
    internal = InternalTopics("cluster", COUNTS)

    assert [(topic.name, topic.partitions) for topic in internal] == [("__consumer_offsets", 50)]
    [listed] = internal
    assert internal.named("__consumer_offsets") == internal.of_id(listed.topic_id) == listed
    assert internal.named(KEYED.topic) is None
    assert [topic.name for topic in internal.on_demand()] == [KEYED.topic]


def test_a_key_type_leads_to_its_topic_if_that_is_served() -> None:
    internal = InternalTopics("cluster", COUNTS)

    found = [internal.of_key_type(key_type) for key_type in (0, 1, 2, KEYED.key_type or 0, FOLDED.key_type or 0)]
    assert [topic and topic.name for topic in found] == ["__consumer_offsets", None, None, KEYED.topic, None]


def test_ids_follow_from_the_clusters() -> None:
    """The same at every start, others in another cluster."""
    ids = [[topic.topic_id for topic in InternalTopics(cluster, COUNTS).on_demand()] for cluster in ("a", "a", "b")]

    assert ids[0] == ids[1] != ids[2]
    assert [each[6] >> 4 for each in ids[0]] == [8]


@pytest.mark.parametrize(
    ("cluster_id", "topic_id"),
    [
        ("cluster", "d2edcf8fab40822488677647fc775660"),
        ("a", "d13d50fc8e1e8fb3a262bfe36dce07da"),
        ("b", "658321f5cf628d1c96e8e80e423fa4c7"),
    ],
)
def test_an_id_is_the_same_for_ever(cluster_id: str, topic_id: str) -> None:
    """Clients keep it over a restart with another version. It is a UUID of version 8."""
    [topic] = InternalTopics(cluster_id, COUNTS)

    assert topic.topic_id.hex() == topic_id
    assert uuid.UUID(bytes=topic.topic_id).version == 8
    assert uuid.UUID(bytes=topic.topic_id).variant == uuid.RFC_4122
