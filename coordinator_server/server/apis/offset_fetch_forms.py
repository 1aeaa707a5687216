"""The forms of an OffsetFetch in its versions: one group or several, with or without an error of the group."""

from __future__ import annotations

from collections.abc import Iterable

from coordinator_server.machine.errors import OPERATION_ERRORS
from coordinator_server.offsets.fetch import INVALID_OFFSET, OFFSETS_PER_STEP
from coordinator_server.server.apis.lists import StepBudget
from coordinator_server.server.exchange.steps import Work, in_portions
from protocol.error_codes import ErrorCode
from protocol.first_versions import SEVERAL_GROUPS
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

# The first version with an error field for the group.
FIRST_WITH_ERROR = 2

# Consumers before 3.9 give up on COORDINATOR_NOT_AVAILABLE and REQUEST_TIMED_OUT here (handleOffsetFetchException).
FETCH_ERRORS = {
    **OPERATION_ERRORS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.NOT_COORDINATOR,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.NOT_COORDINATOR,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.NOT_COORDINATOR,
}


def groups_asked(request: OffsetFetchRequest, version: int) -> list[OffsetFetchRequestGroup]:
    """Return the request in the form of the newest versions: a list of groups."""
    if version >= SEVERAL_GROUPS:
        return request.groups
    topics = None
    if request.topics is not None:
        topics = [OffsetFetchRequestTopics(topic.name, partition_indexes=topic.partition_indexes) for topic in request.topics]
    return [OffsetFetchRequestGroup(request.group_id, topics=topics)]


def failed_group(group: OffsetFetchRequestGroup, error: ErrorCode, version: int) -> OffsetFetchResponseGroup:
    """Refuse a whole group. Versions without an error field for the group get the error for each partition."""
    error = FETCH_ERRORS.get(error, error)
    topics = [failed_topic(topic, error) for topic in group.topics or []] if version < FIRST_WITH_ERROR else []
    return OffsetFetchResponseGroup(group.group_id, topics, error)


def failed_topic_of_single(
    topic: OffsetFetchRequestTopic, error: ErrorCode, _message: str | None = None
) -> OffsetFetchResponseTopic:
    """Return the answer for a topic of versions with a single group."""
    failed = failed_topic(OffsetFetchRequestTopics(topic.name, partition_indexes=topic.partition_indexes), error)
    return OffsetFetchResponseTopic(topic.name, _of_single(failed.partitions))


def failed_topic(topic: OffsetFetchRequestTopics, error: ErrorCode, _message: str | None = None) -> OffsetFetchResponseTopics:
    """Return the answer for a topic of versions with several groups."""
    partitions = [
        OffsetFetchResponsePartitions(partition, INVALID_OFFSET, metadata="", error_code=error)
        for partition in topic.partition_indexes
    ]
    return OffsetFetchResponseTopics(topic.name, topic.topic_id, partitions)


def response_in_steps(answers: list[OffsetFetchResponseGroup], version: int) -> Work[OffsetFetchResponse]:
    """Return the response with the answers of the groups: in versions with a single group, its fields."""
    if version >= SEVERAL_GROUPS:
        return OffsetFetchResponse(groups=answers)
    [group] = answers
    if group.error_code != ErrorCode.NONE and version >= FIRST_WITH_ERROR:
        return OffsetFetchResponse(error_code=group.error_code)
    topics = []
    budget = StepBudget(OFFSETS_PER_STEP)
    for topic in group.topics:
        partitions: list[OffsetFetchResponsePartition] = []
        for portion in in_portions(topic.partitions, OFFSETS_PER_STEP):
            partitions += _of_single(portion)
            if budget.spend(len(portion)):
                yield
        topics.append(OffsetFetchResponseTopic(topic.name, partitions))
        if budget.spend(1):
            yield
    return OffsetFetchResponse(topics=topics)


def _of_single(partitions: Iterable[OffsetFetchResponsePartitions]) -> list[OffsetFetchResponsePartition]:
    return [
        OffsetFetchResponsePartition(
            one.partition_index, one.committed_offset, one.committed_leader_epoch, one.metadata, one.error_code
        )
        for one in partitions
    ]
