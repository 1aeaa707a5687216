"""This node among those that share a store: a process of it joins, owns shards, and gives them to others when it leaves.

    own       the view says that it is ours ─ the shard is LOADING ─ the log is read from the store ─ the catalog's owner leads
    disown    the view says that nobody owns it ─ the catalog's owner follows ─ unload ─ nothing is under way ─ given away
    offer     the next owner reads it before that, and clients learn who it is (cluster/handover.py)
    offered   read, and taken when this node accepts connections of clients: until then they would be refused
    changed   the view of all nodes: who owns the other shards, which nodes have ended, who is the controller
    asked     whether the process of another node is gone (cluster/presence.py)

What cannot be read from the store is read again after RETRY_S. ``membership/membership.py`` decides what is owned.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import structlog

from coordinator_server.log.errors import LogError
from coordinator_server.log.members import Member, MemberRow, Shared, Table
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.log.store import LogStore
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.runtime.arrivals import Arrivals
from coordinator_server.runtime.lease import Lease
from coordinator_server.server.cluster.catalog_roles import RoledCatalog
from coordinator_server.server.cluster.handover import Handovers
from coordinator_server.server.cluster.neighbours import Identity
from coordinator_server.server.cluster.nodes import Nodes
from coordinator_server.server.cluster.presence import Presence
from coordinator_server.server.cluster.shared_view import view_of_table
from coordinator_server.server.cluster.view import CATALOG_SHARD, NO_NODE, Endpoint, Owner, ViewNode
from coordinator_server.server.hosting.hosted import HAS_LEFT, Hosted
from coordinator_server.server.membership.leases import Clocks, LeaseTimes
from coordinator_server.server.membership.membership import Membership
from protocol.error_codes import ErrorCode

log = structlog.get_logger(__name__)

RETRY_S: Final = 0.5
HANDED_OVER_S: Final = 2.0
"""How long a node that leaves waits until others own its shards. Until then it says to clients who does."""


class Sharing(NamedTuple):
    """What a node shares with others, and in which times."""

    shared: Shared
    clocks: Clocks
    times: LeaseTimes


class NodeShards:
    """The Host of a node. ``after_submit`` calls back when everything that was submitted is durable or has failed.

    ``led`` is called each time that this node has become the controller.
    """

    def __init__(  # noqa: PLR0913 - arguments with names
        self,
        *,
        sharing: Sharing,
        store: LogStore,
        hosted: Hosted,
        nodes: Nodes,
        who: Identity,
        roles: RoledCatalog,
        presence: Presence,
        handovers: Handovers,
        lease: Lease,
        arrivals: Arrivals,
        after_submit: Callable[[Callable[[], None]], None],
    ) -> None:
        self.led: Callable[[], None] = lambda: None
        self._sharing = sharing
        self._store = store
        self._hosted = hosted
        self._nodes = nodes
        self._who = who
        self._roles = roles
        self._presence = presence
        self._handovers = handovers
        self._lease = lease
        self._arrivals = arrivals
        self._after_submit = after_submit
        self._membership: Membership | None = None
        self._here: ViewNode
        self._has_joined = asyncio.Event()
        # What begins the loads of shards whose log is being read.
        self._begins: dict[ShardId, Callable[[], None]] = {}
        # What waits until clients are served.
        self._before_serving: list[Callable[[], None]] | None = []
        self._seen: Callable[[], None] = lambda: None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        # The catalog's changes of roles, which take several turns.
        self._tasks: set[asyncio.Task[None]] = set()
        # The shards that this node owns and has not loaded yet, and whether it has had its part of all.
        self._coming: set[ShardId] = set()
        self._has_part = asyncio.Event()
        # The number of shards that came and that went.
        self.counts = {"in": 0, "out": 0}

    @property
    def node_id(self) -> int:
        """The node's id."""
        return self._nodes.id

    @property
    def topics(self) -> Iterable[str]:
        """The topics whose shards nodes own."""
        return self._store.meta.partitions

    @property
    def membership(self) -> Membership:
        """The membership, from ``start`` on."""
        assert self._membership is not None, "the node has not started"
        return self._membership

    # Its life.

    def start(self, here: ViewNode) -> None:
        """Join, and own shards from now on. ``here`` has the addresses of this node."""
        assert here.for_nodes is not None, "a node listens for others"
        self._here = here
        self._membership = Membership(
            node=here.id,
            listeners=[here.for_nodes, *here.listeners],
            store=self._sharing.shared.members,
            host=self,
            lease=self._lease,
            clocks=self._sharing.clocks,
            times=self._sharing.times,
        )
        self._start_task(self._presence.start())
        self._start_task(self._handovers.start(self))
        self._tick()
        self._look()

    async def joined(self) -> None:
        """Return when this node has joined, and owns the catalog or has every change of it that was answered."""
        await self._has_joined.wait()
        await self._roles.known()

    async def complete(self) -> None:
        """Return when this node has loaded its part of the shards for the first time."""
        await self._has_part.wait()

    @property
    def awaited(self) -> str | None:
        """What this node waits for before it serves, or None. Shards that others give it later are not awaited."""
        membership = self._membership
        if membership is None or membership.me is None:
            return "the other nodes: it has not joined them"
        if not membership.may_answer:
            return "its lease to be renewed: it answers nobody"
        if not self._has_part.is_set():
            return f"its part of the shards: it has {len(membership.owned) - len(self._coming)}, and loads {len(self._coming)}"
        return None

    def serve(self) -> None:
        """Take what other nodes give, from now on: clients reach this node."""
        waiting, self._before_serving = self._before_serving or (), None
        for call in waiting:
            call()

    async def leave(self) -> None:
        """Give all shards to others, and leave. Return when others own them, if there are others, or after HANDED_OVER_S."""
        if self._membership is None:
            return
        left, others = asyncio.Event(), asyncio.Event()
        self._membership.leave(left.set)
        await left.wait()

        def look() -> None:
            view = self._nodes.view
            if len(view.nodes) < 2 or all(owner.node != NO_NODE for owner in view.owners.values()):
                others.set()

        self._seen = look
        look()
        try:
            async with asyncio.timeout(HANDED_OVER_S):
                await others.wait()
        except TimeoutError:
            log.warning("shards-without-owner", why="no other node has taken them yet")

    def close(self) -> None:
        """Do nothing more."""
        for timer in self._timers.values():
            timer.cancel()
        for task in self._tasks:
            task.cancel()
        self._presence.stop()
        self._handovers.stop()

    def _tick(self) -> None:
        self.membership.tick()
        self._later("tick", self._sharing.times.renew_ms, self._tick)

    def _look(self) -> None:
        self.membership.look()
        self._later("look", self.membership.look_ms, self._look)

    def _later(self, name: str, delay_ms: float, call: Callable[[], None]) -> None:
        self._timers[name] = asyncio.get_running_loop().call_later(delay_ms / 1000, call)

    # Host.

    def begin(self, me: Member, /) -> None:
        """Be this process of the node: another one was granted what it had.

        From the first time on it follows the catalog: a change waits for a process only if it knows which one it is.
        """
        is_first = not self._who.incarnation
        self._who.incarnation = me.incarnation
        self._here = self._here._replace(incarnation=me.incarnation)
        if is_first:
            self._start_task(self._roles.follow())
        else:
            self._roles.begin_anew()

    def own(self, shard: ShardId, epoch: int, /) -> None:
        """Load a shard as its owner at an epoch."""
        log.debug("shard-owned", shard=str(shard), epoch=epoch)
        self.counts["in"] += 1
        self._coming.add(shard)
        self._nodes.give(shard, Owner(self._nodes.id, epoch))
        self._hosted.leave(shard)
        self._enter(shard, epoch)
        self._arrivals.came(shard)
        self._acquire(shard, epoch)

    def disown(self, shard: ShardId, unloaded: Callable[[], None], /) -> None:
        """Unload a shard. ``unloaded`` is called when nothing of it is under way to the store any more."""
        self.counts["out"] += 1
        self._coming.discard(shard)
        self._nodes.give(shard, Owner(NO_NODE, self._nodes.view.owner_of(shard).epoch))
        if shard == CATALOG_SHARD:
            self._start_task(self._leave_catalog(unloaded))
        else:
            self._leave(shard, unloaded)

    def changed(self, table: Table, /) -> None:
        """Use the view of the rows, and note which nodes have ended."""
        membership = self.membership
        self._nodes.replace(view_of_table(table, self._here, membership.owned))
        for member, row in table.members.items():
            if row.is_dead and member != membership.me:
                self._roles.loop_ended(member.node, member.incarnation)
        self._roles.look()
        if membership.me is not None and membership.me in table.members:
            self._has_joined.set()
        self._note_part()
        self._seen()

    def ask_if_gone(self, member: Member, row: MemberRow, done: Callable[[bool], None], /) -> None:
        """Ask at the address for nodes that a member has had."""

        async def ask() -> None:
            done(await self._presence.is_gone(member, Endpoint(*row.listeners[0])))

        self._start_task(ask())

    def offer(self, to: Member, shards: Sequence[Ownership], done: Callable[[bool], None], /) -> None:
        """Let a member read shards that it is about to get, and nodes know of it."""

        async def offer() -> None:
            others = [each.id for each in self._nodes.view.nodes if each.id != self._nodes.id]
            is_taken = await self._handovers.offer(to.node, others, shards)
            if is_taken:
                self._nodes.expect(to.node, shards)
            done(is_taken)

        self._start_task(offer())

    def end_gift(self, shard: ShardId, /) -> None:
        """Note that the gift of an offered shard has an outcome. When all of an offer have one, let others look at the rows."""
        self._handovers.settle(shard)

    # Receiver: what other nodes give away.

    def offered(self, shards: Sequence[Ownership], done: Callable[[bool], None], /) -> None:
        """Read shards that this node is about to get. They are taken when it serves clients."""

        def prepared() -> None:
            if self._before_serving is None:
                done(self.membership.accepts)
            else:
                self._before_serving.append(prepared)

        if self.membership.accepts:
            self._sharing.shared.prepare([shard for shard, _ in shards], prepared)
        else:
            done(False)

    def moving(self, to: int, shards: Sequence[Ownership], /) -> None:
        """Say to clients that a node is about to answer for shards. If it is this one, they may be here before the shards are."""
        self._nodes.expect(to, shards)
        if to == self._nodes.id:
            # A message may be later than the rows: the shard is here then, and may soon be gone again.
            self._arrivals.expect(shard for shard, _ in shards if shard not in self.membership.owned)

    def given(self, to: int, shards: Sequence[Ownership], /) -> None:
        """Take what was given to this node, at the next epoch, and look at the rows: they say who has it."""
        ours = shards if to == self._nodes.id else ()
        self.membership.take_given([Ownership(shard, epoch + 1) for shard, epoch in ours])

    # Shards that come and go.

    def _owns(self, shard: ShardId, epoch: int) -> bool:
        return self.membership.owned.get(shard) == epoch

    def _acquire(self, shard: ShardId, epoch: int) -> None:
        if self._owns(shard, epoch):
            self._sharing.shared.acquire(Ownership(shard, epoch), partial(self._acquired, shard, epoch))

    def _acquired(self, shard: ShardId, epoch: int, error: LogError | None) -> None:
        if not self._owns(shard, epoch):
            return
        if error is not None:
            self._failed(shard, epoch, str(error))
        elif (begin := self._begins.pop(shard, None)) is not None:
            self._after_submit(begin)
        elif (load := self._hosted.enter(shard)) is not None:
            # Its kind was not in use when the shard came.
            load.add_done_callback(partial(self._loaded, shard, epoch))
        else:
            self._arrived(shard)

    def _enter(self, shard: ShardId, epoch: int) -> None:
        """Let requests for a shard wait that is about to be read."""
        load = self._hosted.enter(shard, partial(self._begins.__setitem__, shard))
        if load is not None:
            load.add_done_callback(partial(self._loaded, shard, epoch))

    def _loaded(self, shard: ShardId, epoch: int, load: asyncio.Future[ErrorCode]) -> None:
        outcome = load.result()
        if outcome is HAS_LEFT or not self._owns(shard, epoch):
            return
        if outcome is not ErrorCode.NONE:
            self._hosted.leave(shard)
            self._enter(shard, epoch)
            self._failed(shard, epoch, outcome.name)
            return
        self._arrived(shard)
        if shard == CATALOG_SHARD:
            self._start_task(self._lead(epoch))

    def _arrived(self, shard: ShardId) -> None:
        self._coming.discard(shard)
        self._note_part()

    def _note_part(self) -> None:
        if not (self._has_part.is_set() or self._coming) and self.membership.has_part:
            self._has_part.set()

    def _failed(self, shard: ShardId, epoch: int, why: str) -> None:
        log.warning("shard-not-loaded", shard=str(shard), epoch=epoch, why=why, action=f"it is read again in {RETRY_S} s")
        self._later(str(shard), RETRY_S * 1000, partial(self._acquire, shard, epoch))

    def _leave(self, shard: ShardId, unloaded: Callable[[], None]) -> None:
        self._begins.pop(shard, None)
        self._hosted.leave(shard)
        self._after_submit(lambda: self._store.forget([shard], unloaded))

    # The catalog's roles.

    async def _lead(self, epoch: int) -> None:
        if not self._owns(CATALOG_SHARD, epoch):
            return
        try:
            await self._roles.lead()
        except CoordinatorError:
            # The lease of this node is over, or another node leads: then it does not own the shard any more.
            self._later("lead", RETRY_S * 1000, lambda: self._start_task(self._lead(epoch)))
            return
        self.led()

    async def _leave_catalog(self, unloaded: Callable[[], None]) -> None:
        await self._roles.follow()
        self._leave(CATALOG_SHARD, unloaded)

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
