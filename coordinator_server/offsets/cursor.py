"""A pass over the offsets of one group in several steps. The group may change between them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from coordinator_server.offsets.values import TopicPartition


class OffsetCursor:
    """The positions that the group had when the pass reached it, without those that the pass has visited.

    A position that gets its first offset later is not visited. The pass must read the present offset of each position that it
    visits, because it may have changed or be removed.
    """

    __slots__ = ("_left", "group_id", "has_begun")

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.has_begun = False
        self._left: list[TopicPartition] = []

    def begin(self, committed: Iterable[TopicPartition], pending: Collection[TopicPartition] = ()) -> None:
        """Take the positions of the group."""
        self.has_begun = True
        # A copy, because a dict that changes cannot be visited in steps. It takes a few milliseconds for 400,000 positions.
        self._left = list(committed)
        if pending:
            self._left = list(dict.fromkeys([*self._left, *pending]))
        self._left.reverse()

    def __len__(self) -> int:
        """Return the number of positions left."""
        return len(self._left)

    def take(self, most: int) -> list[TopicPartition]:
        """Return the next positions, at most ``most``. They count as visited."""
        taken = self._left[: -most - 1 : -1]
        del self._left[-len(taken) :]
        return taken
