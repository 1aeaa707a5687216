"""One node of those that share a store, without anything around it: its statements run when a test lets them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coordinator_server.log.members import Member, MemberRow, Table
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.runtime.lease import Gate
from coordinator_server.server.membership.leases import Clocks, LeaseTimes
from coordinator_server.server.membership.membership import Membership
from tests.support.shared_members import SharedMembers
from tests.support.shared_store import Database

TIMES = LeaseTimes(lease_ms=1000, renew_ms=200)


class Node:
    """A node whose statements run when ``settle`` is called. It is its own Host. ``others`` are those that it can reach."""

    def __init__(self, number: int, database: Database, *others: Node) -> None:
        self.others: list[Node] = []
        for other in others:
            self.others.append(other)
            other.others.append(self)
        self.now_ms = self.wall_ms = 0
        self.sent: list[Callable[[], None]] = []
        self.hosted: dict[ShardId, int] = {}
        self.events: list[str] = []
        self.ended: list[ShardId] = []
        self.gone: set[Member] = set()
        self.store = store = SharedMembers(database, self.sent.append, lambda answer: answer())
        gate = Gate(lambda: self.now_ms)
        self.membership = Membership(
            node=number,
            listeners=[],
            store=store,
            host=self,
            lease=gate.lease(lambda _: self.events.append("over"), lambda _: self.events.append("renewed")),
            clocks=Clocks(lambda: self.now_ms, lambda: self.wall_ms),
            times=TIMES,
        )
        self.gate = gate

    def settle(self) -> None:
        """Let everything run, and all that follows from it."""
        while self.sent:
            self.sent.pop(0)()

    def tick(self, ms: int = 200) -> None:
        """Let time pass, and the node look at its store."""
        self.now_ms += ms
        self.membership.tick()
        self.settle()

    def begin(self, me: Member, /) -> None:
        """It was granted nothing as another process."""

    def own(self, shard: ShardId, epoch: int, /) -> None:
        self.hosted[shard] = epoch

    def disown(self, shard: ShardId, unloaded: Callable[[], None], /) -> None:
        del self.hosted[shard]
        unloaded()

    def changed(self, table: Table, /) -> None:
        self.events.append(f"version {table.version}")

    def offer(self, to: Member, shards: Sequence[Ownership], done: Callable[[bool], None], /) -> None:
        self.events.append(f"offers {len(shards)} to {to}")
        done(any(each.membership.me == to and each.membership.accepts for each in self.others))

    def end_gift(self, shard: ShardId, /) -> None:
        self.ended.append(shard)
        for each in self.others:
            each.membership.look_again()

    def ask_if_gone(self, member: Member, _row: MemberRow, done: Callable[[bool], None], /) -> None:
        self.events.append(f"asks {member}")
        done(member in self.gone)
