"""Requests of strange shapes, alone and from fifty connections at once, to a whole server in this process.

Work is counted in calls of functions between two looks of the loop at its sockets: the same on every machine, however busy. Python
calls some ten million functions per second, so that LIMIT is about 20 ms. ``make torture`` has more seeds.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.config.load import load
from coordinator_server.server.apis.table import ROWS
from coordinator_server.server.daemon import Daemon
from coordinator_server.server.wire.connection import Connection
from coordinator_server.server.wire.order import Order
from protocol.fields import Message
from protocol.frames import FrameSplitter, encode_request
from protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from protocol.messages.delete_topics import DeleteTopicsRequest
from protocol.messages.describe_transactions import DescribeTransactionsRequest
from protocol.messages.list_config_resources import ListConfigResourcesRequest
from protocol.messages.list_transactions import ListTransactionsRequest
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestTopic
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.fuzz.shapes import EVERY_SHAPE, Shapes

SEEDS = int(os.environ.get("SHAPE_SEEDS", "1"))
LIMIT = 250_000
# These write up to 10,000 records in one batch, as Kafka does: all that a request has, or nothing.
MORE = {"AlterClientQuotas": 500_000, "CreateTopics": 700_000, "CreatePartitions": 700_000, "OffsetCommit": 800_000}
ORDER = {row.request: row.order for row in ROWS}
TOPICS = [f"topic-{index}" for index in range(200)]
PROPERTIES = {"log.flush": "os", "group.initial.rebalance.delay.ms": "0", "topics": ",".join(f"{name}:2" for name in TOPICS)}
# What a peer may cause is none of these.
ERRORS = {"request-failed", "operation-failed", "response-not-encodable", "replay-failed", "log-not-readable"}


class Peer(asyncio.Transport):
    """One connection to the server in this process, whose far end reads everything."""

    def __init__(self, daemon: Daemon) -> None:
        super().__init__({"peername": ("127.0.0.1", 50000), "sockname": ("127.0.0.1", 9092)})
        connection = daemon.rooms.wire.listener.admit("127.0.0.1")
        assert connection is not None
        self.connection: Connection = connection
        self.connection.connection_made(self)
        self.answers = 0
        self.is_closed = False
        self._frames = FrameSplitter(1 << 30)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.answers += len(self._frames.feed(bytes(data)))

    def pause_reading(self) -> None:
        """Everything has been handed over."""

    def resume_reading(self) -> None:
        """Everything has been handed over."""

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = True

    def send(self, data: bytes) -> None:
        """In pieces as large as a socket gives."""
        for start in range(0, len(data), 1 << 18):
            if not self.is_closed:
                self.connection.data_received(data[start : start + (1 << 18)])

    @property
    def is_waiting(self) -> bool:
        """Whether a request is unanswered; it may wait for the disk, or for other clients."""
        return not self.is_closed and bool(self.connection.unanswered)

    def hang_up(self) -> None:
        self.connection.connection_lost(None)


class Meter:
    """Counts the calls of each turn of the loop, and says what the dearest one served."""

    def __init__(self) -> None:
        self.calls = 0
        self.most = 0
        self.during = ""
        self._is_over = False

    def start(self) -> None:
        asyncio.get_running_loop().call_soon(self._tick)
        sys.setprofile(self._count)

    def stop(self) -> None:
        self._is_over = True
        sys.setprofile(None)

    def _count(self, _frame: Any, event: str, _argument: Any) -> None:
        if event in ("call", "c_call"):
            self.calls += 1

    def _tick(self) -> None:
        self.most = max(self.most, self.calls)
        self.calls = 0
        if not self._is_over:
            asyncio.get_running_loop().call_soon(self._tick)


async def settled(daemon: Daemon, peers: list[Peer]) -> None:
    """Let the loop turn until nothing is left to do but what waits for others."""
    wire, still, last = daemon.rooms.wire, 0, -1
    while still < (80 if any(peer.is_waiting for peer in peers) else 10):
        await asyncio.sleep(0.0005)
        now = sum(peer.answers for peer in peers)
        still = still + 1 if now == last and not wire.turns.is_busy and not wire.background.calls else 0
        last = now


def is_error(line: Any) -> bool:
    return line["event"] in ERRORS or "exc_info" in line


def served(directory: Path, play: Callable[[Daemon, list[Any]], Awaitable[None]]) -> list[Any]:
    """Run ``play`` with a server. Return the errors that it logged, and fail if it let an exception escape."""

    async def run() -> None:
        daemon = Daemon(load(PROPERTIES), directory, lambda failure: pytest.fail(str(failure)))
        await daemon.start("127.0.0.1", 0)
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: escaped.append(context))
        try:
            await play(daemon, lines)
        finally:
            sys.setprofile(None)
            await daemon.stop()

    escaped: list[Any] = []
    with capture_logs() as lines:
        asyncio.run(run())
    assert escaped == []
    return [line for line in lines if is_error(line)]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_shape_makes_a_turn_long_or_raises(tmp_path: Path, seed: int) -> None:
    """Each API at each version, alone; with one seed at its newest version and every sixth one."""
    newest = dict(EVERY_SHAPE)
    wanted = [each for place, each in enumerate(EVERY_SHAPE) if SEEDS > 1 or place % 6 == 0 or newest[each[0]] == each[1]]
    dear: dict[str, int] = {}

    async def play(daemon: Daemon, _lines: list[Any]) -> None:
        shapes = Shapes(seed, TOPICS, scale=5)
        for request, version in wanted:
            frames, peer, meter = shapes.frames(request, version), Peer(daemon), Meter()
            meter.start()
            peer.send(frames)
            await settled(daemon, [peer])
            meter.stop()
            peer.hang_up()
            name = request.__name__.removesuffix("Request")
            if meter.most > MORE.get(name, LIMIT):
                dear[f"{name} v{version}"] = meter.most

    assert served(tmp_path, play) == []
    assert dear == {}


NOWHERE = [f"nowhere-{number}" for number in range(30_000)]
# Each with its version, and how often it is sent in one write.
FOUND: dict[str, tuple[Message, int, int]] = {
    "unknown topics to delete": (DeleteTopicsRequest(topic_names=NOWHERE), 5, 1),
    "offsets of unknown topics to delete": (
        OffsetDeleteRequest("group", [OffsetDeleteRequestTopic(name) for name in NOWHERE]),
        0,
        1,
    ),
    "offsets of topics without partitions": (
        OffsetFetchRequest("group", [OffsetFetchRequestTopic(name) for name in NOWHERE * 2]),
        7,
        1,
    ),
    "offsets of unknown topic ids": (
        OffsetFetchRequest(
            groups=[
                OffsetFetchRequestGroup(
                    "group",
                    topics=[OffsetFetchRequestTopics(topic_id=b"%016d" % each, partition_indexes=[0]) for each in range(30_000)],
                )
            ]
        ),
        10,
        1,
    ),
    "commits for unknown topics": (
        OffsetCommitRequest(
            "group", topics=[OffsetCommitRequestTopic(name, partitions=[OffsetCommitRequestPartition()]) for name in NOWHERE]
        ),
        7,
        1,
    ),
    "partitions that are not created": (
        CreatePartitionsRequest(
            [CreatePartitionsTopic(name, 2_000, assignments=None) for name in TOPICS[:4]], 1_000, validate_only=True
        ),
        3,
        100,
    ),
    "transactions that nobody has begun": (
        AddPartitionsToTxnRequest(
            [
                AddPartitionsToTxnTransaction(name, 1, 0, False, [AddPartitionsToTxnTopic(TOPICS[0], [0])])
                for name in NOWHERE[:3_000]
            ]
        ),
        5,
        1,
    ),
    "unknown partitions to add to a transaction": (
        AddPartitionsToTxnRequest([], "producer", 1, 0, [AddPartitionsToTxnTopic(name, [0]) for name in NOWHERE[:4_000]]),
        3,
        1,
    ),
    "more partitions than a transaction may have": (
        AddPartitionsToTxnRequest([], "producer", 1, 0, [AddPartitionsToTxnTopic(TOPICS[0], [*range(100_000)])]),
        3,
        1,
    ),
    "transactions to describe": (DescribeTransactionsRequest(NOWHERE * 2), 0, 1),
    "filters of transactions": (ListTransactionsRequest(NOWHERE, [*range(100_000)], 0, "(a|b)*"), 2, 1),
    "small lists of transactions": (ListTransactionsRequest(), 2, 400),
    "lists of resources": (ListConfigResourcesRequest(), 1, 400),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_seeds_have_found_stays_short(tmp_path: Path, name: str) -> None:
    """The requests that made a turn long once."""
    request, version, times = FOUND[name]
    frames = b"".join(encode_request(type(request).kafka.key or 0, version, number, "shapes", request) for number in range(times))
    found: list[int] = []

    async def play(daemon: Daemon, _lines: list[Any]) -> None:
        peer, meter = Peer(daemon), Meter()
        meter.start()
        peer.send(frames)
        await settled(daemon, [peer])
        meter.stop()
        found.extend((meter.most, peer.answers))
        peer.hang_up()

    assert served(tmp_path, play) == []
    assert found[0] <= LIMIT
    assert found[1] == times


def test_fifty_connections_at_once_do_not_make_turns_longer(tmp_path: Path) -> None:
    """Of reads: how long a turn is that writes much, the test above says."""
    found: list[int] = []

    async def play(daemon: Daemon, _lines: list[Any]) -> None:
        peers = [Peer(daemon) for _ in range(50)]
        shapes = [Shapes(number, TOPICS, scale=20) for number in range(50)]
        reads = [(request, version) for request, version in EVERY_SHAPE if ORDER[request] in (Order.FREE, Order.READ)]
        meter = Meter()
        meter.start()
        for _ in range(3):
            for number, peer in enumerate(peers):
                peer.send(shapes[number].frames(*reads[(number * 7) % len(reads)]))
                await asyncio.sleep(0)
        await settled(daemon, peers)
        meter.stop()
        for peer in peers:
            peer.hang_up()
        found.append(meter.most)

    assert served(tmp_path, play) == []
    assert found[0] <= LIMIT


def test_nothing_is_kept_of_requests_whose_connections_have_ended(tmp_path: Path) -> None:
    """Of reads, which leave no state. The first rounds fill what is cached."""
    kept: list[int] = []

    async def play(daemon: Daemon, lines: list[Any]) -> None:
        reads = [(request, version) for request, version in EVERY_SHAPE if ORDER[request] in (Order.FREE, Order.READ)]
        for _ in range(4):
            shapes = Shapes(7, TOPICS, scale=10)
            for request, version in reads:
                peer = Peer(daemon)
                peer.send(shapes.frames(request, version))
                await settled(daemon, [peer])
                peer.hang_up()
            lines[:] = [line for line in lines if is_error(line)]
            gc.collect()
            kept.append(sys.getallocatedblocks())

    assert served(tmp_path, play) == []
    assert kept[3] - kept[1] < 5_000
