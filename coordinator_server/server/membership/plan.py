"""Which shards a node takes, and which it releases: a pure function of the rows.

Each topic is spread evenly: a node takes shards without a living owner up to its part, rounded up, and releases what exceeds that.
If a node has less than its part, rounded down, the first of those that have more releases one. Nobody takes from a living node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from coordinator_server.log.members import Member, Table
from coordinator_server.log.shards import ShardId


class Plan(NamedTuple):
    """What a node does next. Shards are with the epoch that the rows have."""

    take: list[tuple[ShardId, int]]
    release: list[tuple[ShardId, int]]


def is_settled(table: Table) -> bool:
    """Return whether each shard has a living owner, and no node will give one away."""
    living = table.living
    for topic in {shard.topic for shard in table.shards}:
        owners = [row.owner for shard, row in table.shards.items() if shard.topic == topic]
        owned = Counter(owners)
        parts = [owned[each] for each in living]
        if sum(parts) < len(owners) or (parts and max(parts) - min(parts) > 1):
            return False
    return True


def plan(table: Table, me: Member, *, takes: bool = True) -> Plan:
    """Return what a member does next, which has to be alive. With ``takes`` false it takes nothing."""
    living = table.living
    shards = sorted(table.shards)
    take: list[tuple[ShardId, int]] = []
    release: list[tuple[ShardId, int]] = []
    for topic in dict.fromkeys(shard.topic for shard in shards):
        of_topic = [shard for shard in shards if shard.topic == topic]
        free = [each for each in of_topic if not table.is_alive(table.shards[each].owner)]
        owned = Counter(table.shards[each].owner for each in of_topic)
        most, least = -(-len(of_topic) // len(living)), len(of_topic) // len(living)
        room = most - owned[me]
        if (
            not free
            and any(owned[each] < least for each in living)
            and me == next(each for each in living if owned[each] > least)
        ):
            room = min(room, -1)
        if room > 0 and takes:
            # Nodes begin at different shards, so that they do not compete for the same ones.
            first = living.index(me) * len(free) // len(living)
            take += _with_epochs(table, [*free[first:], *free[:first]][:room])
        elif room < 0:
            release += _with_epochs(table, [each for each in of_topic if table.shards[each].owner == me][room:])
    return Plan(take, release)


def _with_epochs(table: Table, shards: Iterable[ShardId]) -> Iterable[tuple[ShardId, int]]:
    return [(each, table.shards[each].epoch) for each in shards]
