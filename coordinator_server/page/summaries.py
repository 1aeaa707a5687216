"""The summaries of all groups, in a SQLite database beside the index, which filters and sorts them.

A row has what the log says of a group (Summary), how fast it consumes (Pace), and what a running server says of it now (Progress).

It is a cache: made again from the index at any time, by the one process that has its lock. Others read what is there.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import asdict, astuple

from coordinator_server.page.filters import condition
from coordinator_server.page.paces import Pace
from coordinator_server.page.rights import EVERYTHING, Rights
from coordinator_server.page.summary import MOST_NAMES, Summary
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.index.snapshot import GroupVersion
from coordinator_server.pipeline.job_lock import job_lock

FORMAT: Final = 4
DATABASE: Final = "summaries.sqlite"
LOCK: Final = "summaries.lock"
PAGE_ROWS: Final = 100
"""The most rows of an answer."""
_BUSY_S: Final = 10.0
_MAPPED_BYTES: Final = 1 << 28
"""So much of the file is read in place: each answer opens it anew."""
_FIELDS: Final = Summary.__struct_fields__
_PACE: Final = Pace.__struct_fields__
_PROGRESS: Final = ("in_progress", "waits_for")
_LISTS: Final = ("topics", "clients", "hosts")
_VERSION: Final = GroupVersion._fields
_TEXTS: Final = ("id_text", "topics_text", "clients_text", "hosts_text", "anywhere_text")
_WRITTEN: Final = (*_FIELDS, *_VERSION, *_TEXTS)
_SHOWN: Final = (*(each for each in _FIELDS if each != "state"), "shown_state", *_PACE, "waits_for")
_LISTED: Final = tuple(each for each in _SHOWN if each not in ("protocol", "epoch", "clients", "hosts"))
"""What a row of the list has: what the view of one group says of it beside that is not sent a hundred times."""
_SORTED_BY: Final = ("group", "type", "state", "members", "partitions", "rebalanced_ms", "committed_ms", "lag", "rate")
_TABLES: Final = f"""
CREATE TABLE source (identity TEXT NOT NULL);
CREATE TABLE summaries ({", ".join(f'"{each}"' for each in (*_WRITTEN, *_PACE, *_PROGRESS))},
    shown_state AS (coalesce(in_progress, state)), PRIMARY KEY ("group")) WITHOUT ROWID;
"""


_UNKNOWN: Final = Pace()


class Progress(NamedTuple):
    """What the running server says of a group whose members are not settled: its state, and what it waits for."""

    state: str
    waits_for: str


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
        return None if row is None else Summary(**_decoded(_FIELDS, row))

    def row(self, group_id: str) -> dict[str, Any] | None:
        """Return what is known of a group; None if there is none."""
        row = self._database.execute(f'SELECT {_quoted(_SHOWN)} FROM summaries WHERE "group" = ?', (group_id,)).fetchone()
        return None if row is None else _shown(_SHOWN, row)

    def write(self, found: Iterable[tuple[Summary, GroupVersion]], removed: Iterable[str] = ()) -> None:
        """Write summaries, and remove those of groups that the index does not have, in one transaction."""
        marks = ", ".join("?" for _ in _WRITTEN)
        changes = ", ".join(f'"{each}" = excluded."{each}"' for each in _WRITTEN)
        insert = f'INSERT INTO summaries ({_quoted(_WRITTEN)}) VALUES ({marks}) ON CONFLICT ("group") DO UPDATE SET {changes}'
        self._database.execute("BEGIN IMMEDIATE")
        self._database.executemany(insert, (_row(*each) for each in found))
        self._database.executemany('DELETE FROM summaries WHERE "group" = ?', ((each,) for each in removed))
        self._database.execute("COMMIT")

    def write_paces(self, found: Mapping[str, Pace]) -> list[str]:
        """Write the paces of groups that are there. Return those of which they are new."""
        rows = self._database.execute(f'SELECT "group", {_quoted(_PACE)} FROM summaries')
        before = {group_id: Pace(*rest) for group_id, *rest in rows}
        changed = [group_id for group_id, each in before.items() if found.get(group_id, _UNKNOWN) != each]
        if changed:
            changes = ", ".join(f"{each} = ?" for each in _PACE)
            values = ((*astuple(found.get(each, _UNKNOWN)), each) for each in changed)
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(f'UPDATE summaries SET {changes} WHERE "group" = ?', values)
            self._database.execute("COMMIT")
        return changed

    def write_progress(self, found: Mapping[str, Progress]) -> list[str]:
        """Write which groups are in progress now: all others are not. Return those of which that is new."""
        rows = self._database.execute('SELECT "group", in_progress, waits_for FROM summaries WHERE in_progress IS NOT NULL')
        before = {group_id: Progress(*rest) for group_id, *rest in rows}
        changed = [each for each in before.keys() | found.keys() if before.get(each) != found.get(each)]
        if changed:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(
                'UPDATE summaries SET in_progress = ?, waits_for = ? WHERE "group" = ?',
                ((*(found.get(each) or (None, None)), each) for each in changed),
            )
            self._database.execute("COMMIT")
        return changed

    def topics(self) -> set[str]:
        """Return the topics of all groups."""
        rows = self._database.execute("SELECT DISTINCT topics FROM summaries")
        return {topic for (topics,) in rows for topic in json.loads(topics)}

    def consumers(self, rights: Rights = EVERYTHING) -> Iterator[tuple[str, list[str], int]]:
        """Yield the groups that exist and a viewer may see, each with its topics and its number of members."""
        rows = self._database.execute(
            """SELECT "group", topics, members FROM summaries WHERE state != 'deleted' ORDER BY id_text"""
        )
        for group_id, packed, members in rows:
            topics = json.loads(packed)
            if rights is EVERYTHING or rights.may_see(group_id, topics):
                yield group_id, topics, members

    def page(self, asked: Asked, rights: Rights = EVERYTHING) -> Page:
        """Return PAGE_ROWS of the groups that match, and that a viewer may see.

        Raises ValueError for a column that they are not sorted by.
        """
        if asked.sorted_by not in _SORTED_BY:
            raise ValueError(f"groups are sorted by {', '.join(_SORTED_BY)}, not by {asked.sorted_by}")
        where, values = condition(asked.typed)
        seen = "1"
        if rights is not EVERYTHING:
            self._database.create_function("may_see", 2, lambda group, topics: rights.may_see(group, json.loads(topics)))
            seen = 'may_see("group", topics)'
        direction = "DESC" if asked.is_descending else "ASC"
        # What is unknown comes last in both directions.
        column = {"group": "id_text", "state": "shown_state"}.get(asked.sorted_by, asked.sorted_by)
        order = f'{column} IS NULL, {column} {direction}, id_text ASC, "group" ASC'
        rows = self._database.execute(
            f"SELECT {_quoted(_LISTED)} FROM summaries WHERE ({where}) AND {seen} ORDER BY {order} LIMIT {PAGE_ROWS} OFFSET ?",
            (*values, asked.first),
        ).fetchall()
        states, groups = dict[str, int](), 0
        for state, is_there, is_found, count in self._database.execute(
            f"SELECT shown_state, state != 'deleted', ({where}), count(*) FROM summaries WHERE {seen} GROUP BY 1, 2, 3", values
        ):
            groups += count if is_there else 0
            if is_found:
                states[state] = states.get(state, 0) + count
        return Page([_some_topics(_shown(_LISTED, row)) for row in rows], sum(states.values()), groups, states)


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
            database.execute(f"PRAGMA mmap_size={_MAPPED_BYTES}")
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
    ids, topics, clients, hosts = (
        "\n".join(names).lower() for names in ([found.group], found.topics, found.clients, found.hosts)
    )
    # A word has no line end in it: it is in one of them.
    return (*(fields[each] for each in _FIELDS), *version, ids, topics, clients, hosts, f"{ids}\n{topics}\n{clients}")


def _decoded(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    fields = dict(zip(names, row, strict=True))
    return fields | {each: json.loads(fields[each]) for each in _LISTS if each in fields}


def _shown(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    fields = _decoded(names, row)
    return fields | {"state": fields.pop("shown_state")}


def _some_topics(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"topics": row["topics"][:MOST_NAMES]}


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{each}"' for each in names)
