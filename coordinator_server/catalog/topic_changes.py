"""TopicChanges: which topics the records of the catalog have created or extended, until a loop notifies its shards."""

from __future__ import annotations


class TopicChanges:
    """The changes that are replayed and not yet taken.

    A change that was reverted stays until an offset after it is taken: a shard that is notified of it finds nothing changed.
    """

    __slots__ = ("_changes", "_taken")

    def __init__(self) -> None:
        # The offset of the last record, the name, and whether the topic is new. The records of one topic follow each other.
        self._changes: list[tuple[int, str, bool]] = []
        # The end of what was taken.
        self._taken = 0

    def note(self, offset: int, name: str, *, is_new: bool) -> None:
        """Add a change."""
        changes = self._changes
        if changes and changes[-1][1] == name:
            is_new = changes.pop()[2] or is_new
        changes.append((offset, name, is_new))

    def take(self, end: int) -> tuple[list[str], bool]:
        """Remove the changes before an offset. Return the names of the topics, and whether some were created."""
        self._taken = max(self._taken, end)
        taken = [change for change in self._changes if change[0] < end]
        self._changes = [change for change in self._changes if change[0] >= end]
        return list(dict.fromkeys(name for _, name, _ in taken)), any(is_new for _, _, is_new in taken)

    def loaded(self) -> None:
        """Keep what a load has noted after the end of what was taken: a node that becomes the controller was behind by so much.

        At a start nothing was taken, and nobody has seen the topics before: forget all.
        """
        self._changes = [change for change in self._changes if change[0] >= self._taken] if self._taken else []
