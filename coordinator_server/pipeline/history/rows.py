"""Rows from single records. This is the reference, and what reads all records except plain commits (``commits.py``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from coordinator_server.group.classic.describe import GROUP_TYPE
from coordinator_server.group.classic.subscription import subscribed_topics
from coordinator_server.machine.provenance import Provenance, Reason, attributed
from coordinator_server.offsets.attribution import spoken_for
from coordinator_server.pipeline.history.consumer_rows import add_consumer_rows
from coordinator_server.pipeline.states.changes import operation_name
from coordinator_server.pipeline.states.groups import assigned_partitions
from coordinator_server.pipeline.states.member_steps import HISTORY_SERDE
from coordinator_server.pipeline.states.state import topic_id_text
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.messages.consumer_protocol import CONSUMER
from protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.record_batch import NO_PRODUCER_ID, BatchHeader, Record

Row = dict[str, Any]
Rows = dict[str, list[Row]]

OUTCOMES: Final = {COMMIT: "committed", ABORT: "aborted"}
NOBODY: Final[Row] = dict.fromkeys(("operation", "principal", "client_id", "client_host", "by_member_id", "by_instance_id"))


class LogPosition(Struct, frozen=True):
    """The position of a record in the log, the time of its append, and the transactional producer that wrote it."""

    shard: int
    log_offset: int
    time: int
    producer_id: int | None = None

    def row(self) -> Row:
        return {"shard": self.shard, "log_offset": self.log_offset, "time": self.time}


class Operation(Struct, frozen=True):
    """An operation that wrote records: the columns that say who ran it, and the reasons."""

    who: Row
    reasons: list[Row] | None


UNKNOWN: Final = Operation(NOBODY, None)


def operation_of(provenance: Provenance | None) -> Operation:
    """Convert provenance to columns."""
    if provenance is None:
        return UNKNOWN
    member = spoken_for(provenance)
    who = {
        "operation": operation_name(provenance),
        "principal": provenance.principal,
        "client_id": provenance.client_id or None,
        "client_host": provenance.client_host or None,
        "by_member_id": member.member_id or None,
        "by_instance_id": member.group_instance_id,
    }
    return Operation(who, [_reason(reason) for reason in provenance.reasons])


def rows_of_batch(shard: int, header: BatchHeader, records: Iterable[Record], rows: Rows) -> None:
    """Add the rows of a batch."""
    producer_id = None if header.producer_id == NO_PRODUCER_ID else header.producer_id
    for record, provenance in attributed(records):
        if header.is_control:
            outcome = OUTCOMES.get(control_type(record.key))
            if outcome is not None:
                row = LogPosition(shard, record.offset, record.timestamp).row()
                ended = {"producer_id": header.producer_id, "producer_epoch": header.producer_epoch, "outcome": outcome}
                rows["markers"].append(row | ended)
            continue
        position = LogPosition(shard, record.offset, record.timestamp, producer_id)
        add_rows(position, record.key, record.value, operation_of(provenance), rows)


def add_rows(position: LogPosition, key: bytes | None, value: bytes | None, by: Operation, rows: Rows) -> None:
    """Add the rows of one record: none for a type that has no table. Raises DecodeError."""
    record = HISTORY_SERDE.decode(key, value)
    match record and (record.key, record.value):
        case (GroupMetadataKey(group=group_id), GroupMetadataValue() as metadata):
            _add_generation(position, group_id, metadata, by, rows)
        case (GroupMetadataKey(group=group_id), None):
            rows["deletions"].append(position.row() | {"group_id": group_id, "reasons": by.reasons} | by.who)
        case ((OffsetCommitKey() | LegacyOffsetCommitKey()) as named, None):
            offset = {"group_id": named.group, "topic": named.topic, "partition": named.partition}
            rows["deletions"].append(position.row() | offset | {"reasons": by.reasons} | by.who)
        case ((OffsetCommitKey() | LegacyOffsetCommitKey()) as named, committed):
            offset = {"group_id": named.group, "topic": named.topic, "partition": named.partition}
            made = {"producer_id": position.producer_id, "reasons": by.reasons}
            rows["commits"].append(position.row() | offset | _committed(committed) | made | by.who)
        case (other, other_value):
            add_consumer_rows(position.row(), other, other_value, {"reasons": by.reasons} | by.who, rows)


def _committed(value: Any) -> Row:
    """Return the columns of a value of any version."""
    is_known = isinstance(value, OffsetCommitValue)
    return {
        "offset": value.offset,
        "leader_epoch": value.leader_epoch if is_known and value.leader_epoch >= 0 else None,
        "metadata": value.metadata,
        "commit_time": value.commit_timestamp,
        "expire_time": value.expire_timestamp if is_known and value.expire_timestamp >= 0 else None,
        "topic_id": topic_id_text(value.topic_id) if is_known else None,
    }


def _add_generation(position: LogPosition, group_id: str, value: GroupMetadataValue, by: Operation, rows: Rows) -> None:
    common = position.row() | {"group_id": group_id, "generation": value.generation}
    of_generation = {
        "group_type": GROUP_TYPE,
        "protocol_type": value.protocol_type or None,
        "protocol": value.protocol,
        "leader": value.leader,
        "members": len(value.members),
        "state_time": value.current_state_timestamp if value.current_state_timestamp >= 0 else None,
        "reasons": by.reasons,
    }
    rows["generations"].append(common | of_generation | by.who)
    for member in value.members:
        of_member = common | {"member_id": member.member_id}
        of_client: Row = {
            "group_instance_id": member.group_instance_id,
            "client_id": member.client_id,
            "client_host": member.client_host,
            "session_timeout_ms": member.session_timeout,
            "rebalance_timeout_ms": member.rebalance_timeout if member.rebalance_timeout >= 0 else None,
            "topics": _topics(value.protocol_type, member.subscription),
        }
        rows["members"].append(of_member | of_client)
        for topic, partition in _assigned(value.protocol_type, member.assignment):
            rows["assignments"].append(of_member | {"topic": topic, "partition": partition})


def _topics(protocol_type: str, subscription: bytes) -> list[str] | None:
    topics = subscribed_topics([subscription]) if protocol_type == CONSUMER else None
    return None if topics is None else sorted(topics)


def _assigned(protocol_type: str, assignment: bytes) -> Iterator[tuple[str, int]]:
    partitions: Mapping[str, list[int]] = (assigned_partitions(assignment) if protocol_type == CONSUMER else None) or {}
    for topic, indexes in partitions.items():
        for index in indexes:
            yield topic, index


def _reason(reason: Reason) -> Row:
    return {"why": reason.why, "whom": reason.whom or None, "said": reason.said or None}
