"""How much memory and disk a server needs: ``python -m bench.sizing``.

One loop with one topic. Prints what the resident memory and the log grow by for connections, committed offsets and members, how
long a backup, a stop and a start take then, and what a start needs that reads a compacted log.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from protocol.fields import Message
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.server import Server

PIPELINE = 100
PARTITIONS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=20_000, help="groups with ten committed offsets each (%(default)s)")
    parser.add_argument("--members", type=int, default=5_000, help="members, each of a consumer group of its own (%(default)s)")
    parser.add_argument("--connections", type=int, default=1_000, help="open connections (%(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        _measure(Path(scratch), options)


def _measure(scratch: Path, options: argparse.Namespace) -> None:
    with Server(scratch, {"topics": f"orders:{PARTITIONS}", "log.cleaner.enable": "false"}) as server:
        _say("a server without groups", _resident(server), "")
        with ExitStack() as stack:
            before = _resident(server)
            for _ in range(options.connections):
                stack.enter_context(Client(server.address))
            time.sleep(1)
            _say("a connection", (_resident(server) - before) / options.connections, "")
        for name, count, requests, version in (
            ("a committed offset", options.groups * PARTITIONS, _commits(options.groups), 8),
            ("a member of a consumer group", options.members, _beats(options.members), 0),
        ):
            before, on_disk = _resident(server), _log_bytes(server.data_dir)
            _send(server, requests, version)
            time.sleep(3)
            grown = (_log_bytes(server.data_dir) - on_disk) / count
            _say(name, (_resident(server) - before) / count, f"{grown:.0f} bytes in the log")
        for what in ("backup", "backup, again"):
            done = run_command("backup", "--data-dir", server.data_dir, "--to", scratch / "backup", "--json")
            _took(what, json.loads(done.stdout)["copied_bytes"], done.returncode)
        run_command("compact", "--engine", "python", "--data-dir", server.data_dir)
        _timed("stop", server.stop)
        _timed("start from the compacted log, until it is ready", server.start)
        _say("the server then", _resident(server), "")


def _commits(groups: int) -> Iterator[Message]:
    for number in range(groups):
        partitions = [OffsetCommitRequestPartition(index, number + 1, committed_metadata="") for index in range(PARTITIONS)]
        yield OffsetCommitRequest(f"readers-{number:06d}", topics=[OffsetCommitRequestTopic("orders", partitions=partitions)])


def _beats(members: int) -> Iterator[Message]:
    for number in range(members):
        yield ConsumerGroupHeartbeatRequest(
            f"members-{number:06d}",
            f"0b7c5a70-5d5c-4a5c-9f70-{number:012d}",
            0,
            rebalance_timeout_ms=300_000,
            subscribed_topic_names=["orders"],
            topic_partitions=[],
        )


def _send(server: Server, requests: Iterator[Message], version: int) -> None:
    with Client(server.address) as client:
        waiting = 0
        for request in requests:
            client.send(request, version)
            waiting += 1
            if waiting == PIPELINE:
                for _ in range(waiting):
                    assert not getattr(client.receive(), "error_code", 0)
                waiting = 0
        for _ in range(waiting):
            client.receive()


def _resident(server: Server) -> int:
    [line] = [line for line in Path(f"/proc/{server.pid}/status").read_text().splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) << 10


def _log_bytes(data_dir: Path) -> int:
    return sum(path.stat().st_size for path in data_dir.glob("*/*.log"))


def _say(what: str, size: float, more: str) -> None:
    print(f"{what:50} {size / 1024:10.1f} KiB   {more}", flush=True)


def _took(what: str, copied: int, code: int) -> None:
    assert code == 0
    print(f"{what:50} {copied / 1e6:10.1f} MB copied", flush=True)


def _timed(what: str, call: Callable[[], object]) -> None:
    started_s = time.monotonic()
    call()
    print(f"{what:50} {time.monotonic() - started_s:10.1f} s", flush=True)


if __name__ == "__main__":
    main()
