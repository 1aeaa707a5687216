"""What a script leaves in the log of each server, record by record, so that their logs can be compared like their answers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from msgspec.structs import asdict

from coordinator_server.kinds import GROUPS, Kind
from protocol.coordinator_records import CoordinatorRecord
from protocol.fields import Item, Message
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from protocol.messages.group_records import GroupMetadataValue, OffsetCommitKey, OffsetCommitValue
from protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from protocol.record_batch import iter_batches, iter_records
from tests.differential.names import Names
from tests.differential.wire import Connection

OFFSETS_PARTITIONS: Final = 5
# What the field of a key is called that says whose record it is.
OWNERS: Final = ("group", "group_id", "transactional_id")
_LATEST: Final = -1
_FETCH_BYTES: Final = 1 << 20


class Tail:
    """The end of a server's log of one kind from now on."""

    def __init__(self, address: tuple[str, int], kind: Kind = GROUPS, partitions: int = OFFSETS_PARTITIONS) -> None:
        self._connection = Connection(address, "tail")
        self._kind = kind
        self._partitions = partitions
        self._start = self._ends()

    def close(self) -> None:
        self._connection.close()

    def records(self, prefix: str) -> dict[str, list[CoordinatorRecord]]:
        """What has come since, of the groups (or transactional ids) with that prefix, by group."""
        found: dict[str, list[CoordinatorRecord]] = {}
        for partition, end in self._ends().items():
            for record in self._read(partition, self._start[partition], end):
                owner = owner_of(record.key)
                if owner.startswith(prefix):
                    found.setdefault(owner.removeprefix(prefix), []).append(record)
        return found

    def _ends(self) -> dict[int, int]:
        asked = [ListOffsetsPartition(partition, timestamp=_LATEST) for partition in range(self._partitions)]
        request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic(self._kind.topic, asked)])
        [topic] = self._connection.ask(request, 7)["topics"]
        return {partition["partitionIndex"]: partition["offset"] for partition in topic["partitions"]}

    def _read(self, partition: int, position: int, end: int) -> Iterator[CoordinatorRecord]:
        while position < end:
            asked = FetchPartition(partition, fetch_offset=position, partition_max_bytes=_FETCH_BYTES)
            request = FetchRequest(max_wait_ms=1000, min_bytes=1, topics=[FetchTopic(self._kind.topic, partitions=[asked])])
            [topic] = self._connection.ask(request, 12)["responses"]
            data = bytes(topic["partitions"][0]["records"] or b"")
            for at, header in iter_batches(data):
                for record in () if header.is_control else iter_records(data, at, header):
                    if position <= record.offset < end:
                        decoded = self._kind.serde.decode(record.key, record.value)
                        assert decoded is not None, f"a record of a type that is not known: {record}"
                        yield decoded
                position = max(position, header.next_offset)


def owner_of(key: Message) -> str:
    """The group, or the transactional id, that a record is about."""
    owner: str = next(getattr(key, name) for name in OWNERS if name in key.__struct_fields__)
    return owner


def told(names: Names, records: list[CoordinatorRecord]) -> list[Any]:
    """The records of one group with names for what a server makes up. The order of deleted offsets is that of a hash map in Kafka."""
    plain = [names.named("Record", _plain(record)) for record in records]
    ordered: list[Any] = []
    for is_deleted, neighbours in groupby(plain, key=_is_deleted_offset):
        run = list(neighbours)
        ordered += sorted(run, key=repr) if is_deleted else run
    return ordered


def without_outliving(records: list[Any]) -> list[Any]:
    """Without the records that are written for a group when its last offset goes: row 25 of docs/differences.md."""
    pairs = zip([None, *records], records, strict=False)
    return [record for before, record in pairs if not (before and _is_deleted_offset(before) and _is_new_group(record))]


def _is_deleted_offset(record: Any) -> bool:
    return record["value"] is None and "topic" in record["key"]


def _is_new_group(record: Any) -> bool:
    return "topic" not in record["key"] and record["value"] is not None and record["value"].get("generation") == 0


def _plain(record: CoordinatorRecord) -> dict[str, Any]:
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
    return {"key": _fields(key), "value": said, "version": record.value_version}


def _fields(item: Message | Item) -> dict[str, Any]:
    return {
        name: [_fields(element) for element in value] if isinstance(value, list) else value
        for name, value in asdict(item).items()
    }
