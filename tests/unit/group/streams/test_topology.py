"""A topology without its topics: what a heartbeat sends becomes a record, and what the record says."""

from __future__ import annotations

import msgspec
import pytest

from coordinator_server.group.streams.topology import are_equal, required_topics, source_topics, topology_value
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages import streams_group_heartbeat as heartbeat
from protocol.messages.streams_group_records import (
    CopartitionGroup,
    StreamsGroupTopologyValue,
    Subtopology,
    TopicConfig,
    TopicInfo,
)

SENT = heartbeat.Topology(
    3,
    [
        heartbeat.Subtopology(
            subtopology_id="1",
            repartition_source_topics=[heartbeat.TopicInfo("sums", 0, 2, [heartbeat.KeyValue("retention.ms", "1")])],
            state_changelog_topics=[heartbeat.TopicInfo("store")],
        ),
        heartbeat.Subtopology(
            subtopology_id="0",
            source_topics=["orders", "rates"],
            repartition_sink_topics=["sums"],
            copartition_groups=[heartbeat.CopartitionGroup([0, 1], [], [])],
        ),
    ],
)
VALUE = StreamsGroupTopologyValue(
    3,
    [
        Subtopology(
            subtopology_id="1",
            repartition_source_topics=[TopicInfo("sums", 0, 2, [TopicConfig("retention.ms", "1")])],
            state_changelog_topics=[TopicInfo("store")],
        ),
        Subtopology(
            subtopology_id="0",
            source_topics=["orders", "rates"],
            repartition_sink_topics=["sums"],
            copartition_groups=[CopartitionGroup([0, 1], [], [])],
        ),
    ],
)


def test_the_record_has_what_the_member_sent() -> None:
    assert topology_value(SENT) == VALUE


def test_subtopologies_have_ids_of_their_own() -> None:
    twice = heartbeat.Topology(0, [SENT.subtopologies[0], SENT.subtopologies[0]])

    with pytest.raises(CoordinatorError) as refused:
        topology_value(twice)

    assert refused.value.error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert refused.value.message is None


def test_sources_and_changelogs_are_required() -> None:
    """Sinks are not: what is written and never read need not exist."""
    assert set(required_topics(VALUE)) == {"orders", "rates", "sums", "store"}


def test_sources_lead_to_their_subtopology() -> None:
    assert source_topics(VALUE) == {"orders": "0", "rates": "0", "sums": "1"}


def test_of_two_that_read_a_topic_the_last_one_in_kafkas_order_counts() -> None:
    """The order is by hash code: the table of these three has "0" and "11" in one bucket, in the order in which they came."""
    one, other, last = (Subtopology(subtopology_id=each, source_topics=["orders"]) for each in ("11", "0", "1"))

    assert source_topics(StreamsGroupTopologyValue(0, [one, other])) == {"orders": "0"}
    assert source_topics(StreamsGroupTopologyValue(0, [other, one])) == {"orders": "11"}
    assert source_topics(StreamsGroupTopologyValue(0, [last, one, other])) == {"orders": "1"}


def test_the_order_of_subtopologies_does_not_count() -> None:
    assert are_equal(VALUE, StreamsGroupTopologyValue(3, VALUE.subtopologies[::-1]))


@pytest.mark.parametrize(
    "other",
    [
        msgspec.structs.replace(VALUE, epoch=4),
        StreamsGroupTopologyValue(3, VALUE.subtopologies[:1]),
        StreamsGroupTopologyValue(
            3, [VALUE.subtopologies[0], msgspec.structs.replace(VALUE.subtopologies[1], source_topics=["rates", "orders"])]
        ),
    ],
    ids=["epoch", "subtopologies", "order of topics"],
)
def test_everything_else_counts(other: StreamsGroupTopologyValue) -> None:
    assert not are_equal(VALUE, other)
