"""How long one client waits while another one, or fifty, ask as much as they can, and what memory that leaves.

    python -m bench.bystander                    each attack, with a server of its own
    python -m bench.bystander --kafka            and a Kafka broker
    python -m bench.bystander --only fifty --seconds 60 --seed 7

The bystander is a process that sends an ApiVersions request every 10 ms. Its longest wait is printed, and the resident memory of
the server before the attack and after it, when all its connections have ended.
"""

from __future__ import annotations

import argparse
import contextlib
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.targets import BUILD, Address, kafka_broker, this_server
from protocol.fields import Message
from protocol.frames import encode_request
from protocol.messages.api_versions import ApiVersionsRequest
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from protocol.messages.find_coordinator import FindCoordinatorRequest
from protocol.messages.list_groups import ListGroupsRequest
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.fuzz.shapes import Shapes
from tests.support.processes import memory_mb
from tests.support.server import ROOT

TOPICS = 500
LARGE_TOPICS, LARGE_TOPIC, PARTITIONS = 40, "many", 10_000
LARGE_GROUP = "large-group"
ASK_EVERY_S = 0.01
WITHIN_S = 120
FOR_EVER_MS = 2**31 - 1


class Attack(NamedTuple):
    """What a connection sends, how many answers it reads before it ends, and how many connections do so, one after the other."""

    name: str
    requests: Callable[[], bytes]
    answers: int = 1
    times: int = 1
    is_for_kafka: bool = True


def frame(key: int, version: int, request: Message, client_id: str = "attack") -> bytes:
    return encode_request(key, version, 1, client_id, request)


def all_topics() -> bytes:
    return frame(3, 1, MetadataRequest(topics=None))


ATTACKS = [
    Attack("Metadata of all 500 topics, 1,400 times in a pipeline", lambda: all_topics() * 1_400, 1_400),
    Attack(
        "Metadata that names __consumer_offsets 5,000 times",
        lambda: frame(3, 9, MetadataRequest([MetadataRequestTopic(name="__consumer_offsets")] * 5_000)),
    ),
    Attack("ListGroups with 200,000 state filters", lambda: frame(16, 4, ListGroupsRequest(["x"] * 200_000))),
    Attack("DescribeGroups of one name 100,000 times", lambda: frame(15, 5, DescribeGroupsRequest(["x"] * 100_000))),
    Attack(
        "FindCoordinator of 400 keys of 32,000 bytes",
        lambda: frame(
            10, 4, FindCoordinatorRequest(coordinator_keys=[f"{index:04}" + "x" * 31_990 + "🦀" for index in range(400)])
        ),
    ),
    Attack(
        "Fetch with 300,000 entries that waits 24 days, hang up, 12 times",
        lambda: frame(
            1,
            11,
            FetchRequest(
                max_wait_ms=FOR_EVER_MS, min_bytes=1, topics=[FetchTopic("many", partitions=[FetchPartition(7)] * 300_000)]
            ),
        ),
        0,
        12,
    ),
    Attack(
        "Fetch with 40,000 entries that waits 24 days, hang up, 12 times",
        lambda: frame(
            1,
            11,
            FetchRequest(
                max_wait_ms=FOR_EVER_MS, min_bytes=1, topics=[FetchTopic("many", partitions=[FetchPartition(7)] * 40_000)]
            ),
        ),
        0,
        12,
    ),
    Attack(
        "headers with 4 MB of unknown tags",
        lambda: b"".join(long_header(version) for version in range(9, 14)),
    ),
    Attack(
        "OffsetFetch of all offsets of a group that has 400,000",
        lambda: frame(9, 8, OffsetFetchRequest(groups=[OffsetFetchRequestGroup(LARGE_GROUP, topics=None)])),
        is_for_kafka=False,
    ),
]
FIFTY = "fifty connections with mixed shapes"


def long_header(version: int) -> bytes:
    """A Metadata request whose header has one tag of 4 MB."""
    plain = frame(3, version, MetadataRequest(topics=[]))[4:]
    head = 8 + 2 + len("attack")
    tags = b"\x01\x63" + bytes([0x80, 0x80, 0x80, 0x02]) + bytes(4 << 20)
    return struct.pack(">i", len(plain) + len(tags) - 1) + plain[:head] + tags + plain[head + 1 :]


@contextlib.contextmanager
def bystander(address: Address, every_s: float = ASK_EVERY_S) -> Iterator[Callable[[], float]]:
    """A process beside; the function ends it and returns its longest wait in milliseconds."""
    host, port = address
    watch = [sys.executable, "-m", "bench.bystander", "--watch", host, str(port), str(every_s)]
    process = subprocess.Popen(watch, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def longest() -> float:
        return float(process.communicate()[0])

    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield longest
    finally:
        process.kill()


def watch(host: str, port: int, every_s: float) -> None:
    """Be the bystander, until standard input ends."""
    longest, question = 0.0, frame(18, 0, ApiVersionsRequest())
    with socket.create_connection((host, port)) as connection:
        print("ready", flush=True)
        while not select.select([sys.stdin], [], [], every_s)[0]:
            began = time.monotonic()
            connection.sendall(question)
            read_answer(connection)
            longest = max(longest, time.monotonic() - began)
    print(longest * 1000)


def read_answer(connection: socket.socket) -> bool:
    """Read and drop one answer; whether there was one."""
    start = b""
    while len(start) < 4:
        more = connection.recv(4 - len(start))
        if not more:
            return False
        start += more
    left = int.from_bytes(start, "big")
    while left > 0:
        got = len(connection.recv(min(left, 1 << 20)))
        if not got:
            return False
        left -= got
    return True


def play(address: Address, attack: Attack) -> None:
    requests = attack.requests()
    for _ in range(attack.times):
        with socket.create_connection(address, timeout=WITHIN_S) as connection, contextlib.suppress(ConnectionError):
            sender = threading.Thread(target=send, args=(connection, requests), daemon=True)
            sender.start()
            for _ in range(attack.answers):
                if not read_answer(connection):
                    break
            else:
                sender.join()


def send(connection: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):
        connection.sendall(data)


def play_fifty(address: Address, seed: int, seconds: float) -> None:
    """Each connection sends shape after shape, reads what comes, and begins anew when it is closed or stuck."""
    until = time.monotonic() + seconds
    names = [f"topic-{index}" for index in range(TOPICS)]

    def one(number: int) -> None:
        shapes = Shapes(seed * 1000 + number, names)
        while time.monotonic() < until:
            with contextlib.suppress(OSError), socket.create_connection(address, timeout=1) as connection:
                while time.monotonic() < until:
                    connection.sendall(shapes.any_frames())
                    with contextlib.suppress(BlockingIOError):
                        while connection.recv(1 << 20, socket.MSG_DONTWAIT):
                            pass

    threads = [threading.Thread(target=one, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def commit_much(address: Address) -> None:
    """400,000 offsets of one group."""
    with socket.create_connection(address) as connection:
        for number in range(LARGE_TOPICS):
            topic = f"{LARGE_TOPIC}-{number}"
            connection.sendall(frame(19, 5, CreateTopicsRequest([CreatableTopic(topic, PARTITIONS, 1)])))
            read_answer(connection)
            for start in range(0, PARTITIONS, 5_000):
                rows = [OffsetCommitRequestPartition(index, 7) for index in range(start, start + 5_000)]
                topics = [OffsetCommitRequestTopic(topic, partitions=rows)]
                connection.sendall(frame(8, 8, OffsetCommitRequest(LARGE_GROUP, topics=topics)))
                read_answer(connection)


def measure(address: Address, attack: Attack | None, options: argparse.Namespace) -> float:
    with bystander(address) as longest:
        time.sleep(0.3)
        if attack is None:
            play_fifty(address, options.seed, options.seconds)
        else:
            play(address, attack)
        time.sleep(1)
        return longest()


def of_a_broker(attacks: list[Attack | None], options: argparse.Namespace) -> None:
    """The same to one broker."""
    with kafka_broker([f"socket.request.max.bytes={100 << 20}"]) as address, socket.create_connection(address) as connection:
        topics = [CreatableTopic(f"topic-{index}", 1, 1) for index in range(TOPICS)]
        connection.sendall(frame(19, 5, CreateTopicsRequest(topics)))
        read_answer(connection)
        for attack in attacks:
            if attack is not None and attack.is_for_kafka:
                print(f"{attack.name:70}{measure(address, attack, options):8.0f} ms   (Kafka)", flush=True)


def of_this_server(attack: Attack | None, options: argparse.Namespace) -> str:
    declared = ",".join(f"topic-{index}:1" for index in range(TOPICS))
    with this_server(["--override", f"topics={declared}", *options.ours.split()]) as server:
        if attack is None or attack.name.startswith("OffsetFetch"):
            commit_much(server.address)
        before = memory_mb(server.pid)
        longest = measure(server.address, attack, options)
        time.sleep(1)
        after = memory_mb(server.pid)
        slow = server.log().count("slow-turn")
        if options.log:
            options.log.write_text(server.log())
        return f"{longest:8.0f} ms   {before:5.0f} MB, then {after:5.0f} MB   {slow} slow turns"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--watch", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="attacks whose name has this")
    parser.add_argument("--ours", default="", help="options of this server")
    parser.add_argument("--kafka", action="store_true", help="measure a Kafka broker, too")
    parser.add_argument("--seconds", type=float, default=20, help="how long fifty connections attack")
    parser.add_argument("--log", type=Path, help="write the server's log of the last attack here")
    parser.add_argument("--seed", type=int, default=1, help="of their shapes")
    options = parser.parse_args()
    if options.watch:
        watch(options.watch[0], int(options.watch[1]), float(options.watch[2]))
        return
    BUILD.mkdir(exist_ok=True)
    attacks: list[Attack | None] = [each for each in ATTACKS if options.only in each.name]
    if options.only in FIFTY:
        attacks.append(None)
    for attack in attacks:
        print(f"{attack.name if attack else FIFTY:70}{of_this_server(attack, options)}", flush=True)
    if options.kafka:
        of_a_broker(attacks, options)


if __name__ == "__main__":
    main()
