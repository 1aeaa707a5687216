"""Copies of a log between a directory and a PostgreSQL."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from coordinator_server.cli import main
from coordinator_server.log import login_key
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import LayerSummary
from coordinator_server.log.opening import identity_of, job_shard, job_shards
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.files.store import pull, push
from coordinator_server.pipeline.input.data_dir import offline_store
from coordinator_server.pipeline.input.sealing import seal
from coordinator_server.pipeline.progress import Progress
from tests.support.log import batch
from tests.support.postgresql import PostgresqlServer
from tests.support.postgresql import postgresql as postgresql  # noqa: PLC0414 - a fixture
from tests.support.segments import write_meta

A, B = ShardId("__consumer_offsets", 3), ShardId("__cluster_metadata", 0)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A directory with two shards: one in two segments, of which the batches fill several rows of a table."""
    made = tmp_path / "data"
    made.mkdir()
    write_meta(made)
    (made / login_key.NAME).write_bytes(b"k" * login_key.KEY_BYTES)
    append(made, A, 0, 5)
    append(made, B, 0, 1)
    seal(made)
    append(made, A, 5, 9)
    return made


@pytest.fixture
def address(postgresql: PostgresqlServer) -> Address:
    return Address(postgresql.url(postgresql.empty_database()))


def append(data_dir: Path, shard: ShardId, first: int, end: int) -> None:
    outcomes: list[object] = []
    with offline_store(data_dir, "test") as (store, run_until):
        data = b"".join(batch(offset, b"%d" % offset * 3000) for offset in range(first, end))
        store.submit([Append(shard, 0, first, data)], outcomes.append)
        run_until(lambda: bool(outcomes))
    assert outcomes == [None]


def content(data_dir: Path) -> dict[str, bytes]:
    """The bytes of each shard."""
    return {each.name: b"".join(map(Path.read_bytes, sorted(Path(each.place).glob("*.log")))) for each in job_shards(data_dir)}


def test_what_is_pushed_is_pulled_with_the_same_bytes(data_dir: Path, address: Address, tmp_path: Path) -> None:
    """And the same digest, identity and secret. A server can open it."""
    pushed = push(data_dir, address, Progress())
    copy = tmp_path / "copy"
    pulled = pull(address, copy, node_id=7)

    assert (pushed.ends, pushed.batches) == ({str(B): 1, str(A): 9}, 10)
    assert pulled == pushed
    assert content(copy) == content(data_dir)
    there, here = identity_of(data_dir), identity_of(copy)
    assert (here.cluster_id, here.node_id, here.partitions) == (there.cluster_id, 7, there.partitions)
    assert (copy / login_key.NAME).read_bytes() == b"k" * login_key.KEY_BYTES
    append(copy, A, 9, 10)


def test_a_push_that_was_interrupted_goes_on(data_dir: Path, address: Address, postgresql: PostgresqlServer) -> None:
    """Each shard is there as a whole, or not at all."""
    pushed = push(data_dir, address, Progress())
    database = address.url.split("/")[3].partition("?")[0]
    sid = postgresql.sql("SELECT sid FROM shard WHERE topic = '__consumer_offsets' AND next_offset > 0", database=database)[0][0]
    postgresql.sql("DELETE FROM log WHERE sid = $1", sid, database=database)
    postgresql.sql("UPDATE shard SET next_offset = 0 WHERE sid = $1", sid, database=database)

    assert push(data_dir, address, Progress()) == pushed


def test_what_differs_is_no_copy(data_dir: Path, address: Address, postgresql: PostgresqlServer) -> None:
    push(data_dir, address, Progress())
    append(data_dir, A, 9, 10)
    with pytest.raises(CannotRun, match="offset 9 in the database, and 10 here"):
        push(data_dir, address, Progress())
    database = address.url.split("/")[3].partition("?")[0]
    postgresql.sql("UPDATE shard SET next_offset = 10 WHERE next_offset = 9", database=database)
    with pytest.raises(DamagedLog, match="the row at offset 9 is missing"):
        push(data_dir, address, Progress())


def test_a_database_that_nodes_serve_takes_no_push(data_dir: Path, address: Address, postgresql: PostgresqlServer) -> None:
    push(data_dir, address, Progress())
    database = address.url.split("/")[3].partition("?")[0]
    postgresql.sql("INSERT INTO node(id, incarnation, listeners, format_max) VALUES (1, 1, '[]', 1)", database=database)
    postgresql.sql("UPDATE shard SET owner = 1, owner_incarnation = 1 WHERE sid = 1", database=database)

    with pytest.raises(CannotRun, match="nodes serve this database"):
        push(data_dir, address, Progress())


def test_a_pull_makes_a_new_directory(data_dir: Path, address: Address) -> None:
    push(data_dir, address, Progress())

    with pytest.raises(CannotRun, match="not empty: a store pull makes a new directory"):
        pull(address, data_dir, node_id=1)


def test_a_log_without_its_beginning_is_copied_with_the_layer_that_replaces_it(
    data_dir: Path, address: Address, tmp_path: Path
) -> None:
    """Without the layer it is no log."""
    shard = job_shard(data_dir / str(A))
    with shard.new_layer(5) as attempt:
        attempt.append(4, batch(4))
        attempt.close()
        assert shard.publish(str(attempt.finish(LayerSummary(1, 0, None, "d" * 32), [])), 5)
    (data_dir / str(A) / f"{0:020d}.log").unlink()

    pushed = push(data_dir, address, Progress())
    copy = tmp_path / "copy"
    pulled = pull(address, copy, node_id=7)

    assert pulled == pushed
    assert (pushed.layers, content(copy)) == (1, content(data_dir))
    layer = job_shard(copy / str(A)).newest_layer()
    assert layer is not None
    assert [header.base_offset for _, header in layer.read_with_headers()] == [4]
    append(copy, A, 9, 10)
    shutil.rmtree(copy / str(A) / f"layer-{5:020d}")
    with pytest.raises(DamagedLog, match="missing"):
        push(copy, address, Progress())


def test_the_commands_print_one_digest(
    data_dir: Path, address: Address, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    assert main(["store", "push", "--data-dir", str(data_dir), "--store", address.url]) == 0
    assert main(["store", "pull", "--data-dir", str(copy), "--store", address.url]) == 0
    pushed, pulled = capsys.readouterr().out.splitlines()
    assert f"has all of {data_dir}: 2 shards, 10 batches" in pushed
    assert f"{copy} has all of postgresql://coordinator@/" in pulled
    assert pushed.partition("digest ")[2][:16] == pulled.partition("digest ")[2][:16]

    assert main(["store", "pull", "--data-dir", str(copy), "--store", address.url]) == 2
    assert main(["store", "pull", "--data-dir", str(copy), "--store", "postgresql://me:secret@db/log"]) == 2
    assert main(["store", "pull", "--data-dir", str(copy), "--store", address.url, "--store-password", "secret"]) == 2
    assert "secret" not in capsys.readouterr().err
