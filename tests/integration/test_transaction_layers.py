"""Transactions that are open while the log of their groups is compacted, by the server's cleaner and by jobs in turns,
and the server is killed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from coordinator_server.cli.clean import clean
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.pipeline.compact.engine import ShardResult, compact_shard
from coordinator_server.pipeline.compact.plan import ShardPlan
from coordinator_server.pipeline.compact.run import compact as run_compaction
from coordinator_server.pipeline.compact.run import compaction_lock, plans
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.replay.shard_states import replay
from coordinator_server.pipeline.replay.verify import Check, verify_shard
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.server.hosting.cleaner import Clean
from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.producer import Producer, home_of
from tests.support.server import Server
from tests.support.simple_requests import OF_GROUPS, must_commit

pytest.importorskip("pyarrow", reason="the spark extra is not installed: make test brings it")

from coordinator_server.pipeline.compact.vector_engine import VectorEngine

LONG_MS = 600_000
SHARD = f"__consumer_offsets-{partition_for('g', 50)}"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path, {"topics": "orders:6", "log.cleaner.enable": "false"}, loops=2) as server:
        yield server


def compact(server: Server, engine: str) -> None:
    """By the cleaner or a job; the layer has a checkpoint, whatever is open."""
    sealed = server.control(op="seal")["shards"]
    if engine == "cleaner":
        clean(Clean(str(server.data_dir), sealed, 0, os.getpid(), 1 << 30))
    else:
        with compaction_lock(server.data_dir):
            run_compaction(plans(server.data_dir, sealed), None, in_columns, Progress())
    layer = newest_valid_layer(server.data_dir / SHARD)
    assert layer is not None
    assert layer.manifest.checkpoint


def in_columns(todo: Sequence[ShardPlan], cutoff_ms: int | None, _progress: Progress) -> list[ShardResult]:
    """As tasks on Spark do it: ``spark/test_compact.py`` shows that their layers have these bytes."""
    return [compact_shard(plan, cutoff_ms, VectorEngine()) for plan in todo]


def assert_all_agree(server: Server) -> None:
    """The server, and its log read in each way."""
    told = server.control(op="digest", shards=[SHARD], parts=True)["shards"][SHARD]
    assert server.control(op="seal")["ok"]
    [replayed] = replay(server.data_dir, [SHARD], told["offset"])
    verdict = verify_shard(Check(str(server.data_dir / SHARD), told["offset"], told["digest"], told["parts"]))

    assert (replayed.is_whole, replayed.digest) == (True, told["digest"])
    assert (verdict.full, verdict.compacted, verdict.differences) == (told["digest"], told["digest"], ())


def commit_plainly(server: Server, offset: int) -> None:
    with Client(home_of(server.address, "g", OF_GROUPS)) as client:
        must_commit(client, "g", "orders", {0: offset, 1: offset})


def start_again(server: Server) -> None:
    server.kill()
    server.loops, server.port = 3 - server.loops, 0
    server.start()


def test_digests_agree_while_transactions_are_open_over_layers(server: Server) -> None:
    """One of them is committed and one aborted after two layers and a start."""
    with Producer(server.address, "one") as one, Producer(server.address, "two") as two:
        assert [each.init(timeout_ms=LONG_MS).error for each in (one, two)] == [ErrorCode.NONE] * 2
        assert one.commit("g", "orders", {0: 10, 2: 10}) == {ErrorCode.NONE}
        commit_plainly(server, 5)
        compact(server, "cleaner")
        assert_all_agree(server)
        assert two.commit("g", "orders", {1: 20}) == {ErrorCode.NONE}
        compact(server, "columns")
        commit_plainly(server, 6)
        assert_all_agree(server)
    start_again(server)
    assert_all_agree(server)
    compact(server, "cleaner")
    with Producer(server.address, "one") as again, Producer(server.address, "two") as other:
        for producer, before in ((again, one), (other, two)):
            producer.producer_id, producer.epoch = before.producer_id, before.epoch
        assert again.end().error == ErrorCode.NONE
        again.until("CompleteCommit")
        compact(server, "columns")
        assert_all_agree(server)
        assert other.end(is_commit=False).error == ErrorCode.NONE
        other.until("CompleteAbort")
    compact(server, "cleaner")
    start_again(server)
    assert_all_agree(server)
