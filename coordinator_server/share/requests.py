"""What the operations on one share partition take and return. A request of a client has any number of these.

``name`` is the share partition's name. Writes and reads are those of the wire (``protocol/plain_share_states.py``).
"""

from __future__ import annotations

from typing import Final, NamedTuple

NO_EPOCH: Final = -1
"""An epoch that is not compared."""
NEGATIVE_PARTITION: Final = "a partition is not negative"


class Initialization(NamedTuple):
    """A new state without batches. ``start_offset`` is -1 until a partition leader chooses one."""

    name: bytes
    state_epoch: int
    start_offset: int


class Summary(NamedTuple):
    """Where a share partition starts, and how many records beyond that are delivered: -1 if unknown."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int


UNINITIALIZED: Final = Summary(0, 0, -1, -1)
"""The summary of a share partition that has no state."""
