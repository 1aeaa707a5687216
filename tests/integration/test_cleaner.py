"""The log's cleaner in a server that is used: it compacts by itself, nobody notices, and the next start rests on what it made."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, committed
from tests.support.strace import failed_calls, failing, needs_strace

GROUPS = [f"group-{number}" for number in range(12)]
EAGER = {"topics": "orders:6", "log.cleaner.backoff.ms": 20, "log.cleaner.min.bytes": 1}


def commit(server: Server, offset: int) -> None:
    """One offset of every group, at the loop that it belongs to."""
    for group in GROUPS:
        with Client(server.addresses[partition_for(group, 50) % server.loops]) as client:
            assert commit_alone(client, group, "orders", {0: offset, offset % 6: offset}) == {
                0: ErrorCode.NONE,
                offset % 6: ErrorCode.NONE,
            }


def read_all(server: Server) -> dict[str, dict[tuple[str, int], int]]:
    found = {}
    for group in GROUPS:
        with Client(server.addresses[partition_for(group, 50) % server.loops]) as client:
            found[group] = committed(client, group)
    return found


@needs_strace
def test_it_works_where_a_sandbox_denies_it_a_priority(tmp_path: Path) -> None:
    """As under a unit's SystemCallFilter without setpriority."""
    with (
        Server(tmp_path, EAGER) as server,
        failing(server.pid, "setpriority", "EPERM", tmp_path / "calls"),
    ):
        commit(server, 1)
        eventually(lambda: "log-cleaned" in server.log(), describe=server.log)

    assert failed_calls(tmp_path / "calls")


@pytest.mark.parametrize("loops", [1, 2])
def test_all_its_files_are_private(tmp_path: Path, loops: int) -> None:
    """Whatever the umask is: directories for the own user alone, and files, too; but for sockets,
    which nobody else reaches then.
    """
    server = Server(tmp_path, EAGER, loops=loops)
    server.run_by = ["sh", "-c", 'umask 0; exec "$@"', "sh"]
    with server:
        commit(server, 1)
        eventually(lambda: "log-cleaned" in server.log(), describe=server.log)
        assert server.stop() == 0
    modes = {
        (path.is_dir(), stat.S_IMODE(path.stat().st_mode))
        for path in [server.data_dir, *server.data_dir.rglob("*")]
        if not path.is_socket()
    }

    assert modes == {(True, 0o700), (False, 0o600)}


@pytest.mark.parametrize("loops", [1, 2])
def test_it_works_by_itself(tmp_path: Path, loops: int) -> None:
    """One cleaner for all loops; commits go on meanwhile; after a crash every position is there,
    from checkpoints and from the tail.
    """
    with Server(tmp_path, EAGER, loops=loops) as server:
        for offset in range(1, 6):
            commit(server, offset)
        shards = {partition_for(group, 50) for group in GROUPS}
        directories = [server.data_dir / f"__consumer_offsets-{shard}" for shard in shards]
        eventually(lambda: all(list(path.glob("layer-*/groups.index")) for path in directories), describe=server.log)
        eventually(lambda: "log-cleaned" in server.log(), describe=server.log)
        commit(server, 6)
        before = read_all(server)

        server.kill()
        server.start()

        assert before == read_all(server)
        assert {offsets["orders", 0] for offsets in before.values()} == {6}
        commit(server, 7)
        assert {offsets["orders", 1] for offsets in read_all(server).values()} == {7}
        assert "not-cleaned" not in server.log()
