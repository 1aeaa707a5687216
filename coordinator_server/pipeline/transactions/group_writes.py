"""What transactions wrote in one partition of the groups' log: the batches of producers, and the markers that end them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from coordinator_server.pipeline.input.files import records_of
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.coordinator_records import GROUP_SERDE
from protocol.messages.group_records import OffsetCommitKey
from protocol.record_batch import NO_PRODUCER_ID, BatchHeader


class ProducerBatch(NamedTuple):
    """A batch of a producer: the group of each of its offsets."""

    producer_id: int
    at_ms: int
    groups: list[str]


class Marker(NamedTuple):
    """The end of a transaction in this partition."""

    producer_id: int
    at_ms: int
    epoch: int
    is_commit: bool


class GroupWrite(Struct):
    """What a transaction wrote for one group: the number of its offsets, and when the first was written."""

    offsets: int
    since_ms: int


class EndedWrites(NamedTuple):
    """What a transaction wrote in this partition, by group, and the marker that ended it."""

    marker: Marker
    groups: dict[str, GroupWrite]


def producer_batches(batches: Iterable[tuple[bytes, int, BatchHeader]]) -> Iterator[ProducerBatch | Marker]:
    """Return the batches and markers of producers, in order. Raises DecodeError."""
    for data, position, header in batches:
        if header.producer_id == NO_PRODUCER_ID:
            continue
        records = records_of(data, position, header, with_headers=False)
        if header.is_control:
            for record in records:
                if (kind := control_type(record.key)) in (ABORT, COMMIT):
                    yield Marker(header.producer_id, record.timestamp, header.producer_epoch, kind == COMMIT)
            continue
        decoded = (GROUP_SERDE.decode(record.key, record.value) for record in records)
        groups = [each.key.group for each in decoded if each is not None and isinstance(each.key, OffsetCommitKey)]
        yield ProducerBatch(header.producer_id, header.max_timestamp, groups)


def ended_writes(batches: Iterable[tuple[bytes, int, BatchHeader]]) -> Iterator[EndedWrites]:
    """Return what each transaction wrote that ends in the batches. Raises DecodeError."""
    written: dict[int, dict[str, GroupWrite]] = {}
    for each in producer_batches(batches):
        if isinstance(each, Marker):
            yield EndedWrites(each, written.pop(each.producer_id, {}))
            continue
        groups = written.setdefault(each.producer_id, {})
        for group_id in each.groups:
            groups.setdefault(group_id, GroupWrite(0, each.at_ms)).offsets += 1
