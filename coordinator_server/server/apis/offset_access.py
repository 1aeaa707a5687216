"""What requests about the committed offsets of groups need, and those about the offsets of share groups."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import replace

from coordinator_server.server.apis.group_access import DELETE_GROUP, READ_GROUP
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import MESSAGES, NO_MESSAGES, ApiAccess, Asked, Each, Need, divided
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.fetch_rows import FetchedOffsets
from protocol.first_versions import OFFSETS_BY_TOPIC_ID, SEVERAL_GROUPS
from protocol.messages import alter_share_group_offsets as alter_shared
from protocol.messages import delete_share_group_offsets as delete_shared
from protocol.messages import describe_share_group_offsets as describe_shared
from protocol.messages import offset_delete, offset_fetch
from protocol.plain_commits import PlainCommit

INVALID_OFFSET: Final = -1
_DENIED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def _topic(asked: Asked, topic: Any) -> str | None:
    """Return the name of a topic of OffsetCommit or OffsetFetch; None if no topic has its id."""
    if asked.context.api_version < OFFSETS_BY_TOPIC_ID:
        name: str = topic.name
        return name
    known = asked.node.topic_by_id(topic.topic_id)
    return known.name if known is not None else None


_COMMITTED: Final = Each("topics", Operation.READ, ResourceType.TOPIC, _topic, "topics")


class _Committed:
    """The topics of an OffsetCommit, whose usual form is a shape that a client repeats."""

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether all topics are allowed."""
        if not isinstance(request, PlainCommit):
            return _COMMITTED.allows_all(asked, request)
        # An Access is of one principal, and of the entries that hold: a change of them makes new ones.
        if request.shape.allowed_to is asked.access:
            return True
        verdicts, node = asked.access.verdicts(Operation.READ, ResourceType.TOPIC), asked.node
        by_id = asked.context.api_version >= OFFSETS_BY_TOPIC_ID
        are_known = True
        for name, topic_id, _ in request.shape.topics:
            if by_id:
                topic = node.topic_by_id(topic_id)
                if topic is None:
                    are_known = False
                    continue
                name = topic.name
            if not verdicts[name]:
                return False
        # A topic that is not known here yet is refused by the handler, and is asked about again.
        if are_known:
            request.shape.allowed_to = asked.access
        return True

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take the denied topics out of a request."""
        if isinstance(request, PlainCommit):
            request = reply.request = request.spelled_out()
        return (yield from _COMMITTED.divide(asked, request, reply))


OFFSET_COMMIT: Final[ApiAccess[Any]] = ApiAccess((READ_GROUP,), _Committed())
TXN_OFFSET_COMMIT: Final[ApiAccess[Any]] = ApiAccess(
    (Need(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, attrgetter("transactional_id")), READ_GROUP),
    Each("topics", Operation.READ, ResourceType.TOPIC, lambda _, topic: topic.name, "topics"),
)


def _undeleted(topics: Sequence[Any], error: ErrorCode, message: str | None) -> list[offset_delete.OffsetDeleteResponseTopic]:
    return [
        offset_delete.OffsetDeleteResponseTopic(
            topic.name, [offset_delete.OffsetDeleteResponsePartition(one.partition_index, error) for one in topic.partitions]
        )
        for topic in topics
    ]


OFFSET_DELETE: Final[ApiAccess[Any]] = ApiAccess(
    (DELETE_GROUP,),
    Each("topics", Operation.READ, ResourceType.TOPIC, lambda _, topic: topic.name, "topics", refused=_undeleted),
)


# OffsetFetch


def _unfetched(topic: Any) -> Any:
    """Return the answer for a denied topic."""
    partitions = [
        offset_fetch.OffsetFetchResponsePartitions(index, INVALID_OFFSET, metadata="", error_code=_DENIED)
        for index in topic.partition_indexes
    ]
    return offset_fetch.OffsetFetchResponseTopics(topic.name, getattr(topic, "topic_id", b""), partitions)


def _unfetched_of_single(topic: Any) -> Any:
    """Return the same for versions with one group."""
    partitions = [
        offset_fetch.OffsetFetchResponsePartition(index, INVALID_OFFSET, metadata="", error_code=_DENIED)
        for index in topic.partition_indexes
    ]
    return offset_fetch.OffsetFetchResponseTopic(topic.name, partitions)


class _Fetched:
    """The groups of an OffsetFetch, and the topics of each: those that it names, or all."""

    _groups = Each("groups", Operation.DESCRIBE, ResourceType.GROUP, lambda _, group: group.group_id, "groups")

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether everything is named and allowed."""
        groups = request.groups if asked.context.api_version >= SEVERAL_GROUPS else (request,)
        group_verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.GROUP)
        verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
        for group in groups:
            if group.topics is None or not group_verdicts[group.group_id]:
                return False
            for topic in group.topics:
                name = _topic(asked, topic)
                if name is not None and not verdicts[name]:
                    return False
        return True

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take denied groups and topics out of the request."""
        if asked.context.api_version < SEVERAL_GROUPS:
            if not asked.allows(Operation.DESCRIBE, ResourceType.GROUP, request.group_id):
                reply.fail(ErrorCode.GROUP_AUTHORIZATION_FAILED)
                return None
            rest, denied = yield from _without_denied(asked, request, _topic)
            answers = [_unfetched_of_single(each) for each in denied]
            reply.amend(lambda response: _completed(asked, rest, answers, _decoded(asked, response)))
            reply.request = rest
            return rest
        request = yield from self._groups.divide(asked, request, reply)
        return None if request is None else (yield from _divide_groups(asked, request, reply, _topic, _unfetched))


def _without_denied(asked: Asked, group: Any, name_of: Any) -> Work[tuple[Any, list[Any]]]:
    """Return a group of a request without the topics that may not be described, and these."""
    if group.topics is None:
        return group, []
    topics, denied = yield from divided(
        asked, group.topics, Operation.DESCRIBE, ResourceType.TOPIC, lambda topic: name_of(asked, topic)
    )
    return (replace(group, topics=topics) if denied else group), denied


def _divide_groups(asked: Asked, request: Any, reply: Exchange[Any], name_of: Any, answer: Any) -> Work[Any]:
    """Take the denied topics out of each group. Groups are answered in the order of the request."""
    groups: list[Any] = []
    answers: list[list[Any]] = []
    for group in request.groups:
        rest, denied = yield from _without_denied(asked, group, name_of)
        groups.append(rest)
        answers.append([answer(topic) for topic in denied])
    rest_of_request = replace(request, groups=groups)

    def completed(response: Any) -> Any:
        response = _decoded(asked, response)
        done = [_completed(asked, *each) for each in zip(groups, answers, response.groups, strict=True)]
        return replace(response, groups=done)

    reply.amend(completed)
    reply.request = rest_of_request
    return rest_of_request


def _decoded(asked: Asked, response: Any) -> Any:
    """Return an answer with its parts, if it is encoded already."""
    return response.decoded(asked.context.api_version) if isinstance(response, FetchedOffsets) else response


def _completed(asked: Asked, group: Any, answers: list[Any], answer: Any) -> Any:
    """Return the answer for a group: with the denied topics that it names, or without those that it does not name."""
    if answer.error_code:
        return answer
    if group.topics is not None:
        return replace(answer, topics=[*answer.topics, *answers]) if answers else answer
    verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
    return replace(answer, topics=[topic for topic in answer.topics if verdicts[_name(topic)]])


def _name(topic: Any) -> str:
    name: str = topic.topic_name if isinstance(topic, describe_shared.DescribeShareGroupOffsetsResponseTopic) else topic.name
    return name


OFFSET_FETCH: Final[ApiAccess[Any]] = ApiAccess(parts=_Fetched())


# Offsets of share groups


def _undescribed(topic: Any) -> Any:
    partitions = [
        describe_shared.DescribeShareGroupOffsetsResponsePartition(
            index, INVALID_OFFSET, error_code=_DENIED, error_message=MESSAGES[_DENIED]
        )
        for index in topic.partitions
    ]
    return describe_shared.DescribeShareGroupOffsetsResponseTopic(topic.topic_name, partitions=partitions)


class _Described:
    """The groups of a DescribeShareGroupOffsets, and the topics of each: those that it names, or all."""

    _groups = Each("groups", Operation.DESCRIBE, ResourceType.GROUP, lambda _, group: group.group_id, "groups", NO_MESSAGES)

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return False: these requests are rare."""
        return False

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take denied groups and topics out of the request."""
        request = yield from self._groups.divide(asked, request, reply)
        if request is None:
            return None
        return (yield from _divide_groups(asked, request, reply, lambda _, topic: topic.topic_name, _undescribed))


def _unaltered(topics: Sequence[Any], error: ErrorCode, message: str | None) -> list[Any]:
    return [
        alter_shared.AlterShareGroupOffsetsResponseTopic(
            topic.topic_name,
            partitions=[
                alter_shared.AlterShareGroupOffsetsResponsePartition(one.partition_index, error, message)
                for one in topic.partitions
            ],
        )
        for topic in topics
    ]


def _kept(topics: Sequence[Any], error: ErrorCode, message: str | None) -> list[Any]:
    return [
        delete_shared.DeleteShareGroupOffsetsResponseTopic(topic.topic_name, error_code=error, error_message=message)
        for topic in topics
    ]


DESCRIBE_SHARE_OFFSETS: Final[ApiAccess[Any]] = ApiAccess(parts=_Described())
ALTER_SHARE_OFFSETS: Final[ApiAccess[Any]] = ApiAccess(
    (READ_GROUP,),
    Each("topics", Operation.READ, ResourceType.TOPIC, lambda _, topic: topic.topic_name, "responses", refused=_unaltered),
)
DELETE_SHARE_OFFSETS: Final[ApiAccess[Any]] = ApiAccess(
    (DELETE_GROUP,),
    Each("topics", Operation.READ, ResourceType.TOPIC, lambda _, topic: topic.topic_name, "responses", refused=_kept),
)
