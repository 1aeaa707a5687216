"""What becomes of statements to a real PostgreSQL that are lost, late, or sent by a former owner."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from coordinator_server.log.errors import Diverged, Fenced, OutcomeUnknown, Unavailable
from tests.support.eventually import eventually
from tests.support.log import append, values
from tests.support.log_subjects import A, B, Postgresql, kinds, resolve, submit
from tests.support.postgresql import PostgresqlServer


@pytest.fixture
def hasty(postgresql: PostgresqlServer) -> Iterator[Postgresql]:
    """A node that waits for an answer a fifth of a second."""
    with closing(Postgresql(postgresql, answer_s=0.2)) as opened:
        yield opened


async def soon(holds: Callable[[], object]) -> None:
    for _ in range(10_000):
        if holds():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it takes too long")


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

    eventually(lambda: hasty.server.sql(backends, hasty.database)[0][0] < before)
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
        looking = threading.Thread(target=lambda: found.extend(node.server.waiting("PgSleep", node.database)))
        looking.start()
        looking.join()
        return found

    node.loop.run_until_complete(cancel())

    assert node.proxy.connections == before
    eventually(lambda: node.sql("SELECT next_offset FROM shard WHERE sid = $1", node.store.sids[A])[0][0] == 2)


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


def test_a_read_that_waits_ends_with_the_log(node: Postgresql) -> None:
    """A stop does not wait for a database that does not answer."""
    assert submit(node, append(0, 0)) == {}
    node.reopen()
    assert node.store.end_offset(A) == 1
    held = node.proxy.hold()
    outcome: list[str] = []

    def read() -> None:
        try:
            outcome.append(f"read {values(node.store.read(A, 0))}")
        except Unavailable as refused:
            outcome.append(str(refused))

    reading = threading.Thread(target=read)
    reading.start()
    eventually(lambda: any(link.held_bytes for link in held))
    node.store.close()
    reading.join(5)
    node.proxy.release(held)

    assert not reading.is_alive()
    [why] = outcome
    assert "read" in why
    assert "lost" in why or "closed" in why
