"""The rows of nodes and owners in a simulated store (``shared_store.py``), and the statements of a node on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from coordinator_server.log.errors import LogError, OutcomeUnknown
from coordinator_server.log.members import Member, MemberRow, ShardRow, Table
from coordinator_server.log.shards import ShardId
from tests.support.shared_store import Database

Send = Callable[[Callable[[], None]], None]


class Session:
    """A connection of a node: it ends with the process, or when a statement loses it."""

    def __init__(self, is_running: Callable[[], bool]) -> None:
        self._is_running = is_running
        self.is_lost = False

    @property
    def is_open(self) -> bool:
        return self._is_running() and not self.is_lost


class Rows:
    """The rows, with the statements that change them: each finds what it expects, or changes nothing, as SQL would.

    ``sessions`` are the locks of members, which a standby does not have. ``gifts``: who was given a shard, at which epoch.
    """

    def __init__(self, shards: Iterable[ShardId]) -> None:
        self.version = 0
        self.members: dict[Member, MemberRow] = {}
        self.shards = {shard: ShardRow() for shard in shards}
        self.sessions: dict[Member, Session] = {}
        self.gifts: dict[tuple[ShardId, int], Member] = {}

    def copy(self) -> Rows:
        copied = Rows(())
        copied.version, copied.members, copied.shards = self.version, dict(self.members), dict(self.shards)
        copied.gifts = dict(self.gifts)
        return copied

    def table(self, wall_ms: int) -> Table:
        members = dict(self.members)
        for member, row in members.items():
            session = self.sessions.get(member)
            if row.is_connected and (row.is_dead or session is None or not session.is_open):
                members[member] = row._replace(is_connected=False)
        return Table(self.version, wall_ms, members, dict(self.shards))

    def is_alive(self, member: Member | None) -> bool:
        return member in self.members and not self.members[member].is_dead

    def join(self, node: int, listeners: Sequence[tuple[str, int]], session: Session) -> Member:
        incarnation = 1 + max((each.incarnation for each in self.members if each.node == node), default=0)
        member = Member(node, incarnation)
        self.members[member] = MemberRow(tuple(listeners))
        self.sessions[member] = session
        self.version += 1
        return member

    def renew(self, member: Member, session: Session) -> bool:
        if not self.is_alive(member):
            return False
        self.sessions[member] = session
        self.members[member] = self.members[member]._replace(renewals=self.members[member].renewals + 1)
        return True

    def mark_dead(self, member: Member, renewals: int | None) -> bool:
        row = self.members.get(member)
        if row is None or row.is_dead or renewals not in (None, row.renewals):
            return False
        self.members[member] = row._replace(is_dead=True, is_connected=False)
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

    def give(self, database: Database, member: Member, shard: ShardId, epoch: int, to: Member) -> bool:
        if self.shards[shard] != ShardRow(member, epoch) or not self.is_alive(to):
            return False
        self.shards[shard] = ShardRow(to, epoch + 1)
        self.gifts[shard, epoch + 1] = to
        database.shard(shard).epoch = epoch + 1, 0
        self.version += 1
        return True

    def retire(self, member: Member) -> bool:
        if not self.is_alive(member):
            return False
        self.members[member] = self.members[member]._replace(is_leaving=True)
        return True


class SharedMembers:
    """The statements of one process. ``send`` runs one some time later, or never; ``wall_ms`` is the store's clock."""

    def __init__(
        self,
        database: Database,
        send: Send,
        answer: Send,
        wall_ms: Callable[[], int] = lambda: 0,
        is_running: Callable[[], bool] = lambda: True,
    ) -> None:
        self._database = database
        self._send = send
        self._answer = answer
        self._wall_ms = wall_ms
        self._is_running = is_running
        self._session = Session(is_running)

    def join(self, node: int, listeners: Sequence[tuple[str, int]], done: Callable[[Member | None], None], /) -> None:
        session = self._session
        self._run(lambda rows: rows.join(node, listeners, session), done)

    def renew(self, member: Member, done: Callable[[bool | None], None], /) -> None:
        session = self._session
        self._run(lambda rows: rows.renew(member, session), done)

    def read(self, done: Callable[[Table | None], None], /) -> None:
        self._run(lambda rows: rows.table(self._wall_ms()), done)

    def mark_dead(self, member: Member, renewals: int, done: Callable[[bool | None], None], /) -> None:
        self._run(lambda rows: rows.mark_dead(member, renewals), done)

    def take(self, member: Member, shard: ShardId, epoch: int, done: Callable[[int | None], None], /) -> None:
        self._run(lambda rows: rows.take(self._database, member, shard, epoch), done)

    def give(self, member: Member, shard: ShardId, epoch: int, to: Member, done: Callable[[bool | None], None], /) -> None:
        self._run(lambda rows: rows.give(self._database, member, shard, epoch, to), done)

    def retire(self, member: Member, done: Callable[[bool | None], None], /) -> None:
        self._run(lambda rows: rows.retire(member), done)

    def leave(self, member: Member, done: Callable[[bool | None], None], /) -> None:
        self._run(lambda rows: rows.mark_dead(member, None), done)

    def lose(self) -> None:
        """Lose the connection. The next statement opens another one."""
        self._session.is_lost = True
        self._session = Session(self._is_running)

    def _run(self, statement: Callable[[Rows], Any], done: Callable[[Any], None]) -> None:
        database = self._database

        def run() -> None:
            try:
                outcome = database.run(lambda: statement(database.membership))
            except LogError as error:
                outcome = None
                if isinstance(error, OutcomeUnknown):
                    self.lose()
            self._answer(lambda: done(outcome))

        self._send(run)
