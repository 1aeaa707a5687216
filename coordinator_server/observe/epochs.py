"""Where the leader epochs of a log begin, as its batches say (``LeaderEpochFileCache``).

The first batches of an epoch may have been cleaned away. So an epoch may begin earlier than is known here, never later.
"""

from __future__ import annotations

from msgspec import Struct


class EpochStarts(Struct):
    """The epochs of a log, ascending, with the offset of the first batch of each."""

    starts: list[tuple[int, int]] = []

    def add(self, epoch: int, offset: int) -> bool:
        """Note the epoch of a batch that is appended. Return whether it is a new one."""
        if epoch < 0 or (self.starts and epoch <= self.starts[-1][0]):
            return False
        self.starts.append((epoch, offset))
        return True

    def cut(self, end: int) -> None:
        """Forget the epochs that begin at an offset or later."""
        self.starts = [each for each in self.starts if each[1] < end]

    def end_of(self, epoch: int, end: int) -> int:
        """Return where a later epoch than this one begins; ``end``, the log's, if there is none."""
        return next((offset for each, offset in self.starts if each > epoch), end)

    def shared_end(self, epoch: int, end_offset: int, end: int) -> int:
        """Return how far a log that ends at ``end`` has the same records as its leader's, which says where an epoch ends there."""
        return min(end_offset, self.end_of(epoch, end))
