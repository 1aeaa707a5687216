"""The row of consumer groups in the table of group types. ``group_type.py`` documents the methods."""

from __future__ import annotations

from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.describe import group_at
from coordinator_server.group.consumer.group import ConsumerGroup, consumer_groups
from coordinator_server.group.consumer.leave import fence
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.consumer.target import target_rules
from coordinator_server.group.group_type import CheckPartition, ExpiryRule, GroupContext, SharedTables
from coordinator_server.group.modern import offsets
from coordinator_server.group.modern.describe import UndescribedGroup
from coordinator_server.group.modern.type import ModernType
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.plain_commits import CommitShape


class ConsumerType(ModernType[ConsumerGroup, ConsumerContext]):
    """The consumer groups of one shard."""

    name = "consumer"

    def __init__(self, context: GroupContext, tables: SharedTables) -> None:
        own = ConsumerContext(consumer_groups(tables.registry), context)
        super().__init__(own, target_rules(own), fence)

    def admit_commit(
        self, request: OffsetCommitRequest | CommitShape, api_version: int, *, is_transactional: bool
    ) -> CheckPartition | None:
        group = self.groups.by_id[request.group_id]
        return offsets.admit_commit(group, request, api_version, _since, is_transactional=is_transactional)

    def admit_offset_delete(self, group_id: str) -> None:
        """Accept: the subscriptions of all members are known."""

    def expiry_rule(self, group_id: str) -> ExpiryRule | None:
        """Return the rule. Members or not, an offset that no subscription covers expires by its own commit."""
        group = self.groups.by_id.get(group_id)
        if group is None:
            return None
        return ExpiryRule(group.subscribed_topics.__contains__, None, is_ending=not group.members)

    def group_at(self, group_id: str, committed_offset: int) -> UndescribedGroup:
        """Return what the ConsumerGroupDescribe answer for a group is made of."""
        group = self.groups.by_id.get_at(group_id, committed_offset)
        assert group is not None
        return group_at(group, committed_offset, self.context.topics, next(iter(self.context.assignors)))


def _since(member: ConsumerGroupMember, topic_id: bytes, _topic: str, partition: int) -> int | None:
    for owned in (member.assigned, member.pending_revocation):
        since = owned.get(topic_id, {}).get(partition)
        if since is not None:
            return since
    return None
