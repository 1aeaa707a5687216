"""Views of the tables as SQL, for DuckDB and Spark. ``views.py`` computes the same from Python; docs/history.md explains both.

Every change of an offset is a record: a commit, a restore, a tombstone. Of those that count, the last one of each offset is current.
A commit in a transaction counts if the next marker of its producer in the shard says ``committed``. Without a marker it is pending.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, NamedTuple


class _Dialect(NamedTuple):
    """How a SQL engine names the files of a table, what quotes that name, and its type of times with a zone."""

    files: str
    quote: str
    time: str


CURRENT_OFFSETS: Final = "current_offsets"
PENDING_OFFSETS: Final = "pending_offsets"
DUCKDB: Final = "duckdb"
DIALECTS: Final = {
    DUCKDB: _Dialect("'{}/**/*.parquet'", "'", "timestamptz"),
    "spark": _Dialect("parquet.`{}`", "`", "timestamp"),
}
_READ: Final = ("commits", "deletions", "markers")

_OUTCOMES: Final = """\
of_producers as (
    select shard, log_offset, producer_id, null as outcome from commits where producer_id is not null
    union all
    select shard, log_offset, producer_id, outcome from markers
),
counted as (
    select *, count(outcome) over (partition by shard, producer_id order by log_offset desc) as markers_to_come
    from of_producers
),
transactional as (  -- the outcome of each commit in a transaction: that of its producer's next marker
    select shard, log_offset, max(outcome) over (partition by shard, producer_id, markers_to_come) as outcome from counted
)"""
_CURRENT: Final = """\
changes as (
    select c.group_id, c.topic, c.partition, c.shard, c.log_offset
    from commits as c left join transactional as t on t.shard = c.shard and t.log_offset = c.log_offset
    where c.producer_id is null or t.outcome = 'committed'
    union all
    select group_id, topic, partition, shard, log_offset from deletions where topic is not null
),
newest as (  -- if it is a deletion, no commit has its position
    select shard, max(log_offset) as log_offset from changes group by group_id, topic, partition, shard
)
select c.* from commits as c join newest as n on n.shard = c.shard and n.log_offset = c.log_offset
order by c.group_id, c.topic, c.partition"""
_PENDING: Final = """\
pending as (
    select c.group_id, c.topic, c.partition, c.shard, max(c.log_offset) as log_offset
    from commits as c join transactional as t on t.shard = c.shard and t.log_offset = c.log_offset
    where t.outcome is null group by c.group_id, c.topic, c.partition, c.shard, c.producer_id
),
deleted as (
    select group_id, topic, partition, max(log_offset) as log_offset from deletions where topic is not null
    group by group_id, topic, partition
)
select c.* from commits as c join pending as p on p.shard = c.shard and p.log_offset = c.log_offset
left join deleted as d on d.group_id = p.group_id and d.topic = p.topic and d.partition = p.partition
where d.log_offset is null or d.log_offset < p.log_offset
order by c.group_id, c.topic, c.partition, c.producer_id"""
VIEWS: Final = {CURRENT_OFFSETS: _CURRENT, PENDING_OFFSETS: _PENDING}


def view_sql(view: str, directory: str, dialect: str = DUCKDB, at: datetime | str | None = None) -> str:
    """Return the query of a view over the tables in a directory or URL.

    ``view`` is ``current_offsets`` or ``pending_offsets``, ``dialect`` ``duckdb`` or ``spark``. With ``at`` only what was appended
    until then is read; a time without a zone is UTC.
    """
    engine = DIALECTS[dialect]
    until = f" where time <= {engine.time} '{utc(at).isoformat(sep=' ', timespec='milliseconds')}'" if at is not None else ""
    where = directory.rstrip("/").replace(engine.quote, engine.quote * 2)
    tables = [f"{name} as (select * from {engine.files.format(f'{where}/{name}')}{until})" for name in _READ]
    return "with " + ",\n".join([*tables, _OUTCOMES, VIEWS[view]]) + "\n"


def utc(at: datetime | str) -> datetime:
    """Return a time, or one in ISO 8601, in UTC, which it is if it has no zone."""
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
