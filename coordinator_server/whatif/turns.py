"""Turns: each change of a group, with the rebalances that it took.

Under the cooperative assignor one change may take two generations: in the second one, what was given up gets its new owner. Whoever
asks what another rule would have done must not take that second generation for a change.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from coordinator_server.client.offsets import TopicPartition
from coordinator_server.whatif.life import Generation, Protocol, Seat
from coordinator_server.whatif.rules import RULES


class Turn(Struct):
    """A change. ``generation`` is its first one, ``follow_ups`` are the others. ``began_ms`` is when its first cause arose.

    ``delay_ms`` is how long members wait for others before they rebalance, beside what it took.
    """

    generation: Generation
    follow_ups: list[Generation] = []
    delay_ms: int = 0

    @property
    def assigned(self) -> dict[Seat, tuple[TopicPartition, ...]]:
        """What members had in the end, as recorded."""
        return (self.follow_ups or [self.generation])[-1].assigned

    @property
    def took_ms(self) -> int | None:
        """How long its rebalances took, as recorded; None if that is unknown of one."""
        took = [each.took_ms for each in (self.generation, *self.follow_ups)]
        return None if None in took else sum(each or 0 for each in took)

    @property
    def rebalances(self) -> int:
        """How many rebalances members have seen, as recorded."""
        return 1 + len(self.follow_ups) if self.generation.members else 0

    @property
    def is_modern(self) -> bool:
        return self.generation.protocol is Protocol.CONSUMER


def turns_of(generations: Sequence[Generation]) -> list[Turn]:
    """Return the turns of a life."""
    turns: list[Turn] = []
    for generation in generations:
        last = (turns[-1].follow_ups or [turns[-1].generation])[-1] if turns else None
        if last is not None and _follows(last, generation):
            turns[-1].follow_ups.append(generation)
        else:
            turns.append(Turn(generation))
    return turns


def _follows(before: Generation, after: Generation) -> bool:
    """Return whether a generation gives what the one before has withheld, and nothing else has changed."""
    rule = RULES.get(before.assignor)
    if rule is None or not rule.withholds or before.assignor != after.assignor or before.signature != after.signature:
        return False
    given = sum(map(len, before.assigned.values()))
    wanted = {name for member in before.members.values() for name in member.wanted}
    return given < sum(topic.partitions for name, topic in before.topics.items() if name in wanted)
