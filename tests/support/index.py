"""An index of groups beside a log, and the answers with it and without it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from coordinator_server.log.opening import job_shard
from coordinator_server.pipeline.index.answers import GroupHistory
from coordinator_server.pipeline.index.database import open_to_write
from coordinator_server.pipeline.index.feed import DIRECTORY, Updated, update_shard
from coordinator_server.pipeline.index.period import Period
from coordinator_server.pipeline.index.writer import IndexWriter
from coordinator_server.pipeline.input.topic_names import NO_NAMES

SHARD: Final = "__consumer_offsets-0"
"""The only shard of groups."""
CLUSTER: Final = "AAAAAAAAAAAAAAAAAAAAAQ"


class Killed(Exception):
    """The process has ended here."""


class FailingDatabase:
    """A connection that ends its process at one of its statements."""

    def __init__(self, database: sqlite3.Connection, left: int) -> None:
        self._database = database
        self._left = left

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        if self._left == 0:
            raise Killed
        self._left -= 1
        return self._database.execute(*statement)

    @property
    def in_transaction(self) -> bool:
        return self._database.in_transaction


def make_directory(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir()
    facts = {"version": 1, "cluster.id": CLUSTER, "node.id": 1, "offsets.topic.num.partitions": 1}
    (data / "meta.properties").write_text("".join(f"{name}={value}\n" for name, value in facts.items()))
    return data


@contextmanager
def index_writer(data: Path, chunk_bytes: int, left: int = -1) -> Iterator[IndexWriter]:
    with open_to_write(data / DIRECTORY, CLUSTER) as database:
        yield IndexWriter(FailingDatabase(database, left), NO_NAMES, chunk_bytes)  # type: ignore[arg-type]  # as much of it as it needs


def update(data: Path, end: int, chunk_bytes: int, left: int = -1) -> None:
    with index_writer(data, chunk_bytes, left) as writer:
        update_shard(writer, job_shard(data / SHARD), end, Updated())
        writer.flush()


def answers(data: Path, end: int, groups: Sequence[str], periods: Sequence[Period], told: list[str]) -> list[Any]:
    """What is said of each group in each period, and at each of its borders."""
    found: list[Any] = []
    for group_id in groups:
        history = GroupHistory(data, group_id, told.append)
        for period in periods:
            said = history.events(period, end, NO_NAMES)
            found.append((group_id, period, said.events, said.left_out, said.ledger.state()))
            found += [
                (group_id, at_ms, history.at(at_ms, end, NO_NAMES))
                for at_ms in (period.since_ms, period.until_ms)
                if at_ms is not None
            ]
        found.append((group_id, history.at(2**62, end, NO_NAMES), history.owners(end, NO_NAMES)))
    return found


def assert_same(data: Path, end: int, groups: Sequence[str], periods: Sequence[Period]) -> None:
    """The index says what the log says."""
    told: list[str] = []
    with_index = answers(data, end, groups, periods, told)
    assert not told
    (data / DIRECTORY).rename(data / "away")
    assert with_index == answers(data, end, groups, periods, told)
    (data / "away").rename(data / DIRECTORY)
