"""The work of describing a group's members, in units of about 2 us, for an answer in steps."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import Final

UNITS_PER_MEMBER: Final = 4
UNITS_PER_TOPIC: Final = 1
PARTITIONS_PER_UNIT: Final = 16


def work_of(assignments: Iterable[Sized]) -> int:
    """Return the units of one member with these lists of partitions."""
    return UNITS_PER_MEMBER + sum(UNITS_PER_TOPIC + len(partitions) // PARTITIONS_PER_UNIT for partitions in assignments)
