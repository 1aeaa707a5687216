"""Codecs of protocol/messages/transaction_records.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_i, unpack_q, unpack_qhibB, unpack_qhibi, unpack_qq, unpack_qqB
from protocol.messages.transaction_records import PartitionsSchema, TransactionLogKey, TransactionLogValue
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
from protocol.wire import (
    DECODE_ERRORS,
    ENCODE_ERRORS,
    long_text,
    read_string_size,
    read_uvarint,
    skip_tags,
    write_string_size,
    write_uvarint,
)

pack_BBh = Struct(">BBh").pack
pack_BBq = Struct(">BBq").pack
pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_qhib = Struct(">qhib").pack
pack_qhibB = Struct(">qhibB").pack
pack_qhibi = Struct(">qhibi").pack
pack_qhibx = Struct(">qhibx").pack
pack_qq = Struct(">qq").pack


def decode_transaction_log_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[TransactionLogKey, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("transactional_id")
        if n < 0x80:
            transactional_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            transactional_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return TransactionLogKey(transactional_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, TransactionLogKey, version, buf, start, pos) from None


def encode_transaction_log_key_v0(msg: TransactionLogKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.transactional_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "TransactionLogKey", version) from error


def decode_transaction_log_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[TransactionLogValue, int]:
    start = pos
    n: int
    try:
        room = 45600 - 2 * len(buf)
        producer_id, producer_epoch, transaction_timeout_ms, transaction_status, n = unpack_qhibi(buf, pos)
        pos += 19
        transaction_partitions: list[PartitionsSchema] | None
        if n < 0:
            transaction_partitions = None
        else:
            room -= n * 192
            if room < 0:
                room = verify(TransactionLogValue, version, buf, start, pos + n)
            transaction_partitions = []
            transaction_partitions_count = n
            for _ in range(transaction_partitions_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("transaction_partitions.topic")
                if n < 0x80:
                    transaction_partitions_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    transaction_partitions_topic = long_text(buf, here, pos)
                (n,) = unpack_i(buf, pos)
                pos += 4
                transaction_partitions_partition_ids: list[int]
                if n < 0:
                    raise BadField("transaction_partitions.partition_ids")
                room -= n * 40
                if room < 0:
                    room = verify(TransactionLogValue, version, buf, start, pos + n)
                transaction_partitions_partition_ids = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                transaction_partitions.append(PartitionsSchema(transaction_partitions_topic, transaction_partitions_partition_ids))
        transaction_last_update_timestamp_ms, transaction_start_timestamp_ms = unpack_qq(buf, pos)
        pos += 16
        return TransactionLogValue(producer_id, -1, -1, producer_epoch, -1, transaction_timeout_ms, transaction_status, transaction_partitions, transaction_last_update_timestamp_ms, transaction_start_timestamp_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, TransactionLogValue, version, buf, start, pos) from None


def decode_transaction_log_value_v1(buf: bytes, pos: int, version: int = 1) -> tuple[TransactionLogValue, int]:
    start = pos
    n: int
    try:
        room = 45456 - 2 * len(buf)
        producer_id, producer_epoch, transaction_timeout_ms, transaction_status, n = unpack_qhibB(buf, pos)
        pos += 16
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        transaction_partitions: list[PartitionsSchema] | None
        if n < 0:
            transaction_partitions = None
        else:
            room -= n * 204
            if room < 0:
                room = verify(TransactionLogValue, version, buf, start, pos + n)
            transaction_partitions = []
            transaction_partitions_count = n
            for _ in range(transaction_partitions_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    transaction_partitions_topic = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("transaction_partitions.topic")
                    n -= 1
                    here = pos
                    pos = here + n
                    transaction_partitions_topic = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                transaction_partitions_partition_ids: list[int]
                if n < 0:
                    raise BadField("transaction_partitions.partition_ids")
                room -= n * 40
                if room < 0:
                    room = verify(TransactionLogValue, version, buf, start, pos + n)
                transaction_partitions_partition_ids = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                transaction_partitions.append(PartitionsSchema(transaction_partitions_topic, transaction_partitions_partition_ids))
        transaction_last_update_timestamp_ms, transaction_start_timestamp_ms, n = unpack_qqB(buf, pos)
        pos += 17
        previous_producer_id: int = -1
        next_producer_id: int = -1
        next_producer_epoch: int = -1
        client_transaction_version: int = 0
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
                    (previous_producer_id,) = unpack_q(buf, pos)
                    pos += 8
                elif tag == 1:
                    (next_producer_id,) = unpack_q(buf, pos)
                    pos += 8
                elif tag == 3:
                    (next_producer_epoch,) = unpack_h(buf, pos)
                    pos += 2
                elif tag == 2:
                    (client_transaction_version,) = unpack_h(buf, pos)
                    pos += 2
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return TransactionLogValue(producer_id, previous_producer_id, next_producer_id, producer_epoch, next_producer_epoch, transaction_timeout_ms, transaction_status, transaction_partitions, transaction_last_update_timestamp_ms, transaction_start_timestamp_ms, client_transaction_version), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, TransactionLogValue, version, buf, start, pos) from None


def encode_transaction_log_value_v0(msg: TransactionLogValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.previous_producer_id != -1:
            raise not_in_version("previous_producer_id")
        if msg.next_producer_id != -1:
            raise not_in_version("next_producer_id")
        if msg.next_producer_epoch != -1:
            raise not_in_version("next_producer_epoch")
        if msg.client_transaction_version:
            raise not_in_version("client_transaction_version")
        transaction_partitions = msg.transaction_partitions
        if transaction_partitions is None:
            out += pack_qhibi(msg.producer_id, msg.producer_epoch, msg.transaction_timeout_ms, msg.transaction_status, -1)
        else:
            out += pack_qhibi(msg.producer_id, msg.producer_epoch, msg.transaction_timeout_ms, msg.transaction_status, len(transaction_partitions))
            for transaction_partitions_item in transaction_partitions:
                raw = transaction_partitions_item.topic.encode()
                out += pack_h(len(raw))
                out += raw
                transaction_partitions_partition_ids = transaction_partitions_item.partition_ids
                out += pack_i(len(transaction_partitions_partition_ids))
                out += pack_i(*transaction_partitions_partition_ids) if len(transaction_partitions_partition_ids) == 1 else pack(f">{len(transaction_partitions_partition_ids)}i", *transaction_partitions_partition_ids)
        out += pack_qq(msg.transaction_last_update_timestamp_ms, msg.transaction_start_timestamp_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "TransactionLogValue", version) from error


def encode_transaction_log_value_v1(msg: TransactionLogValue, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        transaction_partitions = msg.transaction_partitions
        if transaction_partitions is None:
            out += pack_qhibx(msg.producer_id, msg.producer_epoch, msg.transaction_timeout_ms, msg.transaction_status)
        else:
            n = len(transaction_partitions) + 1
            if n < 0x80:
                out += pack_qhibB(msg.producer_id, msg.producer_epoch, msg.transaction_timeout_ms, msg.transaction_status, n)
            else:
                out += pack_qhib(msg.producer_id, msg.producer_epoch, msg.transaction_timeout_ms, msg.transaction_status)
                out += write_uvarint(n)
            for transaction_partitions_item in transaction_partitions:
                raw = transaction_partitions_item.topic.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                transaction_partitions_partition_ids = transaction_partitions_item.partition_ids
                n = len(transaction_partitions_partition_ids) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*transaction_partitions_partition_ids) if len(transaction_partitions_partition_ids) == 1 else pack(f">{len(transaction_partitions_partition_ids)}i", *transaction_partitions_partition_ids)
                out.append(0)
        out += pack_qq(msg.transaction_last_update_timestamp_ms, msg.transaction_start_timestamp_ms)
        tag_count = 0
        tagged = bytearray()
        if msg.previous_producer_id != -1:
            tag_count += 1
            tagged += pack_BBq(0, 8, msg.previous_producer_id)
        if msg.next_producer_id != -1:
            tag_count += 1
            tagged += pack_BBq(1, 8, msg.next_producer_id)
        if msg.client_transaction_version:
            tag_count += 1
            tagged += pack_BBh(2, 2, msg.client_transaction_version)
        if msg.next_producer_epoch != -1:
            tag_count += 1
            tagged += pack_BBh(3, 2, msg.next_producer_epoch)
        out.append(tag_count)
        out += tagged
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "TransactionLogValue", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    TransactionLogKey: {
        0: decode_transaction_log_key_v0,
    },
    TransactionLogValue: {
        0: decode_transaction_log_value_v0,
        1: decode_transaction_log_value_v1,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    TransactionLogKey: {
        0: encode_transaction_log_key_v0,
    },
    TransactionLogValue: {
        0: encode_transaction_log_value_v0,
        1: encode_transaction_log_value_v1,
    },
}
