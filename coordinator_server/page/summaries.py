"""The summaries of all groups, in a SQLite database beside the index, which filters and sorts them.

It is a cache: made again from the index at any time, by the one process that has its lock. Others read what is there.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import asdict

from coordinator_server.page.filters import condition
from coordinator_server.page.summary import Summary
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.index.snapshot import GroupVersion
from coordinator_server.pipeline.job_lock import job_lock

FORMAT: Final = 1
DATABASE: Final = "summaries.sqlite"
LOCK: Final = "summaries.lock"
PAGE_ROWS: Final = 100
"""The most rows of an answer."""
_BUSY_S: Final = 10.0
_FIELDS: Final = Summary.__struct_fields__
_LISTS: Final = ("topics", "clients", "hosts")
_VERSION: Final = GroupVersion._fields
_TEXTS: Final = ("id_text", "topics_text", "clients_text", "hosts_text")
_COLUMNS: Final = (*_FIELDS, *_VERSION, *_TEXTS)
_SORTED_BY: Final = ("group", "type", "state", "members", "partitions", "rebalanced_ms", "committed_ms")
_TABLES: Final = f"""
CREATE TABLE source (identity TEXT NOT NULL);
CREATE TABLE summaries ({", ".join(f'"{each}"' for each in _COLUMNS)}, PRIMARY KEY ("group")) WITHOUT ROWID;
"""


class Page(NamedTuple):
    """Some rows of a list, the number of all that match, of all groups that exist, and of those that match by state."""

    rows: list[dict[str, Any]]
    matching: int
    groups: int
    states: dict[str, int]


class Asked(NamedTuple):
    """Which part of the list is asked for."""

    typed: str = ""
    sorted_by: str = "group"
    is_descending: bool = False
    first: int = 0


class Summaries:
    """An open database of summaries."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def versions(self) -> dict[str, GroupVersion]:
        """Return how much of each group its summary has."""
        rows = self._database.execute(f'SELECT "group", {", ".join(_VERSION)} FROM summaries')
        return {group_id: GroupVersion(*rest) for group_id, *rest in rows}

    def get(self, group_id: str) -> Summary | None:
        """Return the summary of a group; None if there is none."""
        row = self._database.execute(f'SELECT {_quoted(_FIELDS)} FROM summaries WHERE "group" = ?', (group_id,)).fetchone()
        return None if row is None else Summary(**_decoded(row))

    def write(self, summaries: Iterable[tuple[Summary, GroupVersion]], removed: Iterable[str] = ()) -> None:
        """Write summaries, and remove those of groups that the index does not have, in one transaction."""
        marks = ", ".join("?" for _ in _COLUMNS)
        self._database.execute("BEGIN IMMEDIATE")
        self._database.executemany(f"INSERT OR REPLACE INTO summaries VALUES ({marks})", (_row(*each) for each in summaries))
        self._database.executemany('DELETE FROM summaries WHERE "group" = ?', ((each,) for each in removed))
        self._database.execute("COMMIT")

    def page(self, asked: Asked) -> Page:
        """Return PAGE_ROWS of the groups that match. Raises ValueError for a column that they are not sorted by."""
        if asked.sorted_by not in _SORTED_BY:
            raise ValueError(f"groups are sorted by {', '.join(_SORTED_BY)}, not by {asked.sorted_by}")
        where, values = condition(asked.typed)
        direction = "DESC" if asked.is_descending else "ASC"
        # What is unknown comes last in both directions.
        column = "id_text" if asked.sorted_by == "group" else f'"{asked.sorted_by}"'
        order = f'{column} IS NULL, {column} {direction}, id_text ASC, "group" ASC'
        rows = self._database.execute(
            f"SELECT {_quoted(_FIELDS)} FROM summaries WHERE {where} ORDER BY {order} LIMIT {PAGE_ROWS} OFFSET ?",
            (*values, asked.first),
        ).fetchall()
        states = dict(self._database.execute(f"SELECT state, count(*) FROM summaries WHERE {where} GROUP BY state", values))
        (groups,) = self._database.execute("SELECT count(*) FROM summaries WHERE state != 'deleted'").fetchone()
        return Page([_decoded(row) for row in rows], sum(states.values()), groups, states)


@contextmanager
def open_to_write(directory: Path, identity: str) -> Iterator[Summaries]:
    """Open the summaries of an index, or make them; those of another log are replaced. Raises Busy, PipelineError."""
    path = directory / DATABASE
    with job_lock(directory / LOCK, f"another page summarises the groups in {directory}"):
        try:
            with closing(sqlite3.connect(path, isolation_level=None, timeout=_BUSY_S)) as database:
                database.execute("PRAGMA journal_mode=WAL")
                database.execute("PRAGMA synchronous=OFF")
                if not _is_of(database, identity):
                    for table in ("source", "summaries"):
                        database.execute(f"DROP TABLE IF EXISTS {table}")
                    database.executescript(f"BEGIN;{_TABLES}PRAGMA user_version={FORMAT};COMMIT;")
                    database.execute("INSERT INTO source VALUES (?)", (identity,))
                yield Summaries(database)
        except sqlite3.Error as error:
            raise PipelineError(f"{path} cannot be used: {error}; if it is damaged, remove it: it is made again") from error


@contextmanager
def open_to_read(directory: Path) -> Iterator[Summaries | None]:
    """Open the summaries for one moment of them; None if there are none yet. Raises PipelineError."""
    path = directory / DATABASE
    if not path.exists():
        yield None
        return
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_BUSY_S)) as database:
            database.execute("BEGIN")
            yield Summaries(database) if database.execute("PRAGMA user_version").fetchone() == (FORMAT,) else None
    except sqlite3.Error as error:
        raise PipelineError(f"{path} cannot be read: {error}; if it is damaged, remove it: it is made again") from error


def _is_of(database: sqlite3.Connection, identity: str) -> bool:
    if database.execute("PRAGMA user_version").fetchone() != (FORMAT,):
        return False
    return bool(database.execute("SELECT identity FROM source").fetchone() == (identity,))


def _row(found: Summary, version: GroupVersion) -> Sequence[Any]:
    fields = asdict(found) | {each: json.dumps(getattr(found, each), ensure_ascii=False) for each in _LISTS}
    texts = ("\n".join(names).lower() for names in ([found.group], found.topics, found.clients, found.hosts))
    return (*(fields[each] for each in _FIELDS), *version, *texts)


def _decoded(row: Sequence[Any]) -> dict[str, Any]:
    fields = dict(zip(_FIELDS, row, strict=True))
    return fields | {each: json.loads(fields[each]) for each in _LISTS}


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{each}"' for each in names)
