"""What ``replay`` and ``groups at`` show of a consumer group (KIP-848), a share group (KIP-932) and a streams group (KIP-1071)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.member import ShareGroupMember
from coordinator_server.group.streams.group import StreamsGroup
from coordinator_server.group.streams.member import StreamsGroupMember
from coordinator_server.group.streams.reconciliation import HeldTasks
from coordinator_server.pipeline.states.member_steps import STATES, STREAMS_STATES, UNKNOWN_STATE
from coordinator_server.pipeline.states.shown_group import Group, Member, NamesOfTopics
from protocol.fields import uuid_text


def fill_group(shown: Group, group: ConsumerGroup, names: NamesOfTopics) -> None:
    """Set epochs, state and members."""
    shown.epoch, shown.assignment_epoch = group.group_epoch, group.assignment_epoch
    shown.state = group.state_at()
    shown.members = [_member(member, names) for _, member in sorted(group.members.items())]


def fill_share_group(shown: Group, group: ShareGroup, names: NamesOfTopics) -> None:
    """Set epochs, state, members and share partitions."""
    shown.epoch, shown.assignment_epoch = group.group_epoch, group.assignment_epoch
    shown.state = group.state_at()
    shown.members = [_share_member(member, names) for _, member in sorted(group.members.items())]
    topics = group.state_topics.value
    found: dict[str, dict[bytes, list[int]]] = {
        "initialized": {topic_id: each.partitions for topic_id, each in topics.initialized.items()},
        "initializing": {topic_id: each.partitions for topic_id, each in topics.initializing.items()},
        "deleting": {topic_id: [] for topic_id in topics.deleting},
    }
    shown.share_partitions = {what: _partitions(owned, names) for what, owned in found.items() if owned}


def fill_streams_group(shown: Group, group: StreamsGroup) -> None:
    """Set epochs, state and members, whose tasks take the place of partitions."""
    shown.epoch, shown.assignment_epoch = group.group_epoch, group.assignment_epoch
    shown.state = group.state_at()
    shown.members = [_streams_member(member) for _, member in sorted(group.members.items())]


def _streams_member(member: StreamsGroupMember) -> Member:
    metadata, tasks = member.metadata, member.tasks
    return Member(
        member.member_id,
        metadata.client_id,
        metadata.client_host,
        None,
        _tasks(tasks.assigned),
        metadata.instance_id,
        member.member_epoch,
        STREAMS_STATES.get(member.current.state, UNKNOWN_STATE),
        _tasks(tasks.pending_revocation),
    )


def _tasks(held: HeldTasks) -> dict[str, list[int]]:
    kinds = (("", held.active), ("standby ", held.standby), ("warm-up ", held.warmup))
    return {f"{kind}task {subtopology_id}": sorted(numbers) for kind, tasks in kinds for subtopology_id, numbers in tasks.items()}


def _share_member(member: ShareGroupMember, names: NamesOfTopics) -> Member:
    metadata = member.metadata
    return Member(
        member.member_id,
        metadata.client_id,
        metadata.client_host,
        None,
        _partitions(member.assigned, names),
        epoch=member.member_epoch,
        state=STATES.get(member.current.state, UNKNOWN_STATE),
    )


def _member(member: ConsumerGroupMember, names: NamesOfTopics) -> Member:
    metadata = member.metadata
    return Member(
        member.member_id,
        metadata.client_id,
        metadata.client_host,
        None if metadata.classic_member_metadata is None else metadata.classic_member_metadata.session_timeout_ms,
        _partitions(member.assigned, names),
        metadata.instance_id,
        member.member_epoch,
        STATES.get(member.current.state, UNKNOWN_STATE),
        _partitions(member.pending_revocation, names),
    )


def _partitions(owned: Mapping[bytes, Iterable[int]], names: NamesOfTopics) -> dict[str, list[int]]:
    named = {names.get(topic_id) or uuid_text(topic_id): sorted(epochs) for topic_id, epochs in owned.items()}
    return dict(sorted(named.items()))
