"""The memory that the members of all groups of a loop take."""

from __future__ import annotations


class MemberMemory:
    """A sum over groups, kept by the groups (``ClassicGroup.count_in``)."""

    __slots__ = ("used_bytes",)

    def __init__(self) -> None:
        self.used_bytes = 0
