"""The admin client of every library: topics made and seen, groups listed and described."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from tests.interop.clients import ADMINS, READERS, Admin
from tests.interop.crew import Crew
from tests.support.eventually import eventually

OFFSETS_TOPIC = "__consumer_offsets"


@pytest.fixture
def admin(library: str, shared_bootstrap: str) -> Iterator[Admin]:
    admin = ADMINS[library](shared_bootstrap)
    yield admin
    admin.close()


def test_a_created_topic_has_its_partitions(admin: Admin, fresh_name: str) -> None:
    """CreateTopics makes what Metadata shows."""
    admin.create_topic(fresh_name, 6)

    eventually(lambda: admin.partitions_of(fresh_name) == 6)


def test_a_topic_is_created_once(admin: Admin, fresh_name: str) -> None:
    """The second time is refused, and the client says why."""
    admin.create_topic(fresh_name, 1)

    with pytest.raises(Exception, match=r"(?i)already.?exists"):
        admin.create_topic(fresh_name, 1)


def test_a_live_group_is_listed_and_described(admin: Admin, crew: Crew) -> None:
    """ListGroups knows it; DescribeGroups shows it stable with its members; OffsetFetch without topics gives all it committed."""
    owners = crew.join(2).settle()
    owners[3].commit({3: 33})

    assert crew.group in admin.groups()
    assert admin.describe(crew.group) == ("Stable", 2)
    assert admin.committed(crew.group, crew.topic) == {3: 33}


def test_a_topic_grows_and_goes(admin: Admin, fresh_name: str) -> None:
    """CreatePartitions and DeleteTopics; what cannot be is refused, and the client says why."""
    admin.create_topic(fresh_name, 2)
    admin.grow(fresh_name, 5)
    eventually(lambda: admin.partitions_of(fresh_name) == 5)

    with pytest.raises(Exception, match=r"(?i)invalid.?partitions"):
        admin.grow(fresh_name, 3)
    admin.delete_topic(fresh_name)
    with pytest.raises(Exception, match=r"(?i)unknown.?topic"):
        admin.delete_topic(fresh_name)


def test_settings_of_a_topic(admin: Admin, fresh_name: str) -> None:
    """They are described, and changed; a value that cannot be is refused."""
    admin.create_topic(fresh_name, 1)
    before = admin.settings(fresh_name)
    admin.set_topic(fresh_name, "retention.ms", "7000")

    with pytest.raises(Exception, match=r"(?i)invalid.?config"):
        admin.set_topic(fresh_name, "retention.ms", "x")
    assert (before["retention.ms"], before["cleanup.policy"]) == ("604800000", "delete")
    eventually(lambda: admin.settings(fresh_name) == before | {"retention.ms": "7000"})


def test_the_offsets_topic_can_be_read(library: str, shared_bootstrap: str, crew: Crew) -> None:
    """What a group has committed, from ``__consumer_offsets``, by an ordinary consumer that belongs to no group."""
    owners = crew.join(1).settle()
    owners[3].commit({3: 33})

    records = READERS[library](shared_bootstrap, OFFSETS_TOPIC, partition_for(crew.group, 50))

    commits = []
    for key, value in records:
        match GROUP_SERDE.decode(key, value):
            case CoordinatorRecord(OffsetCommitKey(group, topic, partition), OffsetCommitValue(offset)) if group == crew.group:
                commits.append((topic, partition, offset))
    assert commits == [(crew.topic, 3, 33)]


def test_what_the_suite_of_kafka_python_asks_of_a_broker(shared_bootstrap: str) -> None:
    """Which partitions move, and the settings of the broker: those that may change, and all (its tests of describe_configs_broker,
    list_partition_reassignments and kafka_version_infer)."""
    from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition
    from kafka.admin import ConfigResource, ConfigResourceType

    admin = KafkaAdminClient(bootstrap_servers=shared_bootstrap)
    broker = str(admin.describe_cluster()["brokers"][0]["broker_id"])
    found = [
        admin.describe_configs([ConfigResource(ConfigResourceType.BROKER, broker)], config_filter=which)["broker"][broker]
        for which in ("dynamic", "all")
    ]

    assert admin.list_partition_reassignments() == admin.list_partition_reassignments([TopicPartition("orders", 0)]) == {}
    assert found[0] == {}
    listeners = found[1]["advertised.listeners"]
    assert (listeners["config_type"], listeners["read_only"], listeners["is_sensitive"]) == ("LIST", True, False)
    assert (listeners["synonyms"], "value" in listeners) == ([], True)
    admin.close()
    # Kafka 4.3 is told by an API about its directories, which are not served (docs/differences.md, 109).
    consumer = KafkaConsumer(bootstrap_servers=shared_bootstrap, api_version=None)
    assert consumer.config["api_version"] == (4, 2)
    consumer.close()
