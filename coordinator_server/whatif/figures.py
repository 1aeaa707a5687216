"""What a rebalance costs, and how certain each figure is.

    rebalances    how often members had to agree on an assignment
    moved         partitions that went from one member that stayed to another
    needless      those of them that balance did not ask for
    imbalance     by how many partitions the fullest member exceeds the emptiest one; in a sum, the worst
    stopped       how often a member that had partitions could work on none of them
    standstill    for how long, summed over members, in ms

A figure is known, or a bound, or unknown. A bound is an estimate from above of costs, and of what would have been saved.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from coordinator_server.client.offsets import TopicPartition
from coordinator_server.whatif.life import Generation, Held, Seat
from coordinator_server.whatif.rules import Standstill


class Certainty(StrEnum):
    """How certain a figure is."""

    KNOWN = "known"
    BOUND = "bound"
    UNKNOWN = "unknown"


_ORDER = tuple(Certainty)


class Figure(Struct, frozen=True):
    """A number. ``value`` is None if nothing is known; of a sum with unknown parts, it is the sum of the others."""

    value: int | None = 0
    certainty: Certainty = Certainty.KNOWN

    def __add__(self, other: Figure) -> Figure:
        if self.value is None and other.value is None:
            return UNKNOWN
        return Figure((self.value or 0) + (other.value or 0), worst(self.certainty, other.certainty))


UNKNOWN = Figure(None, Certainty.UNKNOWN)


def worst(*certainties: Certainty) -> Certainty:
    """Return the least certain of at least one."""
    return max(certainties, key=_ORDER.index)


class Cost(Struct, frozen=True):
    """What one turn costs, or many."""

    rebalances: Figure = Figure()
    moved: Figure = Figure()
    needless: Figure = Figure()
    imbalance: Figure = Figure()
    stopped: Figure = Figure()
    standstill_ms: Figure = Figure()


def total(costs: Iterable[Cost]) -> Cost:
    """Return the sum of costs, and the worst imbalance."""
    summed = Cost()
    for cost in costs:
        summed = Cost(
            summed.rebalances + cost.rebalances,
            summed.moved + cost.moved,
            summed.needless + cost.needless,
            _larger(summed.imbalance, cost.imbalance),
            summed.stopped + cost.stopped,
            summed.standstill_ms + cost.standstill_ms,
        )
    return summed


def _larger(one: Figure, other: Figure) -> Figure:
    return Figure(max(one.value or 0, other.value or 0), worst(one.certainty, other.certainty))


def owners(held: Held) -> dict[TopicPartition, Seat]:
    """Return the owner of each partition."""
    return {partition: seat for seat, partitions in held.items() for partition in partitions}


def moved_between(before: Held, after: Held, generation: Generation) -> int:
    """Return how many partitions moved to a different member although the previous owner stayed and still wants them."""
    now, moved = owners(after), 0
    for seat, partitions in before.items():
        member = generation.members.get(seat)
        for partition in partitions if member is not None and member.wanted else ():
            topic = generation.topics.get(partition.topic)
            if topic is None or partition.partition >= topic.partitions or member is None or partition.topic not in member.wanted:
                continue
            moved += now.get(partition, seat) != seat
    return moved


def needed_moves(before: Held, generation: Generation) -> int | None:
    """Return the least number of moves that give each member its share; None if members want different topics.

    Members that have most get the larger shares.
    """
    members = generation.members
    wanted = {member.wanted for member in members.values()}
    if len(wanted) != 1:
        return None if members else 0
    [names] = wanted
    topics = {name: topic.partitions for name, topic in generation.topics.items() if name in names}
    share, more = divmod(sum(topics.values()), len(members))
    kept = sorted(
        (sum(each.partition < topics.get(each.topic, 0) for each in before.get(seat, ())) for seat in members), reverse=True
    )
    return sum(max(0, count - share - (place < more)) for place, count in enumerate(kept))


def imbalance(held: Held, generation: Generation) -> Figure:
    """Return by how many partitions the fullest member exceeds the emptiest one. Where they want different topics it is a bound."""
    counts = [len(held.get(seat, ())) for seat in generation.members]
    is_alike = len({member.wanted for member in generation.members.values()}) <= 1
    return Figure(max(counts, default=0) - min(counts, default=0), Certainty.KNOWN if is_alike else Certainty.BOUND)


def stopped(before: Held, after: Held, generation: Generation, standstill: Standstill) -> int:
    """Return how many members stop: all that had something, or those that keep nothing of what they had."""
    staying = [(seat, set(partitions)) for seat, partitions in before.items() if partitions and seat in generation.members]
    if standstill is Standstill.ALL:
        return len(staying)
    return sum(not partitions & set(after.get(seat, ())) for seat, partitions in staying)
