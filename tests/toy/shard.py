"""A toy state machine: totals by name.

One that adds writes what is added, so that its records add up; the other writes each new total.
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator_server.machine.digest import StateDigest, digest_text, item_digest
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorShard, Reply, RequestContext
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict
from protocol.coordinator_records import CoordinatorRecord
from tests.toy.records import AddedKey, AddedValue, TotalKey, TotalValue, added_record, total_record


class Add(NamedTuple):
    """Add to a name's total; None: forget the name."""

    name: str
    amount: int | None


class ToyShard(CoordinatorShard):
    """Hard state: the totals."""

    def __init__(self, *, registry: SnapshotRegistry, adds: bool) -> None:
        self._adds = adds
        self._totals: TimelineDict[str, int] = TimelineDict(registry)

    # Write operations

    def add(self, context: RequestContext, request: Add, reply: Reply[int]) -> CoordinatorResult[int]:
        """The new total."""
        name, amount = request
        if amount is None:
            return CoordinatorResult(0, [total_record(name, None)])
        total = self._totals.get(name, 0) + amount
        return CoordinatorResult(total, [added_record(name, amount) if self._adds else total_record(name, total)])

    # Read operations

    def total(self, committed_offset: int, name: str) -> int | None:
        """A name's total."""
        return self._totals.get_at(name, committed_offset)

    def totals(self, committed_offset: int) -> dict[str, int]:
        """All totals by name, sorted."""
        return dict(sorted(self._totals.items_at(committed_offset)))

    def digest(self, committed_offset: int, max_items: int = LATEST, with_parts: bool = False) -> StateDigest:
        """The sum over the names."""
        items = {name: item_digest(name.encode(), b"%d" % total) for name, total in self._totals.items_at(committed_offset)}
        parts = {name: digest_text(item) for name, item in items.items()} if with_parts else {}
        return StateDigest(committed_offset, digest_text(sum(items.values())), parts)

    # The shard's contract

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record."""
        match record.key, record.value:
            case TotalKey(name=name), TotalValue(total=total):
                self._totals[name] = total
            case TotalKey(name=name), None:
                self._totals.pop(name, 0)
            case AddedKey(name=name), AddedValue(amount=amount):
                self._totals[name] = self._totals.get(name, 0) + amount

    def plain_records(self) -> None:
        """No shortcut."""

    def on_loaded(self) -> None:
        """Nothing but hard state here."""

    def on_unloaded(self) -> None:
        """Nothing but hard state here."""
