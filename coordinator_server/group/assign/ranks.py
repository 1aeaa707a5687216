"""The subscribers of a topic by their number of partitions, while they are balanced (Kafka's MemberAssignmentBalancer)."""

from __future__ import annotations

from collections.abc import Iterator


def fewest_first(members: list[int], sizes: list[int]) -> Iterator[int]:
    """Yield the members with the fewest partitions, each of which is given one: the same as ``Ranks.next_least``.

    The range grows member by member, when it is their turn. So nothing else may change ``sizes``.
    """
    ordered = sorted(members, key=sizes.__getitem__)
    end, count = 0, sizes[ordered[0]]
    while True:
        yield from ordered[:end]
        while end < len(ordered) and sizes[ordered[end]] == count:
            end += 1
            yield ordered[end - 1]
        count += 1


class Ranks:
    """Yields the members with the fewest partitions, and those with the most.

    Each of both is a range of members that began with equally many; once all of a range had their turn, its number of
    partitions changes by one and it grows by the members that have that many. The caller changes ``sizes`` accordingly.
    """

    __slots__ = (
        "_least_count",
        "_least_end",
        "_least_next",
        "_members",
        "_most_count",
        "_most_end",
        "_most_next",
        "_most_start",
        "_sizes",
    )

    def __init__(self, members: list[int], sizes: list[int]) -> None:
        """``members`` are numbers in ascending order, at least one; ``sizes`` are the numbers of partitions of all members."""
        self._sizes = sizes
        ordered = self._members = sorted(members, key=sizes.__getitem__)
        self._least_end = 0
        self._least_count = sizes[ordered[0]] - 1
        self._least_next = 0
        self._most_start = self._most_end = len(ordered)
        self._most_count = sizes[ordered[-1]] + 1
        self._most_next = len(ordered) - 1

    def next_least(self) -> int:
        """Return the member with the fewest partitions, which is given one."""
        members = self._members
        if self._least_next >= self._least_end:
            self._least_count += 1
            end = self._least_end
            while end < len(members) and self._sizes[members[end]] == self._least_count:
                end += 1
            self._least_end = end
            self._least_next = 0
        member = members[self._least_next]
        self._least_next += 1
        return member

    def next_most(self) -> int | None:
        """Return the member with the most partitions, which loses one, or None if no member has one to lose."""
        members = self._members
        if self._most_next < self._most_start:
            start = self._most_start
            if self._most_end <= start and start > 0:
                # All of the range were excluded: let it grow by at least one.
                self._most_count = self._sizes[members[start - 1]]
            else:
                self._most_count -= 1
            while start > 0 and self._sizes[members[start - 1]] == self._most_count:
                start -= 1
            self._most_start = start
            self._most_next = self._most_end - 1
        if self._most_next < 0:
            return None
        member = members[self._most_next]
        self._most_next -= 1
        return member

    def exclude_most(self) -> None:
        """Never return again the member that ``next_most`` has just returned."""
        self._most_end -= 1
        members, place, end = self._members, self._most_next + 1, self._most_end
        members[place], members[end] = members[end], members[place]

    def is_balanced(self) -> bool:
        """Return whether both ranges differ by at most one partition."""
        return self._most_count - self._least_count <= 1
