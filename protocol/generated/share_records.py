"""Codecs of protocol/messages/share_records.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_i, unpack_iiiqqqB, unpack_iiqB, unpack_qqbhB, unpack_ui
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue, StateBatch
from protocol.refusal import BadField, decode_failure, encode_failure, verify
from protocol.wire import DECODE_ERRORS, ENCODE_ERRORS, long_text, read_uvarint, skip_tags, write_uvarint

pack_ui = Struct(">16si").pack
pack_BBBi = Struct(">BBBi").pack
pack_h = Struct(">h").pack
pack_iiiqqq = Struct(">iiiqqq").pack
pack_iiiqqqB = Struct(">iiiqqqB").pack
pack_iiq = Struct(">iiq").pack
pack_iiqB = Struct(">iiqB").pack
pack_qqbhx = Struct(">qqbhx").pack
rows_qqbhx = Struct(">qqbhx").iter_unpack


def decode_share_snapshot_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareSnapshotKey, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        topic_id, partition = unpack_ui(buf, pos)
        pos += 20
        return ShareSnapshotKey(group_id, topic_id, partition), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareSnapshotKey, version, buf, start, pos) from None


def encode_share_snapshot_key_v0(msg: ShareSnapshotKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        if len(msg.topic_id) != 16:
            raise BadField("topic_id", "a UUID has 16 bytes")
        out += pack_ui(msg.topic_id, msg.partition)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareSnapshotKey", version) from error


def decode_share_snapshot_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareSnapshotValue, int]:
    start = pos
    n: int
    try:
        room = 45584 - 2 * len(buf)
        snapshot_epoch, state_epoch, leader_epoch, start_offset, create_timestamp, write_timestamp, n = unpack_iiiqqqB(buf, pos)
        pos += 37
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        state_batches: list[StateBatch]
        if n < 0:
            raise BadField("state_batches")
        room -= n * 136
        if room < 0:
            room = verify(ShareSnapshotValue, version, buf, start, pos + n)
        end = pos + n * 20
        if buf[pos + 19 : end : 20].count(0) == n:
            state_batches = list(starmap(StateBatch, rows_qqbhx(buf[pos:end])))
            pos = end
        else:
            state_batches = []
            state_batches_count = n
            for _ in range(state_batches_count):
                state_batches_first_offset, state_batches_last_offset, state_batches_delivery_state, state_batches_delivery_count, n = unpack_qqbhB(buf, pos)
                pos += 20
                if n:
                    pos = skip_tags(buf, pos - 1)
                state_batches.append(StateBatch(state_batches_first_offset, state_batches_last_offset, state_batches_delivery_state, state_batches_delivery_count))
        n = buf[pos]
        pos += 1
        delivery_complete_count: int = -1
        if n:
            n, pos = read_uvarint(buf, pos - 1)
            tag_count = n
            for _ in range(tag_count):
                tag, pos = read_uvarint(buf, pos)
                n, pos = read_uvarint(buf, pos)
                tag_end = pos + n
                if tag_end > len(buf):
                    raise IndexError
                if tag == 0:
                    (delivery_complete_count,) = unpack_i(buf, pos)
                    pos += 4
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return ShareSnapshotValue(snapshot_epoch, state_epoch, leader_epoch, start_offset, delivery_complete_count, create_timestamp, write_timestamp, state_batches), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareSnapshotValue, version, buf, start, pos) from None


def encode_share_snapshot_value_v0(msg: ShareSnapshotValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        state_batches = msg.state_batches
        n = len(state_batches) + 1
        if n < 0x80:
            out += pack_iiiqqqB(msg.snapshot_epoch, msg.state_epoch, msg.leader_epoch, msg.start_offset, msg.create_timestamp, msg.write_timestamp, n)
        else:
            out += pack_iiiqqq(msg.snapshot_epoch, msg.state_epoch, msg.leader_epoch, msg.start_offset, msg.create_timestamp, msg.write_timestamp)
            out += write_uvarint(n)
        out += b"".join([pack_qqbhx(state_batches_item.first_offset, state_batches_item.last_offset, state_batches_item.delivery_state, state_batches_item.delivery_count) for state_batches_item in state_batches])
        if msg.delivery_complete_count != -1:
            out += pack_BBBi(1, 0, 4, msg.delivery_complete_count)
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareSnapshotValue", version) from error


def decode_share_update_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareUpdateKey, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        topic_id, partition = unpack_ui(buf, pos)
        pos += 20
        return ShareUpdateKey(group_id, topic_id, partition), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareUpdateKey, version, buf, start, pos) from None


def encode_share_update_key_v0(msg: ShareUpdateKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        if len(msg.topic_id) != 16:
            raise BadField("topic_id", "a UUID has 16 bytes")
        out += pack_ui(msg.topic_id, msg.partition)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareUpdateKey", version) from error


def decode_share_update_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareUpdateValue, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
        snapshot_epoch, leader_epoch, start_offset, n = unpack_iiqB(buf, pos)
        pos += 17
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        state_batches: list[StateBatch]
        if n < 0:
            raise BadField("state_batches")
        room -= n * 136
        if room < 0:
            room = verify(ShareUpdateValue, version, buf, start, pos + n)
        end = pos + n * 20
        if buf[pos + 19 : end : 20].count(0) == n:
            state_batches = list(starmap(StateBatch, rows_qqbhx(buf[pos:end])))
            pos = end
        else:
            state_batches = []
            state_batches_count = n
            for _ in range(state_batches_count):
                state_batches_first_offset, state_batches_last_offset, state_batches_delivery_state, state_batches_delivery_count, n = unpack_qqbhB(buf, pos)
                pos += 20
                if n:
                    pos = skip_tags(buf, pos - 1)
                state_batches.append(StateBatch(state_batches_first_offset, state_batches_last_offset, state_batches_delivery_state, state_batches_delivery_count))
        n = buf[pos]
        pos += 1
        delivery_complete_count: int = -1
        if n:
            n, pos = read_uvarint(buf, pos - 1)
            tag_count = n
            for _ in range(tag_count):
                tag, pos = read_uvarint(buf, pos)
                n, pos = read_uvarint(buf, pos)
                tag_end = pos + n
                if tag_end > len(buf):
                    raise IndexError
                if tag == 0:
                    (delivery_complete_count,) = unpack_i(buf, pos)
                    pos += 4
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return ShareUpdateValue(snapshot_epoch, leader_epoch, start_offset, delivery_complete_count, state_batches), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareUpdateValue, version, buf, start, pos) from None


def encode_share_update_value_v0(msg: ShareUpdateValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        state_batches = msg.state_batches
        n = len(state_batches) + 1
        if n < 0x80:
            out += pack_iiqB(msg.snapshot_epoch, msg.leader_epoch, msg.start_offset, n)
        else:
            out += pack_iiq(msg.snapshot_epoch, msg.leader_epoch, msg.start_offset)
            out += write_uvarint(n)
        out += b"".join([pack_qqbhx(state_batches_item.first_offset, state_batches_item.last_offset, state_batches_item.delivery_state, state_batches_item.delivery_count) for state_batches_item in state_batches])
        if msg.delivery_complete_count != -1:
            out += pack_BBBi(1, 0, 4, msg.delivery_complete_count)
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareUpdateValue", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ShareSnapshotKey: {
        0: decode_share_snapshot_key_v0,
    },
    ShareSnapshotValue: {
        0: decode_share_snapshot_value_v0,
    },
    ShareUpdateKey: {
        0: decode_share_update_key_v0,
    },
    ShareUpdateValue: {
        0: decode_share_update_value_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ShareSnapshotKey: {
        0: encode_share_snapshot_key_v0,
    },
    ShareSnapshotValue: {
        0: encode_share_snapshot_value_v0,
    },
    ShareUpdateKey: {
        0: encode_share_update_key_v0,
    },
    ShareUpdateValue: {
        0: encode_share_update_value_v0,
    },
}
