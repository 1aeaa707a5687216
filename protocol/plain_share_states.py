"""Fast codecs of the usual requests of partition leaders: to write or to read the states of share partitions.

A *plain* request has a group id of 1 to 126 bytes and no tagged fields. Its batches are rows (``share_state_rows.py``), and a share
partition is identified by its name (``share_partition_names.py``). One about a single share partition with at most 126 batches
is read at once; others partition by partition. Requests that are not plain are left to the general decoder.

    group id | topics [ topic id | partitions [ partition int32 | the write or the read | 0 ] 0 ] 0

    write   state epoch, leader epoch int32 | start offset int64 | [complete count int32] | rows
    read    leader epoch int32

An array has its length plus one before its elements, as an unsigned varint. So has a group id.

An answer about share partitions without errors is written from the rows, too.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from protocol.codec import Decoder, Encoder, decoder
from protocol.messages.read_share_group_state import ReadShareGroupStateRequest, ReadShareGroupStateResponse
from protocol.messages.write_share_group_state import WriteShareGroupStateRequest, WriteShareGroupStateResponse
from protocol.share_partition_names import PARTITION_AT, TOPIC_ID_AT, SharePartitionKey, name_of
from protocol.share_state_rows import ROW_BYTES
from protocol.wire import read_uvarint, write_uvarint

_UUID_BYTES: Final = 16
_ONE_ELEMENT: Final = 2
"""The length of an array of one element, plus one."""
_PLACE: Final = struct.Struct(f">B{_UUID_BYTES}sBi")
"""In a request about one share partition: the number of topics, a topic id, the number of its partitions, and a partition."""
_PLACE_BYTES: Final = _PLACE.size
_TWO_BYTES_FROM: Final = 0x80
_REMEMBERED: Final = 1 << 13
"""The number of share partitions whose names are cached: up to 4 MiB, with the longest group ids."""
_NO_TAGS: Final = b"\0\0\0"
_FIRST_WITH_COMPLETE_COUNT: Final = 1
_NO_COMPLETE_COUNT: Final = -1
_WRITE_0: Final = struct.Struct(">iiq")
_WRITE_1: Final = struct.Struct(">iiqi")
_READ: Final = struct.Struct(">i")
_GROUP_SIZE: Final = struct.Struct(">h")
# An array of one, and what follows its partition if there is no error and no message: the end of the answer to a write; a state.
_ONE_RESULT: Final = b"\2"
_WRITTEN: Final = bytes(3) + _NO_TAGS
_STATE: Final = struct.Struct(">hxiq")
# A partition of a longer answer, and its tags.
_DONE: Final = struct.Struct(">ihxx")
_FOUND: Final = struct.Struct(">ihxiq")

# NamedTuple's own take twice as long.
_new: Final = tuple.__new__


class Write(NamedTuple):
    """What a partition leader writes: batches to combine with the stored ones, a start offset or -1,
    and the delivery complete count.

    ``rows`` are the batches. Versions without the count mean -1.
    """

    name: bytes
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    rows: bytes


class Read(NamedTuple):
    """What a partition leader reads when it becomes the leader, in an epoch that fences its predecessors."""

    name: bytes
    leader_epoch: int


class State(Protocol):
    """What the answer to a read says of a state."""

    @property
    def state_epoch(self) -> int: ...
    @property
    def start_offset(self) -> int: ...
    @property
    def rows(self) -> bytes: ...


class Found(NamedTuple):
    """What a read finds."""

    name: bytes
    state: State


class Several(NamedTuple):
    """A plain request about any number of share partitions."""

    requests: list[Any]


class AllDone(NamedTuple):
    """What the operations of a request have returned, by topic id and partition, if none was refused."""

    topics: dict[bytes, dict[int, Any]]


@lru_cache(_REMEMBERED)
def _name_of(beginning: bytes) -> bytes | None:
    """Return the name of the one share partition that the first bytes of a request are about, or None if they are not that."""
    size = beginning[0]
    if not 1 < size < _TWO_BYTES_FROM or len(beginning) != size + _PLACE_BYTES:
        return None
    topics, topic_id, partitions, partition = _PLACE.unpack_from(beginning, size)
    if topics != _ONE_ELEMENT or partitions != _ONE_ELEMENT:
        return None
    try:
        group_id = beginning[1:size].decode()
    except UnicodeDecodeError:
        return None
    return name_of(SharePartitionKey(group_id, topic_id, partition))


class WriteReader:
    """The decoder of WriteShareGroupState requests of one version."""

    __slots__ = ("_decode", "_fields", "_has_count")

    def __init__(self, version: int) -> None:
        self._decode: Decoder[WriteShareGroupStateRequest] = decoder(WriteShareGroupStateRequest, version)
        self._has_count = version >= _FIRST_WITH_COMPLETE_COUNT
        self._fields = _WRITE_1 if self._has_count else _WRITE_0

    def read(self, buf: bytes, pos: int) -> tuple[WriteShareGroupStateRequest | Write | Several, int]:
        """Return the request at ``pos`` and the position after it. Raises the same errors as the general decoder."""
        end = len(buf)
        fields_at = pos + buf[pos] + _PLACE_BYTES if pos < end else end
        count_at = fields_at + self._fields.size
        # The number of batches, plus one, and no tags.
        if count_at + 4 <= end and buf.endswith(_NO_TAGS):
            size, count = end - 4 - count_at, buf[count_at] - 1
            if size == count * ROW_BYTES and count < _TWO_BYTES_FROM - 1:
                name = _name_of(buf[pos:fields_at])
                rows = buf[count_at + 1 : end - 3]
                if name is not None and rows[ROW_BYTES - 1 :: ROW_BYTES].count(0) == count:
                    fields = self._fields.unpack_from(buf, fields_at)
                    if not self._has_count:
                        fields = (*fields, _NO_COMPLETE_COUNT)
                    return _new(Write, (name, *fields, rows)), end
        several = _several(buf, pos, self._one)
        return self._decode(buf, pos) if several is None else (several, end)

    def _one(self, name: bytes, buf: bytes, pos: int) -> tuple[Write, int]:
        fields = self._fields.unpack_from(buf, pos)
        if not self._has_count:
            fields = (*fields, _NO_COMPLETE_COUNT)
        count, pos = read_uvarint(buf, pos + self._fields.size)
        if not count:
            raise _NotPlain
        behind = pos + (count - 1) * ROW_BYTES
        rows = buf[pos:behind]
        if len(rows) != behind - pos or rows[ROW_BYTES - 1 :: ROW_BYTES].count(0) != count - 1:
            raise _NotPlain
        return _new(Write, (name, *fields, rows)), behind


class ReadReader:
    """The decoder of ReadShareGroupState requests."""

    __slots__ = ("_decode",)

    def __init__(self, version: int) -> None:
        self._decode: Decoder[ReadShareGroupStateRequest] = decoder(ReadShareGroupStateRequest, version)

    def read(self, buf: bytes, pos: int) -> tuple[ReadShareGroupStateRequest | Read | Several, int]:
        """Return the request at ``pos`` and the position after it. Raises the same errors as the general decoder."""
        end = len(buf)
        fields_at = pos + buf[pos] + _PLACE_BYTES if pos < end else end
        if fields_at + _READ.size + len(_NO_TAGS) == end and buf.endswith(_NO_TAGS):
            name = _name_of(buf[pos:fields_at])
            if name is not None:
                return _new(Read, (name, *_READ.unpack_from(buf, fields_at))), end
        several = _several(buf, pos, self._one)
        return self._decode(buf, pos) if several is None else (several, end)

    def _one(self, name: bytes, buf: bytes, pos: int) -> tuple[Read, int]:
        return _new(Read, (name, *_READ.unpack_from(buf, pos))), pos + _READ.size


class _NotPlain(Exception):
    """The general decoder must read the request, or refuse it."""


def _several(buf: bytes, pos: int, read_one: Callable[[bytes, bytes, int], tuple[Any, int]]) -> Several | None:
    """Return the plain request from ``pos`` to the end, or None. Without a share partition it is not plain."""
    try:
        return Several(_read_several(buf, pos, read_one))
    except (_NotPlain, IndexError, ValueError, struct.error):
        return None


def _read_several(buf: bytes, pos: int, read_one: Callable[[bytes, bytes, int], tuple[Any, int]]) -> list[Any]:
    size = buf[pos]
    if not 1 < size < _TWO_BYTES_FROM:
        raise _NotPlain
    group_id = buf[pos + 1 : pos + size]
    group_id.decode()
    beginning = _GROUP_SIZE.pack(size - 1) + group_id
    found = []
    topics, pos = read_uvarint(buf, pos + size)
    for _ in range(topics - 1):
        place = beginning + buf[pos : pos + _UUID_BYTES]
        partitions, pos = read_uvarint(buf, pos + _UUID_BYTES)
        if partitions < 2:
            raise _NotPlain
        for _ in range(partitions - 1):
            request, pos = read_one(place + buf[pos : pos + 4], buf, pos + 4)
            found.append(request)
            pos = _no_tags(buf, pos)
        pos = _no_tags(buf, pos)
    if not found or _no_tags(buf, pos) != len(buf):
        raise _NotPlain
    return found


def _no_tags(buf: bytes, pos: int) -> int:
    if buf[pos]:
        raise _NotPlain
    return pos + 1


def write_reader(version: int) -> Callable[[bytes, int], tuple[WriteShareGroupStateRequest | Write | Several, int]]:
    """Return a decoder of WriteShareGroupState requests."""
    return WriteReader(version).read


def read_reader(version: int) -> Callable[[bytes, int], tuple[ReadShareGroupStateRequest | Read | Several, int]]:
    """Return a decoder of ReadShareGroupState requests."""
    return ReadReader(version).read


def write_encoder(
    encode: Encoder[WriteShareGroupStateResponse],
) -> Callable[[WriteShareGroupStateResponse | bytes | AllDone, bytearray], None]:
    """Return an encoder of responses that also takes the name of the one share partition that was written, or several."""

    def encode_any(response: WriteShareGroupStateResponse | bytes | AllDone, out: bytearray) -> None:
        if isinstance(response, bytes):
            out += b"".join((_ONE_RESULT, response[TOPIC_ID_AT:PARTITION_AT], _ONE_RESULT, response[PARTITION_AT:], _WRITTEN))
        elif isinstance(response, AllDone):
            _encode_results(response, out, lambda partition, _: _DONE.pack(partition, 0))
        else:
            encode(response, out)

    return encode_any


def read_encoder(
    encode: Encoder[ReadShareGroupStateResponse],
) -> Callable[[ReadShareGroupStateResponse | Found | AllDone, bytearray], None]:
    """Return an encoder of responses that also takes the state of one share partition, or of several."""

    def encode_any(response: ReadShareGroupStateResponse | Found | AllDone, out: bytearray) -> None:
        if isinstance(response, Found):
            name, state = response
            rows = state.rows
            out += b"".join(
                (
                    _ONE_RESULT,
                    name[TOPIC_ID_AT:PARTITION_AT],
                    _ONE_RESULT,
                    name[PARTITION_AT:],
                    _STATE.pack(0, state.state_epoch, state.start_offset),
                    write_uvarint(len(rows) // ROW_BYTES + 1),
                    rows,
                    _NO_TAGS,
                )
            )
        elif isinstance(response, AllDone):
            _encode_results(response, out, _found)
        else:
            encode(response, out)

    return encode_any


def _found(partition: int, found: Found) -> bytes:
    """Return a share partition of an answer."""
    state = found.state
    rows = state.rows
    head = _FOUND.pack(partition, 0, state.state_epoch, state.start_offset)
    return b"".join((head, write_uvarint(len(rows) // ROW_BYTES + 1), rows, b"\0"))


def _encode_results(done: AllDone, out: bytearray, result: Callable[[int, Any], bytes]) -> None:
    out += write_uvarint(len(done.topics) + 1)
    for topic_id, partitions in done.topics.items():
        out += topic_id
        out += write_uvarint(len(partitions) + 1)
        out += b"".join([result(*each) for each in partitions.items()])
        out.append(0)
    out.append(0)
