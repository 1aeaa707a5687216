"""WorkSharing: items divided among members, with checkpoints that only the present owner can write."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Container, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from coordinator_server.client.background import KeptMember, Latest
from coordinator_server.client.consumer.assignors import Assignment, Assignor
from coordinator_server.client.consumer.group_consumer import GroupConsumer, subscriptions_of
from coordinator_server.client.consumer.sticky import CooperativeStickyAssignor, divide
from coordinator_server.client.consumer.subscription import Subscription, encode_assignment
from coordinator_server.client.environment import SYSTEM, Environment
from coordinator_server.client.errors import Closed, InvalidSettings, MembershipLost, RebalanceInProgress, Refused
from coordinator_server.client.generation import GroupMember
from coordinator_server.client.offsets import Committed, TopicPartition
from coordinator_server.client.settings import ConnectionSettings, GroupSettings
from protocol.error_codes import ErrorCode

CAPACITY: Final = 64


class Checkpoint(NamedTuple):
    """How far the work on an item has come: a number that is not negative, and a text (some thousand characters)."""

    value: int
    text: str = ""


class Share(NamedTuple):
    """A change of what this member owns."""

    revoked: frozenset[str]
    """Given up. Of a loss, others may have worked on it already."""
    assigned: Mapping[str, Checkpoint | None]
    """New, each with its last checkpoint."""
    owned: frozenset[str]
    """Everything after the change."""


class WorkSharing(KeptMember):
    """Share items with the other members.

        async with WorkSharing("127.0.0.1:9092", "crawl", ["site-a", "site-b"]) as work:
            async for share in work:
                ...
            await work.checkpoint("site-a", 17)

    Each item has one owner. A newcomer gets its share of the items, and everything else stays where it is. An item that moves is
    revoked at its old owner before it is assigned to the new one. Members may name different items: an item is divided among those
    that name it.

    Checkpoints are offsets of the partitions of ``topic``, one for each item: at most ``capacity`` items at a time, if this client
    creates the topic. To finish the work on items that are revoked, override ``on_revoked``, in which checkpoints still succeed; at
    ``close`` all items are.

    With ``cooperative=False`` everybody stops before each rebalance: all items are revoked, and then assigned, most of them to the
    member that had them. An item that moves does so in one rebalance and not in two. All members choose alike.
    """

    def __init__(  # noqa: PLR0913 - settings with defaults, by name
        self,
        connection: ConnectionSettings | str,
        group: GroupSettings | str,
        items: Iterable[str],
        *,
        topic: str | None = None,
        capacity: int = CAPACITY,
        cooperative: bool = True,
        environment: Environment = SYSTEM,
    ) -> None:
        if capacity < 1:
            raise InvalidSettings("capacity must be at least 1")
        settings = GroupSettings.of(group)
        self._latest: Latest[frozenset[str]] = Latest(frozenset())
        self._checkpoints: dict[str, Checkpoint | None] = {}
        # When each item was assigned: one that goes and comes back is a different one.
        self._numbers: dict[str, int] = {}
        self._member = _Worker(connection, settings, items, COOPERATIVE if cooperative else EAGER, environment)
        self._member.topic = topic or f"{settings.group_id}-checkpoints"
        self._member.capacity = capacity
        self._member.owner = self
        super().__init__(self._member, self._latest)

    @property
    def owned(self) -> frozenset[str]:
        """The items of this member."""
        return frozenset(self._checkpoints)

    def checkpoint_of(self, item: str) -> Checkpoint | None:
        """Return the last checkpoint of an item that this member owns. Raises MembershipLost for others."""
        self._require_owned(item)
        return self._checkpoints[item]

    async def checkpoint(self, item: str, value: int, text: str = "") -> None:
        """Save how far the work on an item has come. Raises MembershipLost unless this member owns it.

        It waits for the end of a rebalance.
        """
        self._require_owned(item)
        made, number = Checkpoint(value, text), self.number_of(item)
        await self._member.write(item, made)
        if self.number_of(item) == number:
            self._checkpoints[item] = made

    def update(self, items: Iterable[str]) -> None:
        """Share these items instead."""
        self._member.subscribe(items)

    async def on_revoked(self, items: frozenset[str]) -> None:
        """Finish the work on items that others get next. Checkpoints still succeed here."""

    async def __aiter__(self) -> AsyncIterator[Share]:
        seen, before = 0, dict[str, int]()
        while True:
            try:
                await self._latest.wait(lambda: self._latest.version != seen)  # noqa: B023 - called before it changes
            except Closed:
                return
            seen, now = self._latest.version, dict(self._numbers)
            revoked = frozenset(item for item, number in before.items() if now.get(item) != number)
            assigned = {item: self._checkpoints[item] for item, number in now.items() if before.get(item) != number}
            yield Share(revoked, assigned, frozenset(now))
            before = now

    def number_of(self, item: str) -> int | None:
        """Return which assignment of an item this is, if this member owns it: one that goes and comes back has a new number."""
        return self._numbers.get(item)

    def take(self, found: Mapping[str, Checkpoint | None]) -> None:
        """Own more items."""
        self._checkpoints |= found
        self._numbers |= dict.fromkeys(found, self._latest.version + 1)
        self._latest.set(self.owned)

    def drop(self, items: Iterable[str]) -> None:
        """Own fewer items."""
        for item in items:
            self._checkpoints.pop(item, None)
            self._numbers.pop(item, None)
        self._latest.set(self.owned)

    def _require_owned(self, item: str) -> None:
        if item not in self._checkpoints:
            raise MembershipLost(f"this member does not own {item!r}")


class _EagerSticky:
    """Divides as the cooperative assignor does, and lets items move at once: no member has any while the group rebalances."""

    name: Final = "eager-sticky"
    is_cooperative: Final = False

    def user_data(self, generation_id: int, assigned: Collection[TopicPartition] = ()) -> bytes | None:
        return None

    def assign(self, partitions: Mapping[str, int], subscriptions: Mapping[str, Subscription]) -> Assignment:
        return divide(partitions, subscriptions)[0]


COOPERATIVE: Final[Assignor] = CooperativeStickyAssignor()
EAGER: Final[Assignor] = _EagerSticky()


class _Worker(GroupConsumer):
    """Divides items as Kafka's consumers divide partitions: an item is a topic, and its slot is the partition that it has.

    A slot is a partition of the topic of checkpoints. It belongs to the item that its last checkpoint names.
    """

    owner: WorkSharing
    topic: str
    capacity = CAPACITY
    _last: frozenset[TopicPartition] = frozenset()

    def __init__(
        self,
        connection: ConnectionSettings | str,
        group: GroupSettings,
        items: Iterable[str],
        assignor: Assignor,
        environment: Environment,
    ) -> None:
        super().__init__(connection, group, items, assignors=[assignor], environment=environment)

    @property
    def protocol_type(self) -> str:
        return "work-sharing"

    async def perform_assignment(self, leader_id: str, protocol: str, members: Sequence[GroupMember]) -> Mapping[str, bytes]:
        """Divide the items; a slot stays with its item."""
        subscriptions = subscriptions_of(members)
        slots = await self._slots(subscriptions)
        ones = {
            key: Subscription(each.topics, tuple(TopicPartition(item, 0) for item, _ in each.owned), each.generation_id)
            for key, each in subscriptions.items()
        }
        assignment = self._assign(protocol, dict.fromkeys(slots, 1), ones)
        return {
            key: encode_assignment(TopicPartition(item, slots[item]) for item, _ in assigned)
            for key, assigned in assignment.items()
        }

    async def on_join_complete(self, generation: int, member_id: str, protocol: str, assignment: bytes) -> None:
        await super().on_join_complete(generation, member_id, protocol, assignment)
        self._last = self.assignment

    async def on_lost(self, generation: int, member_id: str, reason: MembershipLost) -> None:
        self._last = frozenset()
        await super().on_lost(generation, member_id, reason)

    def _claims(self) -> tuple[TopicPartition, ...]:
        """An eager member has nothing while it joins; it reports what it had, so that it gets that again."""
        return super()._claims() if self._is_cooperative else tuple(each for each in self._last if each.topic in self.topics)

    async def on_assigned(self, partitions: frozenset[TopicPartition]) -> None:
        """Take what is new. If this failed before, ``partitions`` is empty, and some of it is still to be taken."""
        new = {item: slot for item, slot in self.assignment if item not in self.owner.owned}
        if new:
            found = await self.committed(TopicPartition(self.topic, slot) for slot in new.values())
            kept = {key.partition: each for key, each in found.items()}
            self.owner.take({item: _read(kept.get(slot), item) for item, slot in new.items()})

    async def on_revoked(self, partitions: frozenset[TopicPartition]) -> None:
        items = frozenset(item for item, _ in partitions)
        try:
            await self.owner.on_revoked(items)
        finally:
            self.owner.drop(items)

    def on_partitions_lost(self, partitions: frozenset[TopicPartition]) -> None:
        self.owner.drop(item for item, _ in partitions)

    async def write(self, item: str, checkpoint: Checkpoint) -> None:
        """Commit a checkpoint, in the generation that gave the item to this member."""
        slots, number = dict(self.assignment), self.owner.number_of(item)
        if item not in slots:
            raise MembershipLost(f"this member does not own {item!r}")
        row = Committed(checkpoint.value, json.dumps([item, checkpoint.text], ensure_ascii=False))
        while True:
            try:
                await self.commit({TopicPartition(self.topic, slots[item]): row})
            except RebalanceInProgress:
                if self.is_closing:
                    raise
                await asyncio.sleep(self.connection.retry_backoff_s)
            else:
                return
            if (item, slots[item]) not in self.assignment or self.owner.number_of(item) != number:
                raise MembershipLost(f"{item!r} was revoked before its checkpoint was written")

    async def _slots(self, subscriptions: Mapping[str, Subscription]) -> dict[str, int]:
        """Return a slot for each item: the one that its owner has, that of its checkpoint, or a free one."""
        items = sorted({item for each in subscriptions.values() for item in each.topics})
        count = await self.ensure_topic(self.topic, max(self.capacity, len(items)))
        if len(items) > count:
            reason = f"{len(items)} items are more than the {count} partitions of {self.topic!r}"
            raise Refused(reason, ErrorCode.INVALID_PARTITIONS)
        kept = {key.partition: each for key, each in (await self.committed()).items() if key.topic == self.topic}
        newest_first = sorted(subscriptions.values(), key=lambda each: -each.generation_id)
        claims = [*((item, slot) for each in newest_first for item, slot in each.owned), *sorted(_claims(kept))]
        return divide_slots(items, claims, count, kept)

    async def _watch(self, subscriptions: Mapping[str, Subscription]) -> None:
        """Items are no topics: there is nothing to look for."""

    async def _look_for_changes(self) -> None:
        """Nor here."""


def divide_slots(items: Sequence[str], claims: Iterable[tuple[str, int]], count: int, kept: Container[int]) -> dict[str, int]:
    """Return a slot of its own for each item: the first that is claimed for it, or else a free one.

    Slots in which a checkpoint is kept are taken last: it may be of an item that comes back.
    """
    slots: dict[str, int] = {}
    taken: set[int] = set()
    for item, slot in claims:
        if item in items and item not in slots and slot not in taken and slot < count:
            slots[item] = slot
            taken.add(slot)
    free = sorted(set(range(count)) - taken, key=lambda slot: (slot in kept, slot))
    return slots | dict(zip((item for item in items if item not in slots), free, strict=False))


def _claims(kept: Mapping[int, Committed]) -> Iterable[tuple[str, int]]:
    return ((_item_of(committed), slot) for slot, committed in kept.items())


def _item_of(committed: Committed) -> str:
    try:
        item, _ = json.loads(committed.metadata)
    except (ValueError, TypeError):
        return ""
    return str(item)


def _read(committed: Committed | None, item: str) -> Checkpoint | None:
    """Return the checkpoint of an item, unless the slot has that of a different one."""
    if committed is None or _item_of(committed) != item:
        return None
    return Checkpoint(committed.offset, str(json.loads(committed.metadata)[1]))
