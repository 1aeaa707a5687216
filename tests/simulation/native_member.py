"""A member of the consumer protocol (KIP-848), as clients are: subscriptions, and the partitions of the last assignment."""

from __future__ import annotations

from typing import Final

from protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from tests.simulation.group_member import Subscription
from tests.simulation.heartbeat_member import LEAVE, ReconcilingMember
from tests.simulation.ownership import Position

LEAVE_STATIC: Final = -2


class NativeMember(ReconcilingMember[Position]):
    """``wishes``: subscriptions to change to now and then."""

    kind = "native"
    response = ConsumerGroupHeartbeatResponse
    wishes: tuple[Subscription, ...] = ()

    _told_subscription: Subscription | None = None

    async def _live(self) -> None:
        self.version = 0 if not self.subscription.regex and self.rng.random() < 0.2 else 1
        self._assignor = self.rng.choice((None, None, "range", "uniform"))
        await super()._live()

    def _new_id(self) -> None:
        if self.version:
            super()._new_id()
        else:
            # The coordinator makes it up.
            self.member_id = ""

    def _leave_epoch(self) -> int:
        return LEAVE_STATIC if self.is_coming_back and self.instance_id is not None else LEAVE

    def _bare(self, epoch: int) -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest(self.group_id, self.member_id, epoch, self.instance_id)

    def _request(self) -> ConsumerGroupHeartbeatRequest:
        request, is_full = self._bare(self.epoch), self._is_to_say_all()
        if not self.surroundings.is_calm and self.wishes and self.rng.random() < 0.03:
            self.subscription = self.rng.choice(self.wishes)
        if is_full:
            request.rebalance_timeout_ms = self.life.rebalance_ms
            request.server_assignor = self._assignor
        if is_full or self.subscription != self._told_subscription:
            request.subscribed_topic_names = list(self.subscription.names)
            if self.version:
                request.subscribed_topic_regex = self.subscription.regex
        if self._is_to_tell(is_full=is_full):
            request.topic_partitions = _by_topic(self.held)
        return request

    def _took(self, request: ConsumerGroupHeartbeatRequest, answer: ConsumerGroupHeartbeatResponse) -> None:
        self._told_subscription = self.subscription
        if request.topic_partitions is not None:
            self._has_been_told()
        if answer.assignment is not None:
            given = answer.assignment.topic_partitions
            self._was_given(frozenset((topic.topic_id, partition) for topic in given for partition in topic.partitions))

    def _owned(self, held: frozenset[Position]) -> frozenset[Position]:
        return held


def _by_topic(positions: frozenset[Position]) -> list[TopicPartitions]:
    found: dict[bytes, TopicPartitions] = {}
    for topic_id, partition in sorted(positions):
        found.setdefault(topic_id, TopicPartitions(topic_id)).partitions.append(partition)
    return list(found.values())
