"""A member of the classic protocol that consumes topics, as clients do: it joins, syncs, sends heartbeats,
and divides topics if it leads.

An eager one gives everything up before it joins. A cooperative one says what it owns, goes on owning what it is given again, and
joins once more when it had to give something up (KIP-429). A static member that takes its place before that does not know of it,
and causes no rebalance: with Kafka's clients nobody owns the partition until the next one. Here the leader joins again for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from protocol.codec import decode, encode
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartition
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.simulation.group_member import RETRY_MS, GroupMember
from tests.simulation.ownership import Position
from tests.simulation.world import MS

PROTOCOL_TYPE: Final = "consumer"
JOIN_VERSION: Final = 9
SYNC_VERSION: Final = 5
HEARTBEAT_VERSION: Final = 4
LEAVE_VERSION: Final = 5
_NEWEST: Final = 3

Named = tuple[str, int]


class ClassicMember(GroupMember):
    """Of lasting topics only, which a client knows by name. All of a group are cooperative, or none."""

    kind = "classic"
    never = frozenset({ErrorCode.UNKNOWN_MEMBER_ID})
    is_cooperative = False

    _is_working = is_leader = False
    _protocol = ""
    _roster: tuple[JoinGroupResponseMember, ...] = ()
    # If it leads: the partitions that it has divided, and when it divides them again if it could not give all of them.
    _divided: Mapping[str, int] | None = None
    _again_us: int | None = None

    @property
    def is_settled(self) -> bool:
        return self.is_alive and self._is_working

    async def _live(self) -> None:
        self.epoch = -1
        while self.is_alive:
            if await self._join() and await self._sync():
                self._is_working = True
                await self._heartbeat_on()
                self._is_working = False

    # Join and sync.

    async def _join(self) -> bool:
        ledger = self.surroundings.ledger
        if not self.is_cooperative or not self.member_id:
            ledger.own(self.life, ())
        request = JoinGroupRequest(
            self.group_id,
            self.life.session_ms,
            self.life.rebalance_ms,
            self.member_id,
            self.instance_id,
            PROTOCOL_TYPE,
            [JoinGroupRequestProtocol("cooperative-sticky" if self.is_cooperative else "range", self._subscription())],
        )
        answer = await self._ask(request, JOIN_VERSION, JoinGroupResponse, self.life.rebalance_ms + 5000)
        if answer is None:
            await self._sleep(self.rng.randint(20, RETRY_MS))
            return False
        error = ErrorCode(answer.error_code)
        if error is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
            return False
        if error is not ErrorCode.NONE:
            self.is_refused = error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            self._fails(error)
            await self._sleep(self.rng.randint(20, RETRY_MS))
            return False
        self.is_refused = False
        self.member_id, self.epoch, self._protocol = answer.member_id, answer.generation_id, answer.protocol_name or ""
        self.is_leader = answer.leader == answer.member_id
        self._roster = tuple(answer.members) if self.is_leader and not answer.skip_assignment else ()
        return True

    async def _sync(self) -> bool:
        # A static leader that came back does not know what was divided.
        self._divided = dict(self.surroundings.counts()) if self._roster else {} if self.is_leader else None
        self._again_us = None
        request = SyncGroupRequest(
            self.group_id, self.epoch, self.member_id, self.instance_id, PROTOCOL_TYPE, self._protocol, self._assignments()
        )
        answer = await self._ask(request, SYNC_VERSION, SyncGroupResponse, self.life.rebalance_ms + 5000)
        if answer is None or answer.error_code != ErrorCode.NONE:
            if answer is not None:
                self._fails(ErrorCode(answer.error_code))
            await self._sleep(self.rng.randint(20, RETRY_MS))
            return False
        self.beats += 1
        given = self._given(answer.assignment)
        revoked = self.life.owned - given
        self.surroundings.ledger.own(self.life, given)
        if revoked:
            # What it has given up is free now, and somebody waits for it.
            await self._sleep(self.rng.randint(1, 50))
        return not revoked

    def _subscription(self) -> bytes:
        owned = _by_topic((self._name_of(topic_id), number) for topic_id, number in self.life.owned)
        generation = self.epoch if owned else -1
        return _NEWEST.to_bytes(2) + encode(
            ConsumerProtocolSubscription(list(self.subscription.names), None, owned, generation), _NEWEST
        )

    def _given(self, assignment: bytes) -> frozenset[Position]:
        if not assignment:
            return frozenset()
        found = decode(ConsumerProtocolAssignment, int.from_bytes(assignment[:2]), assignment[2:])
        lasting = self.surroundings.lasting
        # A static member gets what the one before it had, until there is a new target.
        subscribed = [topic for topic in found.assigned_partitions if topic.topic in self.subscription.names]
        return frozenset((lasting[topic.topic], each) for topic in subscribed for each in topic.partitions)

    def _assignments(self) -> list[SyncGroupRequestAssignment]:
        if not self._roster:
            return []
        subscriptions = {each.member_id: _read(each.metadata) for each in self._roster}
        counts = self._divided or {}
        shares = divide(subscriptions, counts, is_cooperative=self.is_cooperative)
        wanted = {name for each in subscriptions.values() for name in each.topics}
        if sum(map(len, shares.values())) < sum(count for name, count in counts.items() if name in wanted):
            self._again_us = self.surroundings.world.now_us + (self.life.rebalance_ms + self.life.session_ms) * MS
        return [
            SyncGroupRequestAssignment(
                member_id, _NEWEST.to_bytes(2) + encode(ConsumerProtocolAssignment(_by_topic(share)), _NEWEST)
            )
            for member_id, share in shares.items()
        ]

    def _name_of(self, topic_id: bytes) -> str:
        return next(name for name, each in self.surroundings.lasting.items() if each == topic_id)

    # Heartbeats.

    async def _heartbeat_on(self) -> None:
        """Send heartbeats until the member has to join again.

        Only they confirm a membership: a join is not written before its leader has synced, and a sync need not extend the session.
        """
        pause_ms = 1
        while self.is_alive:
            await self._sleep(self.rng.randint(1, pause_ms))
            pause_ms = self.life.session_ms // 4
            request = HeartbeatRequest(self.group_id, self.epoch, self.member_id, self.instance_id)
            sent_us = self.surroundings.world.now_us
            answer = await self._ask(request, HEARTBEAT_VERSION, HeartbeatResponse)
            if answer is None:
                continue
            error = ErrorCode(answer.error_code)
            if error is ErrorCode.NONE:
                self.surroundings.ledger.confirm(self.life, sent_us)
                self.beats += 1
                if self._divides_again():
                    return
                await self._work()
                continue
            if error is ErrorCode.REBALANCE_IN_PROGRESS and self.rng.random() < 0.5:
                await self._commit()
            self._fails(error)
            if error in _JOINS_AGAIN:
                return

    def _divides_again(self) -> bool:
        """Whether it leads, and sees more partitions, or nobody has given up for a long time what somebody else is to have."""
        if self._again_us is not None and self.surroundings.world.now_us >= self._again_us:
            return True
        return self._divided is not None and self._divided != self.surroundings.counts()

    def _fails(self, error: ErrorCode) -> None:
        ledger = self.surroundings.ledger
        if error is ErrorCode.FENCED_INSTANCE_ID:
            self._end()
            self.client.close()
        elif error is ErrorCode.UNKNOWN_MEMBER_ID:
            self._lose_membership(error)
            self.member_id, self.epoch = "", -1
        elif error is ErrorCode.ILLEGAL_GENERATION:
            ledger.own(self.life, ())
            self.epoch = -1

    async def _say_goodbye(self) -> None:
        if self.member_id:
            request = LeaveGroupRequest(self.group_id, members=[MemberIdentity(self.member_id, self.instance_id)])
            await self.client.ask(request, LEAVE_VERSION, LeaveGroupResponse)


_JOINS_AGAIN: Final = {
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.FENCED_INSTANCE_ID,
}


def divide(
    subscriptions: Mapping[str, ConsumerProtocolSubscription], counts: Mapping[str, int], *, is_cooperative: bool
) -> dict[str, list[Named]]:
    """Return the partitions of each member: whoever has one keeps it if it may, the rest goes to those who have least.

    What a different member says it owns is given to nobody yet, if they are cooperative.
    """
    claims: dict[Named, set[str]] = {}
    for member_id, subscription in subscriptions.items():
        for topic in subscription.owned_partitions if is_cooperative else ():
            for partition in topic.partitions:
                claims.setdefault((topic.topic, partition), set()).add(member_id)
    positions = [(name, number) for name, count in sorted(counts.items()) for number in range(count)]
    most = -(-len(positions) // max(len(subscriptions), 1))
    shares: dict[str, list[Named]] = {member_id: [] for member_id in subscriptions}
    for position in positions:
        able = sorted(each for each, subscription in subscriptions.items() if position[0] in subscription.topics)
        if not able:
            continue
        owners = claims.get(position, set())
        kept = [each for each in able if owners == {each} and len(shares[each]) < most]
        chosen = kept[0] if kept else min(able, key=lambda each: (len(shares[each]), each))
        shares[chosen].append(position)
    return {member_id: [each for each in share if claims.get(each, set()) <= {member_id}] for member_id, share in shares.items()}


def _read(metadata: bytes) -> ConsumerProtocolSubscription:
    version = min(int.from_bytes(metadata[:2]), _NEWEST)
    return decode(ConsumerProtocolSubscription, version, metadata[2:])


def _by_topic(positions: Iterable[Named]) -> list[TopicPartition]:
    found: dict[str, TopicPartition] = {}
    for name, number in sorted(positions):
        found.setdefault(name, TopicPartition(name)).partitions.append(number)
    return list(found.values())
