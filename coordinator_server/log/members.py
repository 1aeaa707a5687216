"""What the nodes of a cluster share of their membership: a row for each process of a node, and one for each shard.

A statement is one transaction: it finds the rows as it expects them and changes them, or changes nothing. Its outcome may stay
unknown, which is None: it may have run, and it may even run later. So each statement says what it has seen.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.log.statement_counts import StatementCounts
from coordinator_server.log.store import LogStore, OnTaken
from coordinator_server.log.store_state import StoreState


class Member(NamedTuple):
    """A process of a node. Each new process of the node has a greater ``incarnation``."""

    node: int
    incarnation: int

    def __str__(self) -> str:
        return f"{self.node}.{self.incarnation}"


class MemberRow(NamedTuple):
    """A member. ``renewals`` grows as long as it lives; a dead one never lives again.

    ``listeners`` are its addresses, host and port, by listener: for the view. The first one is for other nodes.

    ``is_connected`` is false if the store has no session of the member. That alone does not prove that the member is gone: its
    network may be cut, or the store may have ended the session.

    One that ``is_leaving`` gives its shards to others, and gets none.
    """

    listeners: tuple[tuple[str, int], ...]
    renewals: int = 0
    is_dead: bool = False
    is_connected: bool = True
    is_leaving: bool = False


class ShardRow(NamedTuple):
    """The owner of a shard, if it has one. Each owner has a greater ``epoch`` than the one before."""

    owner: Member | None = None
    epoch: int = 0


class Table(NamedTuple):
    """All rows at one moment, of which ``wall_ms`` is the store's clock.

    ``version`` is greater after every change of owners, and of the members that live.
    """

    version: int
    wall_ms: int
    members: Mapping[Member, MemberRow]
    shards: Mapping[ShardId, ShardRow]

    def is_alive(self, member: Member | None) -> bool:
        """Return whether a member has a row and is not marked dead."""
        row = self.members.get(member) if member is not None else None
        return row is not None and not row.is_dead

    @property
    def living(self) -> list[Member]:
        """The members that are not marked dead, in ascending order."""
        return sorted(member for member, row in self.members.items() if not row.is_dead)

    @property
    def staying(self) -> list[Member]:
        """The living members that are not leaving, in ascending order: those that divide the shards."""
        return [member for member in self.living if not self.members[member].is_leaving]


class MembershipStore(Protocol):
    """The statements. Each outcome is given to ``done`` once, on the caller's loop, and is None if it is unknown."""

    def join(self, node: int, listeners: Sequence[tuple[str, int]], done: Callable[[Member | None], None], /) -> None:
        """Add a member with the next incarnation of a node."""

    def renew(self, member: Member, done: Callable[[bool | None], None], /) -> None:
        """Raise the renewals of a member. False: it has no row, or is marked dead."""

    def read(self, done: Callable[[Table | None], None], /) -> None:
        """Read all rows."""

    def mark_dead(self, member: Member, renewals: int, done: Callable[[bool | None], None], /) -> None:
        """Mark a member dead, for good. False: it is not where ``renewals`` says."""

    def take(self, member: Member, shard: ShardId, epoch: int, done: Callable[[int | None], None], /) -> None:
        """Become the owner of a shard whose epoch is ``epoch``; the outcome is the next one.

        None, too, if the shard has another epoch, if another member owns it that lives, or if this one does not live.
        """

    def give(self, member: Member, shard: ShardId, epoch: int, to: Member, done: Callable[[bool | None], None], /) -> None:
        """Let a member that lives be the owner of a shard that ``member`` owns at ``epoch``, at the next epoch."""

    def retire(self, member: Member, done: Callable[[bool | None], None], /) -> None:
        """Say that a member is leaving. False: it has no row, or is marked dead."""

    def leave(self, member: Member, done: Callable[[bool | None], None], /) -> None:
        """Mark a member dead that has given its shards away, and answers for none that it has not."""


async def _nothing_known() -> None:
    """Return None: this store says nothing of itself."""


class Shared(NamedTuple):
    """What a node has of a store that it shares with others, besides the log.

    ``acquire`` reads a shard from its start, once this node owns it at an epoch: ``LogStore.read`` has all of it when ``done`` gets
    None. With a LogError it is to be asked again. ``prepare`` reads shards while others own them, so that ``acquire`` has little
    left to read; ``done`` is called whatever became of it. ``LogStore.forget`` lets go of a shard that another node may own.
    ``close`` ends the connections of the statements.

    For operators: ``inspect`` asks the store about itself, and raises LogError; ``refusal`` returns why it cannot be written at
    the moment, or None; ``statements`` has the counts of each session.
    """

    members: MembershipStore
    acquire: Callable[[Ownership, OnTaken], None]
    prepare: Callable[[Sequence[ShardId], Callable[[], None]], None]
    close: Callable[[], None] = lambda: None
    inspect: Callable[[], Awaitable[StoreState | None]] = _nothing_known
    refusal: Callable[[], str | None] = lambda: None
    statements: Mapping[str, StatementCounts] = {}


class Opened(NamedTuple):
    """The log of a server. One that is alone has nothing that is ``shared``."""

    log: LogStore
    shared: Shared | None = None
