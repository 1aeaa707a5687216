"""Rows from the records of consumer groups (KIP-848), share groups (KIP-932) and streams groups (KIP-1071), which have tasks.

Topics have ids here; ``name_topics`` adds their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from coordinator_server.pipeline.input.topic_names import TopicNames
from coordinator_server.pipeline.states.member_steps import (
    SHARE_KEYS,
    STREAMS_KEYS,
    MemberStep,
    Owned,
    StepKind,
    member_step,
    task_text,
)
from protocol.fields import Message, uuid_text
from protocol.messages import consumer_group_records as consumer
from protocol.messages import share_group_records as share
from protocol.messages import streams_group_records as streams

Row = dict[str, Any]
GROUP_TYPE: Final = "consumer"
SHARE_TYPE: Final = "share"
STREAMS_TYPE: Final = "streams"


def add_consumer_rows(common: Row, key: Message, value: Message | None, operation: Row, rows: dict[str, list[Row]]) -> None:
    """Add the rows of a record. ``common`` is its position, ``operation`` has the columns of who wrote it and why."""
    match key, value:
        case (
            consumer.ConsumerGroupMetadataKey() | share.ShareGroupMetadataKey() | streams.StreamsGroupMetadataKey()
        ) as named, None:
            rows["deletions"].append(common | {"group_id": named.group_id} | operation)
        case (
            (consumer.ConsumerGroupMetadataKey() | share.ShareGroupMetadataKey() | streams.StreamsGroupMetadataKey()) as named,
            (
                consumer.ConsumerGroupMetadataValue() | share.ShareGroupMetadataValue() | streams.StreamsGroupMetadataValue()
            ) as group,
        ):
            rows["generations"].append(common | _epoch(named, generation=group.epoch) | operation)
        case (
            (
                consumer.ConsumerGroupTargetAssignmentMetadataKey()
                | share.ShareGroupTargetAssignmentMetadataKey()
                | streams.StreamsGroupTargetAssignmentMetadataKey()
            ) as named,
            (
                consumer.ConsumerGroupTargetAssignmentMetadataValue()
                | share.ShareGroupTargetAssignmentMetadataValue()
                | streams.StreamsGroupTargetAssignmentMetadataValue()
            ) as target,
        ):
            rows["generations"].append(common | _epoch(named, assignment_epoch=target.assignment_epoch) | operation)
        case consumer.ConsumerGroupMemberMetadataKey() as named, consumer.ConsumerGroupMemberMetadataValue() as member:
            rows["members"].append(common | _member(named.group_id, named.member_id, member))
        case share.ShareGroupMemberMetadataKey() as named, share.ShareGroupMemberMetadataValue() as member:
            rows["members"].append(common | _share_member(named.group_id, named.member_id, member))
        case streams.StreamsGroupMemberMetadataKey() as named, streams.StreamsGroupMemberMetadataValue() as member:
            rows["members"].append(common | _streams_member(named.group_id, named.member_id, member))
        case _ if (step := member_step(key, value)) is not None:
            _add_step(common, step, operation, rows)


def name_topics(rows: dict[str, list[Row]], names: TopicNames) -> None:
    """Set the names of topics of which a row has only the id. A task has a text in place of the name, and no id."""
    for row in rows["assignments"]:
        if row["topic"] is None:
            _name(row, names)
    for row in rows["reconciliations"]:
        for each in (*row["partitions"], *row["revoking"]):
            _name(each, names)


def _name(row: Row, names: TopicNames) -> None:
    task = task_text(row["topic_id"])
    row["topic"] = names.get(row["topic_id"]) if task is None else task
    row["topic_id"] = uuid_text(row["topic_id"]) if task is None else None


def _epoch(key: Any, generation: int | None = None, assignment_epoch: int | None = None) -> Row:
    """Return the columns of an epoch. The protocol type of a group is the name of its type."""
    group_type = SHARE_TYPE if type(key) in SHARE_KEYS else STREAMS_TYPE if type(key) in STREAMS_KEYS else GROUP_TYPE
    epochs = {"generation": generation, "assignment_epoch": assignment_epoch}
    return {"group_id": key.group_id, "group_type": group_type, "protocol_type": group_type} | epochs


def _member(group_id: str, member_id: str, value: consumer.ConsumerGroupMemberMetadataValue) -> Row:
    classic = value.classic_member_metadata
    return {
        "group_id": group_id,
        "member_id": member_id,
        "group_instance_id": value.instance_id,
        "client_id": value.client_id,
        "client_host": value.client_host,
        "session_timeout_ms": None if classic is None else classic.session_timeout_ms,
        "rebalance_timeout_ms": value.rebalance_timeout_ms if value.rebalance_timeout_ms >= 0 else None,
        "topics": sorted(value.subscribed_topic_names),
        "topic_regex": value.subscribed_topic_regex or None,
        "rack_id": value.rack_id,
        "assignor": value.server_assignor,
    }


def _share_member(group_id: str, member_id: str, value: share.ShareGroupMemberMetadataValue) -> Row:
    return {
        "group_id": group_id,
        "member_id": member_id,
        "client_id": value.client_id,
        "client_host": value.client_host,
        "topics": sorted(value.subscribed_topic_names),
        "rack_id": value.rack_id,
    }


def _streams_member(group_id: str, member_id: str, value: streams.StreamsGroupMemberMetadataValue) -> Row:
    """Return the columns of a member, whose topics are those of the group's topology."""
    return {
        "group_id": group_id,
        "member_id": member_id,
        "group_instance_id": value.instance_id,
        "client_id": value.client_id,
        "client_host": value.client_host,
        "rebalance_timeout_ms": value.rebalance_timeout_ms if value.rebalance_timeout_ms >= 0 else None,
        "topics": [],
        "rack_id": value.rack_id,
    }


def _add_step(common: Row, step: MemberStep, operation: Row, rows: dict[str, list[Row]]) -> None:
    of_member = common | {"group_id": step.group_id, "member_id": step.member_id}
    rows["reconciliations"].append(
        of_member
        | {
            "what": step.kind.value,
            "state": step.state,
            "member_epoch": step.member_epoch,
            "previous_epoch": step.previous_epoch,
            "partitions": list(_partitions(step.partitions)),
            "revoking": list(_partitions(step.revoking)),
        }
        | operation
    )
    for each in step.partitions if step.kind is StepKind.ASSIGNED else ():
        owned = {"topic": None, "partition": each.partition, "topic_id": each.topic_id}
        rows["assignments"].append(of_member | {"generation": step.member_epoch} | owned)


def _partitions(owned: tuple[Owned, ...]) -> Iterator[Row]:
    for topic_id, partition, epoch in owned:
        yield {"topic_id": topic_id, "topic": None, "partition": partition, "epoch": epoch}
