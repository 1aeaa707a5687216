"""The metadata hash: Kafka's number for any topics, once for each change of a topic."""

from __future__ import annotations

import json

import pytest

from coordinator_server.catalog.topics import Topic
from coordinator_server.group.common import metadata_hash
from coordinator_server.group.common.metadata_hash import TopicHashes, group_hash, topic_hash
from tests.support.golden import STORED_TOPIC_HASHES, run_topic_hashes, stored_lines
from tests.support.hashed_topics import GROUPS
from tests.support.kafka_jars import kafka_jars
from tests.support.topics import FakeTopics


def test_every_hash_is_kafkas() -> None:
    groups = [json.loads(line) for line in stored_lines(STORED_TOPIC_HASHES).splitlines()]
    for group in groups:
        found = [topic_hash(Topic(each["name"], bytes.fromhex(each["id"]), each["partitions"])) for each in group["topics"]]

        assert found == [each["hash"] for each in group["topics"]]
        assert group_hash(found) == group["hash"]
    assert len(groups) == GROUPS + 1


@pytest.mark.interop
def test_the_stored_hashes_are_what_kafka_says() -> None:
    """Made anew by Kafka's classes, every line is the stored one."""
    assert run_topic_hashes(kafka_jars()) == stored_lines(STORED_TOPIC_HASHES), "make golden stores what Kafka's classes say now"


def test_topics_count_in_the_order_of_their_names_if_they_exist() -> None:
    topics = FakeTopics()
    topics.create(b=1, a=2)
    hashes = TopicHashes(topics)
    a, b = (topics.topic(name) for name in "ab")
    assert a is not None
    assert b is not None

    assert hashes.of_group(["b", "missing", "a"]) == group_hash([topic_hash(a), topic_hash(b)])
    assert hashes.of_group(["missing"]) == hashes.of_group([]) == 0


def test_a_change_of_a_topic_changes_the_hash() -> None:
    """Another number of partitions, or another topic of the same name."""
    topics = FakeTopics()
    topics.create(a=1)
    hashes = TopicHashes(topics)
    found = [hashes.of_group("a")]
    topics.extend("a", 2)
    found.append(hashes.of_group("a"))
    topics.delete("a")
    found.append(hashes.of_group("a"))
    topics.create(a=1)
    found.append(hashes.of_group("a"))

    assert len(set(found)) == 4


def test_the_hash_of_a_topic_is_computed_once_for_each_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """And after its name was forgotten."""
    computed: list[Topic] = []

    def counted(topic: Topic) -> int:
        computed.append(topic)
        return topic_hash(topic)

    monkeypatch.setattr(metadata_hash, "topic_hash", counted)
    topics = FakeTopics()
    topics.create(a=1, b=1)
    hashes = TopicHashes(topics)
    for _ in range(3):
        hashes.of_group("ab")
    assert [topic.name for topic in computed] == ["a", "b"]

    topics.extend("a", 2)
    hashes.of_group("ab")
    hashes.forget("bc")
    hashes.of_group("ab")

    assert [(topic.name, topic.partitions) for topic in computed[2:]] == [("a", 2), ("b", 1)]
