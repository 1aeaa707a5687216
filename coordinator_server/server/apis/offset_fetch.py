"""OffsetFetch (9): at once for the usual requests, in steps for all offsets of large groups.

At a node a request waits for a shard that is about to come, or is being loaded, as requests that write do (runtime/arrivals.py):
whoever hears COORDINATOR_LOAD_IN_PROGRESS asks again after its own back-off, which doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Final

from coordinator_server.group.fetch import LatestFetch, PlainFetch
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult, Reply, RequestContext
from coordinator_server.offsets.fetch import OFFSETS_PER_STEP, OffsetsMoment
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.gather import Gather
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.lists import portions_in_steps
from coordinator_server.server.apis.offset_fetch_forms import (
    failed_group,
    failed_topic,
    failed_topic_of_single,
    groups_asked,
    response_in_steps,
)
from coordinator_server.server.exchange.api_row import ApiRow, ShortWay
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, at_once
from coordinator_server.server.guard.access import ApiAccess, Asked
from coordinator_server.server.guard.parts import Each
from coordinator_server.server.guard.topics_of_groups import TopicsOfGroups
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.fetch_rows import FetchedOffsets, fetch_response_encoder
from protocol.fields import ZERO_UUID
from protocol.first_versions import OFFSETS_BY_TOPIC_ID, SEVERAL_GROUPS
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponseTopics,
)


def _awaited(_shard: GroupShard, _context: RequestContext, _request: None, _reply: Reply[None]) -> CoordinatorResult[None]:
    return CoordinatorResult(None, depends_on=0)


FETCH_LATEST = WriteOperation("fetch-offsets", GroupShard.fetch_latest_offsets)
AWAIT_SHARD: WriteOperation[GroupShard, None, None] = WriteOperation("await-shard", _awaited)
# Of one request and group: a group that gets new commits all the time is read although not all is prepared.
MOST_PREPARATIONS = 1_000


def fetch_offsets(
    node: Node, context: RequestContext, request: OffsetFetchRequest, reply: Exchange[OffsetFetchResponse | FetchedOffsets]
) -> Repeat | None:
    """Read the offsets of each group from its shard, and answer when all shards have answered."""
    version = context.api_version
    asked = groups_asked(request, version)
    if len(asked) == 1 and not reply.is_large:
        found = _read_plain(node, version, asked[0], request.require_stable)
        if found is not None:
            answer, repeat = found
            reply.complete(answer)
            return repeat
    if request.require_stable:
        reply.read_latest()
    fetch = _Fetch(node, context, asked, reply.is_behind_writes, request.require_stable)
    missing = () if fetch.is_latest else fetch.missing()
    if missing:
        fetch.answer_when_here(missing, reply)
    else:
        fetch.answer(reply)
    return None


def refuse_fetch_offsets(
    context: RequestContext, request: OffsetFetchRequest, error: ErrorCode, message: str | None
) -> OffsetFetchResponse:
    version = context.api_version
    return at_once(response_in_steps([failed_group(group, error, version) for group in groups_asked(request, version)], version))


def _topic_name(asked: Asked, topic: Any) -> str | None:
    """Return the name of a topic of a request; None if no topic has its id."""
    name: str = topic.name
    return asked.topic_name(topic.topic_id) if asked.context.api_version >= OFFSETS_BY_TOPIC_ID else name


_GROUPS: Final = Each("groups", Operation.DESCRIBE, ResourceType.GROUP, lambda _, group: group.group_id, "groups")
_TOPICS: Final = TopicsOfGroups(_topic_name, failed_topic, attrgetter("name"))
_TOPICS_OF_SINGLE: Final = TopicsOfGroups(_topic_name, failed_topic_of_single, attrgetter("name"))


class _Fetched:
    """The groups of an OffsetFetch, and the topics of each: those that it names, or all."""

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether everything is named and allowed."""
        groups = request.groups if asked.context.api_version >= SEVERAL_GROUPS else (request,)
        group_verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.GROUP)
        verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
        for group in groups:
            if group.topics is None or not group_verdicts[group.group_id]:
                return False
            for topic in group.topics:
                name = _topic_name(asked, topic)
                if name is not None and not verdicts[name]:
                    return False
        return True

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take denied groups and topics out of the request."""
        if asked.context.api_version >= SEVERAL_GROUPS:
            request = yield from _GROUPS.divide(asked, request, reply)
            if request is None:
                return None
            rest = yield from _TOPICS.divide(asked, request, reply)
        elif asked.allows(Operation.DESCRIBE, ResourceType.GROUP, request.group_id):
            rest = yield from _TOPICS_OF_SINGLE.divide_group(asked, request, reply)
        else:
            reply.fail(ErrorCode.GROUP_AUTHORIZATION_FAILED)
            return None
        # The last amendment is applied first.
        reply.amend(partial(_decoded, asked.context.api_version))
        return rest


def _decoded(version: int, response: OffsetFetchResponse | FetchedOffsets) -> OffsetFetchResponse:
    """Return an answer with its parts, if it is encoded already."""
    return response.decoded(version) if isinstance(response, FetchedOffsets) else response


OFFSET_FETCH_API: ApiRow[OffsetFetchRequest, OffsetFetchResponse | FetchedOffsets] = ApiRow(
    OffsetFetchRequest,
    OffsetFetchResponse,
    fetch_offsets,
    refuse_fetch_offsets,
    Order.READ,
    ShortWay(None, fetch_response_encoder),
    can_read_behind_writes=True,
    access=ApiAccess(parts=_Fetched()),
)


def _read_plain(
    node: Node, version: int, group: OffsetFetchRequestGroup, require_stable: bool
) -> tuple[FetchedOffsets, Repeat | None] | None:
    """Return the answer for some partitions of a group in the usual state. None: the general way finds it, or the error."""
    topics = group.topics
    if topics is None:
        return None
    by_id = version >= OFFSETS_BY_TOPIC_ID
    try:
        if by_id:
            for asked in topics:
                topic = node.image.topic_by_id(asked.topic_id)
                if topic is None:
                    return None
                asked.name = topic.name
        partition = node.partition_of(group.group_id)
        request = PlainFetch(version, group, topics, require_stable)
        found = node.groups.read_repeatable(partition, GroupShard.fetch_plain, request)
    except CoordinatorError:
        return None
    if not by_id or found is None or found[1] is None:
        return found
    return found[0], found[1].while_true(partial(_are_known, node, topics))


def _are_known(node: Node, topics: Iterable[OffsetFetchRequestTopics]) -> bool:
    return all(node.image.topic_by_id(topic.topic_id) is not None for topic in topics)


class _Fetch:
    """A request on its way through the shards of its groups. Each group is read at one moment.

    ``is_latest`` is whether the answer includes what is being written, and waits until that is durable.
    """

    __slots__ = ("asked", "context", "is_latest", "node", "require_stable")

    def __init__(
        self,
        node: Node,
        context: RequestContext,
        asked: Sequence[OffsetFetchRequestGroup],
        is_latest: bool,
        require_stable: bool,
    ) -> None:
        self.node = node
        self.context = context
        self.asked = asked
        self.is_latest = is_latest
        self.require_stable = require_stable

    def work(self) -> int:
        """Return the work in offsets, besides the partitions that the request names: these are limited by its own size."""
        work, node = 0, self.node
        for group in self.asked:
            try:
                work += node.groups.read(node.partition_of(group.group_id), GroupShard.fetching_work, group)
            except CoordinatorError:
                continue  # The group's own answer says why.
        return work

    def missing(self) -> set[int]:
        """Return the partitions of groups whose shard is not loaded here."""
        runtime = self.node.groups
        partitions = {self.node.partition_of(group.group_id) for group in self.asked}
        return {partition for partition in partitions if runtime.state(partition) is None}

    def answer_when_here(self, partitions: Collection[int], reply: Exchange[OffsetFetchResponse | FetchedOffsets]) -> None:
        """Answer when each of these shards is loaded, or is not awaited here: a node's clients wait for a shard that comes."""
        gather: Gather[None] = Gather(len(partitions), lambda _: self.answer(reply))
        for place, partition in enumerate(partitions):
            self.node.groups.write(partition, AWAIT_SHARD, self.context, None, gather.reply(place))

    def answer(self, reply: Exchange[OffsetFetchResponse | FetchedOffsets]) -> None:
        """Answer now, or in steps, or when what is read is durable."""
        if reply.connection.is_closed:
            return
        if reply.is_large or self.work() > OFFSETS_PER_STEP:
            reply.connection.use_up()
            self.node.steps.run(reply, self.in_steps())
        elif self.is_latest:
            self.answer_when_durable(reply)
        else:
            reply.complete(at_once(self.in_steps()))

    def in_steps(self) -> Work[OffsetFetchResponse]:
        """Read the groups one after the other."""
        version, answers = self.context.api_version, []
        for group in self.asked:
            try:
                answers.append((yield from self._group_in_steps(group)))
            except CoordinatorError as refused:
                answers.append(failed_group(group, refused.error, version))
                yield
        return (yield from response_in_steps(answers, version))

    def _group_in_steps(self, group: OffsetFetchRequestGroup) -> Work[OffsetFetchResponseGroup]:
        node, partition = self.node, self.node.partition_of(group.group_id)
        unknown = yield from _take_unknown_ids(node, self.context.api_version, group)
        for _ in range(MOST_PREPARATIONS):
            if node.groups.read(partition, GroupShard.prepare_offsets, group.group_id):
                break
            yield
        if self.is_latest:
            moment = yield from self._durable_moment(group)
        else:
            moment = node.groups.read(partition, GroupShard.fetch_offsets, group)
        yield
        answer = yield from moment.answer_in_steps()
        return self._with_ids(group, answer, unknown)

    def _durable_moment(self, group: OffsetFetchRequestGroup) -> Work[OffsetsMoment]:
        """Return the group's latest offsets when they are durable. Raises CoordinatorError."""
        found: list[OffsetsMoment] = []
        failed: list[CoordinatorError] = []
        self._read_latest(group, found.append, lambda error, message: failed.append(CoordinatorError(error, message)))
        while not found:
            if failed:
                raise failed[0]
            yield
        return found[0]

    def _read_latest(
        self,
        group: OffsetFetchRequestGroup,
        completed: Callable[[OffsetsMoment], None],
        failed: Callable[[ErrorCode, str | None], None],
    ) -> None:
        partition, wanted = self.node.partition_of(group.group_id), LatestFetch(group, self.require_stable)
        self.node.groups.write(partition, FETCH_LATEST, self.context, wanted, CallbackReply(completed, failed))

    def answer_when_durable(self, reply: Exchange[OffsetFetchResponse | FetchedOffsets]) -> None:
        """Read the latest offsets of all groups now. Answer when all are durable."""
        version, missing = self.context.api_version, len(self.asked)
        answers = [OffsetFetchResponseGroup()] * missing

        def answered(place: int, answer: OffsetFetchResponseGroup) -> None:
            nonlocal missing
            answers[place] = answer
            missing -= 1
            if missing == 0:
                reply.complete(at_once(response_in_steps(answers, version)))

        if not self.asked:
            reply.complete(OffsetFetchResponse())
        for place, group in enumerate(self.asked):
            self._answer_latest(group, partial(answered, place))

    def _answer_latest(self, group: OffsetFetchRequestGroup, answered: Callable[[OffsetFetchResponseGroup], None]) -> None:
        version = self.context.api_version

        def fail(error: ErrorCode, message: str | None = None) -> None:
            answered(failed_group(group, error, version))

        try:
            unknown = at_once(_take_unknown_ids(self.node, version, group))
            self._read_latest(group, lambda moment: answered(self._with_ids(group, moment.answer(), unknown)), fail)
        except CoordinatorError as refused:
            fail(refused.error)

    def _with_ids(
        self, group: OffsetFetchRequestGroup, answer: OffsetFetchResponseGroup, unknown: list[OffsetFetchResponseTopics]
    ) -> OffsetFetchResponseGroup:
        """Return the answer in the form of versions with topic ids. ``unknown`` are the answers for unknown topic ids."""
        if self.context.api_version >= OFFSETS_BY_TOPIC_ID:
            if group.topics is None:
                answer.topics = [topic for topic in answer.topics if _set_topic_id(self.node, topic)]
            answer.topics += unknown
        return answer


def _take_unknown_ids(node: Node, version: int, group: OffsetFetchRequestGroup) -> Work[list[OffsetFetchResponseTopics]]:
    """For versions with topic ids: fill in the names, remove unknown ids, and return the answers for these."""
    if version < OFFSETS_BY_TOPIC_ID or group.topics is None:
        return []
    unknown = yield from portions_in_steps(group.topics, OFFSETS_PER_STEP, partial(_name_topics, node))
    group.topics = [topic for topic in group.topics if topic.name]
    return unknown


def _name_topics(node: Node, topics: Iterable[OffsetFetchRequestTopics]) -> list[OffsetFetchResponseTopics]:
    """Fill in the names of topics by their ids. Return the answers for unknown ids, whose topics get no name."""
    unknown = []
    for asked in topics:
        topic = node.image.topic_by_id(asked.topic_id)
        asked.name = topic.name if topic is not None else ""
        if topic is None:
            node.image.check_current()
            unknown.append(failed_topic(asked, ErrorCode.UNKNOWN_TOPIC_ID))
    return unknown


def _set_topic_id(node: Node, topic: OffsetFetchResponseTopics) -> bool:
    """Fill in the id if the offset was committed without one. Return False if the topic was deleted, so it has no id."""
    if topic.topic_id == ZERO_UUID:
        known = node.image.topic(topic.name)
        topic.topic_id = known.topic_id if known is not None else ZERO_UUID
    return topic.topic_id != ZERO_UUID
