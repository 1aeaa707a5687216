"""A node whose log is in a PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from coordinator_server.log.postgresql.objects import Objects
from tests.support.job_subjects import PostgresqlDatabase
from tests.support.log_subjects import Postgresql
from tests.support.postgresql import PostgresqlServer
from tests.support.stored_layers import eras, keep_in


@pytest.fixture
def node(postgresql: PostgresqlServer) -> Iterator[Postgresql]:
    with closing(Postgresql(postgresql)) as opened:
        yield opened


@pytest.fixture
def subject(postgresql: PostgresqlServer) -> Iterator[PostgresqlDatabase]:
    """A log that this process makes layers of."""
    with closing(PostgresqlDatabase(postgresql)) as opened:
        yield opened


@pytest.fixture
def files(subject: PostgresqlDatabase, tmp_path: Path) -> Objects:
    """The object store of a cluster with three closed eras. It leaves layers in the database."""
    found = keep_in(subject, f"file://{tmp_path}/objects")
    subject.node.sql("INSERT INTO node(id, incarnation, listeners, format_max) VALUES (9, 1, '[]', 2)")
    eras(subject, 3)
    return found
