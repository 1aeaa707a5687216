"""Whether all initialized share partitions are assigned (``GroupMetadataManager.initializedAssignmentPending``)."""

from __future__ import annotations

from coordinator_server.group.common.topics import TopicImage
from coordinator_server.group.share.group import ShareGroup
from protocol.messages.share_group_records import (
    ShareGroupMetadataKey,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupTargetAssignmentMetadataKey,
)

_SEEN = (ShareGroupMetadataKey, ShareGroupTargetAssignmentMetadataKey, ShareGroupStatePartitionMetadataKey)


def has_unassigned(group: ShareGroup, image: TopicImage) -> bool:
    """Return whether a topic that is subscribed to has other partitions initialized than assigned.

    Targets and subscriptions change only together with the group's epoch or that of its target, so that the answer is the same
    for the same records. A topic that is gone cannot be assigned, and does not count.
    """
    seen = tuple([group.head.get(key) for key in _SEEN])
    known = group.assigned_for
    if known is not None and all(one is other for one, other in zip(known, seen, strict=True)):
        return False
    unassigned = _unassigned(group)
    if not unassigned:
        group.assigned_for = seen
    return any(image.topic_by_id(topic_id) is not None for topic_id in unassigned)


def _unassigned(group: ShareGroup) -> list[bytes]:
    initialized = group.state_topics.value.initialized
    if not group.members or not initialized or not group.subscribed_topics:
        return []
    assigned: dict[bytes, set[int]] = {}
    for target in group.targets.values():
        for topic_id, partitions in target.target.items():
            assigned.setdefault(topic_id, set()).update(partitions)
    return [
        topic_id
        for topic_id, topic in initialized.items()
        if topic.name in group.subscribed_topics and assigned.get(topic_id) != set(topic.partitions)
    ]
