"""A large commit that is denied as a whole is answered as ever, and its topics are not decoded for that."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from coordinator_server.catalog.acl_model import Acl, Pattern
from coordinator_server.machine.provenance import ANONYMOUS
from coordinator_server.machine.shard import RequestContext
from coordinator_server.security.authorizer import Authorizer
from coordinator_server.server.apis.table import ROWS
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import LARGE_FRAME_BYTES, Dispatcher
from coordinator_server.server.exchange.steps import Steps
from coordinator_server.server.wire.connection import Limits
from protocol.acl_codes import Operation, PatternType, Permission, ResourceType
from protocol.error_codes import ErrorCode
from protocol.frames import FrameSplitter, decode_response, encode_request
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.support.turns import ManualLoop

OFFSET_COMMIT, TXN_OFFSET_COMMIT = OffsetCommitRequest.kafka.key, TxnOffsetCommitRequest.kafka.key
VERSIONS = {OFFSET_COMMIT: 9, TXN_OFFSET_COMMIT: 5}
ROW_OF = {row.request.kafka.key: row for row in ROWS}
TOPICS = [f"topic-{number}" for number in range(4_000)]
GROUP, TRANSACTION = ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
ENTRIES: dict[Hashable, Acl] = {
    "group": Acl(Pattern(GROUP, "mine", PatternType.LITERAL), ANONYMOUS, "*", Operation.READ, Permission.ALLOW),
    "transaction": Acl(Pattern(TRANSACTION, "mine", PatternType.LITERAL), ANONYMOUS, "*", Operation.WRITE, Permission.ALLOW),
}


class Peer:
    """A client of a server whose clients may use the group and the transactional id ``mine`` alone. ``decoded`` counts requests."""

    def __init__(self, key: int | None, *, is_loaded: bool = True) -> None:
        assert key is not None
        self.key, self.version = key, VERSIONS[key]
        self.decoded = 0
        self.reported: list[tuple[Operation, ResourceType, Sequence[str]]] = []
        self.loop = ManualLoop()
        authorizer = Authorizer()
        if is_loaded:
            authorizer.load(ENTRIES, lambda entry: entry)
        authorizer.report = lambda _context, *denied: self.reported.append(denied)
        node = SimpleNamespace(steps=Steps(self.loop.turns), authorizer=authorizer)
        row = ROW_OF[key]
        assert row.access is not None
        assert row.unread is not None
        api = serve_row(row, row.access.guarded(_not_reached, node), row.access.denying_unread(row.unread, node))
        decode = api.decode[self.version]

        def counted(buf: bytes, pos: int) -> Any:
            self.decoded += 1
            return decode(buf, pos)

        self.api = replace(api, decode=[counted for _ in api.decode], reader=None)
        self.connection, self.transport = self.loop.connect(Dispatcher([self.api], self.loop.background), Limits(1 << 24, 100))

    def frame(self, group_id: str, transactional_id: str = "mine", topics: Sequence[str] = TOPICS) -> bytes:
        request: Any
        if self.key == OFFSET_COMMIT:
            asked = [OffsetCommitRequestTopic(name, partitions=[OffsetCommitRequestPartition(7, 5)]) for name in topics]
            request = OffsetCommitRequest(group_id, topics=asked)
        else:
            parts = [TxnOffsetCommitRequestTopic(name, [TxnOffsetCommitRequestPartition(7, 5)]) for name in topics]
            request = TxnOffsetCommitRequest(transactional_id, group_id, topics=parts)
        return encode_request(self.key, self.version, 7, "c", request)

    def ask(self, frame: bytes) -> list[tuple[str, int, int]]:
        """Return topic, partition and error of each partition in the one answer."""
        self.connection.data_received(frame)
        self.loop.work()
        [answer] = FrameSplitter(1 << 24).feed(b"".join(self.transport.writes))
        self.transport.writes.clear()
        response: Any = decode_response(self.key, self.version, answer)[1]
        return [(topic.name, one.partition_index, one.error_code) for topic in response.topics for one in topic.partitions]


def _not_reached(context: RequestContext, request: Any, reply: Any) -> None:
    raise AssertionError


@pytest.fixture(params=[OFFSET_COMMIT, TXN_OFFSET_COMMIT], ids=["OffsetCommit", "TxnOffsetCommit"])
def peer(request: pytest.FixtureRequest) -> Peer:
    return Peer(request.param)


def test_each_partition_is_answered_and_nothing_is_decoded(peer: Peer) -> None:
    frame = peer.frame("other")
    assert len(frame) > LARGE_FRAME_BYTES

    assert peer.ask(frame) == [(name, 7, ErrorCode.GROUP_AUTHORIZATION_FAILED) for name in TOPICS]
    assert peer.decoded == 0


def test_the_denial_is_reported_once_and_its_errors_are_counted(peer: Peer) -> None:
    peer.ask(peer.frame("other"))

    assert peer.reported == [(Operation.READ, GROUP, ("other",))]
    assert peer.api.tallies[peer.version].errors == {ErrorCode.GROUP_AUTHORIZATION_FAILED: len(TOPICS)}


def test_the_first_need_that_is_not_met_counts() -> None:
    peer = Peer(TXN_OFFSET_COMMIT)

    assert {error for _, _, error in peer.ask(peer.frame("other", "other"))} == {ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED}
    assert peer.reported == [(Operation.WRITE, TRANSACTION, ("other",))]


def test_a_request_whose_needs_are_met_is_decoded(peer: Peer) -> None:
    """Its topics are denied one by one, here all of them."""
    assert peer.ask(peer.frame("mine")) == [(name, 7, ErrorCode.TOPIC_AUTHORIZATION_FAILED) for name in TOPICS]
    assert peer.decoded == 1


def test_a_request_before_the_entries_are_known_is_decoded(peer: Peer) -> None:
    early = Peer(peer.key, is_loaded=False)

    assert {error for _, _, error in early.ask(early.frame("other"))} <= {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
    }
    assert (early.decoded, early.reported) == (1, [])


def test_what_cannot_be_refused_unread_is_decoded_and_denied(peer: Peer) -> None:
    """An unknown tagged field behind the request."""
    frame = bytearray(peer.frame("other"))
    assert frame[-1] == 0
    frame[-1:] = b"\1\77\0"
    frame[:4] = (len(frame) - 4).to_bytes(4, "big")

    assert peer.ask(bytes(frame)) == [(name, 7, ErrorCode.GROUP_AUTHORIZATION_FAILED) for name in TOPICS]
    assert (peer.decoded, len(peer.reported)) == (1, 1)


def test_a_malformed_request_of_a_denied_group_closes_the_connection(peer: Peer) -> None:
    frame = bytearray(peer.frame("other"))
    frame[-3] = 0xFF
    peer.connection.data_received(bytes(frame))
    peer.loop.work()

    assert (peer.connection.is_closed, peer.transport.writes, peer.reported) == (True, [], [])


def test_requests_behind_it_are_answered_after_it(peer: Peer) -> None:
    """Also if they are small."""
    peer.connection.data_received(peer.frame("other") + peer.frame("other", topics=["small"]))
    peer.loop.work()
    frames = FrameSplitter(1 << 24).feed(b"".join(peer.transport.writes))
    answers: list[Any] = [decode_response(peer.key, peer.version, each)[1] for each in frames]

    assert [len(answer.topics) for answer in answers] == [len(TOPICS), 1]
