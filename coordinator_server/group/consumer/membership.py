"""Which member a heartbeat comes from, and whether it may say what it says. Refusals have Kafka's order and messages.

| a heartbeat | member |
|---|---|
| of epoch 0 | joins, or joins again after it was fenced |
| of its epoch | is the member |
| of the previous epoch | has missed the last answer; accepted if it owns nothing else than what it has |
| of any other epoch | FENCED_MEMBER_EPOCH: it gives up all partitions and joins again |
| of a static member | is found by its instance id; a new one takes the place of one that is away (epoch -2) |
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import NamedTuple

from coordinator_server.group.assign.altered import read_target
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import LEAVE_GROUP_STATIC_EPOCH, ConsumerGroupMember, Epochs, current_assignment
from coordinator_server.group.consumer.records import RECORDS
from coordinator_server.group.modern.membership import fenced_epoch, unknown_member
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions


class FoundMember(NamedTuple):
    """The member of a heartbeat. ``replaced`` is the id of the static member whose place it takes, with the records of that."""

    member: ConsumerGroupMember
    replaced: str | None = None
    records: Sequence[CoordinatorRecord] = ()


def new_member_id(consumer: ConsumerContext) -> str:
    """Return an id in Kafka's form: the 16 bytes of a UUID as 22 characters."""
    digits = consumer.new_id().replace("-", "")
    return urlsafe_b64encode(bytes.fromhex(digits.zfill(32))).decode().rstrip("=")


def find_member(group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, member_id: str) -> FoundMember:
    """Return the member, which is new if it joins. Raises CoordinatorError."""
    if request.instance_id is not None:
        return _find_static(group, request, member_id, request.instance_id)
    member = group.members.get(member_id)
    if member is None:
        if request.member_epoch != 0:
            raise unknown_member(group.group_id, member_id)
        return FoundMember(ConsumerGroupMember(member_id))
    _check_epoch(group, member, request)
    return FoundMember(member)


def _find_static(group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, member_id: str, instance_id: str) -> FoundMember:
    if request.member_epoch != 0:
        member = require_static_member(group, instance_id)
        refuse_fenced_instance(member, member_id, instance_id)
        _check_epoch(group, member, request)
        return FoundMember(member)
    present = group.static_member(instance_id)
    if present is None:
        return FoundMember(group.members.get(member_id) or ConsumerGroupMember(member_id))
    is_released = present.member_epoch == LEAVE_GROUP_STATIC_EPOCH or present.classic_member_metadata is not None
    if not is_released:
        raise CoordinatorError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} cannot join the group because the instance id is owned by "
            f"{present.member_id} member.",
        )
    return take_place(group, present, member_id)


def take_place(group: ConsumerGroup, present: ConsumerGroupMember, member_id: str) -> FoundMember:
    """Return the member that takes the place of a static one: with its metadata, its partitions and its target."""
    current = current_assignment(0, 0, present.state, present.assigned, present.pending_revocation)
    heir = ConsumerGroupMember(member_id, present.metadata).with_current(current)
    return FoundMember(heir, present.member_id, _replacement_records(group, present, heir))


def require_static_member(group: ConsumerGroup, instance_id: str) -> ConsumerGroupMember:
    """Return the member of an instance id. Raises UNKNOWN_MEMBER_ID."""
    member = group.static_member(instance_id)
    if member is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    return member


def refuse_fenced_instance(member: ConsumerGroupMember, member_id: str, instance_id: str) -> None:
    """Refuse a member whose instance id belongs to a different one now. Raises FENCED_INSTANCE_ID."""
    if member.member_id != member_id:
        raise CoordinatorError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} was fenced by member {member.member_id}.",
        )


def _replacement_records(group: ConsumerGroup, old: ConsumerGroupMember, new: ConsumerGroupMember) -> list[CoordinatorRecord]:
    """Return the records of a member that takes the place of a static member, with its partitions and its target."""
    return [
        *RECORDS.member_tombstones(group.group_id, old.member_id),
        RECORDS.member(group.group_id, new),
        RECORDS.target(group.group_id, new.member_id, read_target(group.target(old.member_id))),
        RECORDS.current(group.group_id, new),
    ]


def _check_epoch(group: ConsumerGroup, member: ConsumerGroupMember, request: ConsumerGroupHeartbeatRequest) -> None:
    epoch, own = request.member_epoch, member.member_epoch
    if epoch in (0, own):
        return
    is_previous = epoch < own and epoch == member.previous_member_epoch
    if not (is_previous and _is_subset(request.topic_partitions, member.assigned)):
        raise fenced_epoch(group, epoch, own)


def _is_subset(owned: Sequence[TopicPartitions] | None, assigned: Epochs) -> bool:
    if owned is None:
        return False
    for topic in owned:
        partitions = assigned.get(topic.topic_id)
        if partitions is None or not all(partition in partitions for partition in topic.partitions):
            return False
    return True
