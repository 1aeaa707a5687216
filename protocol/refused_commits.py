"""Refuses a whole OffsetCommit or TxnOffsetCommit without decoding it: the answer's bytes are made of the request's.

Such an answer repeats each topic and partition of the request with one error. A large request takes the general codecs several
times as long. What is not plain (unknown tagged fields, bytes that are no valid request) is left to them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from struct import Struct as Layout
from typing import Final, NamedTuple

from msgspec import Struct

from protocol.commit_rows import ROW_BYTES
from protocol.fields import Message
from protocol.first_versions import OFFSETS_BY_TOPIC_ID
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from protocol.wire import DECODE_ERRORS, read_string_size, read_uvarint

_FEWEST_ROWS: Final = 8
"""Fewer partitions are read one by one, because to compare columns costs as much."""
_UUID_BYTES: Final = 16
_INT16: Final = Layout(">h")
_INT32: Final = Layout(">i")
_NO_THROTTLE: Final = b"\0\0\0\0"


class EncodedRefusal(Struct, gc=False):
    """The encoded body of an answer that gives one error to each of ``parts`` partitions."""

    body: bytes | bytearray
    error_code: int
    parts: int


class CommitNames(NamedTuple):
    """Whom a request is about. ``transactional_id`` is empty in an OffsetCommit."""

    transactional_id: str
    group_id: str


class _Other(Exception):
    """The request is left to the general decoder."""


class _Form(NamedTuple):
    """How a version of a request is encoded."""

    is_flexible: bool
    has_transaction: bool
    # Between the group and the topics: the bytes of fixed size, then the number of texts, then bytes of fixed size again.
    before_texts: int
    texts: int
    behind_texts: int
    has_topic_ids: bool
    # Index, offset and, if the version has it, leader epoch.
    partition_bytes: int
    has_throttle_time: bool


@cache
def _form(request: type[Message], version: int) -> _Form:
    if request is OffsetCommitRequest:
        return _Form(
            is_flexible=version >= 8,
            has_transaction=False,
            before_texts=4,
            texts=2 if version >= 7 else 1,
            behind_texts=8 if version <= 4 else 0,
            has_topic_ids=version >= OFFSETS_BY_TOPIC_ID,
            partition_bytes=16 if version >= 6 else 12,
            has_throttle_time=version >= 3,
        )
    assert request is TxnOffsetCommitRequest
    return _Form(
        is_flexible=version >= 3,
        has_transaction=True,
        before_texts=14 if version >= 3 else 10,
        texts=2 if version >= 3 else 0,
        behind_texts=0,
        has_topic_ids=False,
        partition_bytes=16 if version >= 2 else 12,
        has_throttle_time=True,
    )


def read_names(request: type[Message], version: int, buf: bytes, pos: int) -> CommitNames | None:
    """Return whom the request at ``pos`` is about, or None if its first bytes are not those of a request."""
    try:
        return _names(_form(request, version), buf, pos)[0]
    except (_Other, *DECODE_ERRORS):
        return None


def refuse_unread(request: type[Message], version: int, error_code: int, buf: bytes, pos: int) -> EncodedRefusal | None:
    """Return the refusal of the request from ``pos`` to the end, or None if it must be decoded for that."""
    form = _form(request, version)
    try:
        _, pos = _names(form, buf, pos)
        pos += form.before_texts
        for text in range(form.texts):
            # The group instance id, which is the second one, may be null.
            pos = _skip_text(form, buf, pos, is_nullable=text == 1)
        return _refused(form, buf, pos + form.behind_texts, error_code)
    except (_Other, *DECODE_ERRORS):
        return None


def _names(form: _Form, buf: bytes, pos: int) -> tuple[CommitNames, int]:
    transactional_id = ""
    if form.has_transaction:
        start, pos = _text(form, buf, pos)
        transactional_id = buf[start:pos].decode()
    start, pos = _text(form, buf, pos)
    return CommitNames(transactional_id, buf[start:pos].decode()), pos


def _refused(form: _Form, buf: bytes, pos: int, error_code: int) -> EncodedRefusal:
    out = bytearray(_NO_THROTTLE if form.has_throttle_time else b"")
    behind_index = error_code.to_bytes(2, "big") + (b"\0" if form.is_flexible else b"")
    parts, start = 0, pos
    topics, pos = _count(form, buf, pos)
    out += buf[start:pos]
    for _ in range(topics):
        start = pos
        if form.has_topic_ids:
            pos += _UUID_BYTES
        else:
            text, pos = _text(form, buf, pos)
            _check_text(buf, text, pos)
        partitions, pos = _count(form, buf, pos)
        out += buf[start:pos]
        parts += partitions
        pos = _refuse_partitions(form, buf, pos, partitions, behind_index, out)
        if form.is_flexible:
            pos = _no_tags(buf, pos)
            out.append(0)
    if form.is_flexible:
        pos = _no_tags(buf, pos)
        out.append(0)
    if pos != len(buf):
        raise _Other
    return EncodedRefusal(out, error_code, parts)


def _refuse_partitions(form: _Form, buf: bytes, pos: int, partitions: int, behind_index: bytes, out: bytearray) -> int:
    if partitions >= _FEWEST_ROWS and form.partition_bytes == ROW_BYTES - 2:
        rows = buf[pos : pos + partitions * ROW_BYTES]
        if _have_no_metadata(form, rows, partitions):
            out += _refused_rows(rows, partitions, behind_index)
            return pos + len(rows)
    is_flexible, size = form.is_flexible, form.partition_bytes
    for _ in range(partitions):
        out += buf[pos : pos + 4]
        out += behind_index
        pos += size
        # Without metadata, nearly always: null, or a text of no bytes.
        if is_flexible and buf[pos] <= 1:
            pos += 1
        else:
            pos = _skip_text(form, buf, pos, is_nullable=True)
        if is_flexible:
            pos = _no_tags(buf, pos)
    return pos


def _have_no_metadata(form: _Form, rows: bytes, count: int) -> bool:
    if len(rows) != count * ROW_BYTES:
        return False
    end = rows[ROW_BYTES - 2 : ROW_BYTES]
    if end not in ((b"\1\0", b"\0\0") if form.is_flexible else (b"\0\0", b"\xff\xff")):
        return False
    return rows[ROW_BYTES - 2 :: ROW_BYTES] == end[:1] * count and rows[ROW_BYTES - 1 :: ROW_BYTES] == end[1:] * count


def _refused_rows(rows: bytes, count: int, behind_index: bytes) -> bytearray:
    """Return the answers for rows, column by column."""
    size = 4 + len(behind_index)
    out = bytearray(size * count)
    for column in range(4):
        out[column::size] = rows[column::ROW_BYTES]
    for column, byte in enumerate(behind_index, 4):
        out[column::size] = bytes((byte,)) * count
    return out


def _text(form: _Form, buf: bytes, pos: int) -> tuple[int, int]:
    """Return where the bytes of the text at ``pos`` start and end."""
    size, pos = _size(form, buf, pos)
    if size < 0:
        raise _Other
    return pos, pos + size


def _skip_text(form: _Form, buf: bytes, pos: int, *, is_nullable: bool) -> int:
    size, pos = _size(form, buf, pos)
    if size < 0:
        if not is_nullable or size < -1:
            raise _Other
        return pos
    _check_text(buf, pos, pos + size)
    return pos + size


def _check_text(buf: bytes, start: int, end: int) -> None:
    text = buf[start:end]
    if len(text) != end - start:
        raise _Other
    if not text.isascii():
        text.decode()


def _size(form: _Form, buf: bytes, pos: int) -> tuple[int, int]:
    if form.is_flexible:
        size, pos = read_string_size(buf, pos)
        return size - 1, pos
    size = _INT16.unpack_from(buf, pos)[0]
    return size, pos + 2


def _count(form: _Form, buf: bytes, pos: int) -> tuple[int, int]:
    if form.is_flexible:
        count, pos = read_uvarint(buf, pos)
        count -= 1
    else:
        count, pos = _INT32.unpack_from(buf, pos)[0], pos + 4
    if count < 0:
        raise _Other
    return count, pos


def _no_tags(buf: bytes, pos: int) -> int:
    if buf[pos]:
        raise _Other
    return pos + 1


def refusal_encoder(encode: Callable[..., None]) -> Callable[..., None]:
    """Return an encoder that also accepts refusals that are encoded."""

    def encode_either(response: object, out: bytearray) -> None:
        if isinstance(response, EncodedRefusal):
            out += response.body
        else:
            encode(response, out)

    return encode_either
