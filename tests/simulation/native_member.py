"""A member of the consumer protocol (KIP-848), as clients are: heartbeats, and a way from one assignment to the next.

A heartbeat says only what is new, and everything after an answer that did not come, or an error. A new assignment takes the
client a while. Then it has given up what it is to give up, before it says so, and has what it gets.
"""

from __future__ import annotations

from typing import Final

from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from tests.simulation.group_member import RETRY_MS, GroupMember, Identity, Subscription
from tests.simulation.ownership import Position
from tests.simulation.world import MS

JOIN: Final = 0
LEAVE: Final = -1
LEAVE_STATIC: Final = -2
_REMOVED: Final = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND}


class NativeMember(GroupMember):
    """``wishes``: subscriptions to change to now and then."""

    kind = "native"
    never = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.STALE_MEMBER_EPOCH})
    wishes: tuple[Subscription, ...] = ()

    # The answer that it is on its way to; None when there was none since it joined.
    _target: frozenset[Position] | None = None
    _reconcile_us = 0
    # Whether the last answer came, and was good: the target is the newest then.
    _is_sure = False
    _is_full = True
    _has_told: frozenset[Position] | None = None
    _told_subscription: Subscription | None = None
    _interval_ms = 500

    @property
    def is_settled(self) -> bool:
        return self.is_alive and self.epoch > 0 and self._target == self.life.owned and self._is_sure

    async def _live(self) -> None:
        rng = self.rng
        # Before version 1 the coordinator makes the ids up.
        self._version = 0 if not self.subscription.regex and rng.random() < 0.2 else 1
        self._assignor = rng.choice((None, None, "range", "uniform"))
        self._new_id()
        while self.is_alive:
            await self._sleep(await self._beat())

    def _new_id(self) -> None:
        self.member_id = f"id-{self.name}-{self.rng.getrandbits(32):x}" if self._version else ""

    # Its heartbeats.

    async def _beat(self) -> int:
        """Send a heartbeat. Return in how many milliseconds the next one is due."""
        await self._reconcile()
        request, sent_us = self._request(), self.surroundings.world.now_us
        answer = await self._ask(request, self._version, ConsumerGroupHeartbeatResponse)
        if answer is None or answer.error_code != ErrorCode.NONE:
            was_sure, self._is_sure, self._is_full = self._is_sure, False, True
            if answer is not None:
                await self._refused(ErrorCode(answer.error_code), was_sure=was_sure)
            return self.rng.randint(20, RETRY_MS)
        self._accepted(request, sent_us, answer)
        if not self.surroundings.is_calm or self.rng.random() < 0.2:
            await self._work()
        if self._target is not None and self._target != self.life.owned:
            return min(self._interval_ms, max(self._reconcile_us - self.surroundings.world.now_us, 0) // MS)
        return self._interval_ms

    def _request(self) -> ConsumerGroupHeartbeatRequest:
        request = ConsumerGroupHeartbeatRequest(self.group_id, self.member_id, self.epoch, self.instance_id)
        is_full = self._is_full or self.epoch == JOIN or self.rng.random() < 0.05
        if not self.surroundings.is_calm and self.wishes and self.rng.random() < 0.03:
            self.subscription = self.rng.choice(self.wishes)
        if is_full:
            request.rebalance_timeout_ms = self.life.rebalance_ms
            request.server_assignor = self._assignor
        if is_full or self.subscription != self._told_subscription:
            request.subscribed_topic_names = list(self.subscription.names)
            if self._version:
                request.subscribed_topic_regex = self.subscription.regex
        if is_full or (self.life.owned != self._has_told and self._target == self.life.owned):
            request.topic_partitions = _by_topic(self.life.owned)
        return request

    def _accepted(self, request: ConsumerGroupHeartbeatRequest, sent_us: int, answer: ConsumerGroupHeartbeatResponse) -> None:
        ledger = self.surroundings.ledger
        if request.member_epoch > 0 and answer.member_epoch < self.epoch:
            self._complain(f"was in epoch {self.epoch}, and is in {answer.member_epoch}")
        self.member_id, self.epoch = answer.member_id or "", answer.member_epoch
        self.beats += 1
        self._is_sure, self._is_full, self.is_refused = True, False, False
        self._interval_ms = answer.heartbeat_interval_ms
        self._told_subscription = self.subscription
        if request.topic_partitions is not None:
            self._has_told = self.life.owned
            if self._target == self.life.owned:
                ledger.has_revoked(self.life)
        if answer.assignment is not None:
            # What it was given and has not begun with has to be given up, too.
            has = self.life.owned | (self._target or frozenset())
            self._target = frozenset(
                (topic.topic_id, partition) for topic in answer.assignment.topic_partitions for partition in topic.partitions
            )
            # Each assignment is acknowledged, also one that is what the member has.
            self._has_told = None
            self._reconcile_us = self.surroundings.world.now_us + self._time_to_reconcile_us()
            if not has <= self._target:
                ledger.must_revoke(self.life)
        ledger.confirm(self.life, sent_us)

    async def _refused(self, error: ErrorCode, *, was_sure: bool) -> None:
        if error in _REMOVED:
            if self.epoch == JOIN:
                self.is_refused = error is ErrorCode.GROUP_ID_NOT_FOUND
                return
            # A member that has lost an answer may be in an epoch that it has not heard of: it is fenced then, and still a member.
            if error is ErrorCode.FENCED_MEMBER_EPOCH and not was_sure:
                self.life.in_force_until_us = 0
            self._lose_membership(error)
            self._target = self._has_told = None
            if error is ErrorCode.UNKNOWN_MEMBER_ID:
                if self.rng.random() < 0.3:
                    await self._commit_once_more()
                if self.rng.random() < 0.5:
                    self.surroundings.gone.append(Identity(self.group_id, self.member_id, self.epoch))
                    self._new_id()
            self.epoch = JOIN
        elif error is ErrorCode.FENCED_INSTANCE_ID:
            self._end()
            self.client.close()
        elif error is ErrorCode.UNSUPPORTED_VERSION or error is ErrorCode.INVALID_REQUEST:
            self._complain(f"sent what it may not: {error.name}")

    # Its assignment.

    def _time_to_reconcile_us(self) -> int:
        return self.surroundings.world.between(0, 100 * MS if self.surroundings.is_calm else 700 * MS)

    async def _reconcile(self) -> None:
        """Have what the last answer has given, and nothing else."""
        if not self._is_sure or self._target is None or self._target == self.life.owned:
            return
        if self.surroundings.world.now_us < self._reconcile_us:
            return
        if self.rng.random() < 0.5:
            # As with automatic commits.
            await self._commit()
        self.surroundings.ledger.own(self.life, self._target)

    async def _say_goodbye(self) -> None:
        if self.epoch == JOIN:
            return
        epoch = LEAVE_STATIC if self.is_coming_back and self.instance_id is not None else LEAVE
        request = ConsumerGroupHeartbeatRequest(self.group_id, self.member_id, epoch, self.instance_id)
        answer = await self.client.ask(request, self._version, ConsumerGroupHeartbeatResponse)
        if answer is not None and answer.error_code == ErrorCode.NONE and epoch == LEAVE:
            self.surroundings.gone.append(Identity(self.group_id, self.member_id, self.epoch))


def _by_topic(positions: frozenset[Position]) -> list[TopicPartitions]:
    found: dict[bytes, TopicPartitions] = {}
    for topic_id, partition in sorted(positions):
        found.setdefault(topic_id, TopicPartitions(topic_id)).partitions.append(partition)
    return list(found.values())
