"""Members of share groups that fetch, each on a connection of its own to handlers with a node made for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from coordinator_server.catalog.topics import Topic
from coordinator_server.server.apis.share_acknowledge import SHARE_ACKNOWLEDGE_API
from coordinator_server.server.apis.share_fetch import SHARE_FETCH_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Steps
from coordinator_server.server.hosting.share_sessions import ShareSessions
from coordinator_server.server.wire.connection import Limits
from protocol.fields import Message
from protocol.frames import FrameSplitter, decode_response, encode_request
from protocol.messages.share_acknowledge import AcknowledgementBatch as Acknowledged
from protocol.messages.share_acknowledge import (
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from protocol.messages.share_fetch import (
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    ShareFetchRequest,
    ShareFetchResponse,
)
from tests.support.turns import ManualLoop

LIMITS = Limits(1 << 24, 1000)
VERSION = 2
LOCK_MS = 30_000

Place = tuple[bytes, int]
"""A topic's id and a partition."""
Batch = tuple[int, int, list[int]]
"""The first and the last offset, and the types."""


class ShareNode:
    """What the handlers use of a node. What waits for time is answered when the test calls ``wait``."""

    authorizer: Any = None

    def __init__(self, *topics: Topic, sessions: int = 100, partitions: int = 1_000_000) -> None:
        self.loop = ManualLoop()
        self.steps = Steps(self.loop.turns)
        self.share_sessions = ShareSessions(sessions, partitions)
        self.image = self
        self.topics = {topic.topic_id: topic for topic in topics}
        self.waiting: list[tuple[int, Exchange[Any], Callable[[], None]]] = []
        rows = (SHARE_FETCH_API, SHARE_ACKNOWLEDGE_API)
        self.dispatcher = Dispatcher([serve_row(row, partial(row.handle, cast(Any, self))) for row in rows], self.loop.background)

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        return self.topics.get(topic_id)

    def share_lock_ms(self, group_id: str) -> int:
        return LOCK_MS

    def run_after(self, delay_ms: int, reply: Exchange[Any], answer: Callable[[], None]) -> None:
        self.waiting.append((delay_ms, reply, answer))

    def answer_after(self, delay_ms: int, reply: Exchange[Any], response: Message) -> None:
        self.run_after(delay_ms, reply, partial(reply.complete, response))

    def wait(self) -> list[int]:
        """Let the time come of all that waits; return how long each would have waited."""
        waiting, self.waiting = self.waiting, []
        for _, reply, answer in waiting:
            if not reply.connection.is_closed:
                answer()
        self.loop.work()
        return [delay_ms for delay_ms, _, _ in waiting]


class ShareMember:
    """A member on a connection."""

    def __init__(self, node: ShareNode, member_id: str = "m", group_id: str | None = "g") -> None:
        self.node = node
        self.connection, self.transport = node.loop.connect(node.dispatcher, LIMITS)
        self.group_id = group_id
        self.member_id = member_id

    def fetch(
        self,
        epoch: int,
        *places: Place,
        forget: tuple[Place, ...] = (),
        acknowledge: dict[Place, list[Batch]] | None = None,
        version: int = VERSION,
        **fields: Any,
    ) -> ShareFetchResponse | None:
        """Send a request; return the answer, or None while there is none."""
        batches = acknowledge or {}
        topics: dict[bytes, list[FetchPartition]] = {}
        for topic_id, index in dict.fromkeys((*places, *batches)) if len({*places}) == len(places) else places:
            each = [AcknowledgementBatch(*batch) for batch in batches.get((topic_id, index), ())]
            topics.setdefault(topic_id, []).append(FetchPartition(index, acknowledgement_batches=each))
        limits = {"max_wait_ms": 500, "min_bytes": 1, "max_records": 500, **fields}
        request = ShareFetchRequest(
            self.group_id,
            self.member_id,
            epoch,
            topics=[FetchTopic(topic_id, partitions) for topic_id, partitions in topics.items()],
            forgotten_topics_data=[ForgottenTopic(topic_id, [index]) for topic_id, index in forget],
            **limits,
        )
        self.send(request, version)
        return cast("ShareFetchResponse | None", self.receive(request, version))

    def acknowledge(
        self, epoch: int, batches: dict[Place, list[Batch]], *, is_renew_ack: bool = False, version: int = VERSION
    ) -> ShareAcknowledgeResponse | None:
        """Send a request; return the answer, or None while there is none."""
        topics: dict[bytes, list[AcknowledgePartition]] = {}
        for (topic_id, index), each in batches.items():
            topics.setdefault(topic_id, []).append(AcknowledgePartition(index, [Acknowledged(*batch) for batch in each]))
        of_topics = [AcknowledgeTopic(topic_id, partitions) for topic_id, partitions in topics.items()]
        request = ShareAcknowledgeRequest(self.group_id, self.member_id, epoch, is_renew_ack, of_topics)
        self.send(request, version)
        return cast("ShareAcknowledgeResponse | None", self.receive(request, version))

    def send(self, request: Message, version: int) -> None:
        self.connection.data_received(encode_request(request.kafka.key or 0, version, 7, "client", request))
        self.node.loop.work()

    def send_half(self, request: ShareFetchRequest, places: list[Place], turns: int) -> None:
        """Send a request for many partitions, and let the server work on it for some turns."""
        topics: dict[bytes, list[FetchPartition]] = {}
        for topic_id, index in places:
            topics.setdefault(topic_id, []).append(FetchPartition(index))
        request.topics = [FetchTopic(topic_id, partitions) for topic_id, partitions in topics.items()]
        self.connection.data_received(encode_request(request.kafka.key or 0, VERSION, 7, "client", request))
        for _ in range(turns):
            if self.node.loop.jobs:
                self.node.loop.jobs.popleft()()
            self.node.loop.turn()

    def turns_of(self, request: ShareFetchRequest) -> int:
        """Send a request; return the number of turns until it is answered."""
        self.connection.data_received(encode_request(request.kafka.key or 0, VERSION, 7, "client", request))
        turns = 0
        while not self.transport.writes:
            if self.node.loop.jobs:
                self.node.loop.jobs.popleft()()
            self.node.loop.turn()
            turns += 1
        return turns

    def receive(self, request: Message, version: int = VERSION) -> Message | None:
        """The answer to a request, if it has come."""
        frames = FrameSplitter(1 << 26).feed(b"".join(self.transport.writes))
        self.transport.writes.clear()
        if not frames:
            return None
        [frame] = frames
        return decode_response(request.kafka.key or 0, version, frame)[1]

    def received(self) -> ShareFetchResponse:
        """The answer to a ShareFetch, which has come."""
        return cast(ShareFetchResponse, self.receive(ShareFetchRequest()))

    def disconnect(self) -> None:
        self.connection.connection_lost(None)
