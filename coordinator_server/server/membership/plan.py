"""Which shards a node takes, and which it gives away: a pure function of the rows.

Each topic is spread evenly over the members that stay: a node takes shards without a living owner up to its part, rounded up, and
gives away what exceeds that, or everything if it is leaving: the catalog last, because its owner answers nobody from then on until
it follows the next one. If a node has less than its part, rounded down, the first of those
that have more gives it one. Nobody takes from a living node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from coordinator_server.kinds import CATALOG
from coordinator_server.log.members import Member, Table
from coordinator_server.log.shards import ShardId


class Plan(NamedTuple):
    """What a node does next. Shards are with the epoch that the rows have, and given ones with the member that gets them."""

    take: list[tuple[ShardId, int]]
    give: list[tuple[ShardId, int, Member]]


def is_settled(table: Table) -> bool:
    """Return whether each shard has an owner that lives and stays, and no node will give one away."""
    staying = dict.fromkeys(table.staying, 0)
    parts: dict[str, dict[Member, int]] = {}
    for shard, (owner, _) in table.shards.items():
        if owner is None or owner not in staying:
            return False
        owned = parts.get(shard.topic)
        if owned is None:
            owned = parts[shard.topic] = staying.copy()
        owned[owner] += 1
    return all(max(owned.values()) - min(owned.values()) <= 1 for owned in parts.values())


def has_part(table: Table, me: Member) -> bool:
    """Return whether a member owns its part of each topic: no shard is free for it, and no member will give it one."""
    shares = Counter(shard.topic for shard in table.shards)
    owned = Counter(shard.topic for shard, row in table.shards.items() if row.owner == me)
    members = len(table.staying)
    return not plan(table, me).take and all(owned[topic] >= count // members for topic, count in shares.items())


def plan(table: Table, me: Member, *, takes: bool = True, without: Collection[Member] = ()) -> Plan:
    """Return what a member does next, which has to be alive. With ``takes`` false it takes nothing. Members in ``without`` get
    nothing from it.
    """
    take: list[tuple[ShardId, int]] = []
    give: list[tuple[ShardId, int, Member]] = []
    if is_settled(table):
        # Most looks find that.
        return Plan(take, give)
    staying = table.staying
    shards = sorted(table.shards)
    for topic in dict.fromkeys(shard.topic for shard in shards):
        of_topic = [shard for shard in shards if shard.topic == topic]
        free = [each for each in of_topic if not table.is_alive(table.shards[each].owner)]
        owned = Counter(table.shards[each].owner for each in of_topic)
        room = _room(owned, staying, me, len(of_topic), len(free)) if me in staying else -owned[me]
        if room > 0 and takes:
            # Nodes begin at different shards, so that they do not compete for the same ones.
            first = staying.index(me) * len(free) // len(staying)
            take += _with_epochs(table, [*free[first:], *free[:first]][:room])
        elif room < 0:
            mine = [each for each in of_topic if table.shards[each].owner == me]
            others = [each for each in staying if each != me and each not in without]
            give += _divided(_with_epochs(table, mine[room:]), others, owned, me if me in staying else None)
    return Plan(take, [each for each in give if each[0].topic != CATALOG.topic] or give)


def _room(owned: Counter[Member | None], staying: Sequence[Member], me: Member, shards: int, free: int) -> int:
    """Return how many shards of a topic a member that stays lacks, or has too many."""
    most, least = -(-shards // len(staying)), shards // len(staying)
    room = most - owned[me]
    if free:
        # Those that have room take these first.
        return max(room, 0)
    lacks = any(owned[each] < least for each in staying)
    if lacks and me == next((each for each in staying if owned[each] > least), None):
        room = min(room, -1)
    return room


def _divided(
    mine: Iterable[tuple[ShardId, int]], others: Sequence[Member], owned: Counter[Member | None], stays: Member | None
) -> Iterable[tuple[ShardId, int, Member]]:
    """Yield each shard with the member that has the fewest then. A member that ``stays`` gives only to one that has no more than
    itself afterwards: while the one that lacks a shard accepts none, the others would give it to each other again and again.
    """
    for shard, epoch in mine if others else ():
        to = min(others, key=lambda each: (owned[each], each))
        if stays is not None:
            if owned[to] + 2 > owned[stays]:
                return
            owned[stays] -= 1
        owned[to] += 1
        yield shard, epoch, to


def _with_epochs(table: Table, shards: Iterable[ShardId]) -> Iterable[tuple[ShardId, int]]:
    return [(each, table.shards[each].epoch) for each in shards]
