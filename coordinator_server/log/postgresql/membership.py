"""The membership of a cluster in its database: ``MembershipStore``.

Each statement finds the rows as it expects them, or changes nothing; its answer is durable before it counts, as that of an append.
An answer that does not come is no outcome: the next statement says what it has seen. Renewals have a connection of their own,
because a take waits for the appends that are under way to its shard. Takes of one turn are one statement, and so are gifts.

The version of the rows is computed from them. Each change of owners raises it, and so does each change of the members that live:

    shards   twice the epoch, less one while the shard has an owner: a take adds one or two, a gift two
    nodes    twice the newest incarnation, less the number of those that live: a start adds one, and so does an end

The session that renews holds an advisory lock for its member, which the database frees when that session ends. Others try the
lock when they read the rows: shared, and only for that statement, so they do not disturb each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from itertools import chain
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from coordinator_server.log.errors import LogError
from coordinator_server.log.members import Member, MemberRow, ShardRow, Table
from coordinator_server.log.postgresql.log import PostgresqlLog
from coordinator_server.log.postgresql.schema import FORMAT
from coordinator_server.log.postgresql.session import Rows, Session
from coordinator_server.log.shards import ShardId

T = TypeVar("T")
Moved = Callable[[Mapping[int, int] | None], None]
"""Gets the epochs of the shards that were taken or given, by number; None if that is unknown."""

_LOCK: Final = "hashtextextended('coordinator_server node ' || id || '.' || incarnation, 0)"
# Former processes of the node that own nothing are forgotten, but for the newest, from which the next one counts.
_JOIN: Final = f"""
WITH gone AS (DELETE FROM node n WHERE n.id = $1 AND n.is_dead AND n.incarnation < (SELECT max(incarnation) FROM node WHERE id = $1)
  AND NOT EXISTS (SELECT FROM shard s WHERE s.owner = n.id AND s.owner_incarnation = n.incarnation))
INSERT INTO node(id, incarnation, listeners, format_max)
SELECT $1::int, 1 + coalesce(max(incarnation), 0), $2::jsonb, $3::int FROM node WHERE id = $1
RETURNING incarnation, pg_try_advisory_lock({_LOCK}) AS is_locked"""
# A session that has the lock does not take it again: locks are counted.
_RENEW: Final = f"""
UPDATE node SET renewals = renewals + 1 WHERE id = $1 AND incarnation = $2 AND NOT is_dead
RETURNING id, $3::bool OR pg_try_advisory_lock({_LOCK}) AS is_locked"""
_MARK_DEAD: Final = """
UPDATE node SET is_dead = true WHERE id = $1 AND incarnation = $2 AND renewals = $3 AND NOT is_dead RETURNING id"""
_LEAVE: Final = "UPDATE node SET is_dead = true WHERE id = $1 AND incarnation = $2 AND NOT is_dead RETURNING id"
_LIVES: Final = "EXISTS (SELECT FROM node n WHERE n.id = {id} AND n.incarnation = {incarnation} AND NOT n.is_dead)"
_TAKE: Final = f"""
UPDATE shard s SET owner = $1::int, owner_incarnation = $2::bigint, epoch = s.epoch + 1, resolution = 0
FROM unnest($3::int[], $4::bigint[]) seen(sid, epoch)
WHERE s.sid = seen.sid AND s.epoch = seen.epoch AND {_LIVES.format(id="$1::int", incarnation="$2::bigint")}
  AND (s.owner IS NULL OR (s.owner = $1 AND s.owner_incarnation = $2)
    OR NOT {_LIVES.format(id="s.owner", incarnation="s.owner_incarnation")})
RETURNING s.sid, s.epoch"""
_GIVE: Final = f"""
UPDATE shard s SET owner = $5::int, owner_incarnation = $6::bigint, epoch = s.epoch + 1, resolution = 0
FROM unnest($3::int[], $4::bigint[]) seen(sid, epoch)
WHERE s.sid = seen.sid AND s.owner = $1 AND s.owner_incarnation = $2 AND s.epoch = seen.epoch
  AND {_LIVES.format(id="$5::int", incarnation="$6::bigint")}
RETURNING s.sid, s.epoch"""
_RETIRE: Final = "UPDATE node SET is_leaving = true WHERE id = $1 AND incarnation = $2 AND NOT is_dead RETURNING id"
# One statement, and so one moment.
_READ: Final = f"""
SELECT
  (SELECT coalesce(json_agg(json_build_array(id, incarnation, listeners, renewals, is_dead,
    CASE WHEN is_dead THEN false ELSE NOT pg_try_advisory_xact_lock_shared({_LOCK}) END, is_leaving)), '[]') FROM node)::text,
  (SELECT json_agg(json_build_array(topic, partition, owner, owner_incarnation, epoch)) FROM shard)::text,
  (extract(epoch FROM clock_timestamp()) * 1000)::bigint"""


class _NodeRow(Struct, array_like=True):
    id: int
    incarnation: int
    listeners: list[tuple[str, int]]
    renewals: int
    is_dead: bool
    is_connected: bool
    is_leaving: bool


class _ShardRow(Struct, array_like=True):
    topic: str
    partition: int
    owner: int | None
    owner_incarnation: int | None
    epoch: int


_nodes = msgspec.json.Decoder(list[_NodeRow])
_shards = msgspec.json.Decoder(list[_ShardRow])


class PostgresqlMembership:
    """The statements of one node, for the loop of its log. They need no answer: while the database is away, each is tried once."""

    def __init__(self, log: PostgresqlLog) -> None:
        name = f"coordinator-server node {log.meta.node_id}"
        self._sids = log.sids
        self._renewing = log.session(f"{name} renews")
        # Whether the present connection has the member's lock.
        self._is_locked = False
        self._moving = log.session(f"{name} moves")
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[Any]] = set()
        # By statement: what is asked for in this turn.
        self._moves: dict[tuple[str, tuple[Member, ...]], list[tuple[int, int, Moved]]] = {}

    def join(self, node: int, listeners: Sequence[tuple[str, int]], done: Callable[[Member | None], None], /) -> None:
        """Add a member with the next incarnation of a node."""
        shown = msgspec.json.encode(listeners).decode()

        def joined(rows: Rows) -> Member:
            self._note_lock(rows)
            return Member(node, rows[0]["incarnation"])

        self._ask(self._write(self._renewing, _JOIN, node, shown, FORMAT), joined, done)

    def renew(self, member: Member, done: Callable[[bool | None], None], /) -> None:
        """Raise the renewals of a member. False: it has no row, or is marked dead."""
        self._ask(self._renewed(member), bool, done)

    def read(self, done: Callable[[Table | None], None], /) -> None:
        """Read all rows."""
        self._ask(self._moving.read(_READ, waits=False), _table, done)

    def mark_dead(self, member: Member, renewals: int, done: Callable[[bool | None], None], /) -> None:
        """Mark a member dead, for good. False: it is not where ``renewals`` says."""
        self._ask(self._write(self._moving, _MARK_DEAD, *member, renewals), bool, done)

    def take(self, member: Member, shard: ShardId, epoch: int, done: Callable[[int | None], None], /) -> None:
        """Become the owner of a shard whose epoch is ``epoch``, and which no other living member owns."""
        sid = self._sids[shard]
        self._move(_TAKE, (member,), sid, epoch, lambda found: done(None if found is None else found.get(sid)))

    def give(self, member: Member, shard: ShardId, epoch: int, to: Member, done: Callable[[bool | None], None], /) -> None:
        """Let a member that lives be the owner of a shard that ``member`` owns at ``epoch``, at the next epoch."""
        sid = self._sids[shard]
        self._move(_GIVE, (member, to), sid, epoch, lambda found: done(None if found is None else sid in found))

    def retire(self, member: Member, done: Callable[[bool | None], None], /) -> None:
        """Say that a member is leaving. False: it has no row, or is marked dead."""
        self._ask(self._write(self._renewing, _RETIRE, *member), bool, done)

    def leave(self, member: Member, done: Callable[[bool | None], None], /) -> None:
        """Mark a member dead that has given its shards away."""
        self._ask(self._write(self._renewing, _LEAVE, *member), bool, done)

    def close(self) -> None:
        """End the connections. Whatever is under way has no outcome."""
        self._renewing.close()
        self._moving.close()

    async def settled(self) -> None:
        """Return when nothing is under way."""
        while self._tasks or self._moves:
            if not self._tasks:
                await asyncio.sleep(0)
                continue
            await asyncio.wait(list(self._tasks))
            await asyncio.sleep(0)

    def _move(self, statement: str, members: tuple[Member, ...], sid: int, epoch: int, done: Moved) -> None:
        """Take or give a shard, together with all others for which this is asked in the same turn."""
        moves = self._moves.setdefault((statement, members), [])
        if not moves:
            self._loop.call_soon(self._move_all, statement, members)
        moves.append((sid, epoch, done))

    def _move_all(self, statement: str, members: tuple[Member, ...]) -> None:
        # In the order in which appends lock shards.
        moves = sorted(self._moves.pop((statement, members)), key=lambda each: each[0])
        member, *to = members
        sids, epochs, dones = zip(*moves, strict=True)

        def moved(found: Mapping[int, int] | None) -> None:
            for done in dones:
                done(found)

        moving = self._write(self._moving, statement, *member, sids, epochs, *chain.from_iterable(to))
        self._ask(moving, lambda rows: {row["sid"]: row["epoch"] for row in rows}, moved)

    async def _renewed(self, member: Member) -> Rows:
        if not self._renewing.is_connected:
            self._is_locked = False
        rows = await self._write(self._renewing, _RENEW, *member, self._is_locked)
        self._note_lock(rows)
        return rows

    def _note_lock(self, rows: Rows) -> None:
        self._is_locked = bool(rows) and rows[0]["is_locked"]

    def _write(self, session: Session, statement: str, *arguments: Any) -> Coroutine[Any, Any, Rows]:
        return session.write(statement, *arguments, waits=False)

    def _ask(self, statement: Coroutine[Any, Any, Rows], outcome: Callable[[Rows], T], done: Callable[[T | None], None]) -> None:
        async def ask() -> T | None:
            try:
                return outcome(await statement)
            except LogError:
                # Refused or unknown: whoever asks again says what it has seen.
                return None

        def asked(task: asyncio.Task[T | None]) -> None:
            self._tasks.discard(task)
            if not task.cancelled():
                done(task.result())

        task = self._loop.create_task(ask())
        self._tasks.add(task)
        task.add_done_callback(asked)


def _table(rows: Rows) -> Table:
    [(nodes, shards, wall_ms)] = rows
    members = {
        Member(row.id, row.incarnation): MemberRow(
            tuple(row.listeners), row.renewals, row.is_dead, row.is_connected, row.is_leaving
        )
        for row in _nodes.decode(nodes)
    }
    owners = {
        ShardId(row.topic, row.partition): ShardRow(
            None if row.owner is None or row.owner_incarnation is None else Member(row.owner, row.owner_incarnation), row.epoch
        )
        for row in _shards.decode(shards)
    }
    return Table(_version(members, owners), wall_ms, members, owners)


def _version(members: Mapping[Member, MemberRow], shards: Mapping[ShardId, ShardRow]) -> int:
    newest: dict[int, int] = {}
    for node, incarnation in members:
        newest[node] = max(newest.get(node, 0), incarnation)
    living = sum(not row.is_dead for row in members.values())
    owned = sum(row.owner is not None for row in shards.values())
    return 2 * sum(newest.values()) - living + 2 * sum(row.epoch for row in shards.values()) - owned
