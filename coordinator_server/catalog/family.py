"""A family of records of which the last one of each key counts:
SCRAM credentials, ACLs and client quotas (Kafka's metadata records).

A record says what holds for its key, or removes what did. So all families share replay, fold, digest, import and replication.
The module of a family says what the key of a record is, and has the operations that write its records.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict, TimelineValue
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
    # What a record says, of a family whose operations look for the keys that say the same.
    value: Callable[[Any], Hashable] | None = None

    def __hash__(self) -> int:
        return hash(self.name)


class FamilyStates:
    """The records that hold, of every family, by key. Changed by ``replay`` only."""

    def __init__(self, registry: SnapshotRegistry, families: Sequence[RecordFamily]) -> None:
        self._of_type = {each: family for family in families for each in family.stated}
        self._records: dict[RecordFamily, TimelineDict[Hashable, Any]] = {family: TimelineDict(registry) for family in families}
        self._keys = {family: TimelineDict[Hashable, tuple[Hashable, ...]](registry) for family in families if family.value}
        self._changed_to = {family: TimelineValue(registry, 0) for family in families}

    def replay(self, offset: int, record: Message) -> None:
        """Apply a record. Ignore one of no family."""
        family = self._of_type.get(type(record))
        if family is None:
            return
        key, is_removal = family.stated[type(record)](record)
        before = self._records[family].get(key)
        if before is not None:
            self._count_out(family, key, before)
        if is_removal:
            self._records[family].pop(key, None)
        else:
            self._records[family][key] = record
            self._count_in(family, key, record)
        self._changed_to[family].set(offset + 1)

    def _count_in(self, family: RecordFamily, key: Hashable, record: Any) -> None:
        if family.value is not None:
            value, keys = family.value(record), self._keys[family]
            keys[value] = (*(keys.get(value) or ()), key)

    def _count_out(self, family: RecordFamily, key: Hashable, record: Any) -> None:
        if family.value is not None:
            value, keys = family.value(record), self._keys[family]
            left = tuple(each for each in keys.get(value) or () if each != key)
            if left:
                keys[value] = left
            else:
                keys.pop(value, None)

    def keys_of(self, family: RecordFamily, value: Hashable) -> tuple[Hashable, ...]:
        """Return the keys whose records say this, durable or not."""
        return self._keys[family].get(value) or ()

    def all_of(self, family: RecordFamily) -> Iterable[tuple[Hashable, Any]]:
        """Return the keys and records of a family, durable or not, in no particular order."""
        return self._records[family].items_at(LATEST)

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
