"""What the members of the groups of one type and shard add to those of all shards of a loop."""

from __future__ import annotations

from coordinator_server.group.member_memory import MemberMemory
from coordinator_server.machine.timeline import TimelineValue


class MembersMemory:
    """The part of one type and shard. ``own_bytes`` is about what its members take."""

    __slots__ = ("_counted_bytes", "_of_loop", "_own_bytes")

    def __init__(self, of_loop: MemberMemory, own_bytes: TimelineValue[int]) -> None:
        self._of_loop = of_loop
        self._own_bytes = own_bytes
        self._counted_bytes = 0

    def count(self) -> int:
        """Return what the members of all groups of the loop take, in bytes, after counting the present ones of this part."""
        return self._count(self._own_bytes.value)

    def forget(self) -> None:
        """Take this part out of that count: the shard is unloaded."""
        self._count(0)

    def _count(self, used: int) -> int:
        self._of_loop.used_bytes += used - self._counted_bytes
        self._counted_bytes = used
        return self._of_loop.used_bytes
