"""OffsetCommit and OffsetFetch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from coordinator_server.client.errors import (
    ClientError,
    MembershipLost,
    RebalanceInProgress,
    RetriableError,
    TimedOut,
    known_code,
    refusal,
)
from coordinator_server.client.generation import Generation, MemberState
from coordinator_server.client.heartbeat_timer import HeartbeatTimer
from coordinator_server.client.member import Member
from coordinator_server.client.network import GroupLink
from coordinator_server.client.settings import ConnectionSettings, GroupSettings
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)

T = TypeVar("T")

_STABLE_OFFSETS = 7
_MANY_GROUPS = 8
_FIND_AGAIN = {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR, ErrorCode.REQUEST_TIMED_OUT}
# The last one says that the whole group was removed (as of version 9).
_NO_MEMBER = {
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.GROUP_ID_NOT_FOUND,
}


class TopicPartition(NamedTuple):
    """A partition of a topic: what offsets are committed for."""

    topic: str
    partition: int


class Committed(NamedTuple):
    """A committed offset, with the text and the leader epoch that were committed with it."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1


class Offsets:
    """Commits and fetches the offsets of a member's group."""

    def __init__(self, member: Member, timer: HeartbeatTimer, link: GroupLink) -> None:
        self._member = member
        self._timer = timer
        self._link = link

    async def commit(
        self, group: GroupSettings, offsets: Mapping[TopicPartition, Committed], timeout_s: float, now_s: Callable[[], float]
    ) -> None:
        """Commit in the member's present generation, and in no later one: what it commits may be another member's then."""
        if not offsets:
            return
        generation = self._stable_generation()

        async def attempt() -> None:
            self._check_still(generation)
            request = OffsetCommitRequest(
                group_id=group.group_id,
                generation_id_or_member_epoch=generation.generation_id,
                member_id=generation.member_id,
                group_instance_id=group.group_instance_id,
                topics=_commit_topics(offsets),
            )
            sent_s = now_s()
            answer = await self._link.call(request, OffsetCommitResponse, timeout_s)
            for topic in answer.topics:
                for partition in topic.partitions:
                    if partition.error_code:
                        raise self._commit_failed(known_code(partition.error_code), generation)
            self._timer.acknowledged(sent_s, is_stable=False)

        await self._retried(attempt, "OffsetCommit", timeout_s)

    async def committed(
        self, group_id: str, partitions: Iterable[TopicPartition] | None, settings: ConnectionSettings, timeout_s: float
    ) -> dict[TopicPartition, Committed]:
        """Return the committed offsets, without partitions that have none. Raises ClientError."""
        wanted = None if partitions is None else _by_topic((each, None) for each in partitions)

        async def attempt() -> dict[TopicPartition, Committed]:
            connection = await self._link.ready_within(timeout_s)
            request = _fetch_request(group_id, wanted, connection.version_of(OffsetFetchRequest))
            return _fetched(await self._link.call(request, OffsetFetchResponse, settings.request_timeout_s))

        return await self._retried(attempt, "OffsetFetch", timeout_s)

    async def _retried(self, attempt: Callable[[], Coroutine[Any, Any, T]], what: str, timeout_s: float) -> T:
        last: ClientError | None = None
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    try:
                        return await attempt()
                    except RebalanceInProgress:
                        raise
                    except RetriableError as error:
                        last = error
                        if error.code in _FIND_AGAIN:
                            self._link.forget(str(error))
                    await self._link.pause()
        except TimeoutError:
            raise TimedOut(f"{what} has not succeeded within {timeout_s:g} s: {last}") from last

    def _stable_generation(self) -> Generation:
        member = self._member
        if member.state is MemberState.STABLE:
            return member.generation
        if member.state is MemberState.UNJOINED:
            raise MembershipLost("this member is not in the group; what it commits may belong to others")
        raise RebalanceInProgress("the group is rebalancing: call ensure_active_group, then commit again")

    def _check_still(self, generation: Generation) -> None:
        """Raise if a rebalance has ended since the commit began."""
        now = self._stable_generation()
        if now.member_id != generation.member_id:
            raise MembershipLost("this member was removed, and has joined again; what it commits may belong to others")
        if now != generation:
            raise RebalanceInProgress("the group has rebalanced: look at the assignment, then commit again")

    def _commit_failed(self, code: ErrorCode, sent: Generation) -> ClientError:
        member = self._member
        if code is ErrorCode.REBALANCE_IN_PROGRESS:
            member.request_rejoin("offset commit failed since group is already rebalancing")
            return RebalanceInProgress("the group is rebalancing: call ensure_active_group, then commit again", code)
        if code in _NO_MEMBER:
            if member.generation != sent and member.state is MemberState.PREPARING_REBALANCE:
                return RebalanceInProgress("the commit was of a generation that is over", code)
            error = MembershipLost(f"encountered {code.name} from OffsetCommit response", code)
            if member.generation == sent:
                member.reset(error, keep_member_id=code is ErrorCode.ILLEGAL_GENERATION)
            return refusal("OffsetCommit", code) if code is ErrorCode.FENCED_INSTANCE_ID else error
        return refusal("OffsetCommit", code)


def _by_topic(values: Iterable[tuple[TopicPartition, T]]) -> dict[str, list[tuple[int, T]]]:
    topics: dict[str, list[tuple[int, T]]] = {}
    for (topic, partition), value in values:
        topics.setdefault(topic, []).append((partition, value))
    return topics


def _commit_topics(offsets: Mapping[TopicPartition, Committed]) -> list[OffsetCommitRequestTopic]:
    return [
        OffsetCommitRequestTopic(
            topic,
            partitions=[
                OffsetCommitRequestPartition(index, each.offset, each.leader_epoch, each.metadata) for index, each in partitions
            ],
        )
        for topic, partitions in _by_topic(offsets.items()).items()
    ]


def _fetch_request(group_id: str, wanted: Mapping[str, list[tuple[int, None]]] | None, version: int) -> OffsetFetchRequest:
    indexes = None if wanted is None else {topic: [index for index, _ in each] for topic, each in wanted.items()}
    if version >= _MANY_GROUPS:
        topics = (
            None
            if indexes is None
            else [OffsetFetchRequestTopics(name, partition_indexes=each) for name, each in indexes.items()]
        )
        return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id, topics=topics)], require_stable=True)
    older = None if indexes is None else [OffsetFetchRequestTopic(name, each) for name, each in indexes.items()]
    return OffsetFetchRequest(group_id, older, require_stable=version >= _STABLE_OFFSETS)


def _fetched(answer: OffsetFetchResponse) -> dict[TopicPartition, Committed]:
    found = answer.groups[0] if answer.groups else answer
    if found.error_code:
        raise refusal("OffsetFetch", known_code(found.error_code))
    result = {}
    for topic in found.topics:
        for partition in topic.partitions:
            if partition.error_code:
                raise refusal(f"OffsetFetch of {topic.name}-{partition.partition_index}", known_code(partition.error_code))
            if partition.committed_offset >= 0:
                committed = Committed(partition.committed_offset, partition.metadata or "", partition.committed_leader_epoch)
                result[TopicPartition(topic.name, partition.partition_index)] = committed
    return result
