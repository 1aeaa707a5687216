"""One node of those that share a store: it joins, renews its lease, marks silent nodes dead, takes shards and gives them away.

    out ──join──► in ──renewal refused: it is marked dead──► drops everything at once ──► out
                  │
                  └ every ``renew_ms``: renew; read the rows; then, from the rows:
                        silent for a lease          mark dead, and nothing else until the store has that
                        no session with the store   ask its listener; if the process is gone: mark dead
                        owner none or dead          take, by epoch; then own
                        more than its part          offer; if it is accepted disown, and when it is unloaded: give
                        its own, not loaded here    take, by epoch; then own
                        another owner, or epoch     disown
                  leave: say so in its row; give all; when nothing is left, or it takes too long: unload the rest, mark itself dead

Nobody takes from a living node. A dead one is marked before its shards are taken. A taker waits a whole lease on its own clock,
unless the store has lost the member's session *and* its listener proves that the process is gone. Either alone proves nothing.
A statement whose outcome is unknown may run later, so whoever is in doubt takes again: the next epoch ends what is under way. A
node whose clock is far from the store's takes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol

import structlog

from coordinator_server.log.members import Member, MemberRow, MembershipStore, Table
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.runtime.lease import Lease
from coordinator_server.server.membership.leases import Clocks, LeaseTimes, Silence
from coordinator_server.server.membership.plan import has_part, is_settled, plan

log = structlog.get_logger(__name__)

MOST_CLOCK_DIFFERENCE_MS: Final = 10_000
"""A node whose clock is further from the store's takes no shards: the times of their logs would jump."""
HASTE: Final = 5
"""So much more often a node looks at the rows while shards move."""
SILENT, GONE = "silent", "gone"
"""Why a member is marked dead: a lease without a renewal, or the proof that its process has ended."""
MOST_LEAVING: Final = 8
"""Maximum number of shards given away at a time: no node answers for them between their unload here and their load there."""
REFUSED_MS: Final = 2000
"""A member that has not accepted an offer gets none for so long."""
LEAVE_MS: Final = 15_000
"""A node that leaves gives its shards away for so long. Then it unloads what is left, and others take that."""


class Host(Protocol):
    """What a node does with its shards."""

    def begin(self, me: Member, /) -> None:
        """Be this process of the node from now on. Called before it may answer: all that an earlier one was granted is over."""

    def own(self, shard: ShardId, epoch: int, /) -> None:
        """Load a shard as its owner at an epoch."""

    def disown(self, shard: ShardId, unloaded: Callable[[], None], /) -> None:
        """Unload a shard. ``unloaded`` is called when nothing of it is under way to the store any more."""

    def offer(self, to: Member, shards: Sequence[Ownership], done: Callable[[bool], None], /) -> None:
        """Let a member read shards that it is about to get. ``done`` gets whether it takes them; they are disowned then."""

    def end_gift(self, shard: ShardId, /) -> None:
        """Note that the gift of an offered shard has an outcome. When all of an offer have one, let others look at the rows."""

    def changed(self, table: Table, /) -> None:
        """Show clients and other rooms who owns what. Called for each version once."""

    def ask_if_gone(self, member: Member, row: MemberRow, done: Callable[[bool], None], /) -> None:
        """Find out whether the process of a member is gone for certain. Without proof ``done`` gets False."""


class Membership:
    """The state of one node. Call ``tick`` every ``renew_ms``, and ``look`` after each ``look_ms``.

    ``lease`` is its right to answer for its shards.
    """

    def __init__(  # noqa: PLR0913 - arguments with names
        self,
        *,
        node: int,
        listeners: Sequence[tuple[str, int]],
        store: MembershipStore,
        host: Host,
        lease: Lease,
        clocks: Clocks,
        times: LeaseTimes,
    ) -> None:
        self.me: Member | None = None
        self.lease = lease
        lease.end()
        self._times = times
        self.owned: dict[ShardId, int] = {}
        self._node = node
        self._listeners = tuple(listeners)
        self._store = store
        self._host = host
        self._clocks = clocks
        self._silence = Silence(times)
        self._version = -1
        # The statements without an outcome. One of a kind and subject at a time.
        self._asked: set[tuple[str, object]] = set()
        # The shards that are not owned any more and not unloaded yet.
        self._unloading: set[ShardId] = set()
        # The members that this node has marked dead, by the reason; its clock, and all rows, as the store had them last.
        self.takeovers = dict.fromkeys((SILENT, GONE), 0)
        self.difference_ms = 0
        self.rows: Table | None = None
        self.read_ms = 0
        # The number of outcomes of takes and gifts: rows that were read before the last one are no plan's.
        self._moves = 0
        # The shards that are offered, and until when members that have not accepted get nothing.
        self._offered: set[ShardId] = set()
        self._refusals: dict[Member, int] = {}
        self.is_leaving = self._is_ending = False
        self._left: Callable[[], None] = lambda: None
        self._leave_by_ms = 0
        self._looks_again = False
        self._is_settled = False
        self._is_near = True

    @property
    def may_answer(self) -> bool:
        """Whether this node may still own its shards: reads, and whatever writes nothing, are answered only then."""
        return self.lease.is_in_force

    @property
    def accepts(self) -> bool:
        """Whether this node takes shards that others give."""
        return self.me is not None and not self.is_leaving and self._is_near and self.may_answer

    @property
    def has_part(self) -> bool:
        """Whether this node owns its part of the shards, by the rows that it read last."""
        me, table = self.me, self.rows
        if me is None or table is None or me not in table.staying:
            return False
        return has_part(table, me) and all(shard in self.owned for shard, row in table.shards.items() if row.owner == me)

    @property
    def look_ms(self) -> int:
        """The time until the next look: shorter while shards wait for an owner, or are about to get another."""
        return self._times.look_ms if self._is_settled else self._times.look_ms // HASTE

    def tick(self) -> None:
        """Renew, and look at the others."""
        now_ms, me = self._clocks.boot_ms(), self.me
        if me is not None:
            self._renew(me, now_ms)
        elif not self.is_leaving:
            self._ask("join", None, partial(self._store.join, self._node, self._listeners), partial(self._joined, now_ms))
        self.look()

    def look(self) -> None:
        """Look at the others. A node that leaves goes on with that, to tell clients where its shards are."""
        self._ask("read", None, self._store.read, partial(self._read, self._moves))

    def take_given(self, shards: Sequence[Ownership]) -> None:
        """Take what others say that they have given to this node, at these epochs; it is so only if the rows say it, too."""
        me = self.me
        if me is not None and self.accepts:
            for shard, epoch in shards:
                if shard not in self.owned and shard not in self._unloading:
                    self._take(me, shard, epoch)
        self.look_again()

    def look_again(self) -> None:
        """Look at once: something has changed. What is being read may be from before."""
        if ("read", None) in self._asked:
            self._looks_again = True
        else:
            self.look()

    def leave(self, done: Callable[[], None]) -> None:
        """Give all shards away, and leave. ``done`` is called when the store has heard of it, or cannot be asked."""
        self.is_leaving = True
        self._left, self._leave_by_ms = done, self._clocks.boot_ms() + LEAVE_MS
        if self.me is None:
            done()
        else:
            self._retire(self.me)

    def _renew(self, me: Member, now_ms: int) -> None:
        self._ask("renew", me, partial(self._store.renew, me), partial(self._renewed, me, now_ms))

    # Outcomes.

    def _ask(
        self, name: str, subject: object, statement: Callable[[Callable[[Any], None]], None], heard: Callable[[Any], None]
    ) -> None:
        """Send a statement, unless one of the same kind and subject has no outcome yet."""
        key = name, subject
        if key in self._asked:
            return
        self._asked.add(key)

        def done(outcome: Any) -> None:
            self._asked.discard(key)
            heard(outcome)

        statement(done)

    def _joined(self, sent_ms: int, me: Member | None) -> None:
        if me is not None and not self.is_leaving:
            self.me = me
            # The rows that have it may have been shown already: their answer may have come before this one.
            self._version = -1
            self._host.begin(me)
            self._grant(me, sent_ms)
            log.info("node-joined", node=me.node, incarnation=me.incarnation)
            # What is being read may be from before.
            self._store.read(partial(self._read, self._moves))

    def _renewed(self, me: Member, sent_ms: int, outcome: bool | None) -> None:
        if outcome is None or self.me != me:
            return
        if not outcome:
            self._drop_all("it is marked dead: others may own its shards")
            return
        had_ended = not self.may_answer
        self._grant(me, sent_ms)
        if had_ended and self.may_answer and self.owned:
            # Nobody has taken a shard: it would have marked this node dead before.
            log.warning("lease-regained", node=me.node, shards=len(self.owned))

    def _grant(self, me: Member, sent_ms: int) -> None:
        self.lease.renew(sent_ms, self._times.lease_ms)
        if not self.may_answer:
            # That was too long ago: the store was away, and answers now.
            self._renew(me, self._clocks.boot_ms())

    def _drop_all(self, why: str) -> None:
        log.error("node-put-out", node=self._node, shards=len(self.owned), why=why)
        self.me = None
        self.lease.end()
        for shard in list(self.owned):
            self._disown(shard)
        if self.is_leaving:
            self._left()

    def _read(self, moves: int, table: Table | None) -> None:
        me = self.me
        if self._looks_again:
            self._looks_again = False
            self.look()
        if table is None:
            if self.is_leaving and me is not None:
                self._end(me)
            return
        self.rows, self.read_ms = table, self._clocks.boot_ms()
        self._silence.observe(table, self.read_ms)
        if table.version > self._version:
            self._version = table.version
            self._host.changed(table)
        self._is_settled = is_settled(table)
        if me is None or me not in table.members:
            return
        if not table.is_alive(me):
            self._drop_all("its row says that it is dead")
            return
        self._follow(table, me)
        self._mark_dead(table, me)
        if self.is_leaving:
            self._go_on_leaving(table, me)
        if moves == self._moves and not self._is_ending:
            self._move(table, me)

    def _go_on_leaving(self, table: Table, me: Member) -> None:
        if not table.members[me].is_leaving:
            # Others would give it shards.
            self._retire(me)
        has_nothing = not self.owned and not self._unloading and all(row.owner != me for row in table.shards.values())
        if has_nothing or not table.staying or self._clocks.boot_ms() >= self._leave_by_ms:
            self._end(me)

    def _retire(self, me: Member) -> None:
        self._ask("retire", me, partial(self._store.retire, me), lambda _: self.look_again())

    def _end(self, me: Member) -> None:
        """Leave with what could not be given away: others take it when the store has heard of it."""
        self._is_ending = True
        for shard in list(self.owned):
            self._disown(shard)
        self._leave_if_unloaded(me)

    def _leave_if_unloaded(self, me: Member) -> None:
        if self._is_ending and not self._unloading and self.me == me:
            self.me = None
            self.lease.end()
            self._store.leave(me, lambda _: self._left())

    def _follow(self, table: Table, me: Member) -> None:
        """Disown what another node owns, or this one at another epoch. Rows older than what is owned say nothing."""
        for shard, epoch in list(self.owned.items()):
            row = table.shards[shard]
            if row.epoch > epoch or (row.epoch == epoch and row.owner != me):
                log.warning("shard-lost", shard=str(shard), epoch=epoch, owner=str(row.owner), its_epoch=row.epoch)
                self._disown(shard)

    def _mark_dead(self, table: Table, me: Member) -> None:
        for member, renewals in list(self._silence.over(self._clocks.boot_ms())):
            if member != me:
                log.warning("node-is-silent", node=member.node, incarnation=member.incarnation, renewals=renewals)
                self._mark(member, renewals, SILENT)
        for member, row in table.members.items():
            if member != me and not row.is_dead and not row.is_connected:
                self._ask("presence", member, partial(self._host.ask_if_gone, member, row), partial(self._heard, member, row))

    def _heard(self, member: Member, row: MemberRow, is_gone: bool) -> None:
        if is_gone:
            log.warning("node-is-gone", node=member.node, incarnation=member.incarnation)
            self._mark(member, row.renewals, GONE)

    def _mark(self, member: Member, renewals: int, why: str) -> None:
        self._ask("mark", member, partial(self._store.mark_dead, member, renewals), partial(self._marked, why))

    def _marked(self, why: str, outcome: bool | None) -> None:
        if outcome:
            self.takeovers[why] += 1
            # Its shards are free.
            self.look()

    def _move(self, table: Table, me: Member) -> None:
        self.difference_ms = difference_ms = table.wall_ms - self._clocks.wall_ms()
        is_near = abs(difference_ms) <= MOST_CLOCK_DIFFERENCE_MS
        if not is_near and self._is_near:
            log.error("clock-differs", node=me.node, difference_ms=difference_ms, action="set the clock: no shards are taken")
        self._is_near = is_near
        now_ms = self._clocks.boot_ms()
        refused = [member for member, until_ms in self._refusals.items() if now_ms < until_ms]
        take, give = plan(table, me, takes=is_near and self.may_answer, without=refused)
        self._offer(me, [each for each in give if each[0] in self.owned])
        # Another node has given them, or a take or gift had no outcome, so it may still be under way: the next epoch ends it.
        ours = [(shard, row.epoch) for shard, row in table.shards.items() if row.owner == me and shard not in self.owned]
        for shard, epoch in [*ours, *take]:
            if shard not in self._unloading:
                self._take(me, shard, epoch)

    def _take(self, me: Member, shard: ShardId, epoch: int) -> None:
        self._ask("shard", shard, partial(self._store.take, me, shard, epoch), partial(self._took, me, shard))

    def _took(self, me: Member, shard: ShardId, epoch: int | None) -> None:
        self._moves += 1
        if epoch is not None and self.me == me and not self._is_ending and epoch > self.owned.get(shard, -1):
            self.owned[shard] = epoch
            self._host.own(shard, epoch)

    def _offer(self, me: Member, give: Sequence[tuple[ShardId, int, Member]]) -> None:
        """Offer some of the shards that are to be given away."""
        room = MOST_LEAVING - len(self._unloading) - len(self._offered)
        moving = self._unloading | self._offered | {subject for name, subject in self._asked if name == "shard"}
        waiting = [each for each in give if each[0] not in moving]
        offers: dict[Member, list[Ownership]] = {}
        for shard, epoch, to in waiting[: max(0, room)]:
            offers.setdefault(to, []).append(Ownership(shard, epoch))
            self._offered.add(shard)
        for to, shards in offers.items():
            self._host.offer(to, shards, partial(self._offer_heard, me, to, shards))

    def _offer_heard(self, me: Member, to: Member, shards: Sequence[Ownership], is_accepted: bool) -> None:
        self._offered.difference_update(shard for shard, _ in shards)
        if self.me != me or self._is_ending:
            for shard, _ in shards:
                self._host.end_gift(shard)
            return
        if not is_accepted:
            self._refusals[to] = self._clocks.boot_ms() + REFUSED_MS
            return
        for shard, epoch in shards:
            give = partial(self._give, me, shard, epoch, to)
            if self.owned.get(shard) == epoch:
                self._disown(shard, give)
            else:
                self._host.end_gift(shard)

    def _give(self, me: Member, shard: ShardId, epoch: int, to: Member) -> None:
        self._ask("shard", shard, partial(self._store.give, me, shard, epoch, to), partial(self._gave, shard))

    def _gave(self, shard: ShardId, _: bool | None) -> None:
        self._moves += 1
        self._host.end_gift(shard)
        if self.is_leaving:
            self.look_again()

    def _disown(self, shard: ShardId, then: Callable[[], None] = lambda: None) -> None:
        def unloaded() -> None:
            self._unloading.discard(shard)
            then()
            if self.me is not None:
                self._leave_if_unloaded(self.me)

        del self.owned[shard]
        self._unloading.add(shard)
        self._host.disown(shard, unloaded)
