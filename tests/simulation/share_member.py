"""A member of a share group (KIP-932), as clients are: heartbeats, and the partitions of the last answer.

A heartbeat says only what is new, and everything after an answer that did not come, or an error. Several members may have the same
partition, so nothing is given up before somebody else gets it.
"""

from __future__ import annotations

from typing import Final

from protocol.error_codes import ErrorCode
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from tests.simulation.group_member import RETRY_MS, GroupMember, Identity, Subscription
from tests.simulation.ownership import Position

JOIN: Final = 0
LEAVE: Final = -1
VERSION: Final = 1
_REMOVED: Final = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND}


class ShareMember(GroupMember):
    """``wishes``: subscriptions to change to now and then. ``assigned``: what the last answer has given it."""

    kind = "share"
    wishes: tuple[Subscription, ...] = ()
    assigned: frozenset[Position] = frozenset()

    # Whether the last answer came, and was good.
    _is_sure = False
    _is_full = True
    _told_subscription: Subscription | None = None
    _interval_ms = 500

    @property
    def is_settled(self) -> bool:
        return self.is_alive and self.epoch > 0 and self._is_sure and self._told_subscription == self.subscription

    async def _live(self) -> None:
        self._new_id()
        while self.is_alive:
            await self._sleep(await self._beat())

    def _new_id(self) -> None:
        self.member_id = f"id-{self.name}-{self.rng.getrandbits(32):x}"

    async def _beat(self) -> int:
        """Send a heartbeat. Return in how many milliseconds the next one is due."""
        request, sent_us = self._request(), self.surroundings.world.now_us
        answer = await self._ask(request, VERSION, ShareGroupHeartbeatResponse)
        if answer is None or answer.error_code != ErrorCode.NONE:
            was_sure, self._is_sure, self._is_full = self._is_sure, False, True
            if answer is not None:
                self._refused(ErrorCode(answer.error_code), was_sure=was_sure)
            return self.rng.randint(20, RETRY_MS)
        self._accepted(request, sent_us, answer)
        return self._interval_ms

    def _request(self) -> ShareGroupHeartbeatRequest:
        request = ShareGroupHeartbeatRequest(self.group_id, self.member_id, self.epoch)
        if not self.surroundings.is_calm and self.wishes and self.rng.random() < 0.05:
            self.subscription = self.rng.choice(self.wishes)
        is_full = self._is_full or self.epoch == JOIN or self.rng.random() < 0.05
        if is_full or self.subscription != self._told_subscription:
            request.subscribed_topic_names = list(self.subscription.names)
        return request

    def _accepted(self, request: ShareGroupHeartbeatRequest, sent_us: int, answer: ShareGroupHeartbeatResponse) -> None:
        if request.member_epoch > 0 and answer.member_epoch < self.epoch:
            self._complain(f"was in epoch {self.epoch}, and is in {answer.member_epoch}")
        if request.subscribed_topic_names is not None and answer.assignment is None:
            self._complain("has said all, and is not told what it has")
        self.epoch = answer.member_epoch
        self.beats += 1
        self._is_sure, self._is_full = True, False
        self._interval_ms = answer.heartbeat_interval_ms
        self._told_subscription = self.subscription
        if answer.assignment is not None:
            self.assigned = frozenset(
                (topic.topic_id, partition) for topic in answer.assignment.topic_partitions for partition in topic.partitions
            )
        self.surroundings.ledger.confirm(self.life, sent_us)

    def _refused(self, error: ErrorCode, *, was_sure: bool) -> None:
        if error in _REMOVED and self.epoch != JOIN:
            # A member that has lost an answer may be in an epoch that it has not heard of: it is fenced then, and still a member.
            if error is ErrorCode.FENCED_MEMBER_EPOCH and not was_sure:
                self.life.in_force_until_us = 0
            self._lose_membership(error)
            self.assigned = frozenset()
            if error is ErrorCode.UNKNOWN_MEMBER_ID and self.rng.random() < 0.5:
                self.surroundings.gone.append(Identity(self.group_id, self.member_id, self.epoch))
                self._new_id()
            self.epoch = JOIN
        elif error in (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.INVALID_REQUEST):
            self._complain(f"sent what it may not: {error.name}")

    async def _say_goodbye(self) -> None:
        if self.epoch == JOIN:
            return
        request = ShareGroupHeartbeatRequest(self.group_id, self.member_id, LEAVE)
        answer = await self.client.ask(request, VERSION, ShareGroupHeartbeatResponse)
        if answer is not None and answer.error_code == ErrorCode.NONE:
            self.surroundings.gone.append(Identity(self.group_id, self.member_id, self.epoch))
