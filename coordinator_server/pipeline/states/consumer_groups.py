"""What ``replay`` and ``groups at`` show of a consumer group (KIP-848)."""

from __future__ import annotations

from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember, Epochs
from coordinator_server.group.consumer.state import group_state
from coordinator_server.pipeline.states.member_steps import STATES, UNKNOWN_STATE
from coordinator_server.pipeline.states.shown_group import Group, Member, NamesOfTopics
from protocol.fields import uuid_text


def fill_group(shown: Group, group: ConsumerGroup, names: NamesOfTopics) -> None:
    """Set epochs, state and members."""
    shown.epoch, shown.assignment_epoch = group.group_epoch, group.assignment_epoch
    shown.state = group_state(group).value
    shown.members = [_member(member, names) for _, member in sorted(group.members.items())]


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


def _partitions(owned: Epochs, names: NamesOfTopics) -> dict[str, list[int]]:
    named = {names.get(topic_id) or uuid_text(topic_id): sorted(epochs) for topic_id, epochs in owned.items()}
    return dict(sorted(named.items()))
