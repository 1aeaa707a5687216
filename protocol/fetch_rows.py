"""OffsetFetch answers made of rows: the offsets of partitions, encoded without an object per partition.

    partition int32 | offset int64 | epoch int32, from version 5 on | metadata, and no error: four bytes if there is no metadata

The beginning of a row is that of a commit's row (``commit_rows``). A property test compares the answers with those of the general
encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from struct import Struct as Layout
from typing import Final

from msgspec import Struct

from protocol.codec import Encoder, decoder
from protocol.first_versions import OFFSETS_BY_TOPIC_ID, SEVERAL_GROUPS
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from protocol.wire import write_uvarint

_FIRST_WITH_ERROR: Final = 2
_FIRST_WITH_THROTTLE_TIME: Final = 3
_FIRST_WITH_EPOCH: Final = 5
_FIRST_FLEXIBLE: Final = 6
_INT16: Final = Layout(">h")
_INT32: Final = Layout(">i")
_PARTITION_AND_OFFSET_BYTES: Final = 12
_ROW: Final = Layout(">iqi")
_ROW_BYTES: Final = _ROW.size
# The usual counts and sizes.
_UVARINTS: Final = tuple([write_uvarint(value) for value in range(128)])

row: Final = _ROW.pack
"""Return the beginning of a row: partition, offset and leader epoch."""


def committed_rows(rows: bytes, starts: Iterable[int]) -> list[bytes]:
    """Return the beginnings of the rows of a commit that start there."""
    return [rows[start : start + _ROW_BYTES] for start in starts]


class FetchedOffsets(Struct, gc=False):
    """The encoded body of an OffsetFetch response, in the version of its request."""

    body: bytes

    def decoded(self, version: int) -> OffsetFetchResponse:
        """Return the response as the general decoder does."""
        return decoder(OffsetFetchResponse, version)(self.body, 0)[0]


class AnswerForm:
    """The form of the answers of one version, about some partitions of one group."""

    __slots__ = ("_begin", "_end", "_has_epoch", "_has_ids", "_is_flexible", "_row_end", "_topic_end", "_with_groups")

    def __init__(self, version: int) -> None:
        self._is_flexible = is_flexible = version >= _FIRST_FLEXIBLE
        self._has_ids = version >= OFFSETS_BY_TOPIC_ID
        self._has_epoch = version >= _FIRST_WITH_EPOCH
        self._with_groups = with_groups = version >= SEVERAL_GROUPS
        no_tags = b"\0" if is_flexible else b""
        no_error = b"\0\0" if version >= _FIRST_WITH_ERROR else b""
        self._begin = _INT32.pack(0) if version >= _FIRST_WITH_THROTTLE_TIME else b""
        if with_groups:
            self._begin += self._count(1)
        # An empty text with a size of int16, or a compact one and no tags at the end.
        self._row_end = b"\1\0\0\0" if is_flexible else b"\0\0\0\0"
        self._topic_end = no_tags
        self._end = no_error + no_tags + (no_tags if with_groups else b"")

    def begin(self, group_id: str, topics: int) -> bytearray:
        """Return the beginning of an answer with a number of topics."""
        out = bytearray(self._begin)
        if self._with_groups:
            out += self._text(group_id)
        out += self._count(topics)
        return out

    def add(self, out: bytearray, name: str, topic_id: bytes, rows: list[bytes], metadata: Mapping[int, str]) -> None:
        """Append a topic with the beginnings of its rows, and the metadata of those that have any, by their place."""
        out += topic_id if self._has_ids else self._text(name)
        out += self._count(len(rows))
        if rows:
            if not self._has_epoch:
                rows = [each[:_PARTITION_AND_OFFSET_BYTES] for each in rows]
            end = self._row_end
            if metadata:
                after = end[len(self._text("")) :]
                rows = [each + self._text(metadata.get(place, "")) + after for place, each in enumerate(rows)]
                out += b"".join(rows)
            else:
                out += end.join(rows)
                out += end
        out += self._topic_end

    def finished(self, out: bytearray) -> FetchedOffsets:
        """Append the end, and return the answer."""
        out += self._end
        return FetchedOffsets(bytes(out))

    def _count(self, count: int) -> bytes:
        return _uvarint(count + 1) if self._is_flexible else _INT32.pack(count)

    def _text(self, text: str) -> bytes:
        raw = text.encode()
        return (_uvarint(len(raw) + 1) if self._is_flexible else _INT16.pack(len(raw))) + raw


def _uvarint(value: int) -> bytes:
    return _UVARINTS[value] if value < len(_UVARINTS) else write_uvarint(value)


ANSWER_FORMS: Final = {version: AnswerForm(version) for version in OffsetFetchRequest.kafka.versions}


def fetch_response_encoder(
    encode: Encoder[OffsetFetchResponse],
) -> Callable[[OffsetFetchResponse | FetchedOffsets, bytearray], None]:
    """Return an encoder for OffsetFetch responses that also accepts encoded ones."""

    def encode_either(response: OffsetFetchResponse | FetchedOffsets, out: bytearray) -> None:
        if isinstance(response, FetchedOffsets):
            out += response.body
        else:
            encode(response, out)

    return encode_either
