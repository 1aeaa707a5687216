"""The messages that ``bench.codec`` reads and writes, and how each of the three libraries does it."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import kafka.protocol.consumer as kafka_consumer
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType
from kio.static.primitive import i16, i32, i64

from protocol.codec import decoder, encode, encoder
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.fields import Message
from protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from protocol.schema import snake_case

OURS, KIO, KAFKA_PYTHON = "ours", "kio", "kafka-python"
MEMBER = "consumer-orders-1-9f2c4c7e-7f5b-4a50-9f2b-0f6f2f4a7a11"
SUBSCRIPTION = b"\x00\x03\x00\x00\x00\x01\x00\x06orders\xff\xff\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff"

Step = Callable[[], object]


class Case(NamedTuple):
    """One message in one direction, and what each library does for it."""

    name: str
    direction: str
    steps: dict[str, Step]


def cases() -> list[Case]:
    """All of them. That the libraries agree on the bytes is checked here, before anything is measured."""
    made = [case for name, message, version in _messages() for case in _message_cases(name, message, version)]
    return [*made, *_record_cases()]


def _messages() -> list[tuple[str, Message, int]]:
    return [
        ("Heartbeat v4 request", HeartbeatRequest("orders", 3, MEMBER, None), 4),
        ("Heartbeat v4 response", HeartbeatResponse(0, 27), 4),
        ("JoinGroup v9 request", _join(), 9),
        ("JoinGroup v9 response, 100 members", _joined(100), 9),
        ("SyncGroup v5 request, 100 members", _sync(100), 5),
        ("SyncGroup v5 response", SyncGroupResponse(0, 0, "consumer", "range", SUBSCRIPTION), 5),
        ("OffsetCommit v9 request, 1", _commit(1, ""), 9),
        ("OffsetCommit v9 request, 10", _commit(10, ""), 9),
        ("OffsetCommit v9 request, 100", _commit(100, ""), 9),
        ("OffsetCommit v9 request, 100 metadata", _commit(100, "node-17"), 9),
        ("OffsetFetch v9 response, 100", _fetched(100, ""), 9),
        ("OffsetFetch v9 response, 100 metadata", _fetched(100, "node-17"), 9),
        ("ConsumerGroupHeartbeat v1 request, joining", _joining(), 1),
        ("ConsumerGroupHeartbeat v1 request", ConsumerGroupHeartbeatRequest("orders", MEMBER, 7), 1),
        ("ConsumerGroupHeartbeat v1 response", ConsumerGroupHeartbeatResponse(0, 0, None, MEMBER, 7, 5000), 1),
        ("ConsumerGroupHeartbeat v1 response, new", _assigned(), 1),
    ]


def _joining() -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest("orders", MEMBER, 0, None, None, 300_000, ["orders", "payments"], None, "uniform", [])


def _assigned() -> ConsumerGroupHeartbeatResponse:
    partitions = [TopicPartitions(bytes(range(16)), list(range(12))), TopicPartitions(bytes(range(1, 17)), list(range(6)))]
    return ConsumerGroupHeartbeatResponse(0, 0, None, MEMBER, 7, 5000, Assignment(partitions))


def _join() -> JoinGroupRequest:
    protocols = [JoinGroupRequestProtocol(name, SUBSCRIPTION) for name in ("range", "cooperative-sticky")]
    return JoinGroupRequest("orders", 45_000, 300_000, MEMBER, None, "consumer", protocols, "rebalance")


def _joined(members: int) -> JoinGroupResponse:
    rows = [JoinGroupResponseMember(f"{MEMBER}-{index}", None, SUBSCRIPTION) for index in range(members)]
    return JoinGroupResponse(0, 0, 4, "consumer", "range", MEMBER, False, MEMBER, rows)


def _sync(members: int) -> SyncGroupRequest:
    rows = [SyncGroupRequestAssignment(f"{MEMBER}-{index}", SUBSCRIPTION) for index in range(members)]
    return SyncGroupRequest("orders", 4, MEMBER, None, "consumer", "range", rows)


def _commit(partitions: int, metadata: str) -> OffsetCommitRequest:
    rows = [OffsetCommitRequestPartition(index, 1_000_000 + index, 5, metadata) for index in range(partitions)]
    return OffsetCommitRequest("orders", 4, MEMBER, None, topics=[OffsetCommitRequestTopic("orders", partitions=rows)])


def _fetched(partitions: int, metadata: str) -> OffsetFetchResponse:
    rows = [OffsetFetchResponsePartitions(index, 1_000_000 + index, 5, metadata) for index in range(partitions)]
    return OffsetFetchResponse(
        groups=[OffsetFetchResponseGroup("orders", [OffsetFetchResponseTopics("orders", partitions=rows)])]
    )


def _message_cases(name: str, message: Message, version: int) -> list[Case]:
    data = encode(message, version)
    kind = type(message)
    decoding: dict[str, Step] = {OURS: _ours_decode(kind, version, data)}
    encoding: dict[str, Step] = {OURS: _ours_encode(message, version)}
    stem, direction = kind.__name__.removesuffix("Request").removesuffix("Response"), kind.kafka.kind.value
    entity = getattr(import_module(f"kio.schema.{snake_case(stem)}.v{version}.{direction}"), kind.__name__)
    _add_kio(entity, data, decoding, encoding)
    if theirs := getattr(kafka_consumer, kind.__name__, None):
        decoding[KAFKA_PYTHON] = lambda: theirs.decode(data, version=version)
        value = theirs.decode(data, version=version)
        value._header = None  # decoding leaves it unset, and encoding asks for it
        encoding[KAFKA_PYTHON] = lambda: value.encode(version=version)
    return _agreeing(name, data, decoding, encoding)


def _ours_decode(kind: type[Message], version: int, data: bytes) -> Step:
    read = decoder(kind, version)
    return lambda: read(data, 0)


def _ours_encode(message: Message, version: int) -> Step:
    write = encoder(type(message), version)

    def step() -> bytes:
        out = bytearray()
        write(message, out)
        return bytes(out)

    return step


def _add_kio(entity: Any, data: bytes, decoding: dict[str, Step], encoding: dict[str, Step]) -> None:
    read, write = entity_reader(entity), entity_writer(entity)
    value, _ = read(data, 0)

    def step() -> bytes:
        out = io.BytesIO()
        write(out, value)
        return out.getvalue()

    decoding[KIO] = lambda: read(data, 0)
    encoding[KIO] = step


def _agreeing(name: str, data: bytes, decoding: dict[str, Step], encoding: dict[str, Step]) -> list[Case]:
    for library, step in encoding.items():
        if step() != data:
            raise SystemExit(f"{library} writes other bytes for {name}")
    return [Case(name, "decode", decoding), Case(name, "encode", encoding)]


# kio knows no coordinator records: these are what its generator would make of their schemas.


@dataclass(frozen=True, slots=True, kw_only=True)
class KioOffsetCommitKey:
    __type__: ClassVar = EntityType.data
    __version__: ClassVar[i16] = i16(0)
    __flexible__: ClassVar[bool] = False
    group: str = field(metadata={"kafka_type": "string"})
    topic: str = field(metadata={"kafka_type": "string"})
    partition: i32 = field(metadata={"kafka_type": "int32"})


@dataclass(frozen=True, slots=True, kw_only=True)
class KioOffsetCommitValue:
    __type__: ClassVar = EntityType.data
    __version__: ClassVar[i16] = i16(3)
    __flexible__: ClassVar[bool] = False
    offset: i64 = field(metadata={"kafka_type": "int64"})
    leader_epoch: i32 = field(metadata={"kafka_type": "int32"})
    metadata: str = field(metadata={"kafka_type": "string"})
    commit_timestamp: i64 = field(metadata={"kafka_type": "int64"})


def _record_cases() -> list[Case]:
    """The pair of one committed partition: ours with its record type and version, the others' without."""
    record = CoordinatorRecord(OffsetCommitKey("orders", "orders", 7), OffsetCommitValue(1_000_000, 5, "", 1_700_000_000_000), 3)
    key, value = GROUP_SERDE.encode_key(record), GROUP_SERDE.encode_value(record)
    assert value is not None
    parts = ((KioOffsetCommitKey, key[2:]), (KioOffsetCommitValue, value[2:]))
    readers: list[Any] = [(entity_reader(entity), data) for entity, data in parts]
    values = [read(data, 0)[0] for read, data in readers]
    writers: list[Any] = [(entity_writer(entity), value) for (entity, _), value in zip(parts, values, strict=True)]

    def kio_encode() -> list[bytes]:
        written = []
        for write, entity in writers:
            out = io.BytesIO()
            write(out, entity)
            written.append(out.getvalue())
        return written

    if kio_encode() != [data for _, data in parts]:
        raise SystemExit("kio writes other bytes for an OffsetCommit record")
    decoding: dict[str, Step] = {
        OURS: lambda: GROUP_SERDE.decode(key, value),
        KIO: lambda: [read(data, 0) for read, data in readers],
    }
    encoding: dict[str, Step] = {
        OURS: lambda: (GROUP_SERDE.encode_key(record), GROUP_SERDE.encode_value(record)),
        KIO: kio_encode,
    }
    return [Case("OffsetCommit record v3", "decode", decoding), Case("OffsetCommit record v3", "encode", encoding)]
