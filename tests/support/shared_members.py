"""The rows of nodes and owners in a simulated store (``shared_store.py``), and the statements of a node on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from coordinator_server.log.errors import LogError
from coordinator_server.log.members import Member, MemberRow, ShardRow, Table
from coordinator_server.log.shards import ShardId
from tests.support.shared_store import Database

Send = Callable[[Callable[[], None]], None]


class Rows:
    """The rows, with the statements that change them: each finds what it expects, or changes nothing, as SQL would."""

    def __init__(self, shards: Iterable[ShardId]) -> None:
        self.version = 0
        self.members: dict[Member, MemberRow] = {}
        self.shards = {shard: ShardRow() for shard in shards}

    def copy(self) -> Rows:
        copied = Rows(())
        copied.version, copied.members, copied.shards = self.version, dict(self.members), dict(self.shards)
        return copied

    def table(self, wall_ms: int) -> Table:
        return Table(self.version, wall_ms, dict(self.members), dict(self.shards))

    def is_alive(self, member: Member | None) -> bool:
        return self.table(0).is_alive(member)

    def join(self, node: int, listeners: Sequence[tuple[str, int]]) -> Member:
        incarnation = 1 + max((each.incarnation for each in self.members if each.node == node), default=0)
        member = Member(node, incarnation)
        self.members[member] = MemberRow(tuple(listeners))
        self.version += 1
        return member

    def renew(self, member: Member) -> bool:
        if not self.is_alive(member):
            return False
        self.members[member] = self.members[member]._replace(renewals=self.members[member].renewals + 1)
        return True

    def mark_dead(self, member: Member, renewals: int | None) -> bool:
        row = self.members.get(member)
        if row is None or row.is_dead or renewals not in (None, row.renewals):
            return False
        self.members[member] = row._replace(is_dead=True)
        self.version += 1
        return True

    def take(self, database: Database, member: Member, shard: ShardId, epoch: int) -> int | None:
        row = self.shards[shard]
        is_free = row.owner in (None, member) or not self.is_alive(row.owner)
        if row.epoch != epoch or not is_free or not self.is_alive(member):
            return None
        self.shards[shard] = ShardRow(member, epoch + 1)
        # One row of the store: from now on nobody appends with an older epoch.
        database.shard(shard).epoch = epoch + 1, 0
        self.version += 1
        return epoch + 1

    def release(self, member: Member, shard: ShardId, epoch: int) -> bool:
        if self.shards[shard] != ShardRow(member, epoch):
            return False
        self.shards[shard] = ShardRow(None, epoch)
        self.version += 1
        return True


class SharedMembers:
    """The statements of one node. ``send`` runs one some time later, or never; ``wall_ms`` is the store's clock."""

    def __init__(self, database: Database, send: Send, answer: Send, wall_ms: Callable[[], int] = lambda: 0) -> None:
        self._database = database
        self._send = send
        self._answer = answer
        self._wall_ms = wall_ms

    def join(self, node: int, listeners: Sequence[tuple[str, int]], done: Callable[[Member | None], None], /) -> None:
        self._run(lambda rows: rows.join(node, listeners), done)

    def renew(self, member: Member, done: Callable[[bool | None], None], /) -> None:
        self._run(lambda rows: rows.renew(member), done)

    def read(self, done: Callable[[Table | None], None], /) -> None:
        self._run(lambda rows: rows.table(self._wall_ms()), done)

    def mark_dead(self, member: Member, renewals: int, done: Callable[[bool | None], None], /) -> None:
        self._run(lambda rows: rows.mark_dead(member, renewals), done)

    def take(self, member: Member, shard: ShardId, epoch: int, done: Callable[[int | None], None], /) -> None:
        self._run(lambda rows: rows.take(self._database, member, shard, epoch), done)

    def release(self, member: Member, shard: ShardId, epoch: int, done: Callable[[bool | None], None], /) -> None:
        self._run(lambda rows: rows.release(member, shard, epoch), done)

    def leave(self, member: Member, done: Callable[[bool | None], None], /) -> None:
        self._run(lambda rows: rows.mark_dead(member, None), done)

    def _run(self, statement: Callable[[Rows], Any], done: Callable[[Any], None]) -> None:
        database = self._database

        def run() -> None:
            try:
                outcome = database.run(lambda: statement(database.membership))
            except LogError:
                outcome = None
            self._answer(lambda: done(outcome))

        self._send(run)
