"""DeleteTopics and CreatePartitions at the catalog, with the answers of Kafka's controller."""

from __future__ import annotations

import pytest

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topics import DeletedTopic, Topic
from coordinator_server.config import Config
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import LATEST
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import TopicRecord
from protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from protocol.messages.create_topics import CreatableTopic
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from tests.support.catalog import Catalog
from tests.support.configs import config_with

ONE, TWO, NOBODY = (number.to_bytes(16, "big") for number in (1, 2, 9))
NODE = Config().node_id


@pytest.fixture
def catalog() -> Catalog:
    """``a`` with the id ONE and ``b`` with the id TWO, of two partitions each."""
    catalog = Catalog()
    catalog.create(CreatableTopic("a", 2, 1), CreatableTopic("b", 2, 1))
    return catalog


def delete(catalog: Catalog, *topics: DeleteTopicState) -> list[tuple[str | None, bytes, ErrorCode, str | None]]:
    answer = catalog.run(CatalogShard.delete_topics, DeleteTopicsRequest(topics=list(topics)), DeleteTopicsResponse)
    return [(one.name, one.topic_id, ErrorCode(one.error_code), one.error_message) for one in answer.responses]


def grow(catalog: Catalog, *topics: CreatePartitionsTopic, validate_only: bool = False) -> list[tuple[ErrorCode, str | None]]:
    request = CreatePartitionsRequest(topics=list(topics), validate_only=validate_only)
    answer = catalog.run(CatalogShard.create_partitions, request, CreatePartitionsResponse)
    return [(ErrorCode(one.error_code), one.error_message) for one in answer.results]


def names(catalog: Catalog) -> list[str]:
    return [topic.name for topic in catalog.shard.all_topics(LATEST)]


def test_topics_are_deleted_by_name_and_by_id(catalog: Catalog) -> None:
    """Whoever watches is told which they were; their names can be given again, to topics with other ids."""
    gone: list[DeletedTopic] = []
    catalog.shard.on_removed = gone.append

    told = delete(catalog, DeleteTopicState("a"), DeleteTopicState(None, TWO))

    assert sorted(told, key=lambda one: one[1]) == [("a", ONE, ErrorCode.NONE, None), ("b", TWO, ErrorCode.NONE, None)]
    assert sorted(gone) == [("a", ONE), ("b", TWO)]
    assert names(catalog) == []
    assert catalog.create(CreatableTopic("a", 1, 1)).topics[0].topic_id not in (ONE, TWO)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ([DeleteTopicState("x")], (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")),
        ([DeleteTopicState(None, NOBODY)], (ErrorCode.UNKNOWN_TOPIC_ID, "This server does not host this topic ID.")),
        ([DeleteTopicState(None)], (ErrorCode.INVALID_REQUEST, "Neither topic name nor id were specified.")),
        ([DeleteTopicState("a", ONE)], (ErrorCode.INVALID_REQUEST, "You may not specify both topic name and topic id.")),
        ([DeleteTopicState("a")] * 2, (ErrorCode.INVALID_REQUEST, "Duplicate topic name.")),
        ([DeleteTopicState(None, ONE)] * 2, (ErrorCode.INVALID_REQUEST, "Duplicate topic id.")),
        (
            [DeleteTopicState("a"), DeleteTopicState(None, ONE)],
            (ErrorCode.INVALID_REQUEST, "The provided topic name maps to an ID that was already supplied."),
        ),
        (
            [DeleteTopicState("__consumer_offsets")],
            (ErrorCode.INVALID_TOPIC_EXCEPTION, "__consumer_offsets is this server's own log"),
        ),
    ],
)
def test_deletions_of_topics_that_are_refused(
    catalog: Catalog, asked: list[DeleteTopicState], told: tuple[ErrorCode, str]
) -> None:
    """One answer, with Kafka's words, and nothing is gone."""
    [(_, _, error, message)] = delete(catalog, *asked)

    assert (error, message) == told
    assert names(catalog) == ["a", "b"]


def test_topics_stay_where_deletion_is_disabled() -> None:
    """``delete.topic.enable=false`` refuses the whole request."""
    catalog = Catalog(config_with(delete_topic_enable=False))
    catalog.create(CreatableTopic("a", 1, 1))

    with pytest.raises(CoordinatorError) as refused:
        delete(catalog, DeleteTopicState("a"))

    assert refused.value.error == ErrorCode.TOPIC_DELETION_DISABLED
    assert names(catalog) == ["a"]


def test_a_topic_gets_more_partitions(catalog: Catalog) -> None:
    """With and without an assignment; a validation alone changes nothing."""
    told = [
        grow(catalog, CreatePartitionsTopic("a", 9, None), validate_only=True),
        grow(catalog, CreatePartitionsTopic("a", 3, [CreatePartitionsAssignment([NODE])]), CreatePartitionsTopic("b", 5, None)),
    ]

    assert told == [[(ErrorCode.NONE, None)], [(ErrorCode.NONE, None)] * 2]
    assert [topic.partitions for topic in catalog.shard.all_topics(LATEST)] == [3, 5]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ([("a", 2, None)], (ErrorCode.INVALID_PARTITIONS, "Topic already has 2 partition(s).")),
        (
            [("a", -1, None)],
            (ErrorCode.INVALID_PARTITIONS, "The topic a currently has 2 partition(s); -1 would not be an increase."),
        ),
        ([("x", 3, None)], (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)),
        ([("a", 3, None), ("a", 4, None)], (ErrorCode.INVALID_REQUEST, "Duplicate topic name.")),
        (
            [("a", 4, [[NODE]])],
            (
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
            ),
        ),
        (
            [("a", 3, [[7]])],
            (
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                "The manual partition assignment includes broker 7, but no such broker is registered.",
            ),
        ),
        (
            [("a", 3, [[]])],
            (ErrorCode.INVALID_REPLICA_ASSIGNMENT, "The manual partition assignment includes an empty replica list."),
        ),
        (
            [("a", 3, [[NODE, NODE]])],
            (
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"The manual partition assignment includes the broker {NODE} more than once.",
            ),
        ),
        (
            [("__consumer_offsets", 99, None)],
            (ErrorCode.INVALID_TOPIC_EXCEPTION, "__consumer_offsets is this server's own log"),
        ),
    ],
)
def test_new_partition_counts_that_are_refused(
    catalog: Catalog, asked: list[tuple[str, int, list[list[int]] | None]], told: tuple[ErrorCode, str | None]
) -> None:
    """One answer, with Kafka's words, and nothing has changed."""
    topics = [
        CreatePartitionsTopic(name, count, None if nodes is None else [CreatePartitionsAssignment(one) for one in nodes])
        for name, count, nodes in asked
    ]

    assert grow(catalog, *topics) == [told]
    assert [topic.partitions for topic in catalog.shard.all_topics(LATEST)] == [2, 2]


def test_others_grow_beside_those_that_cannot(catalog: Catalog) -> None:
    """One that comes twice, and one that is unknown."""
    asked = [CreatePartitionsTopic(name, 5, None) for name in ("x", "a", "a", "y", "b")]

    assert [error for error, _ in grow(catalog, *asked)] == [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NONE,
    ]
    assert [topic.partitions for topic in catalog.shard.all_topics(LATEST)] == [2, 5]


def test_one_request_makes_a_bounded_batch(catalog: Catalog) -> None:
    """As CreateTopics."""
    with pytest.raises(CoordinatorError) as refused:
        grow(catalog, CreatePartitionsTopic("a", 2_000_000, None))

    assert refused.value.error == ErrorCode.POLICY_VIOLATION


def test_an_internal_topic_is_made_once(catalog: Catalog) -> None:
    """With the id that it is given, and as many partitions as its kind has."""
    asked = TopicRecord("__transaction_state", NOBODY)

    assert catalog.run(CatalogShard.create_internal_topic, asked, TopicRecord) == asked
    written = len(catalog.records)
    assert catalog.run(CatalogShard.create_internal_topic, asked, TopicRecord) == asked

    assert len(catalog.records) == written
    assert catalog.shard.topic(LATEST, "__transaction_state") == Topic("__transaction_state", NOBODY, 50)


@pytest.mark.parametrize("name", ["__consumer_offsets", "__cluster_metadata", "orders"])
def test_what_is_always_there_or_no_kind_is_not_made_by_use(catalog: Catalog, name: str) -> None:
    with pytest.raises(CoordinatorError, match="INVALID_TOPIC_EXCEPTION"):
        catalog.run(CatalogShard.create_internal_topic, TopicRecord(name, NOBODY), TopicRecord)


def test_an_internal_topic_stays(catalog: Catalog) -> None:
    """Nobody deletes it, by name or by id, or gives it more partitions."""
    catalog.run(CatalogShard.create_internal_topic, TopicRecord("__transaction_state", NOBODY), TopicRecord)
    written = len(catalog.records)

    deleted = delete(catalog, DeleteTopicState(None, NOBODY)) + delete(catalog, DeleteTopicState("__transaction_state"))
    grown = grow(catalog, CreatePartitionsTopic("__transaction_state", 60, None))

    why = "__transaction_state is this server's own log"
    assert [(error, message) for _, _, error, message in deleted] == [(ErrorCode.INVALID_TOPIC_EXCEPTION, why)] * 2
    assert grown == [(ErrorCode.INVALID_TOPIC_EXCEPTION, why)]
    assert len(catalog.records) == written


def test_a_topic_is_present_while_it_is_the_same(catalog: Catalog) -> None:
    """Commits compare the topics that they have found before."""
    catalog.create(CreatableTopic("a", 1, 1), CreatableTopic("b", 1, 1))
    found = [topic for name in ("a", "b") if (topic := catalog.shard.topic(LATEST, name)) is not None]
    assert catalog.shard.are_present(LATEST, found)

    delete(catalog, DeleteTopicState("b"))
    assert not catalog.shard.are_present(LATEST, found)
    catalog.create(CreatableTopic("b", 1, 1))
    assert not catalog.shard.are_present(LATEST, found)
    assert catalog.shard.are_present(LATEST, found[:1])
