"""The row of streams groups in the table of group types. ``group_type.py`` documents the methods."""

from __future__ import annotations

from functools import partial

from coordinator_server.group.group_type import CheckPartition, ExpiryRule, GroupContext, SharedTables
from coordinator_server.group.modern import offsets
from coordinator_server.group.modern.describe import UndescribedGroup
from coordinator_server.group.modern.type import ModernType
from coordinator_server.group.streams.context import StreamsContext
from coordinator_server.group.streams.describe import group_at
from coordinator_server.group.streams.group import StreamsGroup, streams_groups
from coordinator_server.group.streams.leave import fence
from coordinator_server.group.streams.member import StreamsGroupMember
from coordinator_server.group.streams.target import stop_delay, target_rules
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.plain_commits import CommitShape


class StreamsType(ModernType[StreamsGroup, StreamsContext]):
    """The streams groups of one shard."""

    name = "streams"

    def __init__(self, context: GroupContext, tables: SharedTables) -> None:
        own = StreamsContext(streams_groups(tables.registry), context)
        super().__init__(own, target_rules(own), fence)

    def admit_commit(
        self, request: OffsetCommitRequest | CommitShape, api_version: int, *, is_transactional: bool
    ) -> CheckPartition | None:
        group = self.groups.by_id[request.group_id]
        since = partial(_since, group)
        return offsets.admit_commit(group, request, api_version, since, is_transactional=is_transactional)

    def admit_offset_delete(self, group_id: str) -> None:
        """Accept: the topics of the topology are known."""

    def tombstones(self, group_id: str) -> list[CoordinatorRecord]:
        """Return the tombstones in Kafka's order. The group's first assignment is not waited for any longer."""
        stop_delay(self.context, group_id)
        found = super().tombstones(group_id)
        # The epoch's is before the topology's.
        return [*found[:-2], *found[:-3:-1]]

    def is_subscribed_to(self, group_id: str, topic: str) -> bool:
        """Return whether the members read the topic. A group without members reads none."""
        group = self.groups.by_id.get(group_id)
        return group is not None and _reads(group, topic)

    def expiry_rule(self, group_id: str) -> ExpiryRule | None:
        """Return the rule: an offset that no member reads expires by its own commit."""
        group = self.groups.by_id.get(group_id)
        return None if group is None else ExpiryRule(partial(_reads, group), None, is_ending=not group.members)

    def group_at(self, group_id: str, committed_offset: int) -> UndescribedGroup:
        """Return what the StreamsGroupDescribe answer for a group is made of."""
        group = self.groups.by_id.get_at(group_id, committed_offset)
        assert group is not None
        return group_at(group, committed_offset)

    def on_unloaded(self) -> None:
        """Stop the sessions, and the delays of first assignments."""
        super().on_unloaded()
        for group_id in list(self.context.delayed):
            stop_delay(self.context, group_id)


def _reads(group: StreamsGroup, topic: str) -> bool:
    return bool(group.members) and topic in group.source_topics.value


def _since(group: StreamsGroup, member: StreamsGroupMember, _topic_id: bytes, topic: str, partition: int) -> int | None:
    """Return the epoch in which the member got the active task that reads a partition."""
    subtopology_id = group.source_topics.value.get(topic)
    if subtopology_id is None:
        return None
    for held in (member.tasks.assigned, member.tasks.pending_revocation):
        since = held.active.get(subtopology_id, {}).get(partition)
        if since is not None:
            return since
    return None
