"""Records and responses in words, as transcripts tell them."""

from __future__ import annotations

from typing import Any

from coordinator_server.machine.provenance import Provenance
from coordinator_server.offsets.attribution import spoken_for
from protocol.codec import decode, encode
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from protocol.messages.delete_groups import DeletableGroupResult
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue
from protocol.messages.join_group import JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupResponse
from protocol.messages.sync_group import SyncGroupResponse


def text_of_error(response: Any) -> str:
    return ErrorCode(response.error_code).name


def text_of_join(response: JoinGroupResponse) -> str:
    text = f"{text_of_error(response)} member={response.member_id}"
    if response.generation_id >= 0:
        text += f" gen={response.generation_id} protocol={response.protocol_name} leader={response.leader}"
    if response.members:
        members = (f"{each.member_id}{_instance(each.group_instance_id)}:{_metadata(each.metadata)}" for each in response.members)
        text += f" members=[{' '.join(members)}]"
    return text + (" skip_assignment" if response.skip_assignment else "")


def text_of_sync(response: SyncGroupResponse) -> str:
    if response.error_code != ErrorCode.NONE:
        return text_of_error(response)
    return (
        f"NONE {response.protocol_type}/{response.protocol_name} "
        f"assignment={response.assignment.decode(errors='backslashreplace')}"
    )


def text_of_leave(response: LeaveGroupResponse) -> str:
    members = (f"{each.member_id}{_instance(each.group_instance_id)}:{text_of_error(each)}" for each in response.members)
    return f"{text_of_error(response)} [{' '.join(members)}]"


def text_of_commit(response: Any) -> str:
    return " ".join(
        f"{topic.name}:{partition.partition_index}:{text_of_error(partition)}"
        for topic in response.topics
        for partition in topic.partitions
    )


def text_of_fetch(group: Any) -> str:
    return " ".join(
        f"{topic.name}:{partition.partition_index}:{partition.committed_offset}"
        + (partition.metadata and f"/{partition.metadata}")
        for topic in group.topics
        for partition in topic.partitions
    )


def text_of_delete(results: list[DeletableGroupResult]) -> str:
    return " ".join(f"{result.group_id}:{text_of_error(result)}" for result in results)


def text_of_group(group: DescribedGroup) -> str:
    members = " ".join(
        f"{member.member_id}{_instance(member.group_instance_id)}@{member.client_id}/{member.client_host}"
        f":{_metadata(member.member_metadata)}={member.member_assignment.decode()}"
        for member in group.members
    )
    return f"{group.group_state} type={group.protocol_type} protocol={group.protocol_data} [{members}]"


def text_of_record(record: CoordinatorRecord) -> str:
    key, value = record.key, record.value
    if isinstance(key, OffsetCommitKey):
        text = f"OffsetCommit {key.group} {key.topic}:{key.partition}"
        if isinstance(value, OffsetCommitValue):
            expires = "" if value.expire_timestamp < 0 else f" expires=+{value.expire_timestamp - value.commit_timestamp}"
            return f"{text} v{record.value_version} offset={value.offset} metadata={value.metadata}{expires}"
        return f"{text} tombstone"
    assert isinstance(key, GroupMetadataKey)
    if not isinstance(value, GroupMetadataValue):
        return f"GroupMetadata {key.group} tombstone"
    members = " ".join(
        f"{each.member_id}{_instance(each.group_instance_id)}:{_metadata(each.subscription)}={each.assignment.decode()}"
        for each in value.members
    )
    return (
        f"GroupMetadata {key.group} v{record.value_version} gen={value.generation} type={value.protocol_type}"
        f" protocol={value.protocol} leader={value.leader} [{members}]"
    )


def text_of_provenance(provenance: Provenance) -> str:
    """Who, speaking for which member, and the reasons: each with the member it is about and what its client said."""
    who = provenance.client_id or provenance.operation
    member = spoken_for(provenance)
    if member.member_id:
        who += f" as {member.member_id}"
    reasons = (f"{each.why}{each.whom and f' {each.whom}'}{each.said and f' ({each.said})'}" for each in provenance.reasons)
    return f"{who}{_instance(member.group_instance_id)}: {', '.join(reasons)}".removesuffix(": ")


def _instance(instance_id: str | None) -> str:
    return "" if instance_id is None else f"/{instance_id}"


def subscribed_to(topics: list[str]) -> bytes:
    """A consumer's metadata, as against the plain text that the other transcripts send."""
    return b"\0\0" + encode(ConsumerProtocolSubscription(topics), 0)


def _metadata(metadata: bytes) -> str:
    if not metadata.startswith(b"\0"):
        return metadata.decode()
    return f"[{'+'.join(decode(ConsumerProtocolSubscription, metadata[1], metadata[2:]).topics)}]"
