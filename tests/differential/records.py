"""What a script leaves in the log of each server, record by record, so that their logs can be compared like their answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from typing import Any, Final, NamedTuple

from msgspec.structs import asdict

from coordinator_server.kinds import GROUPS, Kind
from coordinator_server.runtime.partitioner import partition_for
from protocol.codec import decode
from protocol.coordinator_records import CoordinatorRecord
from protocol.errors import Truncated
from protocol.fields import Item, Message
from protocol.messages.consumer_group_records import ConsumerGroupRegularExpressionValue
from protocol.messages.control_records import ControlRecordTypeSchema, EndTxnMarker
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from protocol.messages.group_records import GroupMetadataValue, OffsetCommitKey, OffsetCommitValue
from protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from protocol.messages.share_group_records import ShareGroupStatePartitionMetadataKey, ShareGroupStatePartitionMetadataValue
from protocol.messages.share_records import ShareSnapshotKey, ShareUpdateKey
from protocol.messages.transaction_records import TransactionLogValue
from protocol.record_batch import BatchHeader, Record, iter_batches, iter_records
from tests.differential.holders import in_words
from tests.differential.names import Names
from tests.differential.wire import Connection

OFFSETS_PARTITIONS: Final = 5
TRANSACTIONS_PARTITIONS: Final = 1
SHARES_PARTITIONS: Final = 1
# What the field of a key is called that says whose record it is.
OWNERS: Final = ("group", "group_id", "transactional_id")
_LATEST: Final = -1
_FETCH_BYTES: Final = 1 << 20
_ENDS: Final = {0: "abort", 1: "commit"}
# Keys of several types have the same fields.
_OF_TYPE: Final = re.compile("(?:ConsumerGroup|ShareGroup|StreamsGroup|Share)(.*)Key")


class ProducerRecord(NamedTuple):
    """A record, with the producer id and epoch of the transaction that it belongs to, if any."""

    record: CoordinatorRecord
    producer: tuple[int, int] | None


class Progress(NamedTuple):
    """How many share partitions of a group are initialized, and how many are being initialized."""

    initialized: int
    pending: int


class Tail:
    """The end of a server's log of one kind from now on."""

    def __init__(self, address: tuple[str, int], kind: Kind = GROUPS, partitions: int = OFFSETS_PARTITIONS) -> None:
        self._connection = Connection(address, "tail")
        self._kind = kind
        self._partitions = partitions
        self._next = self._ends()
        # What has been read so far, by partition.
        self._read_before: dict[int, list[tuple[BatchHeader, Record]]] = {partition: [] for partition in self._next}

    def close(self) -> None:
        self._connection.close()

    def move_to(self, address: tuple[str, int]) -> None:
        """The server was started again."""
        self._connection = Connection(address, "tail")

    def records(self, prefix: str) -> dict[str, list[ProducerRecord]]:
        """What has come since, of the groups (or transactional ids) with that prefix, by group."""
        found: dict[str, list[ProducerRecord]] = {}
        for _, header, record in self._new():
            if header.is_control:
                continue
            decoded = self._kind.serde.decode(record.key, record.value)
            assert decoded is not None, f"a record of a type that is not known: {record}"
            owner = owner_of(decoded.key)
            if owner.startswith(prefix):
                producer = (header.producer_id, header.producer_epoch) if header.is_transactional else None
                found.setdefault(owner.removeprefix(prefix), []).append(ProducerRecord(decoded, producer))
        return found

    def markers(self) -> dict[int, list[dict[str, Any]]]:
        """The markers that have come since, by producer, each with the number of records in its transaction."""
        found: dict[int, list[dict[str, Any]]] = {}
        counts: Counter[tuple[int, int]] = Counter()
        for partition, header, record in self._new():
            place = header.producer_id, partition
            if header.is_control:
                kind = decode(ControlRecordTypeSchema, 0, (record.key or b"")[2:]).type
                end = decode(EndTxnMarker, 0, (record.value or b"")[2:])
                marker = {
                    "partition": partition,
                    "records": counts.pop(place, 0),
                    "end": _ENDS[kind],
                    "epoch": header.producer_epoch,
                    "coordinatorEpoch": end.coordinator_epoch,
                }
                found.setdefault(header.producer_id, []).append(marker)
            elif header.is_transactional:
                counts[place] += 1
        return found

    def progress(self, group_id: str) -> Progress:
        """Of a share group, as its last record of them says."""
        last = ShareGroupStatePartitionMetadataValue()
        for written in self.records(group_id).get("", ()):
            if isinstance(written.record.key, ShareGroupStatePartitionMetadataKey):
                value = written.record.value
                last = value if isinstance(value, ShareGroupStatePartitionMetadataValue) else type(last)()
        return Progress(
            sum(len(each.partitions) for each in last.initialized_topics),
            sum(len(each.partitions) for each in last.initializing_topics),
        )

    def _new(self) -> Iterator[tuple[int, BatchHeader, Record]]:
        for partition, end in self._ends().items():
            found = self._read_before[partition]
            found += self._read(partition, self._next[partition], end)
            self._next[partition] = max(end, self._next[partition])
            for header, record in found:
                yield partition, header, record

    def _ends(self) -> dict[int, int]:
        asked = [ListOffsetsPartition(partition, timestamp=_LATEST) for partition in range(self._partitions)]
        request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic(self._kind.topic, asked)])
        [topic] = self._connection.ask(request, 7)["topics"]
        found = {partition["partitionIndex"]: partition["offset"] for partition in topic["partitions"]}
        return dict(sorted(found.items()))

    def _read(self, partition: int, position: int, end: int) -> Iterator[tuple[BatchHeader, Record]]:
        while position < end:
            asked = FetchPartition(partition, fetch_offset=position, partition_max_bytes=_FETCH_BYTES)
            request = FetchRequest(max_wait_ms=1000, min_bytes=1, topics=[FetchTopic(self._kind.topic, partitions=[asked])])
            [topic] = self._connection.ask(request, 12)["responses"]
            data = bytes(topic["partitions"][0]["records"] or b"")
            # A broker may cut the last batch.
            with suppress(Truncated):
                for at, header in iter_batches(data):
                    for record in iter_records(data, at, header):
                        if position <= record.offset < end:
                            yield header, record
                    position = max(position, header.next_offset)


def by_share_partition(names: Names, records: list[ProducerRecord]) -> dict[str, list[ProducerRecord]]:
    """The records of one group in the log of share state, by topic and partition:
    their order among each other is that of a hash map.
    """
    found: dict[str, list[ProducerRecord]] = {}
    for written in records:
        key = written.record.key
        assert isinstance(key, ShareSnapshotKey | ShareUpdateKey)
        found.setdefault(f"{names.topic(key.topic_id)}:{key.partition}", []).append(written)
    return found


def offsets_partition(group_id: str) -> int:
    """The partition of a group's offsets."""
    return partition_for(group_id, OFFSETS_PARTITIONS)


def owner_of(key: Message) -> str:
    """The group, or the transactional id, that a record is about."""
    owner: str = next(getattr(key, name) for name in OWNERS if name in key.__struct_fields__)
    return owner


def told(names: Names, records: list[ProducerRecord]) -> list[Any]:
    """The records of one group with names for what a server makes up. The order of deleted offsets is that of a hash map in Kafka.

    An offset that is deleted twice in a row is deleted: row 55 of docs/differences.md.
    """
    plain = [_plain(record) for record in records]
    in_words([(each.record.key, each.record.value) for each in records], plain)
    plain = _in_order([names.named("Record", record) for record in plain])
    ordered: list[Any] = []
    for is_deleted, neighbours in groupby(plain, key=_is_deleted_offset):
        run = list(neighbours)
        ordered += sorted({repr(record): record for record in run}.values(), key=repr) if is_deleted else run
    return ordered


def _in_order(records: list[Any]) -> list[Any]:
    """Neighbours of one type, of several members of a consumer group, in the order of the members: Kafka's is that of a hash map.

    So are the tombstones of several members, which are of three types.
    """
    ordered: list[Any] = []
    for kind, neighbours in groupby(records, key=_kind):
        run = list(neighbours)
        ordered += run if kind is None else sorted(run, key=lambda record: repr(record["key"]))
    return ordered


def _kind(record: Any) -> str | None:
    kind: str | None = record.get("type")
    return "tombstone" if kind and record["value"] is None else kind


def without_outliving(records: list[Any]) -> list[Any]:
    """Without the records that are written for a group when its last offset goes: row 25 of docs/differences.md."""
    pairs = zip([None, *records], records, strict=False)
    return [record for before, record in pairs if not (before and _is_deleted_offset(before) and _is_new_group(record))]


def without_end_of_empty(records: list[Any]) -> list[Any]:
    """Without the end of an empty consumer group in front of a new classic one: row 65 of docs/differences.md."""
    kept: list[Any] = []
    for record in records:
        if "type" not in record and _is_new_group(record):
            while kept and "type" in kept[-1] and kept[-1]["value"] is None and "member_id" not in kept[-1]["key"]:
                kept.pop()
        kept.append(record)
    return kept


def _is_deleted_offset(record: Any) -> bool:
    return record.get("value", "") is None and "topic" in record["key"]


def _is_new_group(record: Any) -> bool:
    return (
        "key" in record
        and "topic" not in record["key"]
        and record["value"] is not None
        and record["value"].get("generation") == 0
    )


def _plain(written: ProducerRecord) -> dict[str, Any]:
    record, producer = written
    key, value = record.key, record.value
    said = None if value is None else _fields(value)
    if isinstance(value, OffsetCommitValue):
        assert isinstance(key, OffsetCommitKey)
        assert said is not None
        said["topicId"] = said.pop("topic_id")
        said["commit_timestamp"] = "then"
        said["expire_timestamp"] = value.expire_timestamp - value.commit_timestamp if value.expire_timestamp >= 0 else None
    if isinstance(value, GroupMetadataValue):
        assert said is not None
        said["current_state_timestamp"] = "then" if value.current_state_timestamp > 0 else value.current_state_timestamp
    if isinstance(value, TransactionLogValue):
        assert said is not None
        said["transaction_last_update_timestamp_ms"] = "then"
        said["transaction_start_timestamp_ms"] = "then" if value.transaction_start_timestamp_ms > 0 else "never"
        said["transaction_partitions"] = sorted(
            [each.topic, *sorted(each.partition_ids)] for each in value.transaction_partitions or ()
        )
    plain: dict[str, Any] = {"key": _fields(key), "value": said, "version": record.value_version}
    kind = _OF_TYPE.fullmatch(type(key).__name__)
    if kind is not None:
        plain["type"] = kind[1]
    if isinstance(value, ConsumerGroupRegularExpressionValue):
        assert said is not None
        # A position in the log of the cluster.
        said["version"] = "a version"
    if producer is not None:
        plain["producer"], plain["epoch"] = producer
    return plain


def _fields(item: Message | Item) -> dict[str, Any]:
    return {name: _plain_value(value) for name, value in asdict(item).items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain_value(element) for element in value]
    return _fields(value) if isinstance(value, Item) else value
