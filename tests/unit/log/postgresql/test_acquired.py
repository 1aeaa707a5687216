"""Shards that a node acquires: read once in one snapshot, and then from memory."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from coordinator_server.log.errors import DamagedLog, Diverged, Fenced, LogError, Unavailable
from coordinator_server.log.postgresql.loads import FOLLOWING
from coordinator_server.log.postgresql.rows import ROWS_FROM
from coordinator_server.log.postgresql.tails import KEPT_BYTES
from coordinator_server.log.shards import Append, Ownership, ShardId
from coordinator_server.log.store import ReadRange
from tests.support.log import append, batch, values
from tests.support.log_subjects import A, B, C, Postgresql, kinds, submit

CATALOG = ShardId("__cluster_metadata", 0)


def acquire(node: Postgresql, shard: ShardId, epoch: int) -> LogError | None:
    outcome: list[LogError | None] = []
    node.store.acquire(Ownership(shard, epoch), outcome.append)
    node.run()
    return outcome[0]


def test_an_acquired_shard_is_read_without_the_database(node: Postgresql) -> None:
    """All of it once, as a load does; its end afterwards."""
    for offset in range(100):
        assert submit(node, append(0, offset, b"%d" % offset * 2000)) == {}
    node.reopen()
    node.take(A, 1)
    assert acquire(node, A, 1) is None
    node.proxy.is_away = True

    assert (node.store.end_offset(A), node.store.end_time(A)) == (100, 1_700_000_000_000)
    assert values(node.store.read(A, 0)) == [b"%d" % offset * 2000 for offset in range(100)]
    assert values(node.store.read(A, 95)) == [b"%d" % offset * 2000 for offset in range(95, 100)]
    assert node.store.read_range(A, ReadRange(99, 10**6, 100)).next_offset == 100
    node.proxy.is_away = False
    assert values(node.store.read(A, 0)) == [b"%d" % offset * 2000 for offset in range(100)]


def test_memory_has_the_end_of_a_shard_and_all_of_the_catalog(node: Postgresql) -> None:
    """Followers of the catalog may ask for all of it."""
    large = b"x" * (KEPT_BYTES // 4)
    for offset in range(8):
        appends = append(0, offset, large), Append(CATALOG, 0, offset, batch(offset, large))
        assert submit(node, *appends) == {}
    node.proxy.is_away = True

    assert len(values(node.store.read(CATALOG, 0))) == 8
    assert len(values(node.store.read(A, 5))) == 3
    with pytest.raises(Unavailable):
        list(node.store.read(A, 0))


def test_a_shard_of_another_epoch_is_not_acquired(node: Postgresql) -> None:
    """A former primary may show it: whoever has the new epoch has all that was written before."""
    assert submit(node, append(0, 0)) == {}

    assert isinstance(acquire(node, A, 1), Fenced)


def test_a_shard_is_acquired_when_the_database_is_back(node: Postgresql) -> None:
    assert submit(node, append(0, 0, b"kept")) == {}
    node.reopen()
    node.proxy.is_away = True
    threading.Timer(0.3, lambda: setattr(node.proxy, "is_away", False)).start()

    assert acquire(node, A, 0) is None
    assert values(node.store.read(A, 0)) == [b"kept"]


def test_a_shard_that_is_left_meanwhile_is_not_acquired(node: Postgresql) -> None:
    node.proxy.is_away = True
    outcome: list[LogError | None] = []

    async def leave() -> None:
        node.store.acquire(Ownership(A, 0), outcome.append)
        await asyncio.sleep(0.05)
        node.store.forget([A], lambda: None)
        await node.store.settled()

    node.loop.run_until_complete(leave())

    assert isinstance(outcome[0], Unavailable)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        ("DELETE FROM log WHERE base_offset = 1", "the row at offset 1 is missing"),
        ("DELETE FROM log WHERE base_offset = 2", "the row at offset 2 is missing"),
        ("UPDATE log SET data = set_byte(data, 70, 1) WHERE base_offset = 1", "checksum"),
        ("UPDATE log SET next_offset = 3 WHERE base_offset = 1", "end at 2, and the row says 3"),
    ],
)
def test_a_shard_with_rows_that_are_missing_or_damaged_is_not_acquired(node: Postgresql, damage: str, why: str) -> None:
    for offset in range(3):
        assert submit(node, append(0, offset)) == {}
    node.sql(damage)
    node.reopen()

    refused = acquire(node, A, 0)

    assert isinstance(refused, DamagedLog)
    assert why in str(refused)


def prepare(node: Postgresql, shard: ShardId) -> list[str]:
    """Prepare a shard. The list gets the statements that ``acquire`` sends to read rows."""
    done: list[bool] = []
    node.store.prepare([shard], lambda: done.append(True))
    node.run()
    assert done == [True]
    read = node.store._loads._session._run
    statements: list[str] = []

    async def noted(connection: Any, statement: str, arguments: Any) -> Any:
        if statement == ROWS_FROM:
            statements.append(f"{arguments[1]} to {arguments[2]}")
        elif statement == FOLLOWING:
            statements.append(f"after {arguments[1]}")
        return await read(connection, statement, arguments)

    node.store._loads._session._run = noted
    return statements


def test_a_shard_that_was_prepared_is_read_from_its_last_row_on(node: Postgresql) -> None:
    """While another node owns it, which goes on writing."""
    for offset in range(10):
        assert submit(node, append(0, offset, b"%d" % offset)) == {}
    node.reopen()
    statements = prepare(node, A)
    writer = node.node()
    node.store, reader = writer, node.store
    assert submit(node, append(0, 10, b"10")) == {}
    writer.close()
    node.store = reader
    node.take(A, 1)

    assert acquire(node, A, 1) is None
    assert (statements, node.store.end_offset(A)) == (["after 9"], 11)
    assert values(node.store.read(A, 0)) == [b"%d" % offset for offset in range(11)]


def test_what_was_prepared_and_is_not_in_the_database_any_more_is_read_again(node: Postgresql) -> None:
    """A standby that has lost rows may have others in their place."""
    for offset in range(3):
        assert submit(node, append(0, offset, b"%d" % offset)) == {}
    node.reopen()
    statements = prepare(node, A)
    node.sql("UPDATE shard SET next_offset = 2 WHERE next_offset = 3")
    node.sql("DELETE FROM log WHERE base_offset = 2")
    node.take(A, 1)

    assert acquire(node, A, 1) is None
    assert (statements, values(node.store.read(A, 0))) == (["after 2", "0 to 2"], [b"0", b"1"])


def test_what_cannot_be_prepared_is_read_when_it_is_acquired(node: Postgresql) -> None:
    """Nobody waits for a database that is away."""
    assert submit(node, append(0, 0, b"kept")) == {}
    node.reopen()
    node.proxy.is_away = True
    statements = prepare(node, A)
    node.proxy.is_away = False

    assert acquire(node, A, 0) is None
    assert (statements, values(node.store.read(A, 0))) == (["0 to 1"], [b"kept"])


def test_shards_that_a_loop_has_released_are_taken(node: Postgresql) -> None:
    """By another loop of the same node, at the same epoch and end."""
    assert submit(node, append(0, 0), append(1, 0, count=3)) == {}
    released: list[Any] = []
    node.store.release([A, B, C], released.append)
    node.run()
    node.store.forget([A, B, C], lambda: None)
    taken: list[LogError | None] = []
    node.store.take(released[0], taken.append)
    node.run()

    assert ([(end.shard, end.offset) for end in released[0]], taken) == ([(A, 1), (B, 3)], [None])
    assert submit(node, append(1, 3)) == {}
    node.store.take([released[0][1]], taken.append)
    node.run()
    assert isinstance(taken[1], Diverged)


def test_what_was_written_is_counted(node: Postgresql) -> None:
    assert submit(node, append(0, 0), append(1, 0)) == {}
    node.refuse(B)
    assert kinds(submit(node, append(1, 1, b"x" * 200_000))) == {B: Unavailable}

    counts = node.store.submits
    assert (counts.submits, sum(counts.sizes), counts.refusals) == (1, 3, 1)
    assert "too large" in str(counts.refusal)
    assert node.store.topics() == {"__consumer_offsets"}


def test_a_page_of_rows_is_found_by_the_index(node: Postgresql) -> None:
    """However many rows other shards, other eras and other pages have: nothing is sorted."""
    node.sql(
        "INSERT INTO log SELECT era, sid, at, at + 1, 0, '' FROM generate_series(0, 1) era, generate_series(1, 20) sid, "
        "generate_series(era * 1000, era * 1000 + 999) at"
    )
    node.sql("ANALYZE log")
    session = node.store.session("test")
    page = ROWS_FROM
    for number, value in enumerate(("7", "500::bigint", "1500::bigint", "64"), 1):
        page = page.replace(f"${number}", value)

    found = node.loop.run_until_complete(session.read(f"EXPLAIN {page}"))
    session.close()

    plan = "\n".join(row[0] for row in found)
    assert "Merge Append" in plan
    assert "Index Cond: ((sid = 7) AND (base_offset >= '500'::bigint) AND (base_offset < '1500'::bigint))" in plan
    assert "->  Sort" not in plan
