"""Check an installed package from outside: a commit over the wire is there after ``kill -9``, and the server for tests runs.

    VENV/bin/python -I scripts/check_installed.py

Everything it imports and starts comes from the environment that runs it. Prints what it saw; exit code 1 when that is wrong.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from threading import Timer
from typing import Any

import protocol
from coordinator_server.testing import Coordinator
from protocol.fields import Message
from protocol.frames import decode_response, encode_request
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics

READY = re.compile(r"coordinator-server ready on 127\.0\.0\.1:(\d+) ")
WITHIN_S = 60
VERSION = 8  # of OffsetCommit and OffsetFetch
GROUP, TOPIC, PARTITION, OFFSET = "release", "orders", 1, 4711


class Wrong(Exception):
    """The package does not do what it should; the message says what."""


def main() -> int:
    """Commit, kill, start, fetch."""
    try:
        origin = Path(protocol.__file__ or "")
        if not origin.is_relative_to(sys.prefix):
            raise Wrong(f"protocol comes from {origin}, which is not in {sys.prefix}")
        with tempfile.TemporaryDirectory(prefix="release-data-") as data_dir:
            with server(data_dir) as port:
                commit(port)
            with server(data_dir) as port:
                offset = committed(port)
        if offset != OFFSET:
            raise Wrong(f"{OFFSET} was committed, {offset} is there after kill -9")
        check_testing()
    except Wrong as wrong:
        print(wrong)
        return 1
    print(f"committed {OFFSET}, killed the server, started it again: {offset} is there")
    return 0


@contextmanager
def server(data_dir: str) -> Iterator[int]:
    """The port of a server that is ready. It is killed in the end."""
    log = Path(data_dir, "stderr.log")
    command = [str(Path(sys.executable).with_name("coordinator-server")), "serve", "--listen", "127.0.0.1:0"]
    with log.open("a") as stderr:
        process = subprocess.Popen(
            [*command, "--data-dir", f"{data_dir}/log", "--override", f"topics={TOPIC}:2"],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    deadline = Timer(WITHIN_S, process.kill)
    deadline.start()
    try:
        assert process.stdout is not None
        ready = READY.match(process.stdout.readline())
        if ready is None:
            raise Wrong(f"the server did not become ready:\n{log.read_text()}")
        yield int(ready[1])
    finally:
        deadline.cancel()
        process.kill()
        process.communicate()


def commit(port: int) -> None:
    """Store the offset, as a consumer without a membership does."""
    partition = OffsetCommitRequestPartition(partition_index=PARTITION, committed_offset=OFFSET)
    topic = OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])
    answer = ask(port, 8, OffsetCommitRequest(group_id=GROUP, topics=[topic]))
    error = answer.topics[0].partitions[0].error_code
    if error:
        raise Wrong(f"the commit was answered with error {error}")


def committed(port: int) -> int:
    """The offset that the server has."""
    topic = OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[PARTITION])
    answer = ask(port, 9, OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=GROUP, topics=[topic])]))
    offset: int = answer.groups[0].topics[0].partitions[0].committed_offset
    return offset


def check_testing() -> None:
    """The server for tests forgets an offset after a week, which takes no time; its plugin says that pytest is missing."""
    with Coordinator(topics={TOPIC: 2}) as coordinator:
        commit(coordinator.port)
        before = dict(coordinator.committed(GROUP))
        coordinator.advance(8 * 86_400)
        if (before, coordinator.committed(GROUP)) != ({(TOPIC, PARTITION): OFFSET}, {}):
            raise Wrong(f"the server for tests has {before}, and {coordinator.committed(GROUP)} eight days later")
    [plugin] = [each.value for each in entry_points(group="pytest11") if each.name == "coordinator-server"]
    try:
        import_module(plugin)
    except ImportError as error:
        if "pip install 'coordinator-server[testing]'" not in str(error):
            raise Wrong(f"without pytest, {plugin} says: {error}") from error


def ask(port: int, api_key: int, request: Message) -> Any:
    """One request on a connection of its own; its answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S) as connection, connection.makefile("rb") as answers:
        connection.sendall(encode_request(api_key, VERSION, 1, "release", request))
        frame = answers.read(int.from_bytes(answers.read(4), "big"))
    return decode_response(api_key, VERSION, frame)[1]


if __name__ == "__main__":
    sys.exit(main())
