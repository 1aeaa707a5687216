"""A member of a share group (KIP-932), as clients are: subscriptions, and the partitions of the last answer.

Several members may have the same partition, so nothing is given up before somebody else gets it.
"""

from __future__ import annotations

from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from tests.simulation.group_member import Subscription
from tests.simulation.heartbeat_member import HeartbeatMember
from tests.simulation.ownership import Position


class ShareMember(HeartbeatMember):
    """``wishes``: subscriptions to change to now and then. ``assigned``: what the last answer has given it."""

    kind = "share"
    response = ShareGroupHeartbeatResponse
    has_commits = False
    wishes: tuple[Subscription, ...] = ()
    assigned: frozenset[Position] = frozenset()

    _told_subscription: Subscription | None = None

    @property
    def is_settled(self) -> bool:
        return self.is_alive and self.epoch > 0 and self._is_sure and self._told_subscription == self.subscription

    def _bare(self, epoch: int) -> ShareGroupHeartbeatRequest:
        return ShareGroupHeartbeatRequest(self.group_id, self.member_id, epoch)

    def _request(self) -> ShareGroupHeartbeatRequest:
        request = self._bare(self.epoch)
        if not self.surroundings.is_calm and self.wishes and self.rng.random() < 0.05:
            self.subscription = self.rng.choice(self.wishes)
        if self._is_to_say_all() or self.subscription != self._told_subscription:
            request.subscribed_topic_names = list(self.subscription.names)
        return request

    def _took(self, request: ShareGroupHeartbeatRequest, answer: ShareGroupHeartbeatResponse) -> None:
        if request.subscribed_topic_names is not None and answer.assignment is None:
            self._complain("has said all, and is not told what it has")
        self._told_subscription = self.subscription
        if answer.assignment is not None:
            given = answer.assignment.topic_partitions
            self.assigned = frozenset((topic.topic_id, partition) for topic in given for partition in topic.partitions)

    def _forget(self) -> None:
        self.assigned = frozenset()
