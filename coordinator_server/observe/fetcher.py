"""Fetches the partitions that one server leads: one request at a time, over a connection of its own.

Without fetch sessions: a request has all partitions. Existing records are fetched at once, later once a second. The pause is here
and not at the server: a request that waits there is looked at for each record that is written, partition by partition.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import structlog

from coordinator_server.client.apis import api
from coordinator_server.client.connection import Connection, open_connection
from coordinator_server.client.environment import Backoff, Environment
from coordinator_server.client.errors import ClientError, RetriableError
from coordinator_server.client.settings import Address, ConnectionSettings
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.observe.cluster import AccessDenied
from coordinator_server.observe.directory import ObservedDirectory
from coordinator_server.observe.partition import Batches, Cut, Denied, Find, Followed, Moved
from protocol.api import Api
from protocol.errors import DecodeError
from protocol.fields import ZERO_UUID, Message
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

log = structlog.get_logger(__name__)

R = TypeVar("R", bound=Message)

PAUSE_S: Final = 1.0
MAX_BYTES: Final = 8 << 20
_EARLIEST: Final = -2
_LATEST: Final = -1
_CONSUMER: Final = -1
_COMMON: Final = (
    api(ApiVersionsRequest, ApiVersionsResponse, "0-3"),
    api(SaslHandshakeRequest, SaslHandshakeResponse, "1"),
    api(SaslAuthenticateRequest, SaslAuthenticateResponse),
    api(ListOffsetsRequest, ListOffsetsResponse),
    api(OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse),
)


def _apis(fetch_versions: str) -> Mapping[type[Message], Api]:
    return {each.request: each for each in (*_COMMON, api(FetchRequest, FetchResponse, fetch_versions))}


# By topic id a topic that was made again is noticed at once. Clusters older than topic ids have none.
_BY_ID: Final = _apis("12-17")
_BY_NAME: Final = _apis("12")


class Notices(NamedTuple):
    """What a fetcher tells: leaders are to be learned again; an answer was worked off."""

    learn: Callable[[str], None]
    answered: Callable[[], None]


class Fetcher:
    """The partitions of one leader, which ``partitions`` returns anew for each request."""

    def __init__(
        self,
        address: Address,
        settings: ConnectionSettings,
        environment: Environment,
        directory: ObservedDirectory,
        notices: Notices,
    ) -> None:
        self.partitions: list[Followed] = []
        self.topic_ids: Mapping[str, bytes] = {}
        self.address = address
        self._settings = settings
        self._environment = environment
        self._directory = directory
        self._notices = notices
        self._backoff = Backoff(settings.retry_backoff_s, settings.retry_backoff_max_s, environment)
        self._turn = 0

    async def run(self) -> None:
        """Fetch until the server leads nothing, or it is cancelled.

        Raises AccessDenied, LogError, and ClientErrors that no retry mends.
        """
        while self.partitions:
            connection: Connection | None = None
            try:
                by_id = all(each != ZERO_UUID for each in self.topic_ids.values())
                connection = await open_connection(self.address, self._settings, self._environment, _BY_ID if by_id else _BY_NAME)
                await self.follow(connection)
            except RetriableError as error:
                self._notices.learn(str(error))
                await asyncio.sleep(self._backoff.next_s())
            finally:
                if connection is not None:
                    connection.close()

    async def follow(self, connection: Connection) -> None:
        """Fetch over a connection until the server leads nothing: existing records at once, new ones once a second.

        Raises ClientError, LogError.
        """
        now_s = self._environment.now_s
        while self.partitions:
            began_s = now_s()
            await self.fetch_once(connection)
            if not any(each.is_behind for each in self.partitions if not each.is_waiting):
                await asyncio.sleep(began_s + PAUSE_S - now_s())

    async def fetch_once(self, connection: Connection) -> None:
        """Send one request, and work off its answer. Raises ClientError, LogError."""
        asked = self._in_turn()
        if not asked:
            return
        questions = {each.shard: each.asked() for each in asked}
        answer = await self._ask(connection, self._request(questions), FetchResponse)
        if answer.error_code:
            self._notices.learn(f"Fetch failed: error {answer.error_code}")
            await asyncio.sleep(self._backoff.next_s())
            return
        self._backoff.reset()
        answers = dict(self._answers(answer))
        is_whole = not any(each.records for each in answers.values())
        fetched: list[tuple[Followed, Batches]] = []
        for each in asked:
            data = answers.get(each.shard)
            if data is None:
                continue
            step = _taken(each, questions[each.shard], data, is_whole=is_whole)
            if isinstance(step, Batches):
                fetched.append((each, step))
            else:
                await self._follow_up(connection, each, step)
        await self._append(fetched)
        self._notices.answered()

    def _in_turn(self) -> list[Followed]:
        """Return the partitions to ask for. Each is the first one at times: servers fill an answer from its beginning."""
        asked = [each for each in self.partitions if not each.is_waiting]
        if asked:
            self._turn = (self._turn + 1) % len(asked)
            asked = asked[self._turn :] + asked[: self._turn]
        return sorted(asked, key=lambda each: not each.is_starved)

    def _request(self, questions: Mapping[ShardId, FetchPartition]) -> FetchRequest:
        # One entry for each run of a topic, so that the order of the partitions stays.
        topics: list[FetchTopic] = []
        for shard, question in questions.items():
            if not topics or topics[-1].topic != shard.topic:
                topics.append(FetchTopic(shard.topic, self.topic_ids.get(shard.topic, ZERO_UUID), []))
            topics[-1].partitions.append(question)
        return FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=MAX_BYTES, topics=topics)

    def _answers(self, answer: FetchResponse) -> Iterable[tuple[ShardId, PartitionData]]:
        names = {topic_id: name for name, topic_id in self.topic_ids.items()}
        for topic in answer.responses:
            name = topic.topic or names.get(topic.topic_id, "")
            for data in topic.partitions:
                yield ShardId(name, data.partition_index), data

    async def _follow_up(self, connection: Connection, partition: Followed, step: object) -> None:
        match step:
            case Denied(why):
                raise AccessDenied(f"the cluster does not let this user read {partition.shard.topic}: {why}")
            case Moved(why):
                self._notices.learn(f"{partition.shard}: {why}")
            case Cut(from_offset, why):
                await self._cut(partition, from_offset, why)
            case Find():
                await self._find(connection, partition)

    async def _append(self, fetched: Sequence[tuple[Followed, Batches]]) -> None:
        """Append what was fetched. What cannot be written, as on a full disk, is fetched again."""
        if not fetched:
            return
        appends = [Append(each.shard, 0, each.position, step.dense.data) for each, step in fetched]
        failures = await self._directory.append(appends)
        for each, step in fetched:
            if each.shard not in failures:
                self._directory.noted(is_changed=each.appended(step.dense))
        if failures:
            log.warning("not-written", why=str(next(iter(failures.values()))), action="it is tried again")
            await asyncio.sleep(self._backoff.next_s())

    async def _cut(self, partition: Followed, from_offset: int, why: str) -> None:
        if from_offset >= partition.position:
            self._wait(partition, f"nothing is known of its leader's log that ours differs from ({why})")
            return
        partition.was_cut(await self._directory.cut(partition.shard, from_offset, why))

    async def _find(self, connection: Connection, partition: Followed) -> None:
        """Find where to go on in a log that does not have our position."""
        earliest, latest = [await self._offset_of(connection, partition, time) for time in (_EARLIEST, _LATEST)]
        if earliest < 0 or latest < 0:
            self._wait(partition, "its leader does not say where it begins and ends")
        elif partition.found(earliest, latest):
            if partition.fetch_offset > partition.position:
                log.warning("records-removed-before-read", shard=str(partition.shard), begin=partition.position, end=earliest)
        else:
            await self._cut(partition, *await self._shared_end(connection, partition, latest))

    def _wait(self, partition: Followed, why: str) -> None:
        """Ask nothing of a partition until its leader is learned again."""
        partition.is_waiting = True
        self._notices.learn(f"{partition.shard}: {why}")

    async def _offset_of(self, connection: Connection, partition: Followed, time: int) -> int:
        asked = ListOffsetsPartition(partition.shard.partition, partition.leader_epoch, time)
        request = ListOffsetsRequest(_CONSUMER, topics=[ListOffsetsTopic(partition.shard.topic, [asked])])
        answer = await self._ask(connection, request, ListOffsetsResponse)
        found = answer.topics[0].partitions[0]
        return -1 if found.error_code else found.offset

    async def _shared_end(self, connection: Connection, partition: Followed, latest: int) -> tuple[int, str]:
        """Return how far our log and the leader's are the same, from where our epochs end there, the newest first."""
        epochs = partition.facts.epochs
        for epoch, _ in reversed(epochs.starts):
            end = await self._end_of_epoch(connection, partition, epoch)
            if end.error_code:
                return partition.position, f"error {end.error_code}"
            if end.end_offset >= 0:
                cut = epochs.shared_end(end.leader_epoch, end.end_offset, partition.position)
                return cut, f"the leader's epoch {end.leader_epoch} ends at offset {end.end_offset}"
        if epochs.starts:
            return 0, "the leader knows none of the epochs of our log"
        return min(partition.position, latest), f"the leader's log ends at offset {latest}"

    async def _end_of_epoch(self, connection: Connection, partition: Followed, epoch: int) -> EpochEndOffset:
        asked = OffsetForLeaderPartition(partition.shard.partition, partition.leader_epoch, epoch)
        request = OffsetForLeaderEpochRequest(_CONSUMER, [OffsetForLeaderTopic(partition.shard.topic, [asked])])
        answer = await self._ask(connection, request, OffsetForLeaderEpochResponse)
        found: EpochEndOffset = answer.topics[0].partitions[0]
        return found

    async def _ask(self, connection: Connection, message: Message, response: type[R]) -> R:
        return await connection.request(message, response, self._settings.request_timeout_s)


def _taken(partition: Followed, asked: FetchPartition, data: PartitionData, *, is_whole: bool) -> object:
    """Return what an answer means. Raises ClientError for bytes that are no batches."""
    try:
        return partition.take(asked, data, is_whole=is_whole)
    except DecodeError as error:
        raise ClientError(
            f"{partition.shard} at offset {partition.fetch_offset}: the leader sent what is no whole batch: {error}; "
            "the same answer would come again: 'kafka-dump-log.sh' on the broker shows whether its log is damaged"
        ) from error
