"""The simple assignor of share groups (KIP-932): partitions may have several members (Kafka's SimpleAssignor).

Each partition has as many members as it takes for everybody to have one, and each member has an equal part of all those places.
A member keeps what it has up to its part. If members subscribe to different topics, each topic is divided independently.

Only the partitions whose state is initialized are assigned. Which partitions a member loses or gets depends on the order of
Kafka's hash tables, which is computed where it matters. Buckets of more than eight partitions of the table of all partitions are
treated as lists: only a topic of which few partitions are initialized, far from each other, has such.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from math import ceil
from typing import Final, Generic, TypeVar

from coordinator_server.group.assign.altered import AlteredTarget, read_target
from coordinator_server.group.assign.hash_table import order_numbers
from coordinator_server.group.assign.order import (
    LEAST_BUCKETS,
    buckets_for,
    buckets_of_capacity,
    order_topic_ids,
    topic_id_hash,
)
from coordinator_server.group.assign.spec import CannotAssign, GroupSpec, Partitions

K = TypeVar("K", bound=Hashable)

_SIGN: Final = 0x8000_8000
_TOPICS: Final = 1_000
"""Topics whose hashes are remembered."""

Position = tuple[bytes, int]
"""A topic and one of its partitions."""


def assign_simply(group: GroupSpec) -> dict[str, Partitions]:
    """Return the target of every member. Raises CannotAssign."""
    if not group.members:
        return {}
    targets = _Targets(group)
    if group.is_homogeneous:
        topic_ids: Sequence[bytes] = group.subscriptions[group.members[0].subscription].topic_ids
        if topic_ids:
            _assign_alike(group, topic_ids, targets)
    else:
        topic_ids = order_topic_ids(
            topic_id for member in group.members for topic_id in group.subscriptions[member.subscription].topic_ids
        )
        for topic_id in topic_ids:
            _assign_topic(group, topic_id, targets)
    return targets.result() if topic_ids else {}


class _Targets:
    """The targets of all members, by their places in the group. They are copied when they change."""

    def __init__(self, group: GroupSpec) -> None:
        self._group = group
        self.old = [read_target(member.target) for member in group.members]
        self._altered: dict[int, AlteredTarget] = {}
        self._given: dict[int, set[Position]] = {}

    def remove_topic(self, member: int, topic_id: bytes) -> None:
        self._of(member).remove_topic(topic_id)

    def remove(self, member: int, position: Position) -> None:
        """Take a partition from a member. Its topic stays in the target, without partitions if that was the last one."""
        self._of(member).discard(*position)

    def add(self, member: int, position: Position) -> None:
        """Give a partition to a member. It may have been given the same one before: then the table of its topics may still grow."""
        topic_id, partition = position
        given = self._given.setdefault(member, set())
        self._of(member).add(topic_id, [] if position in given else [partition])
        given.add(position)

    def result(self) -> dict[str, Partitions]:
        altered = self._altered
        return {
            member.member_id: altered[place].result() if place in altered else self.old[place]
            for place, member in enumerate(self._group.members)
        }

    def _of(self, member: int) -> AlteredTarget:
        found = self._altered.get(member)
        if found is None:
            found = self._altered[member] = AlteredTarget(self._group.members[member].target)
        return found


class _Table(Generic[K]):
    """The members of each partition: a HashMap that was made for a number of keys, and is filled by ``computeIfAbsent``."""

    def __init__(self, keys: int, spread: Callable[[K], int]) -> None:
        self._buckets = _buckets_of_new(keys)
        self._spread = spread
        self.members: dict[K, _Members] = {}

    def of(self, key: K) -> _Members:
        """Return the members of a partition, which has none at first."""
        if len(self.members) > self._buckets * 3 // 4:
            self._buckets *= 2
        found = self.members.get(key)
        if found is None:
            found = self.members[key] = _Members()
        return found

    def in_order(self) -> list[K]:
        """Return the partitions in the table's order: by bucket, and within a bucket the last one first."""
        mask = self._buckets - 1
        last_first = list(self.members)
        last_first.reverse()
        return sorted(last_first, key=lambda key: self._spread(key) & mask)


class _Members:
    """The places of the members that have a partition: a HashSet."""

    __slots__ = ("_changes", "present")

    def __init__(self) -> None:
        self._changes: list[int] = []
        self.present: set[int] = set()

    def add(self, member: int) -> None:
        self._changes.append(member)
        self.present.add(member)

    def remove(self, member: int) -> None:
        self._changes.append(~member)
        self.present.remove(member)

    def in_order(self) -> list[int]:
        return order_numbers(LEAST_BUCKETS, self._changes)


def _assign_alike(group: GroupSpec, topic_ids: Sequence[bytes], targets: _Targets) -> None:
    """Divide all topics together, among members that subscribe to the same ones."""
    subscribed = set(topic_ids)
    assignable = [(topic_id, partition) for topic_id in topic_ids for partition in _assignable(group, topic_id)]
    sharing = _sharing(len(group.members), len(assignable))
    quotas = _quotas(range(len(group.members)), sharing * len(assignable))
    table: _Table[Position] = _Table(len(assignable), _spread_position)
    has: dict[int, dict[Position, None]] = {}
    for member, old in enumerate(targets.old):
        mine = has[member] = {}
        for topic_id, partitions in old.items():
            if topic_id not in subscribed:
                targets.remove_topic(member, topic_id)
                continue
            for partition in partitions:
                table.of((topic_id, partition)).add(member)
                mine[topic_id, partition] = None
    unfilled = {member for member, mine in has.items() if len(mine) < quotas[member]}
    for member, mine in has.items():
        for position in _excess(order_positions(mine), quotas[member]):
            del mine[position]
            table.members[position].remove(member)
            targets.remove(member, position)
    unfilled.update(member for member, _ in _unshare(table, sharing, has, targets))
    for position in assignable:
        table.of(position)
    _give(table, sharing, sorted(unfilled), quotas, has, targets)


def _assign_topic(group: GroupSpec, topic_id: bytes, targets: _Targets) -> None:
    """Divide one topic among the members that subscribe to it."""
    subscriptions = group.subscriptions
    members = [place for place, each in enumerate(group.members) if topic_id in subscriptions[each.subscription].topic_ids]
    assignable = _assignable(group, topic_id)
    sharing = _sharing(len(members), len(assignable))
    quotas = _quotas(members, sharing * len(assignable))
    table: _Table[Position] = _Table(len(assignable), _spread_partition)
    has: dict[int, dict[Position, None]] = {}
    for member, old in enumerate(targets.old):
        for partition in old.get(topic_id, ()):
            table.of((topic_id, partition)).add(member)
            has.setdefault(member, {})[topic_id, partition] = None
    for member, mine in has.items():
        in_order = order_numbers(LEAST_BUCKETS, [partition for _, partition in mine])
        for partition in _excess(in_order, quotas.get(member, 0)):
            del mine[topic_id, partition]
            table.members[topic_id, partition].remove(member)
            targets.remove(member, (topic_id, partition))
    _unshare(table, sharing, has, targets)
    for partition in assignable:
        table.of((topic_id, partition))
    unfilled = [member for member in members if len(has.get(member, ())) < quotas[member]]
    _give(table, sharing, unfilled, quotas, has, targets)


def _unshare(
    table: _Table[Position], sharing: int, has: dict[int, dict[Position, None]], targets: _Targets
) -> list[tuple[int, Position]]:
    """Take partitions away that have too many members. Return what each member has lost."""
    lost: list[tuple[int, Position]] = []
    for position, members in table.members.items():
        for member in _excess(members.in_order(), sharing) if len(members.present) > sharing else ():
            members.remove(member)
            targets.remove(member, position)
            del has[member][position]
            lost.append((member, position))
    return lost


def _give(
    table: _Table[Position],
    sharing: int,
    unfilled: list[int],
    quotas: dict[int, int],
    has: dict[int, dict[Position, None]],
    targets: _Targets,
) -> None:
    """Give partitions that have too few members to members that have too few partitions, in turn.

    Kafka does not note here which members got a partition, so that in rare cases a member is given one for the second time.
    """
    waiting, place, has_given, left = unfilled, 0, False, len(unfilled)
    for position in table.in_order():
        if not left:
            return
        present = table.members[position].present
        missing = sharing - len(present)
        while missing > 0:
            if place == len(waiting):
                if not has_given or not left:
                    break
                waiting = [member for member in waiting if len(has.get(member, ())) < quotas[member]]
                place, has_given = 0, False
            member = waiting[place]
            place += 1
            if member in present:
                continue
            mine = has.setdefault(member, {})
            mine[position] = None
            targets.add(member, position)
            missing -= 1
            has_given = True
            if len(mine) >= quotas[member]:
                left -= 1


def order_positions(positions: Iterable[Position]) -> list[Position]:
    """Return the order of a HashSet that has got these partitions one by one."""
    given = list(positions)
    # Java compares hashes with a sign, ``order_numbers`` without: the sign bit is turned around, and so is what it spreads to.
    by_hash = {_position_hash(position) ^ _SIGN: position for position in given}
    if len(by_hash) == len(given):
        return [by_hash[value] for value in order_numbers(LEAST_BUCKETS, list(by_hash))]
    mask = buckets_for(len(given)) - 1
    return sorted(given, key=lambda position: _spread_position(position) & mask)


def _assignable(group: GroupSpec, topic_id: bytes) -> list[int]:
    count = group.partition_counts.get(topic_id)
    if count is None:
        raise CannotAssign(
            f"Members are subscribed to topic {urlsafe_b64encode(topic_id)[:-2].decode()} which doesn't exist in the topic "
            "metadata."
        )
    if group.assignable is None:
        return list(range(count))
    return sorted(partition for partition in group.assignable.get(topic_id, ()) if partition < count)


def _sharing(members: int, partitions: int) -> int:
    """Return how many members each partition has."""
    return (members + partitions - 1) // partitions if partitions else 0


def _quotas(members: Sequence[int], places: int) -> dict[int, int]:
    """Return how many partitions each member has, as Kafka computes it with floating-point numbers."""
    each = places / len(members)
    return {member: ceil(each * (place + 1)) - ceil(each * place) for place, member in enumerate(members)}


def _excess(in_order: Sequence[K], quota: int) -> Sequence[K]:
    """Return those to take away until ``quota`` are left: the first ones."""
    return in_order[: max(len(in_order) - quota, 0)]


def _buckets_of_new(count: int) -> int:
    """Return the buckets of a HashMap of ``AssignorHelpers.newHashMap``."""
    return buckets_of_capacity(int((count + 1) / 0.75 + 1))


def _position_hash(position: Position) -> int:
    """Return the hash of a partition of a topic, which is a Java record, without a sign."""
    return _topic_part(position[0]) + position[1] & 0xFFFF_FFFF


@lru_cache(_TOPICS)
def _topic_part(topic_id: bytes) -> int:
    return 31 * topic_id_hash(topic_id)


def _spread_position(position: Position) -> int:
    value = _position_hash(position)
    return value ^ value >> 16


def _spread_partition(position: Position) -> int:
    return position[1] ^ position[1] >> 16
