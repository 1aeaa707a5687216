"""Fast decoding of the usual OffsetCommit requests, offsets without metadata, without an object per partition.

A *plain* commit is a request whose partitions are rows (``commit_rows``). From one commit of a member to the next only the offsets
and epochs differ; everything else is its ``CommitShape``. The reader of a connection caches the last shape, so that reading a
commit means comparing bytes and slicing rows. All other requests are left to the general decoder.
A property test compares both decoders.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from struct import Struct as Layout
from typing import Final, Generic, TypeVar

from msgspec import Struct

from protocol.codec import Decoder, Encoder, decoder, encoder
from protocol.commit_rows import ROW_BYTES, Partitions, offsets_of, partitions_of
from protocol.fields import ZERO_UUID
from protocol.first_versions import OFFSETS_BY_TOPIC_ID
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from protocol.wire import read_string_size, read_uvarint

MOST_TOPICS: Final = 64
MOST_ROWS: Final = 1024
"""Maximum number of rows of all topics. Larger requests are left to the general decoder, so that cached shapes stay small."""
MOST_ID_BYTES: Final = 768
"""Maximum size of the fields before the topics: group, generation, member and instance."""
MOST_NAME_BYTES: Final = 249
"""The longest name of a topic. Together these bound the memory of a cached shape, to about 300 KB for the largest."""
FIRST_VERSION: Final = 6
LAST_VERSION: Final = 10
MISSES: Final = 4
SKIPPED: Final = 50
"""Reading a shape takes longer than general decoding. After MISSES consecutive requests with a new shape or none, the next SKIPPED
requests are decoded the general way."""
_FIRST_WITH_INSTANCE: Final = 7
_FIRST_FLEXIBLE: Final = 8
_UUID_BYTES: Final = 16
_INT16: Final = Layout(">h")
_INT32: Final = Layout(">i")
# Answers of shapes up to this size are shared by equal shapes; a larger one is a part of its shape alone.
_MOST_SHARED_BYTES: Final = 4096
_REMEMBERED: Final = 2048


class CommitShape:
    """The content of a request without its offsets. A server can derive a class that caches more data with a shape."""

    __slots__ = (
        "_end",
        "_size",
        "_topics",
        "generation_id_or_member_epoch",
        "group_id",
        "group_instance_id",
        "member_id",
        "version",
    )

    def __init__(self, version: int) -> None:
        self.version = version
        self.group_id = ""
        self.generation_id_or_member_epoch = -1
        self.member_id = ""
        self.group_instance_id: str | None = None
        self._size = 0
        # By topic: the bytes before the rows; name, id and partitions; the last two columns of the rows.
        self._topics: list[tuple[bytes, str, bytes, Partitions, bytes, bytes]] = []
        self._end = b""

    def begin(self, group_id: str, generation_id_or_member_epoch: int, member_id: str, group_instance_id: str | None) -> None:
        """Set the fields before the topics."""
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id

    def add(self, before: bytes, name: str, topic_id: bytes, partitions: Partitions, ends: tuple[bytes, bytes]) -> None:
        """Add a topic.

        ``before`` are the bytes before its rows, after the previous topic's rows; ``ends`` the rows' last columns.
        """
        self._topics.append((before, name, topic_id, partitions, ends[0], ends[1]))
        self._size += len(before) + partitions.row_bytes

    def end(self, behind: bytes) -> None:
        """Set the bytes after the rows of the last topic."""
        self._end = behind
        self._size += len(behind)

    @property
    def topics(self) -> list[tuple[str, bytes, Partitions]]:
        """Name, id and partitions of each topic. Depending on the version, either the name is empty or the id is zero."""
        return [topic[1:4] for topic in self._topics]

    def read(self, buf: bytes, pos: int) -> list[bytes] | None:
        """Return the rows of the request from ``pos`` to the end, or None if it has a different shape."""
        if len(buf) - pos != self._size:
            return None
        found: list[bytes] = []
        for before, _, _, partitions, last_but_one, last in self._topics:
            if not buf.startswith(before, pos):
                return None
            pos += len(before)
            rows = buf[pos : pos + partitions.row_bytes]
            if not (partitions.are_of(rows) and rows[16::ROW_BYTES] == last_but_one and rows[17::ROW_BYTES] == last):
                return None
            pos += partitions.row_bytes
            found.append(rows)
        return found if buf.endswith(self._end, pos) else None

    def accepted(self) -> AcceptedCommit:
        """Return the answer for a commit whose partitions are all accepted."""
        topics = tuple(self.topics)
        return _shared_answer(self.version, topics) if self._size <= _MOST_SHARED_BYTES else _accepted(self.version, topics)


S = TypeVar("S", bound=CommitShape)
S_co = TypeVar("S_co", bound=CommitShape, covariant=True)


class PlainCommit(Struct, Generic[S_co], gc=False):
    """A plain OffsetCommit request: its shape, and the rows of each topic."""

    shape: S_co
    rows: list[bytes]

    @property
    def group_id(self) -> str:
        return self.shape.group_id

    def spelled_out(self) -> OffsetCommitRequest:
        """Return the same request as the general decoder would."""
        shape = self.shape
        topics = [
            OffsetCommitRequestTopic(name, topic_id, [OffsetCommitRequestPartition(*row, None) for row in offsets_of(rows)])
            for (name, topic_id, _), rows in zip(shape.topics, self.rows, strict=True)
        ]
        return OffsetCommitRequest(
            shape.group_id, shape.generation_id_or_member_epoch, shape.member_id, shape.group_instance_id, topics=topics
        )


class AcceptedCommit(Struct, gc=False):
    """The encoded body of an OffsetCommit response, in the version of its request."""

    body: bytes


def _accepted(version: int, topics: tuple[tuple[str, bytes, Partitions], ...]) -> AcceptedCommit:
    response = OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(name, topic_id, [OffsetCommitResponsePartition(index) for index in partitions.indexes()])
            for name, topic_id, partitions in topics
        ]
    )
    out = bytearray()
    encoder(OffsetCommitResponse, version)(response, out)
    return AcceptedCommit(bytes(out))


_shared_answer = lru_cache(maxsize=_REMEMBERED)(_accepted)


class CommitReader(Generic[S]):
    """The decoder of one connection's OffsetCommit requests of one version. It caches the last shape."""

    __slots__ = ("_decode", "_last", "_misses", "_new_shape", "_skipped", "_version")

    def __init__(self, version: int, new_shape: type[S]) -> None:
        self._version = version
        self._new_shape = new_shape
        self._decode: Decoder[OffsetCommitRequest] = decoder(OffsetCommitRequest, version)
        self._last: S | None = None
        # Consecutive requests with a new shape or none, and the number of requests still to be decoded the general way.
        self._misses = 0
        self._skipped = 0

    def read(self, buf: bytes, pos: int) -> tuple[OffsetCommitRequest | PlainCommit[S], int]:
        """Return the request at ``pos`` and the position after it. Raises the same errors as the general decoder."""
        if self._skipped:
            self._skipped -= 1
            return self._decode(buf, pos)
        last = self._last
        if last is not None:
            rows = last.read(buf, pos)
            if rows is not None:
                self._misses = 0
                return PlainCommit(last, rows), len(buf)
        self._misses += 1
        if self._misses == MISSES:
            # After the skipped requests, one more miss starts skipping again.
            self._misses -= 1
            self._skipped = SKIPPED
        shape = read_shape(buf, pos, self._version, self._new_shape)
        if shape is None:
            return self._decode(buf, pos)
        self._last = shape
        rows = shape.read(buf, pos)
        assert rows is not None
        return PlainCommit(shape, rows), len(buf)


class _NotPlain(Exception):
    """The request is not plain: the general decoder must read or refuse it."""


def read_shape(buf: bytes, pos: int, version: int, new_shape: type[S]) -> S | None:
    """Return the shape of the request from ``pos`` to the end, or None if it is not plain or not complete."""
    if not FIRST_VERSION <= version <= LAST_VERSION:
        return None
    try:
        return _read_shape(buf, pos, version, new_shape)
    except (_NotPlain, IndexError, ValueError):
        return None


def _read_shape(buf: bytes, pos: int, version: int, new_shape: type[S]) -> S:
    is_flexible = version >= _FIRST_FLEXIBLE
    start = pos
    group_id, pos = _text(buf, pos, is_flexible)
    generation, pos = _INT32.unpack(_cut(buf, pos, 4))[0], pos + 4
    member_id, pos = _text(buf, pos, is_flexible)
    instance_id: str | None = None
    if version >= _FIRST_WITH_INSTANCE:
        instance_id, pos = _nullable_text(buf, pos, is_flexible)
    if pos - start > MOST_ID_BYTES:
        raise _NotPlain
    shape = new_shape(version)
    shape.begin(group_id, generation, member_id, instance_id)
    topics, pos = _count(buf, pos, is_flexible, MOST_TOPICS)
    room = MOST_ROWS
    while topics:
        topics -= 1
        name, topic_id = "", ZERO_UUID
        if version >= OFFSETS_BY_TOPIC_ID:
            topic_id, pos = _cut(buf, pos, _UUID_BYTES), pos + _UUID_BYTES
        else:
            name, pos = _text(buf, pos, is_flexible)
            if len(name) > MOST_NAME_BYTES:
                raise _NotPlain
        count, pos = _count(buf, pos, is_flexible, room)
        room -= count
        before = buf[start:pos]
        rows = _cut(buf, pos, count * ROW_BYTES)
        start = pos = pos + len(rows)
        ends = rows[16::ROW_BYTES], rows[17::ROW_BYTES]
        one = rows[16:ROW_BYTES]
        if one not in (_FLEXIBLE_ENDS if is_flexible else _ENDS) or ends != (one[:1] * count, one[1:] * count):
            raise _NotPlain
        if is_flexible:
            pos = _no_tags(buf, pos)
        shape.add(before, name, topic_id, partitions_of(rows), ends)
    if is_flexible:
        pos = _no_tags(buf, pos)
    if pos != len(buf):
        raise _NotPlain
    shape.end(buf[start:pos])
    return shape


# The last two bytes of a row without metadata: an int16 size of 0 or -1; or a compact size of 1 or 0, and no tags.
_ENDS: Final = frozenset({b"\0\0", b"\xff\xff"})
_FLEXIBLE_ENDS: Final = frozenset({b"\1\0", b"\0\0"})


def _cut(buf: bytes, pos: int, size: int) -> bytes:
    if pos + size > len(buf):
        raise _NotPlain
    return buf[pos : pos + size]


def _nullable_text(buf: bytes, pos: int, is_flexible: bool) -> tuple[str | None, int]:
    if is_flexible:
        size, pos = read_string_size(buf, pos)
        size -= 1
    else:
        size, pos = _INT16.unpack(_cut(buf, pos, 2))[0], pos + 2
    if size < 0:
        if size < -1:
            raise _NotPlain
        return None, pos
    return _cut(buf, pos, size).decode(), pos + size


def _text(buf: bytes, pos: int, is_flexible: bool) -> tuple[str, int]:
    text, pos = _nullable_text(buf, pos, is_flexible)
    if text is None:
        raise _NotPlain
    return text, pos


def _count(buf: bytes, pos: int, is_flexible: bool, most: int) -> tuple[int, int]:
    """Read the number of elements of an array, at least one."""
    if is_flexible:
        count, pos = read_uvarint(buf, pos)
        count -= 1
    else:
        count, pos = _INT32.unpack(_cut(buf, pos, 4))[0], pos + 4
    if not 1 <= count <= most:
        raise _NotPlain
    return count, pos


def _no_tags(buf: bytes, pos: int) -> int:
    if buf[pos]:
        raise _NotPlain
    return pos + 1


def commit_response_encoder(
    encode: Encoder[OffsetCommitResponse],
) -> Callable[[OffsetCommitResponse | AcceptedCommit, bytearray], None]:
    """Return an encoder for OffsetCommit responses that also accepts encoded ones."""

    def encode_either(response: OffsetCommitResponse | AcceptedCommit, out: bytearray) -> None:
        if isinstance(response, AcceptedCommit):
            out += response.body
        else:
            encode(response, out)

    return encode_either
