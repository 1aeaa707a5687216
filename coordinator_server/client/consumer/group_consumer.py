"""A member of a group of Kafka consumers: partitions of topics, divided by Kafka's own assignors."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Final

from coordinator_server.client.consumer.assignors import Assignment, Assignor
from coordinator_server.client.consumer.sticky import CooperativeStickyAssignor
from coordinator_server.client.consumer.subscription import (
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from coordinator_server.client.coordinator import Coordinator, callback_result
from coordinator_server.client.environment import SYSTEM, Environment
from coordinator_server.client.errors import InvalidSettings, MembershipLost, Refused, RetriableError
from coordinator_server.client.generation import NO_GENERATION, GroupMember
from coordinator_server.client.offsets import TopicPartition
from coordinator_server.client.settings import ConnectionSettings, GroupSettings
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_protocol import CONSUMER

METADATA_MAX_AGE_S: Final = 300.0


class GroupConsumer(Coordinator):
    """A member that shares the partitions of topics with Kafka consumers in any language. It fetches no messages.

    With cooperative assignors only, it keeps its partitions while the group rebalances, and gives up those that move; with any
    other one it gives up all of them before each rebalance. Override ``on_revoked``, ``on_assigned`` and ``on_partitions_lost``.

    In a cooperative group, a partition that moves has no owner until the second rebalance, which its last owner begins. A static
    member that dies before it does so comes back without a rebalance. So the leader begins the second one if no member has done so
    within a session. A static leader that returns does not know whether one is due, and begins one.
    """

    def __init__(
        self,
        connection: ConnectionSettings | str,
        group: GroupSettings | str,
        topics: Iterable[str],
        *,
        assignors: Sequence[Assignor] = (CooperativeStickyAssignor(),),
        environment: Environment = SYSTEM,
    ) -> None:
        super().__init__(connection, group, environment=environment)
        if not assignors:
            raise InvalidSettings("there is no assignor")
        self._topics = tuple(sorted(set(topics)))
        self._assignors = {each.name: each for each in assignors}
        self._is_cooperative = all(each.is_cooperative for each in assignors)
        self._assignment: frozenset[TopicPartition] = frozenset()
        # Also what was given up since, before a rebalance.
        self._last_assignment: frozenset[TopicPartition] = frozenset()
        self._owned_since = NO_GENERATION.generation_id
        self._counts: dict[str, int] = {}
        self._watched: tuple[str, ...] = ()
        self._assigned_in = NO_GENERATION.generation_id
        self._moved_by_s = math.inf
        self._has_returned = False

    # What a subclass says.

    def on_revoked(self, partitions: frozenset[TopicPartition]) -> Awaitable[None] | None:
        """Finish the work on partitions that others get next: commits still succeed."""
        return None

    def on_assigned(self, partitions: frozenset[TopicPartition]) -> Awaitable[None] | None:
        """Begin the work on new partitions."""
        return None

    def on_partitions_lost(self, partitions: frozenset[TopicPartition]) -> Awaitable[None] | None:
        """Give up partitions that others may have already: commits fail. By default, what ``on_revoked`` does."""
        return self.on_revoked(partitions)

    # What the owner asks.

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions of this member."""
        return self._assignment

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that it subscribes to."""
        return self._topics

    def subscribe(self, topics: Iterable[str]) -> None:
        """Subscribe to these topics instead: the next ``ensure_active_group`` rebalances."""
        topics = tuple(sorted(set(topics)))
        if topics != self._topics:
            self._topics = topics
            self.request_rejoin("the subscription has changed")

    async def wait_for_rejoin(self, timeout_s: float | None = None) -> bool:
        """Wait as the base class does.

        The leader also looks for changed numbers of partitions, every five minutes, and for partitions that no member was given.
        """
        until_s = math.inf if timeout_s is None else self.environment.now_s() + timeout_s
        while True:
            left_s = min(until_s, self._moved_by_s) - self.environment.now_s()
            if await super().wait_for_rejoin(max(0.0, min(METADATA_MAX_AGE_S, left_s))):
                return True
            if self.environment.now_s() >= self._moved_by_s:
                self._end_move()
            elif self.environment.now_s() >= until_s:
                return False
            else:
                await self._look_for_changes()

    # The group protocol.

    @property
    def protocol_type(self) -> str:
        return CONSUMER

    def metadata(self) -> Sequence[tuple[str, bytes]]:
        claims, since, last = self._claims(), self._owned_since, self._last_assignment
        return [
            (name, encode_subscription(Subscription(self._topics, claims, since, each.user_data(since, last))))
            for name, each in self._assignors.items()
        ]

    async def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[GroupMember]) -> Mapping[str, bytes]:
        subscriptions = subscriptions_of(members)
        await self._watch(subscriptions)
        assignment = self._assign(protocol, self._counts, subscriptions)
        return {member_id: encode_assignment(partitions) for member_id, partitions in assignment.items()}

    async def on_assignment_kept(self, leader_id: str, protocol: str, members: Sequence[GroupMember]) -> None:
        await self._watch(subscriptions_of(members))
        self._has_returned = True

    async def on_join_prepare(self, generation: int, member_id: str) -> None:
        if self._is_cooperative:
            await self._revoke(frozenset(each for each in self._assignment if each.topic not in self._topics))
        else:
            await self._revoke(self._assignment)

    async def on_join_complete(self, generation: int, member_id: str, protocol: str, assignment: bytes) -> None:
        self._assignor(protocol)
        new = frozenset(decode_assignment(assignment))
        if any(each.topic not in self._topics for each in new):
            self.request_rejoin("received assignment does not match the current subscription")
            return
        added, gone = new - self._assignment, self._assignment - new
        self._owned_since = generation
        failure: Exception | None = None
        if gone:
            try:
                await self._revoke(gone)
            except Exception as error:  # noqa: BLE001 - a callback may raise anything; it is raised below
                # What comes is told as well; the failure reaches the owner after that, as in Kafka.
                failure = error
            self.request_rejoin("need to revoke partitions and re-join")
        self._assignment = self._last_assignment = new
        if self._has_returned and self._is_cooperative:
            self.request_rejoin("a static leader has returned: partitions may have been on their way")
        self._has_returned = False
        await callback_result(self.on_assigned(added))
        if failure is not None:
            raise failure

    async def on_lost(self, generation: int, member_id: str, reason: MembershipLost) -> None:
        lost, self._assignment, self._last_assignment = self._assignment, frozenset(), frozenset()
        self._owned_since = NO_GENERATION.generation_id
        if lost:
            await callback_result(self.on_partitions_lost(lost))

    async def on_leave_prepare(self) -> None:
        await self._revoke(self._assignment)

    async def _revoke(self, partitions: frozenset[TopicPartition]) -> None:
        """Give up partitions, also if the callback fails."""
        if partitions:
            try:
                await callback_result(self.on_revoked(partitions))
            finally:
                self._assignment -= partitions

    def _claims(self) -> tuple[TopicPartition, ...]:
        """Return what this member reports to the leader as its own."""
        return tuple(self._assignment) if self._is_cooperative else ()

    def _assign(self, protocol: str, counts: Mapping[str, int], subscriptions: Mapping[str, Subscription]) -> Assignment:
        """Divide the partitions, and note whether some of them have no owner until the next rebalance."""
        assignment = self._assignor(protocol).assign(counts, subscriptions)
        self._assigned_in = self.generation.generation_id
        is_moving = sum(map(len, assignment.values())) < sum(counts.values())
        self._moved_by_s = self.environment.now_s() + self.group.session_timeout_s if is_moving else math.inf
        return assignment

    def _end_move(self) -> None:
        """Begin the rebalance that their last owner did not begin: it may have died, and come back as a static member does."""
        self._moved_by_s = math.inf
        stable = self.generation_if_stable
        if self.is_leader and stable is not None and stable.generation_id == self._assigned_in:
            self.request_rejoin("partitions that were revoked have no owner yet")

    async def _watch(self, subscriptions: Mapping[str, Subscription]) -> None:
        """Note the topics of all members, and how many partitions they have now."""
        self._watched = tuple(sorted({topic for each in subscriptions.values() for topic in each.topics}))
        self._counts = await self.partition_counts(self._watched)

    async def _look_for_changes(self) -> None:
        if self.is_leader and self.generation_if_stable is not None:
            try:
                changed = self._counts != await self.partition_counts(self._watched)
            except RetriableError:
                return
            if changed:
                self.request_rejoin("the number of partitions has changed")

    def _assignor(self, protocol: str) -> Assignor:
        if protocol not in self._assignors:
            reason = f"the coordinator chose the assignor {protocol!r}, which this member does not have"
            raise Refused(reason, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        return self._assignors[protocol]


def subscriptions_of(members: Sequence[GroupMember]) -> dict[str, Subscription]:
    """Return what each member wants and has, by member id. Raises Refused if the bytes are invalid."""
    return {each.member_id: decode_subscription(each.metadata, each.group_instance_id) for each in members}
