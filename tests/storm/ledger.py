"""What the members of a storm were told, and whether all of it can be true at once. Knows nothing of how the members behave.

- in one generation no partition has two owners
- in one generation all agree on the protocol, and every member gets exactly the bytes that its leader gave it
- a generation that a SyncGroup answer carried is never older than one that was answered before the request was sent
- a heartbeat or a commit of a generation is refused once a later one has begun to work
- nobody is put out who was heard of in time

A static member that came back owns what its former self owned, so owners are known by their names, not by their member ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Assignment(NamedTuple):
    """What a SyncGroup answer said, and the partitions that its content means."""

    generation_id: int
    protocol: str
    content: bytes
    owned: Sequence[int]


class Generation:
    """What is known of one generation of one group."""

    def __init__(self) -> None:
        self.protocol = ""
        self.given: dict[str, bytes] = {}
        self.owners: dict[int, str] = {}


class Ledger:
    """Of all groups of a storm. ``broken`` are the rules that were, in words; ``happened`` counts what did."""

    def __init__(self) -> None:
        self.broken: list[str] = []
        self.happened: Counter[str] = Counter()
        self._generations: dict[tuple[str, int], Generation] = {}
        self._newest: dict[str, int] = {}

    def newest(self, group_id: str) -> int:
        """The latest generation that a SyncGroup answer has carried; members note it when they send something."""
        return self._newest.get(group_id, 0)

    def gave(self, group_id: str, generation_id: int, assignments: Mapping[str, bytes]) -> None:
        """A leader sends its assignments, by the names of the members."""
        if assignments:
            self._of(group_id, generation_id).given.update(assignments)

    def got(self, group_id: str, name: str, answer: Assignment, newest_when_sent: int) -> None:
        """A member was answered its assignment."""
        generation_id = answer.generation_id
        where = f"{group_id} generation {generation_id}, {name}"
        generation = self._of(group_id, generation_id)
        if generation_id < newest_when_sent:
            self.broken.append(f"{where}: synced although generation {newest_when_sent} had begun")
        self._newest[group_id] = max(generation_id, self.newest(group_id))
        if generation.protocol not in {"", answer.protocol}:
            self.broken.append(f"{where}: protocol {answer.protocol}, others were told {generation.protocol}")
        generation.protocol = answer.protocol
        if generation.given.get(name) != answer.content:
            self.broken.append(f"{where}: got {answer.content!r}, its leader gave {generation.given.get(name)!r}")
        for partition in answer.owned:
            owner = generation.owners.setdefault(partition, name)
            if owner != name:
                self.broken.append(f"{where}: owns partition {partition}, and so does {owner}")
        self.happened["assignments"] += 1

    def accepted(self, what: str, group_id: str, generation_id: int, name: str, newest_when_sent: int) -> None:
        """A request that is valid in the present generation only was answered without an error."""
        self.happened[what] += 1
        if generation_id < newest_when_sent:
            self.broken.append(
                f"{group_id} generation {generation_id}, {name}: {what} accepted although {newest_when_sent} had begun"
            )

    def put_out(self, group_id: str, name: str, silent_s: float, session_s: float) -> None:
        """A member was told that it is not known; ``silent_s`` is how long it had not asked anything when it asked this."""
        self.happened["put out"] += 1
        if silent_s < session_s / 2:
            self.broken.append(f"{group_id}, {name}: put out {silent_s:.2f} s after it was last heard of")

    def unexpected(self, group_id: str, name: str, what: str) -> None:
        """An answer that nothing explains."""
        self.broken.append(f"{group_id}, {name}: {what}")

    def _of(self, group_id: str, generation_id: int) -> Generation:
        return self._generations.setdefault((group_id, generation_id), Generation())
