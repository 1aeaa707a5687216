"""DescribeShareGroupOffsets (90).

Where a share group is in its topics is kept by the shards of ``__share_group_state``, a share partition here, the next one there: a
description asks all of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any, Final, NamedTuple

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.group.shard import GroupShard
from coordinator_server.group.share.state_effects import SUMMARIZE_STATES, StatesOfGroup, StateSummary
from coordinator_server.kinds import SHARE_STATE
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import OPERATION_ERRORS, CoordinatorError, operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.server.apis.lists import UNITS_PER_STEP, StepBudget
from coordinator_server.server.apis.refusals import each_refused
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, at_once
from coordinator_server.server.guard.access import ApiAccess, Asked
from coordinator_server.server.guard.parts import NO_MESSAGES, Each
from coordinator_server.server.guard.topics_of_groups import TopicsOfGroups
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)

PARTITIONS_PER_MESSAGE: Final = 1_000
MESSAGES_IN_FLIGHT: Final = 16
NO_OFFSET: Final = -1
UNEXPECTED: Final = "The server experienced an unexpected error when processing the request."
_LOG_END: Final = 0
"""The end offset of every partition of a virtual topic."""

SharePartition = tuple[bytes, int]


class _Described(NamedTuple):
    """A group: the names of its topics by id, their partitions, and the answers that need no state."""

    group_id: str
    names: dict[bytes, str]
    partitions: dict[bytes, list[int]]
    others: list[DescribeShareGroupOffsetsResponseTopic]

    @property
    def size(self) -> int:
        return sum(map(len, self.partitions.values()))


class _Summaries:
    """Asks for the summaries of share partitions of one group, some messages at a time.

    ``then`` gets the summaries, or the error of a shard that could not be asked.
    """

    def __init__(
        self, node: Node, group_id: str, then: Callable[[Mapping[SharePartition, StateSummary] | ErrorCode], None]
    ) -> None:
        self._node = node
        self._group_id = group_id
        self._then = then
        self._filling: dict[int, list[SharePartition]] = {}
        self._ready: deque[tuple[int, list[SharePartition]]] = deque()
        self._found: dict[SharePartition, StateSummary] = {}
        self._error: ErrorCode | None = None
        self._unanswered = 0
        self._is_complete = self._is_sending = False

    def add(self, position: SharePartition) -> None:
        """Ask for a share partition, soon."""
        shard = self._node.share_shard(self._group_id, *position)
        positions = self._filling.setdefault(shard, [])
        positions.append(position)
        if len(positions) == PARTITIONS_PER_MESSAGE:
            self._ready.append((shard, self._filling.pop(shard)))

    def send(self) -> None:
        """Ask for all of them."""
        self._ready.extend(self._filling.items())
        self._is_complete = True
        self._send()

    def _send(self) -> None:
        if self._is_sending:
            return
        # An answer may come within the call.
        self._is_sending = True
        while self._ready and self._unanswered < MESSAGES_IN_FLIGHT and self._error is None:
            shard, positions = self._ready.popleft()
            self._unanswered += 1
            reply = CallbackReply(partial(self._answered, positions), self._failed)
            request = StatesOfGroup(self._group_id, positions)
            self._node.courier.carry(None, ShardId(SHARE_STATE.topic, shard), SUMMARIZE_STATES, request, reply)
        self._is_sending = False
        if self._is_complete and not self._unanswered and (not self._ready or self._error is not None):
            self._is_complete = False
            self._then(self._found if self._error is None else self._error)

    def _answered(self, positions: list[SharePartition], summaries: list[StateSummary]) -> None:
        self._unanswered -= 1
        self._found.update(zip(positions, summaries, strict=True))
        self._send()

    def _failed(self, error: ErrorCode, message: str | None) -> None:
        self._unanswered -= 1
        self._error = error
        self._send()


class _Description:
    """A request: each group's answer, in the order of the request."""

    def __init__(self, node: Node, reply: Exchange[DescribeShareGroupOffsetsResponse], count: int) -> None:
        self._node = node
        self._reply = reply
        self._groups: list[DescribeShareGroupOffsetsResponseGroup | _Answered] = []
        # One for each group without an answer, and one until all have begun.
        self._missing = count + 1

    def begin(self, asked: DescribeShareGroupOffsetsRequestGroup) -> Work[None]:
        """Answer a group, now or when the shards of its share partitions have answered. In steps."""
        place = len(self._groups)
        self._groups.append(DescribeShareGroupOffsetsResponseGroup(asked.group_id))
        try:
            described = _named(self._node, asked) if asked.topics is not None else _initialized(self._node, asked.group_id)
        except CoordinatorError as refused:
            self._put(place, _refused(asked.group_id, operation_error(refused.error), refused.message))
            return
        if described.size and (not asked.group_id or any(min(each, default=0) < 0 for each in described.partitions.values())):
            self._put(place, _refused(asked.group_id, ErrorCode.UNKNOWN_SERVER_ERROR, UNEXPECTED))
            return
        if not described.size or self._node.catalog.read(CatalogShard.topic, SHARE_STATE.topic) is None:
            self._put(place, _Answered(described, {}))
            return
        summaries = _Summaries(self._node, asked.group_id, partial(self._summarized, place, described))
        budget = StepBudget()
        for topic_id, partitions in described.partitions.items():
            for index in partitions:
                summaries.add((topic_id, index))
                if budget.spend(1):
                    yield
        summaries.send()

    def _summarized(self, place: int, described: _Described, found: Mapping[SharePartition, StateSummary] | ErrorCode) -> None:
        if isinstance(found, ErrorCode):
            self._put(place, _refused(described.group_id, operation_error(found), None))
        else:
            self._put(place, _Answered(described, found))

    def _put(self, place: int, answer: DescribeShareGroupOffsetsResponseGroup | _Answered) -> None:
        self._groups[place] = answer
        self.count()

    def count(self) -> None:
        """Count an answer, or that all groups have begun. Answer the request after the last."""
        self._missing -= 1
        if self._missing or self._reply.connection.is_closed:
            return
        size = sum(each.described.size for each in self._groups if isinstance(each, _Answered))
        if self._reply.is_large or size > UNITS_PER_STEP:
            self._node.steps.run(self._reply, self._response())
        else:
            self._reply.complete(at_once(self._response()))

    def _response(self) -> Work[DescribeShareGroupOffsetsResponse]:
        groups: list[DescribeShareGroupOffsetsResponseGroup] = []
        for each in self._groups:
            group = (yield from each.group()) if isinstance(each, _Answered) else each
            groups.append(group)
        return DescribeShareGroupOffsetsResponse(groups=groups)


class _Answered(NamedTuple):
    """A group whose summaries are known. A share partition without one has no state."""

    described: _Described
    summaries: Mapping[SharePartition, StateSummary]

    def group(self) -> Work[DescribeShareGroupOffsetsResponseGroup]:
        """Return the answer, in steps."""
        topics: list[DescribeShareGroupOffsetsResponseTopic] = []
        budget = StepBudget()
        for topic_id, indexes in self.described.partitions.items():
            partitions: list[DescribeShareGroupOffsetsResponsePartition] = []
            for index in indexes:
                partitions.append(_partition(index, self.summaries.get((topic_id, index))))
                if budget.spend(1):
                    yield
            topics.append(DescribeShareGroupOffsetsResponseTopic(self.described.names[topic_id], topic_id, partitions))
        return DescribeShareGroupOffsetsResponseGroup(self.described.group_id, topics + self.described.others)


def _partition(index: int, summary: StateSummary | None) -> DescribeShareGroupOffsetsResponsePartition:
    """Return the answer for a share partition. An error of its state counts as none, as in Kafka."""
    if summary is None or summary.error:
        return DescribeShareGroupOffsetsResponsePartition(index, NO_OFFSET)
    is_known = summary.start_offset != NO_OFFSET and summary.delivery_complete_count >= 0
    lag = _LOG_END - summary.start_offset - summary.delivery_complete_count if is_known else NO_OFFSET
    return DescribeShareGroupOffsetsResponsePartition(index, summary.start_offset, summary.leader_epoch, lag)


def _named(node: Node, asked: DescribeShareGroupOffsetsRequestGroup) -> _Described:
    described = _Described(asked.group_id, {}, {}, [])
    for each in asked.topics or ():
        topic = node.image.topic(each.topic_name)
        if topic is None:
            node.image.check_current()
            partitions = [DescribeShareGroupOffsetsResponsePartition(index, NO_OFFSET) for index in each.partitions]
            described.others.append(DescribeShareGroupOffsetsResponseTopic(each.topic_name, ZERO_UUID, partitions))
        else:
            described.names[topic.topic_id] = topic.name
            known = described.partitions.get(topic.topic_id, [])
            described.partitions[topic.topic_id] = list(dict.fromkeys((*known, *each.partitions)))
    return described


def _initialized(node: Node, group_id: str) -> _Described:
    """Return all share partitions of the group that have a state. Topics that do not exist any more are left out."""
    partitions = node.groups.read(node.partition_of(group_id), GroupShard.initialized_share_partitions, group_id)
    topics = {topic_id: topic for topic_id in partitions if (topic := node.image.topic_by_id(topic_id)) is not None}
    names = {topic_id: topic.name for topic_id, topic in topics.items()}
    return _Described(group_id, names, {topic_id: partitions[topic_id] for topic_id in topics}, [])


def _refused(group_id: str, error: ErrorCode, message: str | None) -> DescribeShareGroupOffsetsResponseGroup:
    return DescribeShareGroupOffsetsResponseGroup(group_id, error_code=error, error_message=message)


def describe_share_group_offsets(
    node: Node,
    context: RequestContext,
    request: DescribeShareGroupOffsetsRequest,
    reply: Exchange[DescribeShareGroupOffsetsResponse],
) -> None:
    """Answer each group, with the topics that it names or with all that have a state."""
    work = _describe(node, request, reply)
    named = sum([len(topic.partitions) for group in request.groups for topic in group.topics or ()])
    if reply.is_large or named > UNITS_PER_STEP or any(group.topics is None for group in request.groups):
        node.steps.run_on(reply, work)
    else:
        at_once(work)


def _describe(
    node: Node, request: DescribeShareGroupOffsetsRequest, reply: Exchange[DescribeShareGroupOffsetsResponse]
) -> Work[None]:
    description = _Description(node, reply, len(request.groups))
    for group in request.groups:
        yield from description.begin(group)
    description.count()


def _denied(
    topic: DescribeShareGroupOffsetsRequestTopic, error: ErrorCode, message: str | None
) -> DescribeShareGroupOffsetsResponseTopic:
    partitions = [
        DescribeShareGroupOffsetsResponsePartition(index, NO_OFFSET, error_code=error, error_message=message)
        for index in topic.partitions
    ]
    return DescribeShareGroupOffsetsResponseTopic(topic.topic_name, partitions=partitions)


class _Access:
    """The groups of a request, and the topics of each: those that it names, or all."""

    _groups = Each("groups", Operation.DESCRIBE, ResourceType.GROUP, lambda _, group: group.group_id, "groups", NO_MESSAGES)
    _topics = TopicsOfGroups(lambda _, topic: topic.topic_name, _denied, attrgetter("topic_name"))

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return False: these requests are rare."""
        return False

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take denied groups and topics out of the request."""
        request = yield from self._groups.divide(asked, request, reply)
        return None if request is None else (yield from self._topics.divide(asked, request, reply))


DESCRIBE_SHARE_GROUP_OFFSETS_API = ApiRow(
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
    describe_share_group_offsets,
    each_refused(
        DescribeShareGroupOffsetsResponse,
        "groups",
        DescribeShareGroupOffsetsResponseGroup,
        of="groups",
        by=("group_id",),
        errors=OPERATION_ERRORS,
    ),
    Order.ALONE,
    access=ApiAccess(parts=_Access()),
)
