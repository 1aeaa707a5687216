"""Consumer groups with members of both protocols: they join, reconcile, commit, freeze, die,
and come back, also in the other protocol.

``groups_play.py`` has what befalls them; besides, the child that computes assignments dies. ``ownership.py`` says what must be
true at every moment, ``group_views.py`` what must be true of the server's state and of its log. After the calm every group
settles within ``SETTLED_WITHIN_S`` and ``most_beats`` heartbeats of a member; then all members go, and no group has any.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Final

from coordinator_server.group.shard import GroupShard
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from tests.simulation.classic_member import ClassicMember
from tests.simulation.client import Client
from tests.simulation.group_member import GroupMember, Identity, Subscription
from tests.simulation.group_views import GroupView, check_log, check_state, unsettled, view_of
from tests.simulation.groups_ending import ways_to_play
from tests.simulation.groups_play import NAMES, GroupsPlay, Seat
from tests.simulation.impostors import commit_as
from tests.simulation.loops_play import STORM_S
from tests.simulation.mirror import LogRecord
from tests.simulation.native_member import NativeMember
from tests.simulation.world import SECOND

MOST_BEATS_WITH_REGEX: Final = 60
REGEXES: Final = (Subscription((), "t.*"), Subscription((), "[nt][01]"), Subscription(("t0",), "n.*"))


class ConsumersPlay(GroupsPlay):
    """A play whose actors are members of consumer groups."""

    name = "consumers"

    def __init__(self, seed: int) -> None:
        own = Random(f"consumers {seed} settings")
        session_ms = own.choice((2000, 3000, 5000))
        self.policy = own.choice(("bidirectional", "bidirectional", "bidirectional", "upgrade", "downgrade", "disabled"))
        properties = {
            "group_min_session_timeout_ms": 1000,
            "group_initial_rebalance_delay_ms": own.choice((0, 0, 300)),
            "group_consumer_session_timeout_ms": session_ms,
            "group_consumer_min_session_timeout_ms": 1000,
            "group_consumer_heartbeat_interval_ms": own.choice((300, 500)),
            "group_consumer_min_heartbeat_interval_ms": 100,
            "group_consumer_assignment_interval_ms": own.choice((0, 0, 300, 1000)),
            "group_consumer_assignment_inline_max_size": own.choice((4000, 0)),
            "group_consumer_migration_policy": self.policy,
            "group_consumer_regex_refresh_interval_ms": 10_000,
        }
        super().__init__(seed, own, session_ms, properties)
        self._mixed = {group_id: own.choice((0.0, 0.0, 0.5, 0.5, 1.0)) for group_id in self.groups}
        self._cooperative = {group_id: own.random() < 0.5 for group_id in self.groups}
        self.seats = [self._seat(number) for number in range(own.choice((2, 3, 3, 4, 6)))]
        # What static members of the classic protocol subscribe to.
        self._as_classic: dict[Seat, Subscription] = {}

    def _seat(self, number: int) -> Seat:
        own = self._own
        group_id = own.choice(self.groups)
        subscriptions = (own.choice(REGEXES),) if own.random() < 0.25 else (own.choice(NAMES[:2]), *NAMES)
        return Seat(group_id, f"i{number}" if own.random() < 0.4 else None, subscriptions)

    # The storm.

    def _act_more(self) -> None:
        rng, world = self.rng, self.world
        for _ in range(rng.choice((0, 6))):
            world.after(rng.randint(2 * SECOND, STORM_S * SECOND), partial(self._script, self._pretend))
        for _ in range(rng.choice((0, 0, 2))):
            world.after(rng.randint(2 * SECOND, STORM_S * SECOND), partial(self._script, self._remove))

    def _new_member(self, seat: Seat) -> GroupMember:
        rng = self.rng
        timeouts = self.session_ms, rng.choice((1500, 3000, 3000, 6000))
        has_regex = any(each.regex for each in seat.subscriptions)
        if not has_regex and rng.random() < self._mixed[seat.group_id]:
            subscription = rng.choice((NAMES[0], NAMES[0], NAMES[2]))
            if seat.instance_id is not None:
                # Nobody would look at a new one: a classic group does not rebalance when a static member comes back.
                subscription = self._as_classic.setdefault(seat, subscription)
            classic = ClassicMember(self.surroundings, seat.group_id, seat.instance_id, subscription, timeouts)
            classic.is_cooperative = self._cooperative[seat.group_id]
            return classic
        native = NativeMember(self.surroundings, seat.group_id, seat.instance_id, seat.subscriptions[0], timeouts)
        native.wishes = seat.subscriptions
        return native

    async def _remove(self) -> None:
        """Remove a member by its id, as an administrator can."""
        member = self.rng.choice(self.seats).member
        if member is None or not member.is_alive or not member.member_id:
            return
        self._tell(-1, f"{member.name} is to be removed")
        life, request = member.life, LeaveGroupRequest(member.group_id, members=[MemberIdentity(member.member_id)])
        self.ledger.doubt(life)
        client = self._client(self._shard(member.group_id), "administrator")
        answer = await client.ask(request, 5, LeaveGroupResponse)
        client.close()
        # Without an answer it may happen as long as the server has the request.
        life.doubted_until_us = self.world.now_us + (0 if answer is not None else 20 * SECOND)

    async def _pretend_as(self, client: Client, gone: Identity) -> ErrorCode | None:
        if self.rng.random() < 0.5:
            return await commit_as(gone, self.surroundings, client)
        return await self._pretend_to_live(client, gone)

    async def _pretend_to_live(self, client: Client, gone: Identity) -> ErrorCode | None:
        epoch = self.rng.choice((gone.epoch, gone.epoch, gone.epoch + 1, -1))
        request = ConsumerGroupHeartbeatRequest(gone.group_id, gone.member_id, epoch)
        answer = await client.ask(request, 1, ConsumerGroupHeartbeatResponse)
        return None if answer is None else ErrorCode(answer.error_code)

    # What is looked at.

    def _view_of(self, shard: GroupShard, offset: int, group_id: str, /) -> GroupView:
        return view_of(shard, offset, group_id)

    def _wrong_now(self, group_id: str, view: GroupView) -> Iterator[str]:
        return check_state(group_id, view)

    def _not_settled(self, group_id: str, view: GroupView, members: list[GroupMember]) -> Iterator[str]:
        return unsettled(view, members, self._topics_now(), self.policy)

    def _most_beats(self, group_id: str) -> int:
        has_regex = any(each.group_id == group_id and each.subscriptions[0].regex for each in self.seats)
        return MOST_BEATS_WITH_REGEX if has_regex else self.most_beats

    def _wrong_with_log(self, written: Iterator[LogRecord]) -> Iterator[str]:
        return check_log(written)


run, told = ways_to_play(ConsumersPlay)
