"""Views of the tables as SQL, for DuckDB and Spark. ``views.py`` computes the same from Python; docs/history.md explains both.

Every change of an offset is a record: a commit, a restore, a tombstone. Of those that count, the last one of each offset is
current. A commit in a transaction counts if the next marker of its producer in the shard says ``committed``.
Without a marker it is pending.

The lag of a group in a partition is the end of the partition less its offset, from each change of one of the two to the next.

Of a consumer group (KIP-848), every record about a member is a step of its reconciliation. A member waits while its last step says
that partitions of its target are unreleased, and another member's last step still has them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, NamedTuple


class _Dialect(NamedTuple):
    """How a SQL engine names the files of a table, what quotes that name, its type of times with a zone,
    and how it unfolds a list.
    """

    files: str
    quote: str
    time: str
    unfold: str


CURRENT_OFFSETS: Final = "current_offsets"
PENDING_OFFSETS: Final = "pending_offsets"
WAITS: Final = "waits"
LAG: Final = "lag"
DUCKDB: Final = "duckdb"
DIALECTS: Final = {
    DUCKDB: _Dialect("'{}/**/*.parquet'", "'", "timestamptz", "unnest({})"),
    "spark": _Dialect("parquet.`{}`", "`", "timestamp", "explode({})"),
}
_OF_OFFSETS: Final = ("commits", "deletions", "markers")

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
_WAITS: Final = """\
steps as (  -- a step of a member is its state until its next one
    select *, lead(log_offset) over mine as next_offset, lead(time) over mine as next_time
    from reconciliations where what <> 'target'
    window mine as (partition by shard, group_id, member_id order by log_offset)
),
targets as (
    select *, lead(log_offset) over mine as next_offset from reconciliations where what = 'target'
    window mine as (partition by shard, group_id, member_id order by log_offset)
),
owned as (select shard, log_offset, group_id, member_id, {owned} as p from steps),
given as (
    select shard, group_id, member_id, log_offset, time, next_offset, next_time, p.topic_id as topic_id, p.partition as partition
    from (select *, {owned} as p from steps) as s
    union
    select shard, group_id, member_id, log_offset, time, next_offset, next_time, p.topic_id as topic_id, p.partition as partition
    from (select *, {revoking} as p from steps) as s
),
wanted as (
    select s.shard, s.group_id, s.member_id, s.member_epoch, s.log_offset, s.time, s.next_offset, s.next_time, t.p as p
    from steps as s join (select *, {owned} as p from targets) as t
    on t.shard = s.shard and t.group_id = s.group_id and t.member_id = s.member_id
    and t.log_offset < s.log_offset and (t.next_offset is null or t.next_offset > s.log_offset)
    where s.state = 'UnreleasedPartitions'
),
lacking as (
    select w.* from wanted as w left join owned as o
    on o.shard = w.shard and o.log_offset = w.log_offset and o.p.topic_id = w.p.topic_id and o.p.partition = w.p.partition
    where o.shard is null
),
pieces as (  -- a wait, as long as neither of the two members has a new step
    select w.shard, w.group_id, w.member_id, w.member_epoch, w.p.topic as topic, w.p.partition as partition,
        w.p.topic_id as topic_id, g.member_id as holder,
        greatest(w.log_offset, g.log_offset) as log_offset,
        case when w.log_offset > g.log_offset then w.time else g.time end as time,
        w.next_offset is null and g.next_offset is null as is_open,
        case when w.next_offset is null then g.next_time when g.next_offset is null then w.next_time
            when w.next_offset < g.next_offset then w.next_time else g.next_time end as until
    from lacking as w join given as g
    on g.shard = w.shard and g.group_id = w.group_id and g.topic_id = w.p.topic_id and g.partition = w.p.partition
    where g.member_id <> w.member_id
    and (w.next_offset is null or g.log_offset < w.next_offset) and (g.next_offset is null or w.log_offset < g.next_offset)
)
select shard, min(log_offset) as log_offset, min_by(time, log_offset) as since,
    case when max(cast(is_open as int)) = 0 then max(until) end as until,
    group_id, member_id, member_epoch, topic, partition, topic_id, holder
from pieces group by shard, group_id, member_id, member_epoch, topic, partition, topic_id, holder
order by group_id, log_offset, member_id, topic_id, partition, holder"""
_LAG: Final = """\
changes as (  -- of an offset: what is committed from then on; nothing after a deletion
    select c.group_id, c.topic, c.partition, c.time, c.log_offset, c.offset as committed
    from commits as c left join transactional as t on t.shard = c.shard and t.log_offset = c.log_offset
    where c.producer_id is null or t.outcome = 'committed'
    union all
    select group_id, topic, partition, time, log_offset, null as committed from deletions where topic is not null
),
events as (
    select *, null as end_offset, 1 as changes from changes
    union all
    select p.group_id, p.topic, p.partition, e.time, -1 as log_offset, null as committed, e.end_offset, 0 as changes
    from end_offsets as e join (select distinct group_id, topic, partition from changes) as p
    on p.topic = e.topic and p.partition = e.partition
),
counted_events as (
    select *, sum(changes) over before as changes_before, count(end_offset) over before as ends_before
    from events
    window before as (partition by group_id, topic, partition order by time, log_offset rows unbounded preceding)
),
known as (
    select group_id, topic, partition, time, log_offset,
        max(committed) over (partition by group_id, topic, partition, changes_before) as committed,
        max(end_offset) over (partition by group_id, topic, partition, ends_before) as end_offset
    from counted_events
)
select group_id, topic, partition, time, committed as offset, end_offset, greatest(end_offset - committed, 0) as lag
from known where committed is not null and end_offset is not null
order by group_id, topic, partition, time, log_offset"""


class _View(NamedTuple):
    """The tables that a view reads, and its query over them."""

    tables: tuple[str, ...]
    query: str


VIEWS: Final = {
    CURRENT_OFFSETS: _View(_OF_OFFSETS, f"{_OUTCOMES},\n{_CURRENT}"),
    PENDING_OFFSETS: _View(_OF_OFFSETS, f"{_OUTCOMES},\n{_PENDING}"),
    WAITS: _View(("reconciliations",), _WAITS),
    LAG: _View((*_OF_OFFSETS, "end_offsets"), f"{_OUTCOMES},\n{_LAG}"),
}


def view_sql(view: str, directory: str, dialect: str = DUCKDB, at: datetime | str | None = None) -> str:
    """Return the query of a view over the tables in a directory or URL.

    ``view`` is one of VIEWS, ``dialect`` ``duckdb`` or ``spark``. With ``at`` only what was appended until then is read; a time
    without a zone is UTC.
    """
    engine = DIALECTS[dialect]
    until = f" where time <= {engine.time} '{utc(at).isoformat(sep=' ', timespec='milliseconds')}'" if at is not None else ""
    where = directory.rstrip("/").replace(engine.quote, engine.quote * 2)
    tables, query = VIEWS[view]
    read = [f"{name} as (select * from {engine.files.format(f'{where}/{name}')}{until})" for name in tables]
    unfolded = {"owned": engine.unfold.format("partitions"), "revoking": engine.unfold.format("revoking")}
    return "with " + ",\n".join([*read, query.format(**unfolded)]) + "\n"


def utc(at: datetime | str) -> datetime:
    """Return a time, or one in ISO 8601, in UTC, which it is if it has no zone."""
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
