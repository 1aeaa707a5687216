"""``pipeline --every`` beside a server that is used, restarted and damaged."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

import pytest

from tests.support.client import Client
from tests.support.command_forks import fork_command
from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.simple_requests import make_topic, must_commit

JOBS = ("compact", "history", "verify")


def start(data_dir: Path, stderr: IO[bytes], *more: str) -> Any:
    words = ["pipeline", *JOBS, "--engine", "python", "--every", "100ms", "--min-bytes", "1", "--longest", "1h"]
    words += ["--data-dir", str(data_dir), "--out", str(data_dir.parent / "history"), *more]
    return fork_command(words, os.environ, stderr)


def rounds(server: Server) -> int:
    report = server.control(op="pipeline")["pipeline"].get("schedule", {})
    done: int = report.get("jobs", {}).get("verify", {}).get("runs", {}).get("done", 0)
    return done


def await_rounds(server: Server, count: int) -> None:
    eventually(lambda: rounds(server) >= count, describe=server.log)


@pytest.mark.parametrize("loops", [1, 2])
def test_it_works_beside_a_server_that_restarts(tmp_path: Path, loops: int) -> None:
    """Each growth of the log makes a round, the server has the reports, a restart is waited out,
    and damage ends it with exit code 1.
    """
    with Server(tmp_path, {"topics": "orders:6", "log.cleaner.enable": "false"}, loops=loops) as server:
        with (tmp_path / "stderr").open("wb") as stderr:
            daemon = start(server.data_dir, stderr)
        try:
            await_rounds(server, 1)
            for after in (2, 3):
                with Client(server.address) as client:
                    make_topic(client, f"payments-{after}", 2)
                await_rounds(server, rounds(server) + 1)
            report = server.control(op="pipeline")["pipeline"]["schedule"]
            assert report["pid"] == daemon.pid
            assert report["jobs"]["verify"]["last"]["counts"]["is_equal"] is True
            assert report["jobs"]["compact"]["records_in"] > 0
            assert set(report["jobs"]) == set(JOBS)

            assert server.stop() == 0
            server.start()
            await_rounds(server, 3)
            assert daemon.poll() is None

            shard = server.data_dir / "__cluster_metadata-0"
            segment = min(shard.glob("*.log"))
            segment.write_bytes(segment.read_bytes()[:-1] + b"\xff")
            with Client(server.address) as client:
                make_topic(client, "refunds", 2)
            assert daemon.wait(60) == 1
        finally:
            daemon.kill()
    assert f"{segment} at byte" in (tmp_path / "stderr").read_text()


def test_a_schedule_ends_with_sigterm(tmp_path: Path) -> None:
    """Exit code 0; without a server it recovers the log itself."""
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        with Client(server.address) as client:
            must_commit(client, "readers", "orders", {0: 1})
        server.stop()
    with (tmp_path / "stderr").open("wb") as stderr:
        daemon = start(server.data_dir, stderr, "--json")
    try:
        line = b""
        while line.count(b"\n") < len(JOBS):
            line += os.read(daemon.stdout.fileno(), 1 << 16)
        daemon.send_signal(15)
        assert daemon.wait(30) == 0
    finally:
        daemon.kill()
    assert line.count(b'"outcome":"done"') == len(JOBS)
    assert (tmp_path / "stderr").read_text() == ""
