"""What becomes of statements to a real PostgreSQL that go wrong: lost, late, refused, cancelled, or sent by a former owner."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any

import asyncpg
import pytest

from coordinator_server.log.errors import DamagedLog, Diverged, Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.postgresql.tails import KEPT_BYTES
from coordinator_server.log.shards import Append, Ownership, ShardId
from coordinator_server.log.store import ReadRange
from tests.support.log import append, batch, values
from tests.support.log_subjects import A, B, C, Postgresql, kinds, resolve, submit
from tests.support.postgresql import PostgresqlServer

CATALOG = ShardId("__cluster_metadata", 0)


@pytest.fixture
def node(postgresql: PostgresqlServer) -> Iterator[Postgresql]:
    with closing(Postgresql(postgresql)) as opened:
        yield opened


@pytest.fixture
def hasty(postgresql: PostgresqlServer) -> Iterator[Postgresql]:
    """A node that waits for an answer a fifth of a second."""
    with closing(Postgresql(postgresql, answer_s=0.2)) as opened:
        yield opened


def acquire(node: Postgresql, shard: ShardId, epoch: int) -> LogError | None:
    outcome: list[LogError | None] = []
    node.store.acquire(Ownership(shard, epoch), outcome.append)
    node.run()
    return outcome[0]


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


async def soon(holds: Callable[[], object]) -> None:
    for _ in range(10_000):
        if holds():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it takes too long")


def waiting(node: Postgresql, what: str) -> list[int]:
    """The backends of the node's database that wait for something."""
    found = node.server.sql(
        "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND wait_event = $2", node.database, what, database="postgres"
    )
    return [row[0] for row in found]


# Statements without an answer.


def test_a_statement_that_is_lost_on_its_way_is_not_written(node: Postgresql) -> None:
    assert submit(node, append(0, 0, b"first")) == {}
    node.proxy.loses_question = True
    doubted = append(0, 1, b"doubted")
    assert kinds(submit(node, doubted)) == {A: OutcomeUnknown}

    assert kinds(resolve(node, doubted)) == {A: Unavailable}
    assert submit(node, append(0, 1, b"next")) == {}
    assert values(node.store.read(A, 0)) == [b"first", b"next"]


def test_a_statement_that_arrives_after_its_outcome_was_resolved_writes_nothing(hasty: Postgresql) -> None:
    """The network has held it, and it is delivered when its connection is gone."""
    assert submit(hasty, append(0, 0, b"first")) == {}
    held = hasty.proxy.hold()
    doubted = append(0, 1, b"doubted"), append(1, 0, b"doubted")
    assert kinds(submit(hasty, *doubted)) == {A: OutcomeUnknown, B: OutcomeUnknown}
    assert kinds(resolve(hasty, *doubted)) == {A: Unavailable, B: Unavailable}
    backends = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND application_name LIKE '%writes'"
    before = hasty.server.sql(backends, hasty.database)[0][0]

    hasty.proxy.release(held)

    until(lambda: hasty.server.sql(backends, hasty.database)[0][0] < before)
    assert [hasty.sql("SELECT count(*) FROM log")[0][0], submit(hasty, append(0, 1, b"next"))] == [1, {}]


def test_a_resolution_goes_on_while_the_database_is_away(node: Postgresql) -> None:
    assert submit(node, append(0, 0, b"first")) == {}
    node.proxy.loses_answer = True
    doubted = append(0, 1, b"doubted")
    assert kinds(submit(node, doubted)) == {A: OutcomeUnknown}
    node.proxy.is_away = True
    came_back = threading.Timer(0.3, lambda: setattr(node.proxy, "is_away", False))
    came_back.start()

    assert resolve(node, doubted) == {}
    assert values(node.store.read(A, 0)) == [b"first", b"doubted"]


def test_a_resolution_whose_answer_is_lost_is_asked_again(node: Postgresql) -> None:
    """Its second statement is a write, too: it is durable when it answers."""
    assert submit(node, append(0, 0, b"first")) == {}
    node.proxy.loses_question = True
    doubted = append(0, 1, b"doubted")
    assert kinds(submit(node, doubted)) == {A: OutcomeUnknown}
    resolved: list[Any] = []

    async def lose_it() -> None:
        before = node.proxy.connections
        node.store.resolve([doubted], resolved.append)
        await soon(lambda: node.proxy.connections > before and node.store.refusal is None)
        node.proxy.loses_answer = True
        await node.store.settled()

    node.loop.run_until_complete(lose_it())

    assert kinds(resolved[0]) == {A: Unavailable}
    assert submit(node, append(0, 1, b"next")) == {}


def test_submits_wait_while_the_database_is_away(node: Postgresql) -> None:
    """Nothing is refused, and nothing is in doubt: the statement was not sent."""
    assert submit(node, append(0, 0)) == {}
    node.proxy.is_away = True
    node.loop.run_until_complete(asyncio.sleep(0.05))
    threading.Timer(0.2, lambda: setattr(node.proxy, "is_away", False)).start()

    assert submit(node, append(0, 1)) == {}
    assert node.store.refusal is None


def test_a_cancelled_task_cancels_no_statement(node: Postgresql) -> None:
    """It ends the connection. A cancel would be a second connection, and a success that no standby has."""
    assert submit(node, append(0, 0)) == {}
    node.sql("CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(0.5); RETURN new; END$$")
    node.sql("CREATE TRIGGER wait BEFORE INSERT ON log FOR EACH ROW EXECUTE FUNCTION wait()")
    before = node.proxy.connections

    async def cancel() -> None:
        node.store.submit([append(0, 1)], lambda _: None)
        [task] = node.store._tasks
        await soon(waiting_now)
        task.cancel()
        await asyncio.wait([task])
        await asyncio.sleep(0.1)

    def waiting_now() -> list[int]:
        found: list[int] = []
        looking = threading.Thread(target=lambda: found.extend(waiting(node, "PgSleep")))
        looking.start()
        looking.join()
        return found

    node.loop.run_until_complete(cancel())

    assert node.proxy.connections == before
    until(lambda: node.sql("SELECT next_offset FROM shard WHERE sid = $1", node.store.sids[A])[0][0] == 2)


# A primary that waits for a standby.


@pytest.fixture
def lonely(postgresql: PostgresqlServer) -> Iterator[Postgresql]:
    """A node of a primary whose standby is away."""
    opened = Postgresql(postgresql)
    assert submit(opened, append(0, 0)) == {}
    _wait_for_standbys(postgresql, "away")
    yield opened
    _wait_for_standbys(postgresql, "")
    opened.close()


def _wait_for_standbys(server: PostgresqlServer, names: str) -> None:
    server.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
    server.sql("SELECT pg_reload_conf()")
    until(lambda: server.sql("SHOW synchronous_standby_names")[0][0] == names)
    if names:
        # Commits wait when a process of the server has noticed, too, which may be later.
        while not _waits(server):
            pass


def _waits(server: PostgresqlServer) -> bool:
    """Return whether a commit waits for a standby now."""

    def commit() -> None:
        with suppress(asyncpg.PostgresError):
            server.sql("SELECT pg_logical_emit_message(true, '', '')")

    committing = threading.Thread(target=commit)
    committing.start()
    found: list[Any] = []
    while committing.is_alive() and not found:
        found = server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    committing.join()
    return bool(found)


@pytest.mark.parametrize("how", ["pg_cancel_backend", "pg_terminate_backend"])
def test_whoever_ends_the_wait_for_a_standby_makes_no_success_of_it(lonely: Postgresql, how: str) -> None:
    """The database answers with a warning, or not at all. The resolution waits for the standby."""

    def end_the_wait() -> None:
        until(lambda: waiting(lonely, "SyncRep"))
        for pid in waiting(lonely, "SyncRep"):
            lonely.server.sql(f"SELECT {how}($1)", pid)

    ending = threading.Thread(target=end_the_wait)
    ending.start()
    doubted = append(0, 1, b"doubted")
    failures = submit(lonely, doubted)
    ending.join()
    assert kinds(failures) == {A: OutcomeUnknown}

    def let_go() -> None:
        until(lambda: waiting(lonely, "SyncRep"))
        _wait_for_standbys(lonely.server, "")

    letting_go = threading.Thread(target=let_go)
    letting_go.start()
    assert resolve(lonely, doubted) == {}
    letting_go.join()


def test_a_primary_that_stops_to_wait_is_in_doubt(postgresql: PostgresqlServer) -> None:
    """Where a standby is asked for. It counts again when one is named."""
    database = postgresql.database()
    _wait_for_standbys(postgresql, "away")
    try:
        with closing(Postgresql(postgresql, database, needs_standby=True)) as node:
            _wait_for_standbys(postgresql, "")
            offset = 0
            while not (failures := submit(node, append(0, offset))):
                # Its backend has not noticed yet.
                offset += 1
            assert "waits for no standby" in str(failures[A])
            assert kinds(failures) == {A: OutcomeUnknown}
    finally:
        _wait_for_standbys(postgresql, "")


# Other owners.


def test_a_former_owner_is_fenced(node: Postgresql) -> None:
    """Whether the outcome was known or not. What it has in memory is not read any more."""
    assert submit(node, append(0, 0), append(1, 0)) == {}
    node.proxy.loses_question = True
    doubted = append(0, 1, b"doubted")
    assert kinds(submit(node, doubted)) == {A: OutcomeUnknown}
    other = node.node(1)
    node.take(A, 1)
    node.take(B, 1)
    outcome: list[Any] = []
    other.submit([append(0, 1, b"theirs", epoch=1), append(1, 1, b"theirs", epoch=1)], outcome.append)
    node.loop.run_until_complete(other.settled())
    assert outcome == [None]

    assert kinds(resolve(node, doubted)) == {A: Fenced}
    assert kinds(submit(node, append(1, 1, b"late"))) == {B: Fenced}
    assert [values(node.store.read(each, 1)) for each in (A, B)] == [[b"theirs"]] * 2
    other.close()


@pytest.mark.parametrize("is_in_doubt", [False, True])
def test_a_database_that_lost_what_it_acknowledged_is_an_alarm(node: Postgresql, is_in_doubt: bool) -> None:
    assert submit(node, append(0, 0), append(1, 0)) == {}
    assert submit(node, append(0, 1)) == {}
    following = append(0, 2)
    if is_in_doubt:
        node.proxy.loses_question = True
        assert kinds(submit(node, following)) == {A: OutcomeUnknown}
    node.sql("UPDATE shard SET next_offset = 1 WHERE sid = $1", node.store.sids[A])

    assert kinds(resolve(node, following) if is_in_doubt else submit(node, following)) == {A: Diverged}


def test_one_list_of_appends_at_a_time(node: Postgresql) -> None:
    """The next one comes after ``done``."""

    async def twice() -> None:
        node.store.submit([append(0, 0)], lambda _: None)
        with pytest.raises(RuntimeError, match="after the done"):
            node.store.submit([append(1, 0)], lambda _: None)
        await node.store.settled()

    node.loop.run_until_complete(twice())


# Shards that a node acquires.


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
        node.store.forget([A])
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


def test_shards_that_a_loop_has_released_are_taken(node: Postgresql) -> None:
    """By another loop of the same node, at the same epoch and end."""
    assert submit(node, append(0, 0), append(1, 0, count=3)) == {}
    released: list[Any] = []
    node.store.release([A, B, C], released.append)
    node.run()
    node.store.forget([A, B, C])
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
