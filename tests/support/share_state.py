"""Requests to the share coordinator, and their answers by topic id and partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from protocol.fields import Message, uuid_text
from protocol.messages import delete_share_group_state as delete
from protocol.messages import initialize_share_group_state as initialize
from protocol.messages import read_share_group_state as read
from protocol.messages import read_share_group_state_summary as summary
from protocol.messages import write_share_group_state as write
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from tests.support.client import Client

TopicIdPartition = tuple[bytes, int]
Batch = tuple[int, int, int, int]
"""First and last offset, delivery count and delivery state."""


def initialization(
    group: str, where: Iterable[TopicIdPartition], state_epoch: int = 1, start_offset: int = 0
) -> initialize.InitializeShareGroupStateRequest:
    topics = [
        initialize.InitializeStateData(topic, [initialize.PartitionData(partition, state_epoch, start_offset)])
        for topic, partition in where
    ]
    return initialize.InitializeShareGroupStateRequest(group, topics)


def initialize_shares(client: Client, group: str, where: Sequence[TopicIdPartition]) -> None:
    """Give share partitions of one coordinator a state, as the group coordinator of their group does."""
    keys = [f"{group}:{uuid_text(topic)}:{partition}" for topic, partition in where]
    client.ask(FindCoordinatorRequest(key_type=2, coordinator_keys=keys), 6, FindCoordinatorResponse)
    answer = client.ask(initialization(group, where), 0, initialize.InitializeShareGroupStateResponse)
    assert set(errors_of(answer).values()) == {0}


def reading(group: str, where: Iterable[TopicIdPartition], leader_epoch: int = -1) -> read.ReadShareGroupStateRequest:
    topics = [read.ReadStateData(topic, [read.PartitionData(partition, leader_epoch)]) for topic, partition in where]
    return read.ReadShareGroupStateRequest(group, topics)


def writing(
    group: str,
    where: Iterable[TopicIdPartition],
    *batches: Batch,
    state_epoch: int = 1,
    leader_epoch: int = 0,
    start_offset: int = -1,
    delivery_complete_count: int = -1,
) -> write.WriteShareGroupStateRequest:
    written = [write.StateBatch(first, last, state, count) for first, last, count, state in batches]
    topics = [
        write.WriteStateData(
            topic,
            [write.PartitionData(partition, state_epoch, leader_epoch, start_offset, delivery_complete_count, written)],
        )
        for topic, partition in where
    ]
    return write.WriteShareGroupStateRequest(group, topics)


def deletion(group: str, where: Iterable[TopicIdPartition]) -> delete.DeleteShareGroupStateRequest:
    topics = [delete.DeleteStateData(topic, [delete.PartitionData(partition)]) for topic, partition in where]
    return delete.DeleteShareGroupStateRequest(group, topics)


def summarizing(group: str, where: Iterable[TopicIdPartition]) -> summary.ReadShareGroupStateSummaryRequest:
    topics = [summary.ReadStateSummaryData(topic, [summary.PartitionData(partition, -1)]) for topic, partition in where]
    return summary.ReadShareGroupStateSummaryRequest(group, topics)


def results_of(answer: Message) -> Mapping[TopicIdPartition, Any]:
    """The result of each partition. Each is there once."""
    topics: list[Any] = answer.results  # type: ignore[attr-defined]
    found = {(topic.topic_id, each.partition): each for topic in topics for each in topic.partitions}
    assert len(found) == sum(len(topic.partitions) for topic in topics)
    return found


def errors_of(answer: Message) -> dict[TopicIdPartition, int]:
    return {where: each.error_code for where, each in results_of(answer).items()}


def batches_of(result: read.PartitionResult) -> list[Batch]:
    return [(each.first_offset, each.last_offset, each.delivery_count, each.delivery_state) for each in result.state_batches]
