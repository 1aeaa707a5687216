"""The daemon removes what compaction made superfluous, and nobody notices."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from protocol.error_codes import ErrorCode
from tests.support.asking import commit_alone, committed
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.server import ROOT, Server

GROUPS = [f"readers-{number}" for number in range(5)]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "coordinator_server", *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def test_history_without_length(tmp_path: Path) -> None:
    """Segments that a layer stands for go, and so do the layers before the newest; positions stay, over restarts too, and all that is left is whole."""
    overrides = {"topics": "orders:6", "log.history.retention.ms": 0, "log.retention.check.interval.ms": 200}
    with Server(tmp_path, overrides) as server:
        for round_ in range(3):
            with Client(server.address) as client:
                for offset in range(10):
                    for group in GROUPS:
                        assert commit_alone(client, group, "orders", {0: 10 * round_ + offset}) == {0: ErrorCode.NONE}
            compacted = run("compact", "--engine", "python", "--data-dir", str(server.data_dir))
            assert compacted.returncode == 0, compacted.stderr
            # The journal's head names the segments that a start needs; it is written anew at a start.
            server.kill()
            server.start()
            eventually(lambda: is_bare(server.data_dir), describe=lambda: sorted(server.data_dir.glob("__consumer*/*")))
        verified = run("log", "verify", "--data-dir", str(server.data_dir))
        assert verified.returncode == 0, verified.stdout
        assert "beside a running server" in verified.stdout
        server.kill()
        server.start()
        with Client(server.address) as client:
            assert [committed(client, group) for group in GROUPS] == [{("orders", 0): 29}] * len(GROUPS)
        assert "history-removed" in server.log()


def is_bare(data_dir: Path) -> bool:
    """Every shard has one layer, and only the segments after it."""
    shards = [path for path in data_dir.glob("__consumer_offsets-*") if any(path.iterdir())]
    layers = [list(path.glob("layer-*")) for path in shards]
    return bool(shards) and all(
        len(found) == 1 and all(int(segment.stem) >= int(found[0].name[6:]) for segment in path.glob("*.log"))
        for path, found in zip(shards, layers, strict=True)
    )
