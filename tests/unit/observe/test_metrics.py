"""The metrics of an observed cluster: what a scrape says, with the names of others' exporters, and that their number is bounded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap
from pathlib import Path
from uuid import UUID

import pytest

from coordinator_server.observe.exporter import Exporter
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD
from protocol.coordinator_records import CLUSTER_METADATA_SERDE, GROUP_SERDE, CoordinatorRecord
from protocol.fields import Message, uuid_text
from protocol.messages.cluster_metadata import TopicRecord
from protocol.messages.consumer_group_records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    TopicPartitions,
)
from protocol.record_batch import Record
from tests.support.index import CLUSTER, SHARD, make_directory
from tests.support.observed_metrics import Samples, observed_directory, scrape
from tests.support.page_log import Story, write_stories
from tests.support.segments import START_MS, Batch, write_segments


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return observed_directory(tmp_path_factory.mktemp("observed"))


def exported(data: Path, most_partitions: int = 100) -> dict[str, Samples]:
    exporter = Exporter(data, most_partitions)
    exporter.round()
    assert exporter.readiness().is_good
    return scrape(exporter)


def lag_of(found: dict[str, Samples], group: str) -> Iterator[float]:
    for (name, *_), lag in found["kminion_kafka_consumer_group_topic_partition_lag"].items():
        if name == group:
            yield lag


def test_a_scrape_says_the_same_in_both_vocabularies(data: Path) -> None:
    found = exported(data)

    assert found["kminion_kafka_consumer_group_members"] == {("steady",): 2, ("stopped",): 3}
    assert found["kminion_kafka_consumer_group_info"][("", "steady", "roundrobin", "consumer", "Stable")] == 1
    assert found["kminion_kafka_consumer_group_offset_commits_total"] == {("steady",): 24, ("stopped",): 6}
    assert found["kminion_kafka_consumer_group_empty_members"] == {("stopped",): 1}
    both = {("steady", "orders"): 2, ("stopped", "orders"): 2}
    assert found["kminion_kafka_consumer_group_topic_members"] == both
    assert found["kminion_kafka_consumer_group_topic_assigned_partitions"] == both
    of_topic = found["kminion_kafka_consumer_group_topic_lag"]
    assert of_topic == {(group, "orders"): sum(lag_of(found, group)) for group in ("steady", "stopped")}
    # Labels by name: client_id, cluster_name, consumer_id, group, member_host, partition, topic.
    of_partition = found["kafka_consumergroup_group_lag"]
    assert of_partition == {
        ("", CLUSTER, "", group, "", partition, topic): lag
        for (group, partition, topic), lag in found["kminion_kafka_consumer_group_topic_partition_lag"].items()
    }
    assert found["kafka_consumergroup_group_sum_lag"] == {(CLUSTER, group): lag for (group, _), lag in of_topic.items()}
    assert found["kafka_consumergroup_group_topic_sum_lag"] == {(CLUSTER, *key): lag for key, lag in of_topic.items()}
    assert found["kafka_partition_latest_offset"] == {(CLUSTER, "0", "orders"): 1400, (CLUSTER, "1", "orders"): 2100}
    assert found["kafka_consumergroup_group_max_lag"] == {
        (CLUSTER, group, "false"): max(lag_of(found, group)) for group in ("steady", "stopped")
    }
    assert found["kafka_consumergroup_group_max_lag_seconds"].keys() <= {
        (CLUSTER, group, "false") for group in ("steady", "stopped")
    }


def test_verdicts_rebalances_and_states_are_ours(data: Path) -> None:
    found = exported(data)

    verdicts = {group: verdict for (group, verdict), value in found["coordinator_observed_group_verdict"].items() if value}
    assert verdicts == {"steady": "WARN", "stopped": "ERR"}
    assert found["coordinator_observed_group_rebalances_total"] == {("steady",): 1, ("stopped",): 1}
    assert found["coordinator_observed_groups"] == {("Stable", "classic"): 2}
    assert found["coordinator_observed_sample_age_seconds"][()] > 0
    assert found["coordinator_observed_groups_without_partitions"] == {(): 0}


@pytest.mark.parametrize(
    ("most", "groups"), [(0, set()), (1, set()), (2, {"stopped"}), (3, {"stopped"}), (4, {"steady", "stopped"})]
)
def test_partitions_are_bounded_and_those_furthest_behind_stay(data: Path, most: int, groups: set[str]) -> None:
    """Groups whole. What is of a group is there in any case."""
    found = exported(data, most)

    assert {group for group, *_ in found.get("kminion_kafka_consumer_group_topic_partition_lag", {})} == groups
    assert found["coordinator_observed_groups_without_partitions"] == {(): 2 - len(groups)}
    assert len(found["kafka_consumergroup_group_sum_lag"]) == 2
    assert len(found.get("kminion_kafka_consumer_group_topic_members", {})) == min(most, 2)


def test_topics_of_consumer_groups_have_their_names(tmp_path: Path) -> None:
    """As the catalog has them at the time of the scrape. A group without offsets has them, too; who revokes has what is left."""
    orders, payments = UUID(int=1).bytes, UUID(int=2).bytes
    key = ConsumerGroupMemberMetadataKey
    records = [
        (ConsumerGroupMetadataKey("g"), ConsumerGroupMetadataValue(2)),
        *((key("g", each), ConsumerGroupMemberMetadataValue(client_id=each, client_host="/h")) for each in ("a", "b", "c")),
        (ConsumerGroupCurrentMemberAssignmentKey("g", "a"), current({orders: [0, 1], payments: [0]})),
        (ConsumerGroupCurrentMemberAssignmentKey("g", "b"), current({orders: [2]}, revoked={orders: [3]})),
        (ConsumerGroupCurrentMemberAssignmentKey("g", "c"), current({})),
    ]
    data = make_directory(tmp_path)
    pairs = [(GROUP_SERDE.encode_key(each), GROUP_SERDE.encode_value(each)) for each in starmap(CoordinatorRecord, records)]
    batch = Batch(tuple(Record(number, START_MS, *pair) for number, pair in enumerate(pairs)))
    write_segments(data / SHARD, [batch])
    exporter = Exporter(data, 10)
    exporter.round()
    unnamed = scrape(exporter)["kminion_kafka_consumer_group_topic_members"]
    named = CLUSTER_METADATA_SERDE.encode_value(CoordinatorRecord(TopicRecord("orders", orders), None))
    write_segments(data / CATALOG_SHARD, [Batch((Record(0, START_MS, None, named),))])
    exporter.round()

    found = scrape(exporter)

    assert unnamed == {("g", uuid_text(orders)): 2, ("g", uuid_text(payments)): 1}
    assert found["kminion_kafka_consumer_group_topic_members"] == {("g", "orders"): 2, ("g", uuid_text(payments)): 1}
    assert found["kminion_kafka_consumer_group_topic_assigned_partitions"] == {("g", "orders"): 3, ("g", uuid_text(payments)): 1}
    assert found["kminion_kafka_consumer_group_empty_members"] == {("g",): 1}


def current(has: dict[bytes, list[int]], revoked: dict[bytes, list[int]] | None = None) -> Message:
    assigned, revoking = ([TopicPartitions(*each) for each in kind.items()] for kind in (has, revoked or {}))
    return ConsumerGroupCurrentMemberAssignmentValue(2, 1, 0, assigned, revoking)


def test_before_the_first_reading_there_is_nothing(tmp_path: Path) -> None:
    """And it is not ready. A log that cannot be read is a reason."""
    data, _ = write_stories(tmp_path, [Story("g").join("a")])
    exporter = Exporter(data, 10)
    assert scrape(exporter) == {}
    assert "first time" in exporter.readiness().why[0]
    [segment] = [path for path in (data / "__consumer_offsets-0").glob("*.log") if path.stat().st_size]
    segment.write_bytes(segment.read_bytes()[:-1] + b"\xff")
    exporter.round()

    assert not exporter.readiness().is_good
    assert exporter.liveness().is_good
