"""The state of a shard of groups, rebuilt by the server's own ``GroupShard.replay``."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from coordinator_server.config import Config
from coordinator_server.group.common.settings import SettingsOfGroups
from coordinator_server.group.consumer.type import ConsumerType
from coordinator_server.group.group_type import GroupContext, GroupType
from coordinator_server.group.shard import GroupShard
from coordinator_server.group.share.type import ShareType
from coordinator_server.group.streams.type import StreamsType
from coordinator_server.machine.digest import StateDigest, digest_text
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.states.changes import LastChanges
from coordinator_server.pipeline.states.consumer_groups import fill_group, fill_share_group, fill_streams_group
from coordinator_server.pipeline.states.shown_group import Group, Member, NamesOfTopics, Offset
from coordinator_server.pipeline.states.state import NoTime, no_id
from coordinator_server.runtime.loader import BatchReplay
from protocol.codec import decoder
from protocol.coordinator_records import GROUP_SERDE
from protocol.errors import DecodeError
from protocol.messages.consumer_protocol import CONSUMER, ConsumerProtocolAssignment

_VERSION_BYTES: Final = 2
NO_NAMES: Final[NamesOfTopics] = {}
"""Knows no topic."""


class GroupState:
    """Groups and their offsets."""

    noun: Final = "groups"

    def __init__(self) -> None:
        self.shard = empty_shard()
        self.replay = BatchReplay(GROUP_SERDE, self.shard).replay

    def __len__(self) -> int:
        return len(digest_of(self.shard).parts)

    def digest(self) -> StateDigest:
        return digest_of(self.shard)

    def label(self, part: str, /) -> str:
        return f"group {part}"

    def contents(self) -> dict[str, dict[str, Any]]:
        return {self.label(group.group_id): _items(group) for group in groups_of(self.shard)}

    def shown(self, changes: LastChanges | None, names: NamesOfTopics, /) -> dict[str, Any]:
        return {"groups": groups_of(self.shard, changes, names)}


def empty_shard() -> GroupShard:
    """Return an empty shard that can only replay."""
    nothing, config = NoTime(), Config()
    return GroupShard(GroupContext(config, nothing, nothing, no_id, SettingsOfGroups(config)), SnapshotRegistry())


def digest_of(shard: GroupShard) -> StateDigest:
    """Return the digest of a shard's state, with one part per group."""
    found = shard.digest(LATEST, LATEST)
    assert found is not None
    return found


def groups_of(shard: GroupShard, changes: LastChanges | None = None, names: NamesOfTopics = NO_NAMES) -> list[Group]:
    """Return all groups of a shard's hard state, by group id.

    Topics of newer protocols have ids, or names if ``names`` has some.
    """
    groups = {group_id: Group(group_id) for group_id in shard.groups.offsets.groups_at(LATEST)}
    for group_id, stored in shard.groups.classic.stored.items():
        value = stored.value
        group = groups.setdefault(group_id, Group(group_id))
        group.generation, group.protocol_type = value.generation, value.protocol_type
        group.protocol, group.leader = value.protocol, value.leader
        group.members = [_member(value.protocol_type, member) for member in value.members]
        if changes is not None:
            group.changed = changes.of_group(group_id, stored.end_offset - 1)
    for group_id, group_type in shard.groups.others.items():
        group = groups.setdefault(group_id, Group(group_id))
        group.type = group_type.name
        _fill(group, group_type, names)
        if changes is not None:
            group.changed = changes.of_epoch(group_id, group_type.name)
        group.records = {name: digest_text(item) for name, item in sorted(group_type.digest_items(group_id, LATEST).items())}
    for group_id in shard.groups.offsets.groups_at(LATEST):
        offsets = shard.groups.offsets.of_group_at(group_id, LATEST)
        for (topic, partition), found in sorted(offsets.items() if offsets is not None else ()):
            offset = Offset(
                topic, partition, found.committed_offset, found.leader_epoch, found.metadata, found.commit_timestamp_ms
            )
            if changes is not None:
                offset.changed = changes.of_offset(group_id, topic, partition, found.record_offset)
            groups[group_id].offsets.append(offset)
    for group_id, digest in digest_of(shard).parts.items():
        # A group that has only open transactions does not exist yet.
        if group_id in groups:
            groups[group_id].digest = digest
    return [groups[group_id] for group_id in sorted(groups)]


def _fill(group: Group, group_type: GroupType, names: NamesOfTopics) -> None:
    if isinstance(group_type, ConsumerType):
        fill_group(group, group_type.groups.by_id[group.group_id], names)
    elif isinstance(group_type, ShareType):
        fill_share_group(group, group_type.groups.by_id[group.group_id], names)
    elif isinstance(group_type, StreamsType):
        fill_streams_group(group, group_type.groups.by_id[group.group_id])


def assigned_partitions(data: bytes) -> dict[str, list[int]] | None:
    """Return the partitions of an assignment by topic; None for bytes of another protocol than that of Kafka's consumers."""
    if not data:
        return {}
    try:
        version = min(int.from_bytes(data[:_VERSION_BYTES], signed=True), ConsumerProtocolAssignment.kafka.versions.high)
        message, _ = decoder(ConsumerProtocolAssignment, version)(data, _VERSION_BYTES)
    except (DecodeError, KeyError, ValueError):
        return None
    return {topic.topic: sorted(topic.partitions) for topic in message.assigned_partitions}


def _member(protocol_type: str | None, member: Any) -> Member:
    assignment = assigned_partitions(member.assignment) if protocol_type == CONSUMER else None
    who = (member.member_id, member.client_id, member.client_host)
    return Member(*who, member.session_timeout, assignment, member.group_instance_id)


def _items(group: Group) -> dict[str, Any]:
    """Return the fields, offsets, members and records of a group, by key. Records say all of a group that has some."""
    plain = msgspec.to_builtins(group)
    if group.records:
        plain |= dict.fromkeys(("epoch", "assignment_epoch", "state")) | {"members": [], "share_partitions": {}}
    offsets = {f"offset {each['topic']}-{each['partition']}": each for each in plain.pop("offsets")}
    members = {f"member {each['member_id']}": each for each in plain.pop("members")}
    records = {f"record {name}": digest for name, digest in plain.pop("records").items()}
    plain.pop("digest")
    items: dict[str, Any] = plain | offsets | members | records
    return items
