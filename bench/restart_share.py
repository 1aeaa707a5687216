"""How long a server that was killed takes until it knows the states of all its share partitions again.

    python -m bench.restart_share [--groups 100] [--partitions 10000] [--layer] [--rounds 3] [--dir DIR]

A server is filled with one state for each group and partition, and killed with SIGKILL. With --layer its log is compacted first,
by the plain engine. Then, round by round: it is started, asked to read a state of every shard from when it listens on until all
of these are loaded, then all states, and killed again. Times are seconds since the server's process was started.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.restart import START_WITHIN_S, await_listening, free_port, working_directory
from protocol.error_codes import ErrorCode
from protocol.fields import uuid_text
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    InitializeStateData,
)
from protocol.messages.initialize_share_group_state import PartitionData as Initialized
from protocol.messages.read_share_group_state import (
    PartitionData,
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadStateData,
)
from tests.support.client import Client
from tests.support.processes import cpu_s, memory_mb
from tests.support.server import ROOT, Server
from tests.support.simple_requests import topic_of

TOPIC = "load"
SAMPLE = 500
PER_REQUEST = 1_000
STATE_EPOCH = 7
RETRY_S = 0.01
NOT_YET = {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR}
LINE = "{:7.2f} s {:6.2f} s {:9.2f} s {:18.2f} s {:9.0f} MB"


def main() -> None:
    options = _options()
    with working_directory(options.dir) as directory:
        server = Server(directory, {"log.cleaner.enable": "false", "topics": f"{TOPIC}:{options.partitions}"})
        server.port = free_port()
        if not server.data_dir.is_dir():
            with server:
                started = time.monotonic()
                _fill(server, options.groups, options.partitions)
                print(f"{options.groups * options.partitions:,} states, filled in {time.monotonic() - started:.1f} s", flush=True)
                server.kill()
        if options.layer:
            started = time.monotonic()
            command = [sys.executable, "-m", "coordinator_server", "compact", "--engine", "python", "--data-dir"]
            subprocess.run([*command, str(server.data_dir)], cwd=ROOT, check=True, capture_output=True)
            print(f"compacted in {time.monotonic() - started:.1f} s", flush=True)
        print("listening     ready   all read   processor of first two   RSS", flush=True)
        rounds = []
        for _ in range(options.rounds):
            rounds.append(_restart(server, options.groups, options.partitions))
            print(LINE.format(*rounds[-1]), flush=True)
        print(LINE.format(*(statistics.median(column) for column in zip(*rounds, strict=True))), " (medians)")


def _group(number: int) -> str:
    return f"share-{number}"


def _fill(server: Server, groups: int, partitions: int) -> None:
    with Client(server.address, "bench") as client:
        topic_id = topic_of(client, TOPIC).topic_id
        finding = FindCoordinatorRequest(key_type=2, coordinator_keys=[f"{_group(0)}:{uuid_text(topic_id)}:0"])
        client.ask(finding, 6, FindCoordinatorResponse)
        for number in range(groups):
            for first in range(0, partitions, PER_REQUEST):
                some = range(first, min(partitions, first + PER_REQUEST))
                data = [InitializeStateData(topic_id, [Initialized(each, STATE_EPOCH, number + each) for each in some])]
                request = InitializeShareGroupStateRequest(_group(number), data)
                while not _is_done(client.ask(request, 0, InitializeShareGroupStateResponse)):
                    time.sleep(RETRY_S)


def _is_done(answer: InitializeShareGroupStateResponse) -> bool:
    """Whether the shards were loaded: the first use of the kind creates them."""
    return not any(each.error_code in NOT_YET for topic in answer.results for each in topic.partitions)


def _restart(server: Server, groups: int, partitions: int) -> tuple[float, float, float, float, float]:
    started = time.monotonic()
    server.launch()
    try:
        await_listening(server)
        listening_s = time.monotonic() - started
        with Client(server.address, "bench", START_WITHIN_S) as client:
            topic_id = topic_of(client, TOPIC).topic_id
            # So many are in every shard.
            _read(client, 0, topic_id, range(min(SAMPLE, partitions)))
            ready_s, ready_cpu_s = time.monotonic() - started, cpu_s(server.pid)
            for number in range(groups):
                for first in range(0, partitions, PER_REQUEST):
                    _read(client, number, topic_id, range(first, min(partitions, first + PER_REQUEST)))
        all_s = time.monotonic() - started
        rss_mb = memory_mb(server.pid)
    finally:
        server.kill()
    return listening_s, ready_s, all_s, ready_cpu_s, rss_mb


def _read(client: Client, group: int, topic_id: bytes, partitions: range) -> None:
    """Read states, once their shards are loaded, and check them."""
    data = [ReadStateData(topic_id, [PartitionData(each, -1) for each in partitions])]
    while True:
        [topic] = client.ask(ReadShareGroupStateRequest(_group(group), data), 0, ReadShareGroupStateResponse).results
        if not any(each.error_code in NOT_YET for each in topic.partitions):
            break
        time.sleep(RETRY_S)
    found = [(each.partition, each.error_code, each.state_epoch, each.start_offset) for each in topic.partitions]
    if found != [(each, 0, STATE_EPOCH, group + each) for each in partitions]:
        raise SystemExit(f"{_group(group)}: wrong states")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.restart_share", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--groups", type=int, default=100, metavar="N")
    parser.add_argument("--partitions", type=int, default=10_000, metavar="N", help="share partitions of each group")
    parser.add_argument("--layer", action="store_true", help="compact the log first")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="use what an earlier run left there, or leave it there")
    return parser.parse_args()


if __name__ == "__main__":
    main()
