"""A family of records of which the last one of each key counts: SCRAM credentials, ACLs and client quotas (Kafka's metadata records).

A record says what holds for its key, or removes what did. So all families share replay, fold, digest, import and replication.
The module of a family says what the key of a record is, and has the operations that write its records.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict, TimelineValue
from protocol.fields import Message


class Stated(NamedTuple):
    """What a record is about. ``is_removal``: nothing holds for the key from here on."""

    key: Hashable
    is_removal: bool = False


class Shown(NamedTuple):
    """A record as people see it, without secrets: whose it is, and the name and the value of one item."""

    owner: str
    item: str
    value: Any


class RecordFamily(Struct, frozen=True):
    """A row of ``families.py``. ``stated`` has a function for each type of record."""

    name: str
    stated: Mapping[type[Message], Callable[[Any], Stated]]
    show: Callable[[Any], Shown]

    def __hash__(self) -> int:
        return hash(self.name)


class FamilyStates:
    """The records that hold, of every family, by key. Changed by ``replay`` only."""

    def __init__(self, registry: SnapshotRegistry, families: Sequence[RecordFamily]) -> None:
        self._of_type = {each: family for family in families for each in family.stated}
        self._records: dict[RecordFamily, TimelineDict[Hashable, Any]] = {family: TimelineDict(registry) for family in families}
        self._changed_to = {family: TimelineValue(registry, 0) for family in families}

    def replay(self, offset: int, record: Message) -> None:
        """Apply a record. Ignore one of no family."""
        family = self._of_type.get(type(record))
        if family is None:
            return
        key, is_removal = family.stated[type(record)](record)
        if is_removal:
            self._records[family].pop(key, None)
        else:
            self._records[family][key] = record
        self._changed_to[family].set(offset + 1)

    def record(self, committed_offset: int, family: RecordFamily, key: Hashable) -> Any:
        """Return the record that holds for a key, or None."""
        return self._records[family].get_at(key, committed_offset)

    def records(self, committed_offset: int, family: RecordFamily) -> Iterable[Any]:
        """Return the records that hold, in no particular order."""
        return [record for _, record in self._records[family].items_at(committed_offset)]

    def all_records(self, committed_offset: int) -> list[Any]:
        """Return the records that hold, of all families."""
        return [record for family in self._records for record in self.records(committed_offset, family)]

    def changed_to(self, committed_offset: int, family: RecordFamily) -> int:
        """Return the offset after the last record of a family; 0 if there is none."""
        return self._changed_to[family].get_at(committed_offset)

    def count(self, family: RecordFamily) -> int:
        """Return the number of keys, durable or not."""
        return len(self._records[family])

    def has(self, family: RecordFamily, key: Hashable) -> bool:
        """Return whether a record holds for a key, durable or not."""
        return key in self._records[family]
