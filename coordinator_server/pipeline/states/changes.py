"""Who made the last change of each group and offset, and why: the provenance of the last record of each key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from coordinator_server.machine.provenance import ANONYMOUS, Provenance, Reason, attributed
from coordinator_server.offsets.attribution import rebalance_took_ms, spoken_for
from protocol.api import APIS
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.messages.consumer_group_records import ConsumerGroupMetadataKey
from protocol.messages.group_records import GroupMetadataKey, OffsetCommitKey
from protocol.messages.share_group_records import ShareGroupMetadataKey
from protocol.messages.streams_group_records import StreamsGroupMetadataKey
from protocol.record_batch import iter_records, read_header

# The record of a group's epoch, by type of the group.
_EPOCH_KEYS: Final = {
    "consumer": ConsumerGroupMetadataKey,
    "share": ShareGroupMetadataKey,
    "streams": StreamsGroupMetadataKey,
}


class Change(Struct, omit_defaults=True):
    """The provenance of one record. ``offset`` and ``at_ms`` are the record's own; unknown fields are left out."""

    offset: int
    at_ms: int
    operation: str
    principal: str = ""
    client_id: str = ""
    client_host: str = ""
    member_id: str = ""
    group_instance_id: str | None = None
    reasons: tuple[Reason, ...] = ()
    # Of the generation of a classic group: how long the rebalance took.
    took_ms: int | None = None

    @property
    def known_principal(self) -> str:
        """The principal, if it is somebody."""
        return "" if self.principal == ANONYMOUS else self.principal

    def __str__(self) -> str:
        """Return one line: what ran, for whom, and why."""
        parts = [self.operation]
        for word, what in (
            ("by", self.known_principal),
            ("of", self.client_id),
            ("at", self.client_host),
            ("as", self.member_id),
        ):
            if what:
                parts.append(f"{word} {what}")
        reasons = (" ".join(filter(None, (each.why, each.whom, f'"{each.said}"' if each.said else ""))) for each in self.reasons)
        return ", because of ".join([" ".join(parts), *filter(None, [", ".join(reasons)])])


class LastChanges:
    """Collects the last change of each key from batches."""

    def __init__(self) -> None:
        self._changes: dict[bytes, Change] = {}

    def watch(self, batches: Iterable[bytes], upto: int) -> Iterator[bytes]:
        """Return the batches unchanged, and note the changes of their records before ``upto``. Raises DecodeError."""
        for batch in batches:
            header = read_header(batch)
            if not header.is_control:
                for record, provenance in attributed(iter_records(batch, 0, header)):
                    if record.key is not None and record.offset < upto:
                        self._note(record.key, record.offset, record.timestamp, provenance)
            yield batch

    def of_group(self, group_id: str, record_offset: int) -> Change | None:
        """Return who wrote the GroupMetadata record at ``record_offset``."""
        return self._find(CoordinatorRecord(GroupMetadataKey(group_id), None), record_offset)

    def of_epoch(self, group_id: str, group_type: str) -> Change | None:
        """Return who wrote the last epoch of a group of a newer protocol, whose record is in no transaction.

        None for other types.
        """
        key_type = _EPOCH_KEYS.get(group_type)
        return (
            None if key_type is None else self._changes.get(GROUP_SERDE.encode_key(CoordinatorRecord(key_type(group_id), None)))
        )

    def of_offset(self, group_id: str, topic: str, partition: int, record_offset: int) -> Change | None:
        """Return who wrote the OffsetCommit record at ``record_offset``."""
        return self._find(CoordinatorRecord(OffsetCommitKey(group_id, topic, partition), None), record_offset)

    def _note(self, key: bytes, offset: int, at_ms: int, provenance: Provenance | None) -> None:
        if provenance is None:
            self._changes.pop(key, None)
        else:
            self._changes[key] = change_of(offset, at_ms, provenance)

    def _find(self, record: CoordinatorRecord, record_offset: int) -> Change | None:
        change = self._changes.get(GROUP_SERDE.encode_key(record))
        # A later record may belong to an aborted transaction, which changed nothing.
        return change if change is not None and change.offset == record_offset else None


def change_of(offset: int, at_ms: int, provenance: Provenance) -> Change:
    """Convert the provenance of a record."""
    principal = provenance.principal if provenance.api_key >= 0 else ""
    who = (provenance.client_id, provenance.client_host)
    took_ms = rebalance_took_ms(provenance)
    return Change(
        offset, at_ms, operation_name(provenance), principal, *who, *spoken_for(provenance), provenance.reasons, took_ms
    )


def operation_name(provenance: Provenance) -> str:
    """Return Kafka's name and the version of a request, ``OffsetCommit v9``, or the name of an operation of this server."""
    if provenance.api_key < 0:
        return provenance.operation
    api = APIS.get(provenance.api_key)
    return f"{api.name if api is not None else provenance.api_key} v{provenance.api_version}"
