"""A storm over consumer groups: members of both protocols come, leave, die, freeze, and come back, also in the other protocol.

They are those of the simulation (``simulation/native_member.py``, ``classic_member.py``), and so are the rules: at no moment a
partition has two owners (``simulation/ownership.py``). Topics grow. Then it is quiet, and all groups must settle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from tests.simulation.classic_member import ClassicMember
from tests.simulation.group_member import GroupMember, Subscription
from tests.simulation.group_views import GroupView, MemberView, unsettled
from tests.simulation.native_member import NativeMember
from tests.storm.coordinators import Address
from tests.storm.group_weather import SESSION_MS, SIZES, GroupWeather, Seat, topic_overrides
from tests.storm.weather import Report

REBALANCE_MS: Final = 4000
STATIC_SHARE: Final = 0.4
CLASSIC_SHARE: Final = 0.4
REGEX_SHARE: Final = 0.2
POLICY: Final = "bidirectional"


def overrides(sizes: Sequence[int]) -> dict[str, str]:
    """What a server needs to know. The assignment interval has its default; a child process computes every target."""
    return {
        **topic_overrides(sizes),
        "group.min.session.timeout.ms": "1000",
        "group.initial.rebalance.delay.ms": "0",
        "group.consumer.session.timeout.ms": str(SESSION_MS),
        "group.consumer.min.session.timeout.ms": "1000",
        "group.consumer.heartbeat.interval.ms": "300",
        "group.consumer.min.heartbeat.interval.ms": "100",
        "group.consumer.assignment.inline.max.size": "0",
        "group.consumer.migration.policy": POLICY,
    }


async def storm(
    addresses: Sequence[Address], seed: int, seconds: float, settle_within_s: float, sizes: Sequence[int] = SIZES
) -> Report:
    """Rounds of weather and quiet until ``seconds`` of weather have passed, or a rule was broken."""
    return await ConsumerWeather(addresses, seed, sizes).storm(seed, seconds, settle_within_s)


class ConsumerWeather(GroupWeather):
    """Seats of consumer groups. Some have an instance id, and some a regular expression."""

    def __init__(self, addresses: Sequence[Address], seed: int, sizes: Sequence[int]) -> None:
        super().__init__(addresses, seed, sizes)
        self._instances = {seat: f"{seat.size}-{seat.place}" for seat in self._seats if self._rng.random() < STATIC_SHARE}
        self._with_regex = {seat for seat in self._seats if self._rng.random() < REGEX_SHARE}

    async def settle(self, within_s: float) -> float:
        took_s = await super().settle(within_s)
        ledger = self._surroundings.ledger
        self.happened["partitions acquired"], self.happened["commits"] = ledger.acquired, ledger.commits
        return took_s

    def _new_member(self, seat: Seat) -> GroupMember:
        timeouts, instance_id = (SESSION_MS, REBALANCE_MS), self._instances.get(seat)
        if seat not in self._with_regex and self._rng.random() < CLASSIC_SHARE:
            classic = ClassicMember(self._surroundings, seat.group_id, instance_id, Subscription((seat.topic,)), timeouts)
            classic.is_cooperative = seat.size % 4 == 0
            return classic
        subscription = Subscription((), seat.topic) if seat in self._with_regex else Subscription((seat.topic,))
        return NativeMember(self._surroundings, seat.group_id, instance_id, subscription, timeouts)

    def _blow(self) -> None:
        """Members are all there is."""

    async def _wrong(self) -> list[str]:
        found = []
        for size in self._sizes:
            group_id = f"storm-{size}"
            view = await self._view(group_id)
            found += [f"{group_id}: {each}" for each in unsettled(view, self._of(group_id), self._topics, POLICY)]
        return found

    async def _view(self, group_id: str) -> GroupView:
        answer = await self._ask_coordinator(group_id, ConsumerGroupDescribeRequest([group_id]), 1, ConsumerGroupDescribeResponse)
        group = answer.groups[0]
        if group.error_code == ErrorCode.NONE:
            members = {
                each.member_id: MemberView(each.member_epoch, each.member_epoch == group.group_epoch) for each in group.members
            }
            return GroupView(True, group.group_epoch, group.assignment_epoch, group.group_state == "Stable", members)
        described = (await self._ask_coordinator(group_id, DescribeGroupsRequest([group_id]), 6, DescribeGroupsResponse)).groups[
            0
        ]
        known = [each.epoch for each in self._of(group_id)]
        # A classic group does not tell its generation.
        epoch = max(known, default=0)
        found = {each.member_id: MemberView(epoch, True) for each in described.members}
        return GroupView(False, epoch, epoch, described.group_state in ("Stable", "Empty", "Dead"), found)
