"""Who holds up the rebalance of a group now, since when, and when the server puts the member out.

| type | phase | who holds it up | is put out at the end of |
|---|---|---|---|
| classic | PreparingRebalance | members and ids still to join | the join phase, or the session; static members: the session |
| classic | CompletingRebalance | the leader, until it sends the assignments | the sync phase, or the session |
| consumer, streams | Reconciling | members that have partitions or tasks to give up | their rebalance timeout, or the session |
| consumer, share, streams | | members without a heartbeat since the new target | the session |

A group waits without anybody to blame: for the end of its first delay, or for a target that is not computed yet.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.state import COMPLETING_REBALANCE, EMPTY, PREPARING_REBALANCE
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.holdup import (
    FIRST_DELAY,
    NO_TARGET,
    NOT_ASSIGNED,
    NOT_GIVEN_UP,
    NOT_HEARD,
    NOT_JOINED,
    NOT_JOINED_WITH_ID,
    Holdup,
)
from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.reconciling_group import ReconcilingGroup
from coordinator_server.group.modern.revocation import REBALANCE
from coordinator_server.group.registry import Groups
from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.streams.member import StreamsGroupMember
from coordinator_server.machine.shard import Clock, CoordinatorTimer


class _Who(NamedTuple):
    """A member, with the address of its client as records have it: behind a slash, as in Java."""

    member_id: str
    client_id: str
    client_host: str
    group_instance_id: str | None

    def holds(self, held: Holdup) -> Holdup:
        """Return what this member holds up."""
        held.member_id, held.client_id = self.member_id, self.client_id
        held.client_host, held.group_instance_id = self.client_host.removeprefix("/"), self.group_instance_id
        return held


def holdups(groups: Groups, group_id: str) -> list[Holdup]:
    """Return what a group waits for in its present state, durable or not; nothing if it is settled, or does not exist."""
    consumer, share = groups.consumer.by_id.get(group_id), groups.share.by_id.get(group_id)
    streams = groups.streams.by_id.get(group_id)
    if consumer is not None:
        return list(_of_reconciling(groups.consumer_context, consumer, partial(_named, groups.consumer_context)))
    if share is not None:
        return list(_of_share(groups.share_context, share))
    if streams is not None:
        return list(_of_reconciling(groups.streams_context, streams, _tasks))
    classic = groups.classic.living(group_id)
    context = groups.classic_context
    return [] if classic is None else list(_of_classic(context.timer, context.clock, classic))


def _of_classic(timer: CoordinatorTimer, clock: Clock, group: ClassicGroup) -> Iterator[Holdup]:
    about = group.group_id, "classic", group.state.value
    since_ms = group.current_state_timestamp
    if group.state is COMPLETING_REBALANCE and group.leader_id in group.pending_syncs:
        leader = group.members[group.leader_id]
        out_in_ms = _first(timer, (group.sync_key, leader.session_key))
        who = _Who(leader.member_id, leader.client_id, leader.client_host, leader.group_instance_id)
        yield who.holds(Holdup(*about, NOT_ASSIGNED, since_ms=since_ms, out_in_ms=out_in_ms))
    if group.state is not PREPARING_REBALANCE:
        return
    for member in group.members.values():
        if member.awaiting_join is None:
            # The join phase ends without a static member, which stays a member until its session ends.
            keys = (member.session_key,) if member.is_static else (member.session_key, group.join_key)
            who = _Who(member.member_id, member.client_id, member.client_host, member.group_instance_id)
            yield who.holds(Holdup(*about, NOT_JOINED, since_ms=since_ms, out_in_ms=_first(timer, keys)))
    for member_id in group.pending_joins:
        out_in_ms = _first(timer, (group.session_key(member_id), group.join_key))
        yield Holdup(*about, NOT_JOINED_WITH_ID, member_id, since_ms=since_ms, out_in_ms=out_in_ms)
    if group.previous_state is EMPTY:
        yield Holdup(*about, FIRST_DELAY, since_ms=since_ms, out_in_ms=timer.left_ms(group.join_key))


def _of_reconciling(
    context: ModernContext[Any], group: ReconcilingGroup[Any, Any], named: Callable[[Any], dict[str, list[int]]]
) -> Iterator[Holdup]:
    """Yield who holds up a group whose members give something up before others get it. ``named`` is what one must give up."""
    now_ms = context.clock.wall_ms()
    about = group.group_id, context.type_name
    if group.members and group.group_epoch > group.assignment_epoch:
        yield Holdup(*about, "Assigning", f"{NO_TARGET} {group.group_epoch}")
    sessions = context.sessions.get(group.group_id, {})
    for member in group.members.values():
        session = sessions.get(member.member_id)
        timeout_ms = context.session_timeout_ms(group.group_id, member)
        who = _Who(member.member_id, member.metadata.client_id, member.metadata.client_host, member.metadata.instance_id)
        if member.is_revoking:
            keys = [context.timer_key(name, group.group_id, member.member_id) for name in ("session", *context.timers)]
            left_ms = context.timer.left_ms(context.timer_key(REBALANCE, group.group_id, member.member_id))
            since_ms = None if left_ms is None else now_ms - (member.metadata.rebalance_timeout_ms - left_ms)
            out_in_ms = _first(context.timer, keys)
            partitions = named(member)
            held = Holdup(*about, "Reconciling", NOT_GIVEN_UP, since_ms=since_ms, out_in_ms=out_in_ms, partitions=partitions)
            yield who.holds(held)
        elif member.stable_epoch is not None and member.stable_epoch != group.assignment_epoch:
            left_ms = None if session is None else context.timer.left_ms(session.key)
            since_ms = None if left_ms is None else now_ms - (timeout_ms - left_ms)
            what = f"{NOT_HEARD} {group.assignment_epoch}"
            yield who.holds(Holdup(*about, "Reconciling", what, since_ms=since_ms, out_in_ms=left_ms))


def _named(consumer: ConsumerContext, member: ConsumerGroupMember) -> dict[str, list[int]]:
    """Return what a member must give up, by name of the topic, or its id if it is gone."""
    found = {}
    for topic_id, epochs in member.pending_revocation.items():
        topic = consumer.topics.topic_by_id(topic_id)
        found[topic_id.hex() if topic is None else topic.name] = sorted(epochs)
    return found


def _tasks(member: StreamsGroupMember) -> dict[str, list[int]]:
    """Return what a member must give up, by kind of task and subtopology."""
    pending = member.tasks.pending_revocation
    kinds = (("", pending.active), ("standby ", pending.standby), ("warm-up ", pending.warmup))
    return {f"{kind}task {subtopology_id}": sorted(numbers) for kind, tasks in kinds for subtopology_id, numbers in tasks.items()}


def _of_share(share: ShareContext, group: ShareGroup) -> Iterator[Holdup]:
    now_ms = share.clock.wall_ms()
    timeout_ms = share.settings(group.group_id).share.session_timeout_ms
    about = group.group_id, "share", "Stable"
    if group.members and group.group_epoch > group.assignment_epoch:
        yield Holdup(*about, f"{NO_TARGET} {group.group_epoch}")
    sessions = share.sessions.get(group.group_id, {})
    for member in group.members.values():
        if member.member_epoch == group.assignment_epoch:
            continue
        session = sessions.get(member.member_id)
        left_ms = None if session is None else share.timer.left_ms(session.key)
        since_ms = None if left_ms is None else now_ms - (timeout_ms - left_ms)
        who = _Who(member.member_id, member.metadata.client_id, member.metadata.client_host, None)
        yield who.holds(Holdup(*about, f"{NOT_HEARD} {group.assignment_epoch}", since_ms=since_ms, out_in_ms=left_ms))


def _first(timer: CoordinatorTimer, keys: Iterable[Hashable]) -> int | None:
    """Return how long it is until the first of some timers fires; None if none is armed."""
    return min((left for key in keys if (left := timer.left_ms(key)) is not None), default=None)
