"""A storm over share groups: members come, leave, die, freeze and come back,
and share partitions change their leaders while these write.

Members and leaders are those of the simulation (``simulation/share_member.py``, ``share_leader.py``), and so are the rules: no
state that was acknowledged is lost, and who is fenced writes nothing (``share_accounts.py``).
Then it is quiet, and all groups must settle.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
)
from protocol.messages.share_group_describe import ShareGroupDescribeRequest, ShareGroupDescribeResponse
from protocol.share_partition_names import SharePartitionKey, coordinator_key
from tests.simulation.group_member import GroupMember, Subscription
from tests.simulation.ownership import Position
from tests.simulation.share_accounts import Account
from tests.simulation.share_leader import ShareLeader
from tests.simulation.share_member import ShareMember
from tests.simulation.share_views import ShareMemberView, ShareView, unsettled_share
from tests.storm.coordinators import OF_SHARES, Address
from tests.storm.group_weather import SESSION_MS, SIZES, GroupWeather, Seat, topic_overrides
from tests.storm.weather import Report

MOST_LEADERS: Final = 60
PACE_MS: Final = 200


def overrides(sizes: Sequence[int]) -> dict[str, str]:
    """What a server needs to know. The assignment interval has its default; every eleventh write of a state is a snapshot."""
    return {
        **topic_overrides(sizes),
        "group.share.session.timeout.ms": str(SESSION_MS),
        "group.share.min.session.timeout.ms": "1000",
        "group.share.heartbeat.interval.ms": "300",
        "group.share.min.heartbeat.interval.ms": "100",
        "share.coordinator.snapshot.update.records.per.snapshot": "10",
    }


async def storm(
    addresses: Sequence[Address], seed: int, seconds: float, settle_within_s: float, sizes: Sequence[int] = SIZES
) -> Report:
    """Rounds of weather and quiet until ``seconds`` of weather have passed, or a rule was broken."""
    return await ShareWeather(addresses, seed, sizes).storm(seed, seconds, settle_within_s)


class ShareWeather(GroupWeather):
    """Seats of share groups, and the leaders of share partitions that members have."""

    def __init__(self, addresses: Sequence[Address], seed: int, sizes: Sequence[int]) -> None:
        super().__init__(addresses, seed, sizes)
        self._accounts: dict[tuple[str, Position], Account] = {}
        self._leaders: list[ShareLeader] = []

    async def settle(self, within_s: float) -> float:
        took_s = await super().settle(within_s)
        accounts = self._accounts.values()
        self.happened["reads"] = sum(account.reads for account in accounts)
        self.happened["writes"] = sum(account.writes for account in accounts)
        return took_s

    def end(self) -> None:
        for leader in self._leaders:
            leader.end()
        super().end()

    def _new_member(self, seat: Seat) -> GroupMember:
        timeouts = SESSION_MS, SESSION_MS
        return ShareMember(self._surroundings, seat.group_id, None, Subscription((seat.topic,)), timeouts)

    def _blow(self) -> None:
        """A share partition that a member has gets a leader. The one before may not know that it is none any more."""
        member = self._rng.choice(self._seats).living
        if not isinstance(member, ShareMember) or not member.assigned:
            return
        self._leaders = [each for each in self._leaders if each.is_alive]
        if len(self._leaders) == MOST_LEADERS:
            self._rng.choice(self._leaders).end()
        account = self._account(member.group_id, self._rng.choice(sorted(member.assigned)))
        for other in self._leaders:
            if other.account is account and self._rng.random() < 0.5:
                other.end()
        key = coordinator_key(SharePartitionKey(account.group_id, *account.position))
        client = self._client(member.group_id, f"leader-of-{account}", lambda _: None, OF_SHARES, key)
        self._leaders.append(ShareLeader(account, client, Random(self._rng.random()), PACE_MS, is_lasting=True))

    def _account(self, group_id: str, position: Position) -> Account:
        known = self._accounts.get((group_id, position))
        if known is None:
            world = self._surroundings.world
            known = Account(group_id, position, lambda: world.now_us, self.broken.append)
            self._accounts[group_id, position] = known
        return known

    async def _wrong(self) -> list[str]:
        found = []
        for size in self._sizes:
            group_id = f"storm-{size}"
            members = [each for each in self._of(group_id) if isinstance(each, ShareMember)]
            view = await self._view(group_id)
            found += [f"{group_id}: {each}" for each in unsettled_share(view, members, self._topics, view.initialized)]
        return found

    async def _view(self, group_id: str) -> ShareView:
        group = (
            await self._ask_coordinator(group_id, ShareGroupDescribeRequest([group_id]), 1, ShareGroupDescribeResponse)
        ).groups[0]
        members = {
            each.member_id: ShareMemberView(
                each.member_epoch,
                {(topic.topic_id, partition) for topic in each.assignment.topic_partitions for partition in topic.partitions},
            )
            for each in group.members
        }
        request = DescribeShareGroupOffsetsRequest([DescribeShareGroupOffsetsRequestGroup(group_id, None)])
        described = (await self._ask_coordinator(group_id, request, 1, DescribeShareGroupOffsetsResponse)).groups[0]
        initialized = {(topic.topic_id, each.partition_index) for topic in described.topics for each in topic.partitions}
        return ShareView(group.group_epoch, group.assignment_epoch, members, set(), initialized)
