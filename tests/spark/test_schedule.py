"""A schedule and the server's own cleaner on Spark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from coordinator_server.cli.clean import clean
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.pipeline.compact.engine import Engine, ShardResult, compact_shard
from coordinator_server.pipeline.compact.plan import ShardPlan
from coordinator_server.server.hosting.cleaner import COMMAND, Clean, Cleaned
from protocol.record_batch import Record
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.segments import START_MS, Batch, coordinator_log, write_meta, write_segments
from tests.support.server import Server
from tests.support.simple_requests import make_topic

LARGE: Final = "__consumer_offsets-3"
SMALL: Final = "__consumer_offsets-8"


def test_one_session_for_all_rounds(jobs: Any, tmp_path: Path) -> None:
    """Each growth of a running server's log is compacted and verified on the session that is open;
    SIGTERM ends it with exit code 0.
    """
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        jobs.start(
            *("pipeline", "compact", "verify", "--data-dir", server.data_dir),
            *("--every", "50ms", "--min-bytes", "1", "--json"),
        )

        await_rounds(server, 1)
        with Client(server.address) as client:
            make_topic(client, "payments", 2)
        await_rounds(server, 2)
        os.kill(jobs.pid, signal.SIGTERM)
        done = jobs.finish()

    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.code == 0
    assert {run["outcome"] for run in runs} == {"done"}
    assert all(run["counts"]["is_equal"] for run in runs if run["job"] == "verify")


@pytest.fixture
def sealed(tmp_path: Path) -> dict[str, int]:
    """A shard of 11 MB, and a small one."""
    write_meta(tmp_path)
    large = (Record(n, START_MS, b"\0\x63%d" % (n % 4), b"x" * 900_000) for n in range(12))
    return {
        LARGE: write_segments(tmp_path / LARGE, (Batch((record,)) for record in large)),
        SMALL: write_segments(tmp_path / SMALL, coordinator_log(8, 30), 2),
    }


def layers(data_dir: Path, shards: Iterable[str]) -> dict[str, int]:
    found = {shard: newest_valid_layer(data_dir / shard) for shard in shards}
    return {shard: layer.to_offset for shard, layer in found.items() if layer is not None}


def test_the_cleaner_leaves_to_spark_what_takes_too_much_memory(
    spark: Any, tmp_path: Path, sealed: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``auto`` the plain engine does the rest. The limit itself is of the child process, and would end this one."""

    def limited(plan: ShardPlan, cutoff_ms: int | None, engine: Engine) -> ShardResult:
        if plan.shard == LARGE:
            raise MemoryError
        return compact_shard(plan, cutoff_ms, engine)

    monkeypatch.setattr("coordinator_server.cli.clean.compact_shard", limited)

    cleaned = clean(Clean(str(tmp_path), sealed, 0, 0, 8 << 20, "auto"))

    assert (sorted(cleaned.shards), cleaned.by_spark, cleaned.left_alone) == (sorted(sealed), [LARGE], [])
    assert layers(tmp_path, sealed) == sealed


if "SPARK_AT_LENGTH" in os.environ:

    def test_the_cleaner_may_compact_all_on_spark(spark: Any, tmp_path: Path, sealed: dict[str, int]) -> None:
        """A shard that is larger than the memory is read in parts."""
        cleaned = clean(Clean(str(tmp_path), sealed, 0, 0, 8 << 20, "spark"))

        assert sorted(cleaned.by_spark) == sorted(cleaned.shards) == sorted(sealed)
        assert cleaned.left_alone == []
        assert layers(tmp_path, sealed) == sealed

    def test_the_limit_of_the_cleaners_process_does_not_stop_spark(tmp_path: Path) -> None:
        """The plain engine runs out of memory, and Spark starts in the same process."""
        write_meta(tmp_path)
        large = (Record(n, START_MS, b"\0\x63%d" % n, b"x" * 900_000) for n in range(100))
        end = write_segments(tmp_path / LARGE, (Batch((record,)) for record in large))
        order = Clean(str(tmp_path), {LARGE: end}, 0, os.getpid(), 64 << 20, "auto")

        done = subprocess.run(COMMAND, input=msgspec.json.encode(order), capture_output=True, timeout=600, check=False)

        assert (done.returncode, done.stderr) == (0, b"")
        assert msgspec.json.decode(done.stdout, type=Cleaned).by_spark == [LARGE]

    def test_a_jvm_that_dies_is_replaced(tmp_path: Path) -> None:
        """By a new session in the next round."""
        with Server(tmp_path, {"topics": "orders:6"}) as server:
            words = ["compact", "verify", "--data-dir", str(server.data_dir), "--every", "1s", "--min-bytes", "1"]
            command = [sys.executable, "-m", "coordinator_server", "pipeline", *words, "--master", "local[2]"]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as daemon:
                await_rounds(server, 1)
                for process in Path("/proc").glob("[0-9]*/stat"):
                    name, _, rest = process.read_text().rpartition(")")
                    if name.endswith("(java") and rest.split()[1] == str(daemon.pid):
                        os.kill(int(process.parent.name), signal.SIGKILL)
                with Client(server.address) as client:
                    make_topic(client, "payments", 2)
                await_rounds(server, 2)
                daemon.terminate()
                assert daemon.wait(120) == 0


def await_rounds(server: Server, count: int) -> None:
    """Until verify was done so many times."""

    def done() -> bool:
        report = server.control(op="pipeline")["pipeline"].get("schedule", {"jobs": {}})
        return int(report["jobs"].get("verify", {"runs": {}})["runs"].get("done", 0)) >= count

    eventually(done, within_s=240, describe=server.log)
