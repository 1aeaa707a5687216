"""The kinds of shards: what their data directories and their clients are told."""

from __future__ import annotations

from coordinator_server.kinds import KINDS, kind_of, topic_of


def test_the_table_of_kinds() -> None:
    """Topics and partition counts are in every data directory; key types are Kafka's CoordinatorType."""
    found = [(each.topic, each.partitions, each.key_type, each.has_checkpoint, each.is_permanent) for each in KINDS.values()]

    assert found == [
        ("__cluster_metadata", 1, None, False, True),
        ("__consumer_offsets", "offsets.topic.num.partitions", 0, True, True),
        ("__transaction_state", "transaction.state.log.num.partitions", 1, False, False),
        ("__share_group_state", "share.coordinator.state.topic.num.partitions", 2, False, False),
    ]


def test_the_kind_of_a_name() -> None:
    """A topic's name may have dashes; a partition is a number."""
    assert [topic_of(name) for name in ("__consumer_offsets-7", "a-b-1")] == ["__consumer_offsets", "a-b"]
    assert kind_of("__consumer_offsets-7") is KINDS["__consumer_offsets"]
    for name in ("__consumer_offsets", "__consumer_offsets-x", "__consumer_offsets--7", "orders-7"):
        assert kind_of(name) is None
