"""The description of a group, member by member, because members may have very many partitions.

It is made from values that do not change any longer. The unit of its work is about 2 us, for an answer in steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

UNITS_PER_MEMBER: Final = 4
UNITS_PER_TOPIC: Final = 1
PARTITIONS_PER_UNIT: Final = 16


def _topics(described: Any) -> Iterable[Any]:
    target = getattr(described, "target_assignment", None)
    return (*described.assignment.topic_partitions, *(() if target is None else target.topic_partitions))


class UndescribedGroup(NamedTuple):
    """A group as of an offset: its description without members, the members, and what describes one of them.

    ``lists`` returns the parts of a member's description that have ``partitions``, whose number is its work.
    """

    head: Any
    members: list[Any]
    describe: Callable[[Any], Any]
    lists: Callable[[Any], Iterable[Any]] = _topics

    def described_members(self) -> Iterator[tuple[Any, int]]:
        """Yield the description of each member, and the units of its work. Partitions of topics that are gone are left out."""
        for member in self.members:
            described = self.describe(member)
            units = sum(UNITS_PER_TOPIC + len(each.partitions) // PARTITIONS_PER_UNIT for each in self.lists(described))
            yield described, UNITS_PER_MEMBER + units

    def described(self) -> Any:
        """Return the whole description."""
        self.head.members = [member for member, _ in self.described_members()]
        return self.head
