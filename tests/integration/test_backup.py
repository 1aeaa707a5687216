"""Backups of a server that is used: what is restored verifies, serves, and is one moment of all shards."""

from __future__ import annotations

import json
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.command_forks import run_command
from tests.support.eventually import eventually
from tests.support.producer import Producer
from tests.support.server import Server
from tests.support.simple_requests import commit_alone, committed, make_topic
from tests.support.transactional_server import PARTITIONS, PROPERTIES, await_coordinators, left_open, read

IDS = ["tx-0", "tx-1", "tx-2"]
# One of each loop, whichever of two owns it.
GROUPS = [next(f"g{n}" for n in range(99) if partition_for(f"g{n}", PARTITIONS) % 2 == loop) for loop in range(2)]


def run(*words: str | Path) -> Any:
    done = run_command(*words, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


class Mover(threading.Thread):
    """Moves a position of both groups together, in one transaction after the other."""

    def __init__(self, server: Server, number: int) -> None:
        super().__init__(daemon=True)
        self.number = number
        self.moved = 0
        self.failure: BaseException | None = None
        self._address = server.address
        self._is_over = threading.Event()

    def run(self) -> None:
        try:
            with Producer(self._address, IDS[self.number]) as producer:
                assert producer.init(2000).error == ErrorCode.NONE
                while not self._is_over.is_set():
                    for group in GROUPS:
                        assert producer.commit(group, "orders", {self.number: self.moved + 1}) == {ErrorCode.NONE}
                    assert producer.end().error == ErrorCode.NONE
                    self.moved += 1
        except BaseException as failure:  # noqa: BLE001 - for the test's own thread
            self.failure = failure

    def stop(self) -> None:
        self._is_over.set()
        self.join(60)
        assert self.failure is None, self.failure


def test_a_backup_is_one_moment_of_all_loops(tmp_path: Path) -> None:
    """Taken while transactions move groups of two loops together: in what is restored all of their groups have moved, or none."""
    restored = []
    with Server(tmp_path, PROPERTIES | {"topics": "orders:3"}, loops=2) as server, ExitStack() as over:
        await_coordinators(server, IDS)
        movers = [Mover(server, number) for number in range(len(IDS))]
        for mover in movers:
            over.callback(mover.stop)
            mover.start()
        for number in range(3):
            eventually(lambda: all(mover.moved > 3 for mover in movers) or any(mover.failure for mover in movers))
            before = [mover.moved for mover in movers]
            backup = run("backup", "--data-dir", server.data_dir, "--to", tmp_path / "backup")
            after = [mover.moved for mover in movers]
            assert number == 0 or backup["copied_bytes"] <= backup["bytes"]
            directory = tmp_path / f"restored-{number}"
            assert run("restore", "--from", tmp_path / "backup", "--data-dir", directory / "data")["bytes"] == backup["bytes"]
            restored.append((directory, before, after))

    for loops, (directory, before, after) in zip((1, 2, 1), restored, strict=True):
        with Server(directory, PROPERTIES, loops=loops) as server:
            # A transaction that was open at the moment of the backup is aborted after its timeout.
            eventually(lambda server=server: left_open(server) == [])  # type: ignore[misc]
            found = read(server, GROUPS)
        for number in range(len(IDS)):
            one, other = (found.get((group, number), 0) for group in GROUPS)
            assert one == other
            assert before[number] <= one <= after[number] + 1


@pytest.mark.parametrize("is_running", [True, False])
def test_what_is_restored_verifies(tmp_path: Path, is_running: bool) -> None:
    """With the digests of the server, whether it runs or was killed; log verify finds nothing, and every position is there."""
    with Server(tmp_path, {"topics": "orders:6", "log.cleaner.backoff.ms": 20, "log.cleaner.min.bytes": 1}) as server:
        with Client(server.address) as client:
            for offset in range(3):
                for number in range(9):
                    assert commit_alone(client, f"group-{number}", "orders", {0: offset})[0] == ErrorCode.NONE
            make_topic(client, "payments", 2)
        digests = {name: each["digest"] for name, each in server.control(op="digest")["shards"].items() if each["offset"]}
        if not is_running:
            server.kill()
        taken = run("backup", "--data-dir", server.data_dir, "--to", tmp_path / "backup")
        assert (taken["copied_bytes"], taken["copied_files"]) == (taken["bytes"], taken["files"])
        assert run("restore", "--from", tmp_path / "backup", "--check")["bytes"] == taken["bytes"]
    run("restore", "--from", tmp_path / "backup", "--data-dir", tmp_path / "new" / "data")

    assert run_command("log", "verify", "--data-dir", tmp_path / "new" / "data").returncode == 0
    verdicts = run("verify", "--data-dir", tmp_path / "new" / "data", "--engine", "python")
    assert {verdict["shard"]: verdict["full"] for verdict in verdicts} == digests
    with Server(tmp_path / "new") as server, Client(server.address) as client:
        assert [committed(client, f"group-{number}") for number in range(9)] == [{("orders", 0): 2}] * 9


def test_a_loop_held_for_a_backup_moment_continues_when_the_requester_dies(tmp_path: Path) -> None:
    """Who asks for a moment and dies holds the messages between loops for as long as it has said, and no longer."""
    with Server(tmp_path, PROPERTIES | {"topics": "orders:3"}, loops=2) as server:
        await_coordinators(server, IDS)
        with Producer(server.address, IDS[0]) as producer:
            assert producer.init().error == ErrorCode.NONE
            first = server.control(op="cut", hold_ms=300)["cut"]
            for group in GROUPS:
                assert producer.commit(group, "orders", {0: 1}) == {ErrorCode.NONE}
            assert producer.end().error == ErrorCode.NONE
            eventually(lambda: set(read(server, GROUPS).values()) == {1})
        second = server.control(op="cut")["cut"]

    assert [each["hold"] for each in first] == [each["hold"] for each in second] == [1, 1]
    assert sum(sum(each["shards"].values()) for each in first) < sum(sum(each["shards"].values()) for each in second)


def test_backup_and_restore_refuse_wrong_directories(tmp_path: Path) -> None:
    """Exit code 2, a line that says why, and nothing is written."""
    with Server(tmp_path) as server:
        server.stop()
    inside = server.data_dir / "backup"
    cases: list[tuple[list[str | Path], str]] = [
        (["backup", "--data-dir", tmp_path, "--to", inside], "no data directory"),
        (["backup", "--data-dir", server.data_dir, "--to", inside], "are not apart"),
        (["restore", "--from", server.data_dir, "--check"], "is no backup"),
    ]
    for words, why in cases:
        done = run_command(*words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert why in done.stderr
    assert not inside.exists()
