"""The offsets of a share group, which are the states of its share partitions: an administrator sets and deletes them.

    request ── record: initializing or deleting ── durable ──► messages to the shards that keep the states
    answer ◄── durable ── record: initialized, or no longer deleting ◄── all of them done ◄──┘

The request waits parked (``parked.py``). If the server ends before the answer, the record is an open intent, which goes on after
the load: what was to be set is then initialized without an offset, what was to be deleted is deleted. Only groups without members
are changed (``GroupMetadataManager.alterShareGroupOffsets``, ``sharePartitionsEligibleForOffsetDeletion``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.common.topics import TopicImage
from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.deletion import delete_states, deleted_record
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.initialization import initializing_record
from coordinator_server.group.share.state_messages import SharePartition, StateMessages
from coordinator_server.group.share.state_topics import (
    NamedPartitions,
    StateTopics,
    TopicsWithPartitions,
    combine,
    state_topics_record,
    without,
)
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult, Reply
from protocol.error_codes import ErrorCode
from protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsResponse, DeleteShareGroupOffsetsResponseTopic

NO_PARTITION: Final = "This server does not host this topic-partition."
"""Kafka's message for UNKNOWN_TOPIC_OR_PARTITION."""
NOTHING_TO_DELETE: Final = "There is no offset information to delete."
CHANGING: Final = "the states of the group's share partitions are changing"
NOT_EMPTY: Final = "The group is not empty."


class _Altered(NamedTuple):
    """What a request alters: the answer if all goes well, the start offsets, and the topics that are known."""

    response: AlterShareGroupOffsetsResponse
    starts: dict[SharePartition, int]
    topics: TopicsWithPartitions


def is_changing(share: ShareContext, group: ShareGroup) -> bool:
    """Return whether share partitions of the group are about to get a state,
    or messages about them are on their way or to be sent.
    """
    if group.group_id in share.attempts or group.group_id in share.unresumed:
        return True
    return any(topic.partitions for topic in group.state_topics.value.initializing.values())


def refuse_unless_idle(share: ShareContext, group: ShareGroup) -> None:
    """Raise NON_EMPTY_GROUP if the group has members; COORDINATOR_LOAD_IN_PROGRESS while its states change: clients retry."""
    if group.members:
        raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP, NOT_EMPTY)
    if is_changing(share, group):
        raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, CHANGING)


def alter_offsets(
    share: ShareContext,
    group: ShareGroup,
    topics: Iterable[AlterShareGroupOffsetsRequestTopic],
    reply: Reply[AlterShareGroupOffsetsResponse],
) -> CoordinatorResult[AlterShareGroupOffsetsResponse]:
    """Set start offsets. The group need not exist yet. Raises NON_EMPTY_GROUP."""
    refuse_unless_idle(share, group)
    altered = _altered(share.topics, topics)
    if not altered.topics:
        return CoordinatorResult(altered.response)
    records = [initializing_record(share, group, altered.topics)]
    why = because(Reason(Why.OFFSETS_ALTERED))
    if not altered.starts:
        return CoordinatorResult(altered.response, records, attribution=why)
    share.parked.park(reply)
    begin = partial(_initialize, share, group.group_id, group.group_epoch, altered, reply)
    return CoordinatorResult(DEFERRED, records, begin, attribution=why)


def _altered(image: TopicImage, topics: Iterable[AlterShareGroupOffsetsRequestTopic]) -> _Altered:
    """Unknown topics come first in the answer, as in Kafka."""
    unknown: list[AlterShareGroupOffsetsResponseTopic] = []
    known: list[AlterShareGroupOffsetsResponseTopic] = []
    starts: dict[SharePartition, int] = {}
    named: dict[bytes, NamedPartitions] = {}
    for asked in topics:
        topic = image.topic(asked.topic_name)
        count = 0 if topic is None else topic.partitions
        answers = [_answer_of(each.partition_index, count) for each in asked.partitions]
        if topic is None:
            unknown.append(AlterShareGroupOffsetsResponseTopic(asked.topic_name, partitions=answers))
            continue
        known.append(AlterShareGroupOffsetsResponseTopic(topic.name, topic.topic_id, answers))
        offsets = {each.partition_index: each.start_offset for each in asked.partitions if 0 <= each.partition_index < count}
        starts.update({(topic.topic_id, index): offset for index, offset in offsets.items()})
        before = named[topic.topic_id].partitions if topic.topic_id in named else []
        named[topic.topic_id] = NamedPartitions(topic.name, list(dict.fromkeys((*before, *offsets))))
    response = AlterShareGroupOffsetsResponse(responses=unknown + known)
    return _Altered(response, starts, combine({}, named))


def _answer_of(index: int, count: int) -> AlterShareGroupOffsetsResponsePartition:
    if 0 <= index < count:
        return AlterShareGroupOffsetsResponsePartition(index)
    return AlterShareGroupOffsetsResponsePartition(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NO_PARTITION)


def _initialize(
    share: ShareContext,
    group_id: str,
    state_epoch: int,
    altered: _Altered,
    reply: Reply[AlterShareGroupOffsetsResponse],
    error: ErrorCode | None,
) -> None:
    """Send the messages when the intents are durable."""
    if error is not None:
        share.parked.fail(reply, error)
        return
    messages = StateMessages(partial(_initialized, share, group_id, altered, reply))
    messages.initialize(share, group_id, altered.starts, state_epoch)


def _initialized(
    share: ShareContext,
    group_id: str,
    altered: _Altered,
    reply: Reply[AlterShareGroupOffsetsResponse],
    errors: Mapping[SharePartition, ErrorCode],
) -> CoordinatorResult[Any]:
    """Close the intents; each partition has its own outcome."""
    for topic in altered.response.responses:
        for each in topic.partitions:
            found = errors.get((topic.topic_id, each.partition_index))
            if found is not None and not each.error_code:
                each.error_code = found
                each.error_message = NO_PARTITION if found is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else None
    answer = partial(_answer, share, reply, altered.response)
    group = share.groups.by_id.get(group_id)
    if group is None:
        return CoordinatorResult(None, on_append=answer)
    known, done = group.state_topics.value, {}
    for topic_id, named in altered.topics.items():
        partitions = [partition for partition in named.partitions if (topic_id, partition) not in errors]
        if partitions:
            done[topic_id] = NamedPartitions(named.name, partitions)
    initializing = without(known.initializing, {topic_id: named.partitions for topic_id, named in altered.topics.items()})
    after = StateTopics(initializing, combine(known.initialized, done), known.deleting)
    why = because(Reason(Why.OFFSETS_ALTERED))
    return CoordinatorResult(None, [state_topics_record(group_id, after, share.topics)], answer, attribution=why)


class _Deleted(NamedTuple):
    """What a request deletes: the topics' names by id, their partitions, and the answers for other topics."""

    names: dict[bytes, str]
    partitions: Partitions
    refused: list[DeleteShareGroupOffsetsResponseTopic]


def delete_offsets(
    share: ShareContext, group: ShareGroup, topics: Iterable[str], reply: Reply[DeleteShareGroupOffsetsResponse]
) -> CoordinatorResult[DeleteShareGroupOffsetsResponse]:
    """Delete the states of the partitions of topics. Raises NON_EMPTY_GROUP."""
    refuse_unless_idle(share, group)
    if not group.has_state_record:
        return CoordinatorResult(DeleteShareGroupOffsetsResponse())
    known = group.state_topics.value
    deleted = _deleted(share.topics, known, topics)
    initialized = {topic_id: topic for topic_id, topic in known.initialized.items() if topic_id not in deleted.names}
    deleting = tuple(dict.fromkeys((*known.deleting, *deleted.names)))
    records = [state_topics_record(group.group_id, StateTopics(known.initializing, initialized, deleting), share.topics)]
    why = because(Reason(Why.OFFSETS_DELETED))
    if not deleted.partitions:
        return CoordinatorResult(DeleteShareGroupOffsetsResponse(responses=deleted.refused), records, attribution=why)
    share.parked.park(reply)
    return CoordinatorResult(DEFERRED, records, partial(_delete, share, group.group_id, deleted, reply), attribution=why)


def _deleted(image: TopicImage, known: StateTopics, topics: Iterable[str]) -> _Deleted:
    deleted = _Deleted({}, {}, [])
    for name in topics:
        topic = image.topic(name)
        message = NO_PARTITION
        if topic is not None:
            initialized = known.initialized.get(topic.topic_id)
            if initialized is not None or topic.topic_id in known.deleting:
                deleted.names[topic.topic_id] = name
                deleted.partitions[topic.topic_id] = (
                    list(range(topic.partitions)) if initialized is None else initialized.partitions
                )
                continue
            message = NOTHING_TO_DELETE
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        deleted.refused.append(DeleteShareGroupOffsetsResponseTopic(name, error_code=error, error_message=message))
    return deleted


def _delete(
    share: ShareContext,
    group_id: str,
    deleted: _Deleted,
    reply: Reply[DeleteShareGroupOffsetsResponse],
    error: ErrorCode | None,
) -> None:
    """Send the messages when the intents are durable."""
    if error is not None:
        share.parked.fail(reply, error)
    else:
        delete_states(share, group_id, deleted.partitions, partial(_states_deleted, share, group_id, deleted, reply))


def _states_deleted(
    share: ShareContext,
    group_id: str,
    deleted: _Deleted,
    reply: Reply[DeleteShareGroupOffsetsResponse],
    errors: Mapping[SharePartition, ErrorCode],
) -> CoordinatorResult[Any]:
    """Close the intents of the topics that have no states any more."""
    failed = {topic_id: error for (topic_id, _), error in errors.items()}
    done = [topic_id for topic_id in deleted.names if topic_id not in failed]
    answers = [
        *(DeleteShareGroupOffsetsResponseTopic(deleted.names[topic_id], topic_id) for topic_id in done),
        *deleted.refused,
        *(DeleteShareGroupOffsetsResponseTopic(deleted.names[topic_id], topic_id, error) for topic_id, error in failed.items()),
    ]
    answer = partial(_answer, share, reply, DeleteShareGroupOffsetsResponse(responses=answers))
    group = share.groups.by_id.get(group_id)
    if group is None or not done:
        return CoordinatorResult(None, on_append=answer)
    why = because(Reason(Why.OFFSETS_DELETED))
    return CoordinatorResult(None, [deleted_record(share, group, done)], answer, attribution=why)


def _answer(share: ShareContext, reply: Reply[Any], response: object, error: ErrorCode | None) -> None:
    """Answer when the intents are closed. If that was not written, the outbox requests it again."""
    if error is None:
        share.parked.complete(reply, response)
