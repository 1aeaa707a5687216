"""What may be read of what producers moved in transactions: all of a transaction's groups have moved, or none has.

never           an offset of a transaction that was said to be aborted, or that nobody has asked to commit; an offset that goes
                back; a producer id for two transactional ids, or one epoch for two producers; a transaction of a producer that
                was fenced before it began
in the end      the offsets of a transaction that was said to be committed, or later ones, in every group of it; those of any
                other in all of its groups or in none
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol

from tests.support.mover import Given, Moved, Outcome

Committed = dict[tuple[str, int], int]
"""Offsets by group and position."""


class Teller(Protocol):
    """A producer that tells what it did."""

    moved: list[Moved]
    given: list[Given]


class Ledger:
    """The transactions of producers. Each transactional id of ``ids`` moves one position, its index, to ever higher offsets.

    Groups that are ``mortal`` are deleted now and then, so they may lack anything.
    """

    def __init__(self, producers: Sequence[Teller], ids: Sequence[str], mortal: Collection[str] = ()) -> None:
        self._producers = producers
        self._ids = ids
        self._mortal = mortal
        self._seen: Committed = {}
        # Transactional ids by producer id.
        self._owners: dict[int, str] = {}

    @property
    def moved(self) -> list[Moved]:
        """Every transaction that was begun."""
        return [each for producer in self._producers for each in producer.moved]

    def wrong_now(self, committed: Committed) -> list[str]:
        """What may not be read at any moment."""
        return [*self._unheard_of(committed), *self._gone_back(committed), *self._given_twice(), *self._not_fenced()]

    def wrong_after_all(self, committed: Committed) -> list[str]:
        """What may not be read once all transactions are over."""
        found = []
        for each in self.moved:
            position = self._ids.index(each.transactional_id)
            groups = [group_id for group_id in each.groups if group_id not in self._mortal]
            reached = [group_id for group_id in groups if committed.get((group_id, position), -1) >= each.offset]
            seen = [group_id for group_id in groups if committed.get((group_id, position)) == each.offset]
            if (each.outcome is Outcome.COMMITTED or seen) and len(reached) != len(groups):
                found.append(f"moved in part: {each}, reached {reached}, seen {seen}")
        return found

    def wrong_ids(self, producer_ids: Iterable[tuple[str, int]]) -> list[str]:
        """Producer ids that two transactional ids have, or have had when this was asked before."""
        return [
            f"producer id {producer_id} is {self._owners[producer_id]}'s and {transactional_id}'s"
            for transactional_id, producer_id in producer_ids
            if self._owners.setdefault(producer_id, transactional_id) != transactional_id
        ]

    def _unheard_of(self, committed: Committed) -> Iterator[str]:
        by_offset = {each.offset: each for each in self.moved}
        for (group_id, position), offset in committed.items():
            moved = by_offset.get(offset)
            if moved is None or moved.transactional_id != self._ids[position] or group_id not in moved.groups:
                yield f"{group_id} has offset {offset} at {position}, which nobody has committed"
            elif moved.outcome in (Outcome.ABORTED, Outcome.ABANDONED):
                yield f"{group_id} has offset {offset} of an {moved.outcome.value} transaction: {moved}"

    def _gone_back(self, committed: Committed) -> Iterator[str]:
        for (group_id, position), offset in committed.items():
            last = self._seen.get((group_id, position), -1)
            if offset < last and group_id not in self._mortal:
                yield f"{group_id} went back from {last} to {offset} at {position}"
            self._seen[group_id, position] = offset

    @property
    def _given(self) -> list[Given]:
        return [each for producer in self._producers for each in producer.given]

    def _given_twice(self) -> Iterator[str]:
        owners: dict[int, str | None] = {}
        for each in self._given:
            owner = owners.setdefault(each.producer[0], each.transactional_id)
            if owner != each.transactional_id:
                yield f"producer id {each.producer[0]} is {owner}'s and {each.transactional_id}'s"
        if len({each.producer for each in self._given}) != len(self._given):
            yield "two producers have the same id and epoch"

    def _not_fenced(self) -> Iterator[str]:
        """Nothing of a producer is committed that began after a later producer of its transactional id was let in."""
        for moved in self.moved:
            if moved.outcome is Outcome.COMMITTED:
                for each in self._given:
                    is_later = each.producer[0] == moved.producer[0] and each.producer[1] > moved.producer[1]
                    if is_later and each.transactional_id == moved.transactional_id and each.at_us < moved.began_us:
                        yield f"committed after it was fenced by {each}: {moved}"
