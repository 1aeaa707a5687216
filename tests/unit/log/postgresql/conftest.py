"""A node whose log is in a PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.job_subjects import PostgresqlDatabase
from tests.support.log_subjects import Postgresql
from tests.support.postgresql import PostgresqlServer


@pytest.fixture
def node(postgresql: PostgresqlServer) -> Iterator[Postgresql]:
    with closing(Postgresql(postgresql)) as opened:
        yield opened


@pytest.fixture
def subject(postgresql: PostgresqlServer) -> Iterator[PostgresqlDatabase]:
    """A log that this process makes layers of."""
    with closing(PostgresqlDatabase(postgresql)) as opened:
        yield opened
