"""Verify beside a running server: its digest, the full history and the compacted log are one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec

from coordinator_server.pipeline.verify import Verdict
from tests.support.asking import commit_alone, make_topic
from tests.support.client import Client
from tests.support.members import form_group
from tests.support.server import ROOT, Server


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "coordinator_server", *words], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_server_its_history_and_its_layers_agree(tmp_path: Path) -> None:
    """After compaction, more commits, deletions of members, and a kill -9."""
    with Server(tmp_path) as server:
        with Client(server.address) as client:
            make_topic(client, "orders", 4)
            for number in range(30):
                commit_alone(client, f"simple-{number}", "orders", {0: number, 1: number})
            members = form_group(server.address, "readers", 2)
            members[0].commit("orders", {0: 1, 1: 2})
        assert command("compact", "--data-dir", str(server.data_dir), "--engine", "python").returncode == 0
        server.kill()
        server.start()
        with Client(server.address) as client:
            for number in range(0, 30, 3):
                commit_alone(client, f"simple-{number}", "orders", {1: 1000 + number})

        done = command("verify", "--data-dir", str(server.data_dir), "--engine", "python", "--json")

        assert done.returncode == 0, done.stderr
        verdicts = msgspec.json.decode(done.stdout, type=list[Verdict])
        assert sum(verdict.groups for verdict in verdicts) == 31
        assert all(verdict.live == verdict.full == verdict.compacted for verdict in verdicts)
