"""The process of a loop without its supervisor: it ends, and touches nothing."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from coordinator_server.config import Config
from coordinator_server.server.cluster.link import encode_message
from coordinator_server.server.supervisor.messages import StartLoop
from tests.support.server import ROOT
from tests.support.views import loops_view


@pytest.mark.parametrize("has_order", [False, True])
def test_a_loop_whose_supervisor_is_gone_ends(tmp_path: Path, has_order: bool) -> None:
    """It ended before it gave an order, or right after that: another process is the parent."""
    ours, its = socket.socketpair()
    order = StartLoop(Config(), str(tmp_path), 0, loops_view(), (), (), 1, os.getpid() + 1, "info", "json")
    with ours, its:
        if has_order:
            ours.sendall(encode_message(order))
        ours.shutdown(socket.SHUT_WR)
        command = [sys.executable, "-m", "coordinator_server.cli.child", "loop", str(its.fileno()), "loop-0", str(tmp_path)]
        ended = subprocess.run(command, cwd=ROOT, pass_fds=[its.fileno()], capture_output=True, timeout=60, check=False)

    assert (ended.returncode, ended.stderr) == (1, b"")
    assert not list(tmp_path.iterdir())


def test_a_child_starts_without_rich() -> None:
    """structlog would import it where it is installed, as it is here."""
    ours, its = socket.socketpair()
    with ours, its:
        ours.shutdown(socket.SHUT_WR)
        command = [sys.executable, "-X", "importtime", "-m", "coordinator_server.cli.child", "loop", str(its.fileno())]
        ended = subprocess.run(
            command, cwd=ROOT, pass_fds=[its.fileno()], capture_output=True, text=True, timeout=60, check=False
        )

    imported = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert find_spec("rich") is not None
    assert "structlog" in imported
    assert not {name for name in imported if name.startswith("rich.")}
