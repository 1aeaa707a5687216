"""A primary that waits for a standby: nothing is durable before that has it, whoever ends the wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import asyncpg
import pytest

from coordinator_server.log.errors import OutcomeUnknown
from tests.support.eventually import eventually
from tests.support.log import append
from tests.support.log_subjects import A, Postgresql, kinds, resolve, submit
from tests.support.postgresql import PostgresqlServer


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
    eventually(lambda: server.sql("SHOW synchronous_standby_names")[0][0] == names)
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
        eventually(lambda: lonely.server.waiting("SyncRep", lonely.database))
        for pid in lonely.server.waiting("SyncRep", lonely.database):
            lonely.server.sql(f"SELECT {how}($1)", pid)

    ending = threading.Thread(target=end_the_wait)
    ending.start()
    doubted = append(0, 1, b"doubted")
    failures = submit(lonely, doubted)
    ending.join()
    assert kinds(failures) == {A: OutcomeUnknown}

    def let_go() -> None:
        eventually(lambda: lonely.server.waiting("SyncRep", lonely.database))
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
