"""The hot paths without a socket and without a sync: what one request costs the loop, in microseconds of processor time.

    python -m bench.hot                              every operation
    python -m bench.hot --only 'commit 1' --profile  where the time goes
    python -m bench.hot --against ../other           this tree and another one (or another python, with a wheel in it) in turns

A real Daemon on a directory in memory with ``log.flush=os``; frames are handed to its connections as uvloop would, and a turn
ends when all of them are answered. Time is that of the loop's thread alone, so that what else the machine does matters little;
the least of the rounds is printed, which is the figure that noise spoils least. Two trees are compared by the median of the
ratios of their rounds, with its quartiles: one process differs from the next by several percent for as long as it lives (where
its memory lies), so rounds, a process each, matter more than their length. A tree against itself says what a run can tell.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import gc
import importlib
import json
import logging
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog
import uvloop

from coordinator_server.cli.serve import calm_the_collector
from coordinator_server.config.load import load, parse_overrides
from coordinator_server.server.daemon import Daemon
from protocol.api import APIS
from protocol.fields import Message, uuid_text
from protocol.frames import decode_response, encode_request
from protocol.messages import initialize_share_group_state, read_share_group_state, write_share_group_state
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from protocol.messages.end_txn import EndTxnRequest
from protocol.messages.find_coordinator import FindCoordinatorRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.init_producer_id import InitProducerIdRequest
from protocol.messages.initialize_share_group_state import InitializeShareGroupStateRequest, InitializeStateData
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from protocol.messages.read_share_group_state import ReadShareGroupStateRequest, ReadStateData
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from protocol.messages.write_share_group_state import StateBatch, WriteShareGroupStateRequest, WriteStateData

if TYPE_CHECKING:
    # Elsewhere in trees that --against may name.
    from coordinator_server.server.wire.connection import Connection

ROOT = Path(__file__).resolve().parent.parent
IN_MEMORY = Path("/dev/shm")
TOPIC = "load"
PARTITIONS = 100
# Of the first member of a consumer group whose topics exist.
FIRST_EPOCH = 2
# Of share groups: each partition of each group has a state.
SHARED = "shared"
# A tree that --against names may not have these.
STREAMS_KEY = 88
STREAMS_PROPERTIES = {"group.streams.initial.rebalance.delay.ms": "0"}
PROPERTIES = {
    "log.flush": "os",
    "group.initial.rebalance.delay.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "topics": f"{TOPIC}:{PARTITIONS},{SHARED}:1",
}
# connections x requests of each in a turn
SHAPES = {"200x1": (200, 1), "16x20": (16, 20), "1x1": (1, 1)}


class Member(NamedTuple):
    group_id: str
    member_id: str
    generation_id: int


class Client(asyncio.Transport):
    """The far end of a connection: what was written to it, counted or kept."""

    def __init__(self, daemon: Daemon) -> None:
        super().__init__({"peername": ("127.0.0.1", 50000), "sockname": ("127.0.0.1", 9092)})
        # A tree that --against names may be older.
        older: Any = daemon
        listener: Any = daemon.rooms.wire.listener if hasattr(daemon, "rooms") else older.parts.listener
        self.connection: Connection = listener.admit("127.0.0.1") if hasattr(listener, "admit") else listener._connection()
        self.connection.connection_made(self)
        self.received = bytearray()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.received += data

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def close(self) -> None: ...

    async def ask(self, request: Message, version: int) -> Any:
        assert request.kafka.key is not None
        self.received.clear()
        self.connection.data_received(encode_request(request.kafka.key, version, 1, "bench", request))
        await self.answered(1)
        return decode_response(request.kafka.key, version, bytes(self.received[4:]))[1]

    async def answered(self, size: int) -> None:
        """Let the loop turn until that many bytes were written."""
        while len(self.received) < size:  # noqa: ASYNC110 - turns are what is measured
            await asyncio.sleep(0)

    async def join(self, group_id: str) -> Member:
        """Become the only member of a group, with something committed for every partition."""
        protocols = [JoinGroupRequestProtocol("range", b"\0\0" + bytes(8))]
        join = JoinGroupRequest(group_id, 1_800_000, 1000, protocol_type="consumer", protocols=protocols)
        answer = await self.ask(join, 3)
        member = Member(group_id, answer.member_id, answer.generation_id)
        assignments = [SyncGroupRequestAssignment(member.member_id, b"all")]
        await self.ask(SyncGroupRequest(group_id, member.generation_id, member.member_id, assignments=assignments), 3)
        await self.ask(commit(member, PARTITIONS), 8)
        # The same member in a group of the consumer protocol; a tree that --against names may not have it.
        if ConsumerGroupHeartbeatRequest.kafka.key in APIS:
            group = ConsumerGroupHeartbeatRequest(
                _consumer_group(group_id), member.member_id, 0, None, None, 1_800_000, [TOPIC], None, None, []
            )
            joined = await self.ask(group, 1)
            assert joined.member_epoch == FIRST_EPOCH, joined
        if InitializeShareGroupStateRequest.kafka.key in APIS:
            await self._share(group_id)
        return member

    async def _share(self, group_id: str) -> None:
        """Have a state of the topic's first partition, for a group of the same name."""
        described = await self.ask(MetadataRequest([MetadataRequestTopic(name=TOPIC)]), 12)
        TOPIC_IDS[TOPIC] = topic_id = described.topics[0].topic_id
        key = f"{group_id}:{uuid_text(topic_id)}:0"
        await self.ask(FindCoordinatorRequest(key_type=2, coordinator_keys=[key]), 6)
        partitions = [initialize_share_group_state.PartitionData(0, FIRST_EPOCH, 0)]
        request = InitializeShareGroupStateRequest(group_id, [InitializeStateData(topic_id, partitions)])
        # The first use creates the shards, which load after this.
        while (await self.ask(request, 0)).results[0].partitions[0].error_code:  # noqa: ASYNC110 - nothing tells when
            await asyncio.sleep(0.01)
        await self.ask(share_write(Member(group_id, "", 0), 20), 1)
        await self._join_share_group(f"{group_id}-share")
        if STREAMS_KEY in APIS:
            await self._join_streams_group(f"{group_id}-streams")

    async def _join_share_group(self, group_id: str) -> None:
        """Be the only member of a share group, with the partition, which is assigned when it has a state."""
        epoch, answer = 0, None
        while answer is None or answer.assignment is None or not answer.assignment.topic_partitions:
            answer = await self.ask(ShareGroupHeartbeatRequest(group_id, group_id, epoch, None, [SHARED]), 1)
            epoch = answer.member_epoch
            await asyncio.sleep(0.001)
        SHARE_EPOCHS[group_id] = epoch

    async def _join_streams_group(self, group_id: str) -> None:
        """Be the only member of a streams group, with a task for each partition."""
        messages = importlib.import_module("protocol.messages.streams_group_heartbeat")
        none: list[Any] = []
        topology = messages.Topology(0, [messages.Subtopology("0", [TOPIC])])
        request = messages.StreamsGroupHeartbeatRequest(group_id, group_id, 0, 0, None, None, 60_000, topology, none, none, none)
        request.process_id = group_id
        joined = await self.ask(request, 0)
        assert joined.member_epoch == FIRST_EPOCH, joined
        assert joined.active_tasks, joined


TOPIC_IDS: dict[str, bytes] = {}
SHARE_EPOCHS: dict[str, int] = {}
"""Of the member of each share group, which has the group's name."""


def share_write(member: Member, batches: int) -> Message:
    written = [StateBatch(2 * number, 2 * number, 2, 1) for number in range(batches)]
    partitions = [write_share_group_state.PartitionData(0, FIRST_EPOCH, 0, 0, batches, written)]
    return WriteShareGroupStateRequest(member.group_id, [WriteStateData(TOPIC_IDS[TOPIC], partitions)])


def share_read(member: Member) -> Message:
    partitions = [read_share_group_state.PartitionData(0, 0)]
    return ReadShareGroupStateRequest(member.group_id, [ReadStateData(TOPIC_IDS[TOPIC], partitions)])


def heartbeat(member: Member) -> Message:
    return HeartbeatRequest(member.group_id, member.generation_id, member.member_id)


def consumer_heartbeat(member: Member) -> Message:
    return ConsumerGroupHeartbeatRequest(_consumer_group(member.group_id), member.member_id, FIRST_EPOCH)


def share_heartbeat(member: Member) -> Message:
    group_id = f"{member.group_id}-share"
    return ShareGroupHeartbeatRequest(group_id, group_id, SHARE_EPOCHS[group_id])


def streams_heartbeat(member: Member) -> Message:
    messages = importlib.import_module("protocol.messages.streams_group_heartbeat")
    group_id = f"{member.group_id}-streams"
    request: Message = messages.StreamsGroupHeartbeatRequest(group_id, group_id, FIRST_EPOCH)
    return request


def _consumer_group(group_id: str) -> str:
    return f"{group_id}-consumer"


def commit(member: Member, partitions: int, metadata: str = "") -> OffsetCommitRequest:
    rows = [OffsetCommitRequestPartition(index, 1000, -1, metadata) for index in range(partitions)]
    topics = [OffsetCommitRequestTopic(TOPIC, partitions=rows)]
    return OffsetCommitRequest(member.group_id, member.generation_id, member.member_id, topics=topics)


def fetch(member: Member, partitions: int, first: int = 0) -> OffsetFetchRequest:
    topics = [OffsetFetchRequestTopics(TOPIC, partition_indexes=list(range(first, first + partitions)))]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(member.group_id, topics=topics)])


def fetches_in_turn(member: Member, partitions: int) -> list[Message]:
    """Different requests: no answer is kept from one to the next."""
    return [fetch(member, partitions, first) for first in range(4)]


OPERATIONS: dict[str, tuple[int, int, Callable[[Member], Message | list[Message]]]] = {
    "heartbeat": (4, 0, heartbeat),
    "consumer heartbeat": (1, 0, consumer_heartbeat),
    "share heartbeat": (1, 0, share_heartbeat),
    "streams heartbeat": (0, 0, streams_heartbeat),
    "commit 1": (8, 1, lambda member: commit(member, 1)),
    "commit 10": (8, 10, lambda member: commit(member, 10)),
    "commit 100": (8, 100, lambda member: commit(member, 100)),
    "commit 10 noted": (8, 10, lambda member: commit(member, 10, "where the reader was")),
    "commit 100 noted": (8, 100, lambda member: commit(member, 100, "where the reader was")),
    "fetch 10": (8, 10, lambda member: fetch(member, 10)),
    "fetch 10 in turn": (8, 10, lambda member: fetches_in_turn(member, 10)),
    "share write 1": (1, 1, lambda member: share_write(member, 1)),
    "share write 20": (1, 1, lambda member: share_write(member, 20)),
    "share read": (0, 1, share_read),
}
TRANSACTION = "transaction"
"""Three requests for each client: AddOffsetsToTxn, TxnOffsetCommit of one offset, and EndTxn, of version 3."""
ALL = [*OPERATIONS, TRANSACTION]


class Transactions:
    """Transactional ids, each with a group of its own: ``window`` of them for each client."""

    def __init__(self) -> None:
        # Of each step: the frames by client, and the answer to each frame.
        self._steps: list[tuple[list[tuple[Client, list[bytes]]], bytes]] = []

    async def begin(self, clients: list[Client], window: int) -> None:
        """Run the first transaction of each id."""
        names = {client: [f"transaction-{number}-{each}" for each in range(window)] for number, client in enumerate(clients)}
        ids = [(client, [await self._requests(client, name) for name in names[client]]) for client in clients]
        for place in range(3):
            frames = [(client, [each[place] for each in requests]) for client, requests in ids]
            answer = b""
            for client, each in frames:
                for frame in each:
                    answer = await self._done(client, frame)
            self._steps.append((frames, answer))

    async def turn(self) -> None:
        """Run a transaction of each id. What is refused while markers are being written is sent again."""
        for waiting, answer in self._steps:
            while waiting:
                for client, frames in waiting:
                    client.received.clear()
                    client.connection.data_received(b"".join(frames))
                await asyncio.sleep(0)
                waiting = [(client, await self._refused(client, frames, answer)) for client, frames in waiting]
                waiting = [(client, frames) for client, frames in waiting if frames]

    async def _requests(self, client: Client, name: str) -> list[bytes]:
        await client.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=[name]), 6)
        while (begun := await client.ask(InitProducerIdRequest(name, 600_000), 3)).error_code:  # noqa: ASYNC110 - a shard loads
            await asyncio.sleep(0.01)
        producer = begun.producer_id, begun.producer_epoch
        topics = [TxnOffsetCommitRequestTopic(TOPIC, [TxnOffsetCommitRequestPartition(0, 1000)])]
        requests = (
            AddOffsetsToTxnRequest(name, *producer, name),
            TxnOffsetCommitRequest(name, name, *producer, topics=topics),
            EndTxnRequest(name, *producer, committed=True),
        )
        return [encode_request(each.kafka.key, 3, 7, "bench", each) for each in requests if each.kafka.key is not None]

    async def _done(self, client: Client, frame: bytes) -> bytes:
        """Return the answer without an error, which is before the tags at the end."""
        while True:
            client.received.clear()
            client.connection.data_received(frame)
            await client.answered(4)
            if not any(client.received[-5:]):
                return bytes(client.received)
            await asyncio.sleep(0)

    async def _refused(self, client: Client, frames: list[bytes], answer: bytes) -> list[bytes]:
        size = len(answer)
        await client.answered(size * len(frames))
        return [frame for place, frame in enumerate(frames) if client.received[place * size : (place + 1) * size] != answer]


class Bench:
    """A server in this process, and its clients."""

    def __init__(self, clients: list[Client], members: list[Member], window: int) -> None:
        self._clients = clients
        self._members = members
        self._window = window

    async def measure(self, operation: str, seconds: float) -> float:
        """Microseconds of this thread for one request, or for one transaction."""
        turns = await self._transactions() if operation == TRANSACTION else await self._requests(operation)
        count = 0
        started, until = time.thread_time(), time.monotonic() + seconds
        while time.monotonic() < until:
            await turns[count % len(turns)]()
            count += 1
        return (time.thread_time() - started) / (count * len(self._clients) * self._window) * 1e6

    async def _transactions(self) -> list[Callable[[], Awaitable[None]]]:
        transactions = Transactions()
        await transactions.begin(self._clients, self._window)
        return [transactions.turn]

    async def _requests(self, operation: str) -> list[Callable[[], Awaitable[None]]]:
        """Return the turns: in each, every client sends a request as often as the window allows."""
        version, _, request = OPERATIONS[operation]
        # Several if the requests of a member differ in turn.
        turns: list[list[tuple[Client, bytes, int]]] = []
        for client, member in zip(self._clients, self._members, strict=True):
            made = request(member)
            messages = made if isinstance(made, list) else [made]
            while len(turns) < len(messages):
                turns.append([])
            for turn, message in zip(turns, messages, strict=True):
                assert message.kafka.key is not None
                frames = encode_request(message.kafka.key, version, 7, "bench", message) * self._window
                await client.ask(message, version)
                turn.append((client, frames, len(client.received) * self._window))
        return [partial(self._turn, turn) for turn in turns]

    async def _turn(self, turn: list[tuple[Client, bytes, int]]) -> None:
        for client, frames, _ in turn:
            client.received.clear()
            client.connection.data_received(frames)
        await asyncio.sleep(0)
        for client, _, expected in turn:
            await client.answered(expected)


async def run(options: argparse.Namespace) -> dict[str, list[float]]:
    """Microseconds of every round by operation."""
    connections, window = SHAPES[options.shape]
    rounds: dict[str, list[float]] = {}
    of_streams = STREAMS_PROPERTIES if STREAMS_KEY in APIS else {}
    with tempfile.TemporaryDirectory(prefix="hot-", dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as directory:  # noqa: ASYNC240
        daemon = Daemon(
            load(PROPERTIES | of_streams | parse_overrides(options.property)),
            Path(directory),
            lambda failure: sys.exit(str(failure)),
        )
        await daemon.start("127.0.0.1", 0)
        clients = [Client(daemon) for _ in range(connections)]
        members = [await client.join(f"load-{number}") for number, client in enumerate(clients)]
        gc.collect()
        calm_the_collector()
        bench = Bench(clients, members, window)
        for operation in options.only:
            await bench.measure(operation, options.seconds / 5)
            with _profiled(options.profile):
                rounds[operation] = [await bench.measure(operation, options.seconds) for _ in range(options.rounds)]
        for client in clients:
            client.connection.connection_lost(None)
        await daemon.stop()
    return rounds


@contextmanager
def _profiled(is_wanted: bool) -> Iterator[None]:
    profile = cProfile.Profile()
    if is_wanted:
        profile.enable()
    yield
    if is_wanted:
        profile.disable()
        pstats.Stats(profile).sort_stats("tottime").print_stats(40)


def _in_turns(options: argparse.Namespace) -> None:
    """The same operations in this tree and in another, a process each, round by round, the other first in every second one."""
    sides = {"here": _command(ROOT), "there": _command(Path(options.against).absolute())}
    all_rounds: dict[str, dict[str, list[float]]] = {name: {operation: [] for operation in options.only} for name in sides}
    only = [word for operation in options.only for word in ("--only", operation)]
    arguments = ["--json", "--rounds", "1", "--seconds", str(options.seconds), "--shape", options.shape, *only]
    for number in range(options.rounds):
        for name in sorted(sides, reverse=bool(number % 2)):
            command, environment = sides[name]
            done = subprocess.run([*command, *arguments], env=environment, check=True, capture_output=True, text=True)
            for operation, figures in json.loads(done.stdout).items():
                all_rounds[name][operation] += figures
    for operation in options.only:
        here, there = all_rounds["here"][operation], all_rounds["there"][operation]
        low, middle, high = _quartiles([there_us / here_us for here_us, there_us in zip(here, there, strict=True)])
        print(
            f"{operation:18} here {min(here):8.2f} us   there {min(there):8.2f} us   "
            f"there/here {middle:5.2f} ({low:.2f} to {high:.2f})",
            flush=True,
        )


def _quartiles(ratios: list[float]) -> tuple[float, float, float]:
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
    return low, middle, high


def _command(side: Path) -> tuple[list[str], dict[str, str]]:
    """A tree runs with this interpreter; a python runs what is installed there."""
    if side.is_dir():
        return [sys.executable, "-P", __file__], {"PYTHONPATH": str(side)}
    return [str(side), "-P", __file__], {}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.hot", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=ALL, help="may be repeated; default all")
    parser.add_argument("--shape", choices=list(SHAPES), default="200x1", help="connections x requests in a turn (default 200x1)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--seconds", type=float, default=0.5, metavar="S", help="length of a round (default 0.5)")
    parser.add_argument("--profile", action="store_true", help="cProfile of each operation (times are inflated)")
    parser.add_argument("--against", metavar="PATH", help="another tree, or the python of another environment")
    parser.add_argument("--property", action="append", default=[], metavar="NAME=VALUE", help="of the server; may be repeated")
    parser.add_argument("--json", action="store_true", help="every round, as JSON")
    options = parser.parse_args()
    options.only = options.only or ALL
    if options.against:
        _in_turns(options)
        return
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    rounds = uvloop.run(run(options))
    if options.json:
        print(json.dumps(rounds))
        return
    for operation, figures in rounds.items():
        partitions = OPERATIONS[operation][1] if operation in OPERATIONS else 0
        each = f"{min(figures) / partitions:8.2f} us a partition" if partitions > 1 else ""
        print(f"{operation:12}{min(figures):8.2f} us   (median {statistics.median(figures):8.2f}){each}")


if __name__ == "__main__":
    main()
