"""OffsetFetch (9): at once for the usual requests, in steps for all offsets of large groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

from coordinator_server.group.fetch import PlainFetch
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import OPERATION_ERRORS, CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.offsets.moment import OFFSETS_PER_STEP, OffsetsMoment, answer_in_steps
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.api_row import ApiRow, ShortWay
from coordinator_server.server.apis.lists import in_portions, portions_in_steps
from coordinator_server.server.apis.offset_access import OFFSET_FETCH
from coordinator_server.server.callback_reply import CallbackReply
from coordinator_server.server.node import Node
from coordinator_server.server.order import Order
from coordinator_server.server.reply import PendingReply
from coordinator_server.server.steps import Work
from protocol.error_codes import ErrorCode
from protocol.fetch_rows import FIRST_WITH_GROUPS, FetchedOffsets, fetch_response_encoder
from protocol.fields import ZERO_UUID
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

FetchMoment: TypeAlias = WriteOperation[GroupShard, OffsetFetchRequestGroup, OffsetsMoment]

FETCH_STABLE = WriteOperation("fetch-offsets", GroupShard.fetch_stable_offsets)
FETCH_LATEST = WriteOperation("fetch-offsets", GroupShard.fetch_latest_offsets)
LATEST = WriteOperation("fetch-offsets", GroupShard.latest_offsets)
LATEST_STABLE = WriteOperation("fetch-offsets", GroupShard.latest_stable_offsets)
INVALID_OFFSET = -1
# Of one request and group: a group that gets new commits all the time is read although not all is prepared.
MOST_PREPARATIONS = 1_000
# Versions of OffsetFetch: an error field for the group, topic ids instead of names.
FIRST_WITH_ERROR = 2
FIRST_WITH_TOPIC_IDS = 10

# Consumers before 3.9 give up on COORDINATOR_NOT_AVAILABLE and REQUEST_TIMED_OUT here (handleOffsetFetchException).
FETCH_ERRORS = {
    **OPERATION_ERRORS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.NOT_COORDINATOR,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.NOT_COORDINATOR,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.NOT_COORDINATOR,
}


def fetch_offsets(
    node: Node, context: RequestContext, request: OffsetFetchRequest, reply: PendingReply[OffsetFetchResponse | FetchedOffsets]
) -> Repeat | None:
    """Read the offsets of each group from its shard, and answer when all shards have answered."""
    version = context.api_version
    asked = _groups_asked(request, version)
    if len(asked) == 1 and not reply.is_large:
        found = _read_plain(node, version, asked[0], request.require_stable)
        if found is not None:
            answer, repeat = found
            reply.complete(answer)
            return repeat
    _fetch_groups(node, context, request, asked, reply)
    return None


def _fetch_groups(
    node: Node,
    context: RequestContext,
    request: OffsetFetchRequest,
    asked: list[OffsetFetchRequestGroup],
    reply: PendingReply[OffsetFetchResponse | FetchedOffsets],
) -> None:
    version = context.api_version
    if request.require_stable:
        reply.connection.read_latest(reply)
    is_latest = reply.is_behind_writes
    is_usual = len(asked) == 1 and not is_latest
    if is_usual and version < FIRST_WITH_TOPIC_IDS and not reply.is_large:
        answer = _read_at_once(node, version, asked[0])
        if answer is not None:
            reply.complete(OffsetFetchResponse(groups=[answer]) if version >= FIRST_WITH_GROUPS else _single(answer, version))
            return
    if reply.is_large or _size(node, asked) > OFFSETS_PER_STEP:
        reply.connection.use_up()
        latest = LATEST_STABLE if request.require_stable else LATEST
        node.steps.run(reply, _fetch_in_steps(node, context, asked, latest if is_latest else None))
        return
    if is_usual:
        answer = _read_group(node, version, asked[0])
        reply.complete(OffsetFetchResponse(groups=[answer]))
        return
    answers = [OffsetFetchResponseGroup()] * len(asked)
    missing = len(asked)

    def answered(place: int, answer: OffsetFetchResponseGroup) -> None:
        nonlocal missing
        answers[place] = answer
        missing -= 1
        if missing == 0:
            reply.complete(OffsetFetchResponse(groups=answers) if version >= FIRST_WITH_GROUPS else _single(answers[0], version))

    if not asked:
        reply.complete(OffsetFetchResponse())
    for place, group in enumerate(asked):
        if is_latest:
            operation = FETCH_STABLE if request.require_stable else FETCH_LATEST
            _fetch_latest(node, operation, context, group, partial(answered, place))
        else:
            answered(place, _read_group(node, version, group))


def refuse_fetch_offsets(
    context: RequestContext, request: OffsetFetchRequest, error: ErrorCode, message: str | None
) -> OffsetFetchResponse:
    groups = [_failed(group, error, context.api_version) for group in _groups_asked(request, context.api_version)]
    if context.api_version >= FIRST_WITH_GROUPS:
        return OffsetFetchResponse(groups=groups)
    return _single(groups[0], context.api_version)


OFFSET_FETCH_API: ApiRow[OffsetFetchRequest, OffsetFetchResponse | FetchedOffsets] = ApiRow(
    OffsetFetchRequest,
    OffsetFetchResponse,
    fetch_offsets,
    refuse_fetch_offsets,
    Order.READ,
    ShortWay(None, fetch_response_encoder),
    can_read_behind_writes=True,
    access=OFFSET_FETCH,
)


def _read_plain(
    node: Node, version: int, group: OffsetFetchRequestGroup, require_stable: bool
) -> tuple[FetchedOffsets, Repeat | None] | None:
    """Return the answer for some partitions of a group in the usual state. None: the general way finds it, or the error."""
    topics = group.topics
    if topics is None:
        return None
    by_id = version >= FIRST_WITH_TOPIC_IDS
    try:
        if by_id:
            for asked in topics:
                topic = node.topic_by_id(asked.topic_id)
                if topic is None:
                    return None
                asked.name = topic.name
        partition = partition_for(group.group_id, node.partitions)
        request = PlainFetch(version, group, topics, require_stable)
        found = node.groups.read_repeatable(partition, GroupShard.fetch_plain, request)
    except CoordinatorError:
        return None
    if not by_id or found is None or found[1] is None:
        return found
    return found[0], found[1].while_true(partial(_are_known, node, topics))


def _are_known(node: Node, topics: Iterable[OffsetFetchRequestTopics]) -> bool:
    return all(node.topic_by_id(topic.topic_id) is not None for topic in topics)


def _groups_asked(request: OffsetFetchRequest, version: int) -> list[OffsetFetchRequestGroup]:
    """Return the request in the form of the newest versions: a list of groups."""
    if version >= FIRST_WITH_GROUPS:
        return request.groups
    topics = None
    if request.topics is not None:
        topics = [OffsetFetchRequestTopics(topic.name, partition_indexes=topic.partition_indexes) for topic in request.topics]
    return [OffsetFetchRequestGroup(request.group_id, topics=topics)]


def _size(node: Node, asked: Sequence[OffsetFetchRequestGroup]) -> int:
    """Return the work of a request in offsets, besides the partitions that it names: these are limited by its own size."""
    size = 0
    for group in asked:
        try:
            size += node.groups.read(partition_for(group.group_id, node.partitions), GroupShard.fetch_size, group)
        except CoordinatorError:
            continue  # The group's own answer says why.
    return size


def _fetch_in_steps(
    node: Node, context: RequestContext, asked: Sequence[OffsetFetchRequestGroup], operation: FetchMoment | None
) -> Work[OffsetFetchResponse]:
    """Read the groups one after the other, each at one moment. ``operation`` reads the latest offsets, if these are wanted."""
    version = context.api_version
    answers: list[OffsetFetchResponseGroup] = []
    for group in asked:
        partition = node.partition_of(group.group_id)
        try:
            unknown = yield from _take_unknown_in_steps(node, version, group)
            for _ in range(MOST_PREPARATIONS):
                if node.groups.read(partition, GroupShard.prepare_offsets, group.group_id):
                    break
                yield
            if operation is None:
                moment = node.groups.read(partition, GroupShard.offsets_moment, group)
            else:
                moment = yield from _durable_moment(node, context, group, operation)
            yield
            answer = OffsetFetchResponseGroup(group.group_id, (yield from answer_in_steps(moment, group.topics)))
        except CoordinatorError as refused:
            answers.append(_failed(group, refused.error, version))
            yield
        else:
            answers.append(answer if version < FIRST_WITH_TOPIC_IDS else _with_ids(node, group, answer, unknown))
    if version >= FIRST_WITH_GROUPS:
        return OffsetFetchResponse(groups=answers)
    return (yield from _single_in_steps(answers[0], version))


def _durable_moment(
    node: Node, context: RequestContext, group: OffsetFetchRequestGroup, operation: FetchMoment
) -> Work[OffsetsMoment]:
    """Return the group's latest offsets when they are durable. Raises CoordinatorError."""
    found: list[OffsetsMoment] = []
    failed: list[CoordinatorError] = []
    reply = CallbackReply(found.append, lambda error, message: failed.append(CoordinatorError(error, message)))
    node.groups.write(node.partition_of(group.group_id), operation, context, group, reply)
    while not found:
        if failed:
            raise failed[0]
        yield
    return found[0]


def _read_at_once(node: Node, version: int, group: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup | None:
    """Return what ``_read_group`` returns, or None if it is not the work of one step."""
    try:
        return node.groups.read(partition_for(group.group_id, node.partitions), GroupShard.fetch_offsets_at_once, group)
    except CoordinatorError as refused:
        return _failed(group, refused.error, version)


def _read_group(node: Node, version: int, group: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
    """Return the group's committed offsets at the high watermark."""
    try:
        unknown = _take_unknown_ids(node, version, group)
        answer = node.groups.read(partition_for(group.group_id, node.partitions), GroupShard.fetch_offsets, group)
    except CoordinatorError as refused:
        return _failed(group, refused.error, version)
    return answer if version < FIRST_WITH_TOPIC_IDS else _with_ids(node, group, answer, unknown)


def _fetch_latest(
    node: Node,
    operation: WriteOperation[GroupShard, OffsetFetchRequestGroup, OffsetFetchResponseGroup],
    context: RequestContext,
    group: OffsetFetchRequestGroup,
    answered: Callable[[OffsetFetchResponseGroup], None],
) -> None:
    """Read the group's latest offsets, including those being written. The answer waits until these are durable."""
    version = context.api_version

    def complete(answer: OffsetFetchResponseGroup) -> None:
        answered(answer if version < FIRST_WITH_TOPIC_IDS else _with_ids(node, group, answer, unknown))

    def fail(error: ErrorCode, message: str | None) -> None:
        answered(_failed(group, error, version))

    try:
        unknown = _take_unknown_ids(node, version, group)
        node.groups.write(node.partition_of(group.group_id), operation, context, group, CallbackReply(complete, fail))
    except CoordinatorError as refused:
        fail(refused.error, refused.message)


def _with_ids(
    node: Node, group: OffsetFetchRequestGroup, answer: OffsetFetchResponseGroup, unknown: list[OffsetFetchResponseTopics]
) -> OffsetFetchResponseGroup:
    """Return the answer in the form of versions with topic ids. ``unknown`` are the answers for unknown topic ids."""
    if answer.error_code == ErrorCode.NONE:
        if group.topics is None:
            answer.topics = [topic for topic in answer.topics if _set_topic_id(node, topic)]
        answer.topics += unknown
    return answer


def _take_unknown_ids(node: Node, version: int, group: OffsetFetchRequestGroup) -> list[OffsetFetchResponseTopics]:
    """For versions with topic ids: fill in the names, remove unknown ids, and return the answers for these."""
    if version < FIRST_WITH_TOPIC_IDS or group.topics is None:
        return []
    unknown = _name_topics(node, group.topics)
    group.topics = [topic for topic in group.topics if topic.name]
    return unknown


def _take_unknown_in_steps(node: Node, version: int, group: OffsetFetchRequestGroup) -> Work[list[OffsetFetchResponseTopics]]:
    """Do the same as ``_take_unknown_ids`` in steps."""
    if version < FIRST_WITH_TOPIC_IDS or group.topics is None:
        return []
    unknown = yield from portions_in_steps(group.topics, OFFSETS_PER_STEP, partial(_name_topics, node))
    group.topics = [topic for topic in group.topics if topic.name]
    return unknown


def _name_topics(node: Node, topics: Iterable[OffsetFetchRequestTopics]) -> list[OffsetFetchResponseTopics]:
    """Fill in the names of topics by their ids. Return the answers for unknown ids, whose topics get no name."""
    unknown = []
    for asked in topics:
        topic = node.topic_by_id(asked.topic_id)
        asked.name = topic.name if topic is not None else ""
        if topic is None:
            node.check_current()
            unknown.append(_failed_topic(asked, ErrorCode.UNKNOWN_TOPIC_ID))
    return unknown


def _set_topic_id(node: Node, topic: OffsetFetchResponseTopics) -> bool:
    """Fill in the id if the offset was committed without one. Return False if the topic was deleted, so it has no id."""
    if topic.topic_id == ZERO_UUID:
        known = node.topic(topic.name)
        topic.topic_id = known.topic_id if known is not None else ZERO_UUID
    return topic.topic_id != ZERO_UUID


def _failed(group: OffsetFetchRequestGroup, error: ErrorCode, version: int) -> OffsetFetchResponseGroup:
    """Refuse a whole group. Versions without an error field for the group get the error for each partition."""
    error = FETCH_ERRORS.get(error, error)
    topics = [_failed_topic(topic, error) for topic in group.topics or []] if version < FIRST_WITH_ERROR else []
    return OffsetFetchResponseGroup(group.group_id, topics, error)


def _failed_topic(topic: OffsetFetchRequestTopics, error: ErrorCode) -> OffsetFetchResponseTopics:
    partitions = [
        OffsetFetchResponsePartitions(partition, INVALID_OFFSET, metadata="", error_code=error)
        for partition in topic.partition_indexes
    ]
    return OffsetFetchResponseTopics(topic.name, topic.topic_id, partitions)


def _single(group: OffsetFetchResponseGroup, version: int) -> OffsetFetchResponse:
    """Return a group's answer in the form of versions with a single group."""
    has_error = group.error_code != ErrorCode.NONE
    if has_error and version >= FIRST_WITH_ERROR:
        return OffsetFetchResponse(error_code=group.error_code)
    return OffsetFetchResponse(
        topics=[OffsetFetchResponseTopic(topic.name, _of_single(topic.partitions)) for topic in group.topics]
    )


def _single_in_steps(group: OffsetFetchResponseGroup, version: int) -> Work[OffsetFetchResponse]:
    """Do the same as ``_single`` in steps."""
    topics = []
    room = OFFSETS_PER_STEP
    for topic in group.topics if group.error_code == ErrorCode.NONE else ():
        partitions: list[OffsetFetchResponsePartition] = []
        room -= 1
        for portion in in_portions(topic.partitions, OFFSETS_PER_STEP):
            partitions += _of_single(portion)
            room -= len(portion)
            if room <= 0:
                yield
                room = OFFSETS_PER_STEP
        topics.append(OffsetFetchResponseTopic(topic.name, partitions))
        if room <= 0:
            yield
            room = OFFSETS_PER_STEP
    return OffsetFetchResponse(topics=topics) if topics else _single(group, version)


def _of_single(partitions: Iterable[OffsetFetchResponsePartitions]) -> list[OffsetFetchResponsePartition]:
    return [
        OffsetFetchResponsePartition(
            one.partition_index, one.committed_offset, one.committed_leader_epoch, one.metadata, one.error_code
        )
        for one in partitions
    ]
