"""Fast codecs of the usual requests of partition leaders: to write or to read the state of one share partition.

A *plain* request names one share partition, whose group id has 1 to 126 bytes, and has at most 126 batches and no tagged fields. Its
batches are the rows of the state (``share/state_rows.py``). All other requests are left to the general decoder.

    group id | 2 | topic id | 2 | partition int32 | state epoch, leader epoch int32 | start offset int64 | [complete count int32] | rows | 0 0 0
    group id | 2 | topic id | 2 | partition int32 | leader epoch int32 | 0 0 0
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from coordinator_server.share.requests import Found, Read, Write
from coordinator_server.share.share_partition import SharePartitionKey
from coordinator_server.share.state_rows import ROW_BYTES
from protocol.codec import Decoder, Encoder, decoder
from protocol.messages.read_share_group_state import ReadShareGroupStateRequest, ReadShareGroupStateResponse
from protocol.messages.write_share_group_state import WriteShareGroupStateRequest, WriteShareGroupStateResponse
from protocol.wire import write_uvarint

# The bytes of a request before its fields: the group id with its size, and these.
_PLACE_BYTES: Final = 1 + 16 + 1 + 4
_ONE: Final = 2
"""The number of topics, and that of partitions: an array of one."""
_TWO_BYTES_FROM: Final = 0x80
_REMEMBERED: Final = 1 << 13
"""The number of share partitions whose keys are cached: up to 8 MiB, with the longest group ids."""
_NO_TAGS: Final = b"\0\0\0"
_FIRST_WITH_COMPLETE_COUNT: Final = 1
_NO_COMPLETE_COUNT: Final = -1
_WRITE_0: Final = struct.Struct(">iiq")
_WRITE_1: Final = struct.Struct(">iiqi")
_READ: Final = struct.Struct(">i")
# One topic; its id follows.
_RESULTS: Final = b"\2"
# One partition; no error and no message.
_PARTITION: Final = struct.Struct(">Bihx")
_STATE: Final = struct.Struct(">Bihxiq")

# NamedTuple's own take twice as long.
_new: Final = tuple.__new__


@lru_cache(_REMEMBERED)
def _key_of(beginning: bytes) -> SharePartitionKey | None:
    """Return the share partition that the first bytes of a request name, or None if the request is not plain."""
    size = beginning[0]
    if not 1 < size < _TWO_BYTES_FROM or len(beginning) != size + _PLACE_BYTES:
        return None
    if beginning[size] != _ONE or beginning[size + 17] != _ONE:
        return None
    try:
        group_id = beginning[1:size].decode()
    except UnicodeDecodeError:
        return None
    return SharePartitionKey(group_id, beginning[size + 1 : size + 17], int.from_bytes(beginning[size + 18 :], signed=True))


class WriteReader:
    """The decoder of WriteShareGroupState requests of one version."""

    __slots__ = ("_decode", "_fields", "_has_count")

    def __init__(self, version: int) -> None:
        self._decode: Decoder[WriteShareGroupStateRequest] = decoder(WriteShareGroupStateRequest, version)
        self._has_count = version >= _FIRST_WITH_COMPLETE_COUNT
        self._fields = _WRITE_1 if self._has_count else _WRITE_0

    def read(self, buf: bytes, pos: int) -> tuple[WriteShareGroupStateRequest | Write, int]:
        """Return the request at ``pos`` and the position after it. Raises the same errors as the general decoder."""
        end = len(buf)
        fields_at = pos + buf[pos] + _PLACE_BYTES if pos < end else end
        count_at = fields_at + self._fields.size
        # The number of batches, plus one, and no tags.
        if count_at + 4 <= end and buf.endswith(_NO_TAGS):
            size, count = end - 4 - count_at, buf[count_at] - 1
            key = _key_of(buf[pos:fields_at])
            if key is not None and size == count * ROW_BYTES and count < _TWO_BYTES_FROM - 1:
                rows = buf[count_at + 1 : end - 3]
                if rows[ROW_BYTES - 1 :: ROW_BYTES].count(0) == count:
                    fields = self._fields.unpack_from(buf, fields_at)
                    if not self._has_count:
                        fields = (*fields, _NO_COMPLETE_COUNT)
                    return _new(Write, (key, *fields, rows)), end
        return self._decode(buf, pos)


class ReadReader:
    """The decoder of ReadShareGroupState requests."""

    __slots__ = ("_decode",)

    def __init__(self, version: int) -> None:
        self._decode: Decoder[ReadShareGroupStateRequest] = decoder(ReadShareGroupStateRequest, version)

    def read(self, buf: bytes, pos: int) -> tuple[ReadShareGroupStateRequest | Read, int]:
        """Return the request at ``pos`` and the position after it. Raises the same errors as the general decoder."""
        end = len(buf)
        fields_at = pos + buf[pos] + _PLACE_BYTES if pos < end else end
        if fields_at + _READ.size + len(_NO_TAGS) == end and buf.endswith(_NO_TAGS):
            key = _key_of(buf[pos:fields_at])
            if key is not None:
                return _new(Read, (key, *_READ.unpack_from(buf, fields_at))), end
        return self._decode(buf, pos)


def write_reader(version: int) -> Callable[[bytes, int], tuple[WriteShareGroupStateRequest | Write, int]]:
    """Return a decoder of WriteShareGroupState requests."""
    return WriteReader(version).read


def read_reader(version: int) -> Callable[[bytes, int], tuple[ReadShareGroupStateRequest | Read, int]]:
    """Return a decoder of ReadShareGroupState requests."""
    return ReadReader(version).read


def write_encoder(
    encode: Encoder[WriteShareGroupStateResponse],
) -> Callable[[WriteShareGroupStateResponse | SharePartitionKey, bytearray], None]:
    """Return an encoder of responses that also takes the share partition of a plain request that is done."""

    def encode_either(response: WriteShareGroupStateResponse | SharePartitionKey, out: bytearray) -> None:
        if isinstance(response, SharePartitionKey):
            _, topic_id, partition = response
            out += _RESULTS + topic_id + _PARTITION.pack(_ONE, partition, 0) + _NO_TAGS
        else:
            encode(response, out)

    return encode_either


def read_encoder(
    encode: Encoder[ReadShareGroupStateResponse],
) -> Callable[[ReadShareGroupStateResponse | Found, bytearray], None]:
    """Return an encoder of responses that also takes the state that a plain request has asked for."""

    def encode_either(response: ReadShareGroupStateResponse | Found, out: bytearray) -> None:
        if isinstance(response, Found):
            (_, topic_id, partition), state = response
            rows = state.rows
            out += _RESULTS + topic_id + _STATE.pack(_ONE, partition, 0, state.state_epoch, state.start_offset)
            out += write_uvarint(len(rows) // ROW_BYTES + 1) + rows + _NO_TAGS
        else:
            encode(response, out)

    return encode_either
