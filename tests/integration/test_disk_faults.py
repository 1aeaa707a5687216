"""A real server on a disk that fails: what it answers meanwhile, what it says, and what the next start finds."""

from __future__ import annotations

import re
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.members import form_group
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, committed
from tests.support.strace import failed_calls, failing, needs_strace

# What a client tries again after.
RETRIABLE = {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR, ErrorCode.REQUEST_TIMED_OUT}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        yield server


def commit(client: Client, offset: int, group: str = "readers") -> ErrorCode:
    [code] = commit_alone(client, group, "orders", {0: offset}).values()
    return code


class Committer(threading.Thread):
    """Commits to a group of its own until the connection breaks; the last offset that was acknowledged."""

    def __init__(self, address: tuple[str, int], number: int) -> None:
        super().__init__(daemon=True)
        self.group = f"readers-{number}"
        self.acked = -1
        self._client = Client(address)

    def run(self) -> None:
        offset = 0
        try:
            while commit(self._client, offset, self.group) == ErrorCode.NONE:
                self.acked = offset
                offset += 1
        except (ConnectionError, TimeoutError):
            self._client.close()


@needs_strace
def test_a_sync_that_fails_ends_the_process(server: Server, tmp_path: Path) -> None:
    """Nobody who waits is told that it is durable; the exit code is not 0; no file is synced a second time;
    the next start has what was acknowledged.
    """
    committers = [Committer(server.address, number) for number in range(4)]
    for each in committers:
        each.start()
    eventually(lambda: all(each.acked >= 3 for each in committers))
    output = tmp_path / "calls"
    with failing(server.pid, "io_submit,fdatasync", "EIO", output):
        assert server.wait() == 1
    for each in committers:
        each.join(10)
    synced = [re.search(r"<([^>]+)>", line) for line in failed_calls(output) if "fdatasync" in line]

    assert synced
    assert len({name[1] for name in synced if name}) == len(synced)
    assert "log-failed" in server.log()
    server.start()
    with Client(server.address) as client:
        for each in committers:
            [kept] = committed(client, each.group).values()
            assert each.acked <= kept <= each.acked + 1


@needs_strace
def test_an_idle_server_ends_when_a_segment_cannot_be_synced(server: Server, tmp_path: Path) -> None:
    """It does not wait for the next commit to find out."""
    with Client(server.address) as client:
        assert commit(client, 7) == ErrorCode.NONE
    shard = next(path for path in server.data_dir.glob("__consumer_offsets-*/*.log"))
    with failing(server.pid, "fdatasync", "EIO", tmp_path / "calls", path=shard):
        # It may be gone before it answers.
        with suppress(ValueError):
            assert server.control(op="seal")["ok"] is False
        assert server.wait() == 1
    server.start()
    with Client(server.address) as client:
        assert committed(client, "readers") == {("orders", 0): 7}


@needs_strace
@pytest.mark.parametrize(
    ("error", "calls"),
    [
        ("ENOSPC", "fallocate,pwrite64"),
        ("EDQUOT", "fallocate,pwrite64"),
        ("EROFS", "fallocate,pwrite64,ftruncate,rename,unlink,mkdir"),
    ],
)
def test_commits_fail_retriably_on_a_full_disk_and_succeed_when_there_is_room(
    server: Server, tmp_path: Path, error: str, calls: str
) -> None:
    """Commits fail with an error that clients retry; heartbeats and fetches go on;
    when there is room again all is well, without a restart.
    """
    with Client(server.address) as client:
        [member] = form_group(server.address, "members", 1)
        assert commit(client, 1) == ErrorCode.NONE
        with failing(server.pid, calls, error, tmp_path / "calls"):
            for _ in range(3):
                assert commit(client, 2) in RETRIABLE
                assert member.heartbeat() == ErrorCode.NONE
                assert committed(client, "readers") == {("orders", 0): 1}
        assert eventually(lambda: commit(client, 3) == ErrorCode.NONE)

        assert committed(client, "readers") == {("orders", 0): 3}
    server.kill()
    server.start()
    with Client(server.address) as client:
        assert committed(client, "readers") == {("orders", 0): 3}


@needs_strace
def test_interrupted_calls_are_made_again(server: Server, tmp_path: Path) -> None:
    """EINTR is no failure: nothing is refused, nothing is lost."""
    with Client(server.address) as client:
        with failing(server.pid, "pwrite64,fdatasync,fallocate,io_getevents", "EINTR", tmp_path / "calls", when="1+2"):
            for offset in range(20):
                assert commit(client, offset) == ErrorCode.NONE
        assert failed_calls(tmp_path / "calls")
    server.kill()
    server.start()
    with Client(server.address) as client:
        assert committed(client, "readers") == {("orders", 0): 19}


def test_too_many_open_files(server: Server) -> None:
    """Who is connected is served, but for what needs a new file; who comes is not; afterwards everybody is again."""
    limits = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    with Client(server.address) as client:
        assert commit(client, 1) == ErrorCode.NONE
        in_use = len(list(Path(f"/proc/{server.pid}/fd").iterdir()))
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (in_use, limits[1]))
        waiting = [socket.create_connection(server.address, 10) for _ in range(3)]
        assert commit(client, 2) == ErrorCode.NONE
        # Its shard has no segment yet.
        fresh = next(f"fresh-{number}" for number in range(1000) if commit(client, 1, f"fresh-{number}") != ErrorCode.NONE)
        assert commit(client, 1, fresh) in RETRIABLE
        assert commit(client, 3) == ErrorCode.NONE
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, limits)

        assert commit(client, 4, fresh) == ErrorCode.NONE
        for each in waiting:
            each.close()
        with Client(server.address) as another:
            assert committed(another, "readers") == {("orders", 0): 3}


def test_a_second_server_is_told_who_has_the_directory(server: Server, tmp_path: Path) -> None:
    """At once, by pid; the first goes on."""
    second = Server(tmp_path)
    ended = second.run_to_end()

    assert ended.returncode == 1
    assert f"in use by process {server.pid}" in ended.stderr
    with Client(server.address) as client:
        assert commit(client, 1) == ErrorCode.NONE
