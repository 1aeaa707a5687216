"""How long a server that was killed takes until it has answered every committed offset again, and how large it is then.

    python -m bench.restart [--groups 10000] [--partitions 100] [--rewrites 100] [--layer] [--engine spark] [--rounds 3] [--dir DIR]

A server is filled with simple commits, one of PARTITIONS offsets per group, and killed with SIGKILL. Then, round by round: it is
started, asked for the offsets of every group, from when it listens on, over one connection with WINDOW requests in flight, until
each has been answered as it should be, and killed again. With --rewrites the log is written directly, each offset that often;
--layer after that on the same --dir is what compaction pays. A group that is still being loaded is asked again after RETRY_S, as
clients do, who wait longer. With --layer the log is compacted first, by the plain engine. With --dir a directory that an earlier
run has left is used, or made and left. Times are seconds since the server's process was started.
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crc32c import crc32c

from bench.rewritten import write_rewritten
from bench.targets import BUILD, Address
from protocol.codec import encode
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_commit import OffsetCommitResponse as Committed
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from tests.support.client import Client, framed, request_header
from tests.support.processes import cpu_s, memory_mb
from tests.support.server import ROOT, Server
from tests.support.simple_requests import make_topic

TOPIC = "orders"
COMMIT_VERSION, FETCH_VERSION = 8, 8
API_KEY = 9
WINDOW = 50
RETRY_S = 0.01
LINE = "{:7.2f} s {:9.2f} s {:9.2f} s {:12.2f} s {:11.2f} s {:6.0f} {:6.0f} MB"
START_WITHIN_S = 600
_LOADING = int(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


class Restart(NamedTuple):
    """One round: seconds since exec, the processor time that the server took for the first and the last, and megabytes."""

    listening_s: float
    sampled_s: float
    all_s: float
    listening_cpu_s: float
    all_cpu_s: float
    rss_mb: float
    peak_mb: float


def main() -> None:
    options = _options()
    groups, partitions = options.groups, options.partitions
    print(f"{groups * partitions:,} offsets in {groups:,} groups{', with a layer' if options.layer else ''}", flush=True)
    with working_directory(options.dir) as directory:
        # Not to be surprised by a layer, or by the work of making one.
        quiet = {"log.cleaner.enable": "false"}
        server = Server(directory, quiet | dict(one.split("=", 1) for one in options.override))
        server.port, server.is_fresh = free_port(), True
        if options.rewrites and not server.data_dir.is_dir():
            names = [group_id(number) for number in range(groups)]
            size = write_rewritten(server.data_dir, names, TOPIC, partitions, options.rewrites, offset_of)
            print(f"{options.rewrites} times over: {size / 1e6:,.0f} MB", flush=True)
        if not server.data_dir.is_dir():
            with server:
                started = time.monotonic()
                _fill(server.address, groups, partitions)
                print(f"filled in {time.monotonic() - started:.1f} s", flush=True)
        if options.layer:
            started = time.monotonic()
            command = [
                sys.executable,
                "-m",
                "coordinator_server",
                "compact",
                "--engine",
                options.engine,
                "--data-dir",
                str(server.data_dir),
            ]
            said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
            kept = sum(file.stat().st_size for file in server.data_dir.glob("*/layer-*/*"))
            print(
                f"{said.stdout.strip()}, with checkpoints {kept / 1e6:,.0f} MB ({time.monotonic() - started:.1f} s with "
                "everything)",
                flush=True,
            )
        print("listening  500 groups  all groups  processor of first and last   RSS   peak", flush=True)
        rounds = []
        for _ in range(options.rounds):
            rounds.append(_restart(server, groups, partitions))
            print(LINE.format(*rounds[-1]), flush=True)
        medians = (statistics.median(column) for column in zip(*rounds, strict=True))
        print(LINE.format(*medians), " (medians)")


def _restart(server: Server, groups: int, partitions: int) -> Restart:
    # Made before the clock runs: the generator must not be what is measured.
    frames = [fetch_of(number, partitions) for number in range(groups)]
    expected = [crc32c(answer_of(number, partitions)) for number in range(groups)]
    started = time.monotonic()
    server.launch()
    try:
        await_listening(server)
        listening_s, listening_cpu_s = time.monotonic() - started, cpu_s(server.pid)
        _await(server.address, frames, expected, range(0, groups, max(1, groups // 500)))
        sampled_s = time.monotonic() - started
        _await(server.address, frames, expected, range(groups))
        server.await_ready(START_WITHIN_S)
        all_s, all_cpu_s = time.monotonic() - started, cpu_s(server.pid)
        rss_mb, peak_mb = (memory_mb(server.pid, name) for name in ("VmRSS", "VmHWM"))
    finally:
        server.kill()
    return Restart(listening_s, sampled_s, all_s, listening_cpu_s, all_cpu_s, rss_mb, peak_mb)


def await_listening(server: Server) -> None:
    """Until a connection is accepted."""
    deadline = time.monotonic() + START_WITHIN_S
    while True:
        try:
            Client((server.host, server.port), "bench").close()
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.002)
        else:
            server.ports = [server.port]
            return


def free_port() -> int:
    """Return a port that nothing listens on at the moment: a server that is started again keeps its port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def _fill(address: Address, groups: int, partitions: int) -> None:
    with Client(address, "bench") as client:
        make_topic(client, TOPIC, partitions)
        waiting = 0
        for number in range(groups):
            rows = [OffsetCommitRequestPartition(index, offset_of(number, index), -1, "") for index in range(partitions)]
            topics = [OffsetCommitRequestTopic(name=TOPIC, partitions=rows)]
            client.send(OffsetCommitRequest(group_id=group_id(number), topics=topics), COMMIT_VERSION)
            waiting += 1
            if waiting == WINDOW:
                _check_commit(client)
                waiting -= 1
        for _ in range(waiting):
            _check_commit(client)


def _check_commit(client: Client) -> None:
    answer = client.receive()
    assert isinstance(answer, Committed)
    errors = {one.error_code for topic in answer.topics for one in topic.partitions}
    if errors != {0}:
        raise SystemExit(f"a commit failed: {errors}")


def _await(address: Address, frames: list[bytes], expected: list[int], numbers: range) -> None:
    """Ask until every one of the groups has answered; a wrong answer ends the program."""
    left = deque(numbers)
    asked: deque[int] = deque()
    with socket.create_connection(address, timeout=START_WITHIN_S) as connection, connection.makefile("rb") as answers:
        while left or asked:
            batch = [left.popleft() for _ in range(min(len(left), WINDOW - len(asked)))]
            connection.sendall(b"".join(frames[number] for number in batch))
            asked.extend(batch)
            is_too_early = False
            for _ in range(max(1, len(asked) // 2)):
                number = asked.popleft()
                size = int.from_bytes(answers.read(4))
                answer = answers.read(size)[5:]  # behind the correlation id and the header's tags
                if crc32c(answer) != expected[number]:
                    if answer != _loading(number):
                        raise SystemExit(f"{group_id(number)} was answered wrongly: {answer[:200]!r}")
                    left.append(number)
                    is_too_early = True
            if is_too_early:
                time.sleep(RETRY_S)


def fetch_of(number: int, partitions: int) -> bytes:
    topic = OffsetFetchRequestTopics(name=TOPIC, partition_indexes=list(range(partitions)))
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id(number), topics=[topic])])
    return framed(request_header(API_KEY, FETCH_VERSION, number, "bench", flexible=True) + encode(request, FETCH_VERSION))


def answer_of(number: int, partitions: int) -> bytes:
    rows = [OffsetFetchResponsePartitions(index, offset_of(number, index)) for index in range(partitions)]
    return _answer(OffsetFetchResponseGroup(group_id(number), [OffsetFetchResponseTopics(name=TOPIC, partitions=rows)]))


def _loading(number: int) -> bytes:
    return _answer(OffsetFetchResponseGroup(group_id(number), [], _LOADING))


def _answer(group: OffsetFetchResponseGroup) -> bytes:
    return encode(OffsetFetchResponse(groups=[group]), FETCH_VERSION)


def group_id(number: int) -> str:
    return f"group-{number}"


def offset_of(number: int, partition: int) -> int:
    return number * 1000 + partition


@contextlib.contextmanager
def working_directory(given: Path | None) -> Iterator[Path]:
    """Give the directory that was asked for, which stays, or one that does not."""
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="restart-", dir=BUILD) as directory:
        yield Path(directory)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=100)
    parser.add_argument("--layer", action="store_true", help="compact the log first")
    parser.add_argument("--engine", choices=("python", "spark"), default="python", help="what compacts it (%(default)s)")
    parser.add_argument(
        "--rewrites", type=int, default=0, metavar="N", help="write the log directly, with so many commits of each offset"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dir", type=Path, help="where the server's data is, or is to be left")
    parser.add_argument("--override", action="append", default=[], metavar="NAME=VALUE", help="a property; repeat for more")
    return parser.parse_args()


if __name__ == "__main__":
    main()
