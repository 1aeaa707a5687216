"""The rules of moving shards, each broken: what a play of nodes has to see."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import pytest

from coordinator_server.group.share.group_deletion import StatesOfGroups
from coordinator_server.log.errors import OutcomeUnknown, Unavailable
from coordinator_server.log.members import Member
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.context import ShardContext
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.lease import Gate
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.runtime.timers import TimerQueue
from coordinator_server.server.cluster.catalog import OwnCatalog
from coordinator_server.server.cluster.catalog_roles import RoledCatalog
from coordinator_server.server.cluster.effects import Courier
from coordinator_server.server.cluster.epochs import Epochs
from coordinator_server.server.cluster.followers import Followers
from coordinator_server.server.cluster.presence import Presence
from coordinator_server.server.hosting.node_shards import NodeShards
from coordinator_server.server.hosting.topic_news import TopicNews
from coordinator_server.server.membership import membership
from coordinator_server.server.membership import plan as plans
from coordinator_server.server.membership.membership import Membership
from coordinator_server.server.membership.plan import Plan, plan
from tests.simulation.layer_makers import LayerMakers
from tests.simulation.played_nodes import NodeClock
from tests.support.node_log import NodeLog
from tests.support.shared_layers import LayerRows
from tests.support.shared_members import Rows
from tests.support.shared_store import Database

Patch = pytest.MonkeyPatch


def a_newer_epoch_does_not_reload(patch: Patch) -> None:
    """Issue 37, 1."""
    original = CoordinatorRuntime.load

    def keep(self: NodeShards, shard: ShardId, unloaded: Callable[[], None]) -> None:
        self._after_submit(unloaded)

    def load(self: Any, partition: int, epoch: int, when: Any = None, *, ours_since: int | None = None) -> None:
        original(self, partition, epoch, when, ours_since=0)

    patch.setattr(NodeShards, "_leave", keep)
    patch.setattr(CoordinatorRuntime, "load", load)
    patch.setattr("coordinator_server.server.hosting.hosted.Hosted.leave", lambda self, shard: self._left.add(shard))


def messages_carry_no_epochs(patch: Patch) -> None:
    """Issue 37, 2."""

    def run_all(self: Courier, _sender: Any, to: Any, name: str, request: Any, reply: Any) -> None:
        runtime = self._here.runtimes[to.shard.topic]
        self._here.rows[to.shard.topic][name].run(runtime, to.shard.partition, self._context, request, reply)

    patch.setattr(Courier, "run", run_all)
    patch.setattr(Epochs, "note", lambda _self, _owned: True)


def an_owner_knows_only_the_epochs_it_has_seen(patch: Patch) -> None:
    """Section 15: it starts from the store's epochs of all shards."""
    newest = Epochs.newest

    def seen(self: Epochs, shard: ShardId) -> int:
        self._owners = dict
        return newest(self, shard)

    patch.setattr(Epochs, "newest", seen)


def nobody_looks_at_the_gate(patch: Patch) -> None:
    """Issue 37, 3."""
    patch.setattr(Gate, "is_open", lambda _self: True)
    patch.setattr(Gate, "look", lambda _self: None)


def changes_of_the_catalog_do_not_wait(patch: Patch) -> None:
    """Issue 37, 4."""
    patch.setattr(Followers, "unaware", lambda _self, _offset: [])


def a_follower_has_no_lease(patch: Patch) -> None:
    """Issue 37, 4: a change waits for the lease, and the follower does not know of it."""
    patch.setattr(
        "coordinator_server.server.cluster.catalog_replica.CatalogReplica._granted", lambda self, _grant: self._lease.lift()
    )


def a_new_controller_expects_nobody(patch: Patch) -> None:
    """Issue 37, 4 and 7: it waits for the leases that the one before may have granted."""
    patch.setattr(Followers, "expect", lambda _self, _loops: None)


def a_former_controller_grants_leases(patch: Patch) -> None:
    """Issue 37, 4 and 7. A follower leaves it as soon as it knows of the next one, which is another rule for the same."""
    patch.setattr(OwnCatalog, "may_grant", True)
    patch.setattr("coordinator_server.server.cluster.catalog_feed.FeedClient.look", lambda _self: None)


def a_node_that_was_put_out_keeps_its_leases(patch: Patch) -> None:
    """Another process of the node was granted them."""
    patch.setattr(RoledCatalog, "begin_anew", lambda _self: None)


def times_go_back(patch: Patch) -> None:
    """Issue 37, 5."""

    def now(self: ShardContext[Any], now_ms: int) -> int:
        self.last_ms = now_ms
        return now_ms

    patch.setattr(ShardContext, "_next_ms", now)


def appends_are_not_fenced(patch: Patch) -> None:
    """Section 15: an append is accepted only at the epoch and the end that the store has."""
    append = Database.append

    def lax(self: Database, rows: Any) -> Any:
        return append(self, [row._replace(epoch=max(row.epoch, self.shard(row.shard).epoch)) for row in rows])

    patch.setattr(Database, "append", lax)
    patch.setattr("tests.support.shared_store._failure", lambda row, shard: None)


def clocks_stand_still_in_a_suspended_machine(patch: Patch) -> None:
    boot_ms = NodeClock.boot_ms
    patch.setattr(NodeClock, "boot_ms", lambda self: boot_ms(self) - self.suspended_us // 1000)


def a_lease_that_is_won_back_goes_on(patch: Patch) -> None:
    """Section 15: it restarts sessions."""
    patch.setattr(TimerQueue, "grant_fresh_start", lambda _self, _now_ms: None)


def members_must_join_for_what_was_not_written(patch: Patch) -> None:
    patch.setattr("coordinator_server.group.migration.members.settle_session", lambda *_: None)
    patch.setattr("coordinator_server.group.migration.members.need_not_join", lambda *_: None)


def shards_without_a_lease_do_not_hear_of_topics(patch: Patch) -> None:
    """Nor when it is won back."""
    patch.setattr(TopicNews, "suspend", lambda _self, _is_over: None)


def a_group_that_stays_is_still_deleting(patch: Patch) -> None:
    patch.setattr(StatesOfGroups, "closed", lambda _self, _group_ids: [])


def what_is_in_doubt_was_not_written(patch: Patch) -> None:
    """Section 15: it is resolved by a write at the store."""
    flushed = Flusher._flushed

    def refused(self: Flusher, failures: Any) -> None:
        flushed(self, failures and {shard: _refused(failure) for shard, failure in failures.items()})

    patch.setattr(Flusher, "_flushed", refused)


def _refused(failure: Any) -> Any:
    return Unavailable("so it seems") if isinstance(failure, OutcomeUnknown) else failure


def shards_are_taken_from_living_nodes(patch: Patch) -> None:
    """Section 15: nobody does."""

    def greedy(table: Any, me: Any, *, takes: bool = True, without: Any = ()) -> Plan:
        found = plan(table, me, takes=takes, without=without)
        others = [(shard, row.epoch) for shard, row in table.shards.items() if row.owner not in (me, None)]
        return found._replace(take=[*found.take, *others[:1]] if takes else found.take)

    def take(self: Rows, database: Database, member: Any, shard: ShardId, epoch: int) -> int | None:
        if self.shards[shard].epoch != epoch or not self.is_alive(member):
            return None
        self.shards[shard] = self.shards[shard]._replace(owner=member, epoch=epoch + 1)
        database.shard(shard).epoch = epoch + 1, 0
        self.version += 1
        return epoch + 1

    patch.setattr(membership, "plan", greedy)
    patch.setattr(Rows, "take", take)


def a_shard_is_given_to_one_that_has_as_many(patch: Patch) -> None:
    """While the one that lacks a shard accepts none, two nodes give it to each other at each look."""
    divided = plans._divided
    patch.setattr(plans, "_divided", lambda mine, others, owned, _stays: divided(mine, others, owned, None))


def a_taker_does_not_mark_the_dead(patch: Patch) -> None:
    """Section 16: a victim is marked dead before anything is taken."""
    patch.setattr(Membership, "_drop_all", lambda self, _why: setattr(self, "me", None))


def a_lost_session_alone_is_believed(patch: Patch) -> None:
    """Section 16: a free lock proves nothing by itself."""

    async def is_gone(_self: Presence, _member: Any, _address: Any) -> bool:
        return True

    patch.setattr(Presence, "is_gone", is_gone)


def a_process_is_taken_for_a_later_one(patch: Patch) -> None:
    """A node that is cut from the store answers with its own incarnation."""
    is_gone = Presence.is_gone

    async def hasty(self: Presence, member: Member, address: Any) -> bool:
        return await is_gone(self, member._replace(incarnation=member.incarnation - 1), address)

    patch.setattr(Presence, "is_gone", hasty)


def a_shard_loads_before_its_log_is_here(patch: Patch) -> None:
    def acquire(self: NodeShards, shard: ShardId, epoch: int) -> None:
        if self._owns(shard, epoch):
            self._sharing.shared.acquire(Ownership(shard, epoch), lambda _error: None)
            self._acquired(shard, epoch, None)

    patch.setattr(NodeShards, "_acquire", acquire)


def a_shard_is_released_before_it_is_quiet(patch: Patch) -> None:
    """Nothing of it is under way to the store when others take it; and what was parked is answered."""
    leave = NodeShards._leave

    def early(self: NodeShards, shard: ShardId, unloaded: Callable[[], None]) -> None:
        unloaded()
        self._later("late", 1000, partial(leave, self, shard, lambda: None))

    patch.setattr(NodeShards, "_leave", early)


def nobody_compares_the_term(patch: Patch) -> None:
    """Section 16: a layer is published, and rows are removed, by the last who has claimed that."""
    patch.setattr(LayerRows, "_compare", lambda _self, _term: None)


def rows_go_that_no_layer_has(patch: Patch) -> None:
    """Section 16: trimming follows publication."""
    patch.setattr(LayerRows, "replaces", lambda _self, *_: True)


def what_is_published_is_not_read_back(patch: Patch) -> None:
    def believed(self: LayerMakers, shard: ShardId) -> list[int]:
        return [stored.to_offset for stored in self.database.layers.of(shard)]

    patch.setattr(LayerMakers, "intact", believed)


def a_load_does_not_look_where_rows_begin(patch: Patch) -> None:
    """They may have been removed since its layer was the newest one."""
    patch.setattr(NodeLog, "reaches", lambda _self, *_: True)


def a_taker_reads_rows_alone(patch: Patch) -> None:
    """Section 16: it loads from the checkpoint."""
    a_load_does_not_look_where_rows_begin(patch)
    patch.setattr(NodeLog, "_newest", lambda _self, *_: None)


def refusals_do_not_wait(patch: Patch) -> None:
    """A member is refused for a leave that the log has not taken yet."""

    def refuse(reply: Any, refused: CoordinatorError) -> CallbackReply:
        reply.fail(refused.error, refused.message)
        return CallbackReply(lambda _response: None, lambda _error, _message: None)

    patch.setattr("coordinator_server.runtime.runtime.refusing", refuse)


Mutant = Callable[[Patch], None]
MUTANTS: Final[list[tuple[Mutant, str, int]]] = [
    (times_go_back, "goes back in time", 16),
    (nobody_looks_at_the_gate, "was acknowledged", 0),
    (a_newer_epoch_does_not_reload, "", 0),
    (changes_of_the_catalog_do_not_wait, "was acknowledged", 1),
    (a_follower_has_no_lease, "was acknowledged", 9),
    (appends_are_not_fenced, "", 0),
    (clocks_stand_still_in_a_suspended_machine, "may answer", 44),
    (messages_carry_no_epochs, "ended in its logs", 48),
    (a_lease_that_is_won_back_goes_on, "was put out of", 28),
    (what_is_in_doubt_was_not_written, "", 2),
    (shards_are_taken_from_living_nodes, "may answer", 0),
    (a_shard_is_given_to_one_that_has_as_many, "back and forth", 6),
    (a_taker_does_not_mark_the_dead, "may answer", 0),
    (a_lost_session_alone_is_believed, "may answer", 2),
    (a_process_is_taken_for_a_later_one, "may answer", 2),
    (a_shard_loads_before_its_log_is_here, "", 0),
    (a_shard_is_released_before_it_is_quiet, "may answer", 0),
    (nobody_compares_the_term, "", 7),
    (rows_go_that_no_layer_has, "does not serve it", 19),
    (what_is_published_is_not_read_back, "does not serve it", 21),
    (a_load_does_not_look_where_rows_begin, "digest", 21),
    (a_taker_reads_rows_alone, "digest", 1),
    (shards_without_a_lease_do_not_hear_of_topics, "not settled", 192),
    (a_new_controller_expects_nobody, "was acknowledged", 1007),
]
"""With what they are seen by, and the first seed at which to begin. The rules above that are not listed are held by tests of
their own (``test_nodes.py``); those of leases and clocks are also seen in ``test_memberships.py``.
"""
