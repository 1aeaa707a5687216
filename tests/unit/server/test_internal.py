"""Internal topics as clients see them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coordinator_server.server.internal import InternalTopics
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
