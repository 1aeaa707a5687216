"""Share partitions of a group lose their states in ``__share_group_state``: before its offsets of a topic or the group are deleted.

A topic in *deleting* is an open intent: the messages for its partitions are delivered at least once, and sent again after a load.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Final

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.state_messages import Finish, SharePartition, StateMessages
from coordinator_server.group.share.state_topics import StateTopics, state_topics_record
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode

RETRY_MS: Final = 100
_KEY: Final = ("deletions-of-share-states",)


def delete_states(share: ShareContext, group_id: str, topics: Partitions, finish: Finish) -> None:
    """Send the messages. Called when the record with these topics in *deleting* is durable. There is at least one partition."""
    positions = [(topic_id, partition) for topic_id, partitions in topics.items() for partition in partitions]
    StateMessages(finish).delete(share, group_id, positions)


def deleted_record(share: ShareContext, group: ShareGroup, topic_ids: Collection[bytes]) -> CoordinatorRecord:
    """Return the record that closes the intents of topics whose states are deleted."""
    topics = group.state_topics.value
    deleting = tuple(topic_id for topic_id in topics.deleting if topic_id not in topic_ids)
    return state_topics_record(group.group_id, StateTopics(topics.initializing, topics.initialized, deleting), share.topics)


def resume_deletions(share: ShareContext) -> None:
    """Send the messages of all open intents again, after a load."""
    group_ids = [group_id for group_id, group in share.groups.by_id.items() if group.state_topics.value.deleting]
    if group_ids:
        _resume(share, group_ids)


def _resume(share: ShareContext, group_ids: Collection[str]) -> CoordinatorResult[Any]:
    """Send the messages of these groups, when all topics are known that existed at the load, each with all its partitions.

    The record has no partitions: the topics have. A former owner of the shard may have known more of them. Of topics that do not
    exist any longer no state is left.
    """
    share.unresumed.clear()
    if not share.has_topics:
        share.unresumed.update(group_ids)
        share.timer.schedule(_KEY, RETRY_MS, partial(_resume, share, group_ids), RETRY_MS)
        return CoordinatorResult(None)
    for group_id in group_ids:
        group = share.groups.by_id.get(group_id)
        topic_ids = () if group is None else group.state_topics.value.deleting
        topics = [topic for topic_id in topic_ids if (topic := share.topics.topic_by_id(topic_id)) is not None]
        partitions: Partitions = {topic.topic_id: list(range(topic.partitions)) for topic in topics}
        if partitions:
            delete_states(share, group_id, partitions, partial(_finish, share, group_id, partitions))
    return CoordinatorResult(None)


def _finish(
    share: ShareContext, group_id: str, topics: Partitions, errors: Mapping[SharePartition, ErrorCode]
) -> CoordinatorResult[Any]:
    """Close the intents of topics whose states are deleted. They stay open if a state could not be deleted."""
    group = share.groups.by_id.get(group_id)
    if group is None or errors or not group.state_topics.value.deleting:
        return CoordinatorResult(None)
    return CoordinatorResult(None, [deleted_record(share, group, topics)], attribution=because(Reason(Why.OFFSETS_DELETED)))
