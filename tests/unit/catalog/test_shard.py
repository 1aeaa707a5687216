"""CatalogShard: which topics can be made, and what replay makes of the records."""

from __future__ import annotations

import pytest

from coordinator_server.catalog.create import MAX_PARTITIONS_PER_REQUEST
from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import LATEST
from protocol.error_codes import ErrorCode
from protocol.messages.create_topics import CreatableReplicaAssignment, CreatableTopic
from tests.support.catalog import Catalog


@pytest.fixture
def catalog() -> Catalog:
    return Catalog()


def test_a_topic_that_was_made_is_found_by_name_and_by_id(catalog: Catalog) -> None:
    result = catalog.create(CreatableTopic("orders", 6, 1)).topics[0]

    topic = Topic("orders", (1).to_bytes(16, "big"), 6)
    assert (result.error_code, result.num_partitions, result.topic_id) == (ErrorCode.NONE, 6, topic.topic_id)
    assert catalog.shard.topic(LATEST, "orders") == topic
    assert catalog.shard.topic_by_id(LATEST, topic.topic_id) == topic
    assert catalog.shard.all_topics(LATEST) == [topic]


def test_minus_one_means_the_default(catalog: Catalog) -> None:
    assert catalog.create(CreatableTopic("orders", -1, -1)).topics[0].num_partitions == 3


def test_validate_only_creates_no_topic(catalog: Catalog) -> None:
    assert catalog.create(CreatableTopic("orders", 6, 1), validate_only=True).topics[0].error_code == ErrorCode.NONE
    assert catalog.shard.topic(LATEST, "orders") is None


def test_an_uncommitted_topic_is_not_read(catalog: Catalog) -> None:
    catalog.registry.snapshot(0)
    catalog.create(CreatableTopic("orders", 6, 1))

    assert catalog.shard.topic(0, "orders") is None
    assert catalog.shard.all_topics(0) == []


def test_topics_are_sorted_once_for_each_committed_state(catalog: Catalog) -> None:
    """Every Metadata request for all topics asks for them."""
    for at, name in enumerate(("b", "a", "c"), 1):
        catalog.create(CreatableTopic(name, 1, 1))
        catalog.registry.snapshot(at)
    listed = catalog.shard.all_topics(2)

    assert [topic.name for topic in listed] == ["a", "b"]
    assert catalog.shard.all_topics(2) is listed
    assert [topic.name for topic in catalog.shard.all_topics(3)] == ["a", "b", "c"]
    assert [topic.name for topic in catalog.shard.all_topics(1)] == ["b"]
    assert [topic.name for topic in catalog.shard.all_topics(LATEST)] == ["a", "b", "c"]
    catalog.create(CreatableTopic("d", 1, 1))
    assert [topic.name for topic in catalog.shard.all_topics(LATEST)] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("name", ["...", "a.b_c-9", "x" * 249])
def test_a_name_that_kafka_takes_is_taken(catalog: Catalog, name: str) -> None:
    assert catalog.error(CreatableTopic(name, 1, 1)) == ErrorCode.NONE


@pytest.mark.parametrize("name", ["", ".", "..", "with space", "a/b", "ü", "x" * 250])
def test_a_name_that_kafka_refuses_is_refused(catalog: Catalog, name: str) -> None:
    assert catalog.error(CreatableTopic(name, 1, 1)) == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_the_servers_own_log_is_no_topic_to_make(catalog: Catalog) -> None:
    assert catalog.error(CreatableTopic("__consumer_offsets", 1, 1)) == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_a_topic_that_exists_is_not_created_again(catalog: Catalog) -> None:
    catalog.create(CreatableTopic("orders", 1, 1))

    assert catalog.error(CreatableTopic("orders", 1, 1)) == ErrorCode.TOPIC_ALREADY_EXISTS


def test_a_name_twice_in_a_request_is_refused_and_the_others_are_made(catalog: Catalog) -> None:
    response = catalog.create(CreatableTopic("a", 1, 1), CreatableTopic("b", 1, 1), CreatableTopic("a", 2, 1))

    assert {topic.name: topic.error_code for topic in response.topics} == {"a": ErrorCode.INVALID_REQUEST, "b": ErrorCode.NONE}


@pytest.mark.parametrize(
    ("partitions", "replicas", "error"),
    [(0, 1, ErrorCode.INVALID_PARTITIONS), (-2, 1, ErrorCode.INVALID_PARTITIONS), (1, 2, ErrorCode.INVALID_REPLICATION_FACTOR)],
)
def test_counts_that_cannot_be_are_refused(catalog: Catalog, partitions: int, replicas: int, error: ErrorCode) -> None:
    assert catalog.error(CreatableTopic("orders", partitions, replicas)) == error


def test_an_explicit_assignment_counts_the_partitions(catalog: Catalog) -> None:
    assigned = [CreatableReplicaAssignment(0, [1]), CreatableReplicaAssignment(1, [1])]

    assert catalog.create(CreatableTopic("orders", -1, -1, assigned)).topics[0].num_partitions == 2
    assert (
        catalog.error(CreatableTopic("gaps", -1, -1, [CreatableReplicaAssignment(1, [1])]))
        == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    )
    assert (
        catalog.error(CreatableTopic("two", -1, -1, [CreatableReplicaAssignment(0, [1, 2])]))
        == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    )
    assert catalog.error(CreatableTopic("both", 2, -1, assigned)) == ErrorCode.INVALID_REQUEST


def test_one_request_makes_a_bounded_number_of_partitions(catalog: Catalog) -> None:
    with pytest.raises(CoordinatorError, match="POLICY_VIOLATION"):
        catalog.create(CreatableTopic("a", MAX_PARTITIONS_PER_REQUEST, 1), CreatableTopic("b", 1, 1))
