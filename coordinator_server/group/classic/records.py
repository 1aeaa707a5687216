"""The records of classic groups, in the version that Kafka 4.3 writes (``GroupCoordinatorRecordHelpers``)."""

from __future__ import annotations

from collections.abc import Mapping

from coordinator_server.group.classic.group import ClassicGroup
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, MemberMetadata

VALUE_VERSION = 3


def group_metadata_record(group: ClassicGroup, assignments: Mapping[str, bytes]) -> CoordinatorRecord:
    """Return the record of the group's latest state, with ``assignments`` by member id."""
    members = [
        MemberMetadata(
            member.member_id,
            member.group_instance_id,
            member.client_id,
            member.client_host,
            member.rebalance_timeout_ms,
            member.session_timeout_ms,
            member.metadata(group.protocol_name),
            assignments[member.member_id],
        )
        for member in group.members.values()
    ]
    value = GroupMetadataValue(
        group.protocol_type or "",
        group.generation_id,
        group.protocol_name,
        group.leader_id,
        group.current_state_timestamp,
        members,
    )
    return CoordinatorRecord(GroupMetadataKey(group.group_id), value, VALUE_VERSION)


def new_group_record(group: ClassicGroup) -> CoordinatorRecord:
    """Return the record of a new group, without members."""
    value = GroupMetadataValue("", 0, None, None, group.current_state_timestamp, [])
    return CoordinatorRecord(GroupMetadataKey(group.group_id), value, VALUE_VERSION)


def group_tombstone(group_id: str) -> CoordinatorRecord:
    """Return the tombstone of a group."""
    return CoordinatorRecord(GroupMetadataKey(group_id), None)
