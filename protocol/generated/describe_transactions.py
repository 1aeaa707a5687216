"""Codecs of protocol/messages/describe_transactions.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_hB, unpack_iB, unpack_iqqhB
from protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
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

pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_iqqh = Struct(">iqqh").pack
pack_iqqhB = Struct(">iqqhB").pack


def decode_describe_transactions_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeTransactionsRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        transactional_ids: list[str]
        if n < 0:
            raise BadField("transactional_ids")
        room -= n * 100
        if room < 0:
            room, limit = verify(DescribeTransactionsRequest, version, buf, start, pos + n, limit - n * 100), 0
        transactional_ids = []
        transactional_ids_count = n
        for _ in range(transactional_ids_count):
            n = buf[pos]
            if 0 < n < 0x80:
                transactional_ids_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("transactional_ids.item")
                n -= 1
                here = pos
                pos = here + n
                transactional_ids_item = long_text(buf, here, pos)
            transactional_ids.append(transactional_ids_item)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeTransactionsRequest(transactional_ids), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeTransactionsRequest, version, buf, start, pos) from None


def encode_describe_transactions_request_v0(msg: DescribeTransactionsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        transactional_ids = msg.transactional_ids
        n = len(transactional_ids) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for transactional_ids_item in transactional_ids:
            raw = transactional_ids_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeTransactionsRequest", version) from error


def decode_describe_transactions_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeTransactionsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        transaction_states: list[TransactionState]
        if n < 0:
            raise BadField("transaction_states")
        room -= n * 408
        if room < 0:
            room = verify(DescribeTransactionsResponse, version, buf, start, pos + n)
        transaction_states = []
        transaction_states_count = n
        for _ in range(transaction_states_count):
            transaction_states_error_code, n = unpack_hB(buf, pos)
            if 0 < n < 0x80:
                transaction_states_transactional_id = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n == 0:
                    raise BadField("transaction_states.transactional_id")
                n -= 1
                here = pos
                pos = here + n
                transaction_states_transactional_id = long_text(buf, here, pos)
            n = buf[pos]
            if 0 < n < 0x80:
                transaction_states_transaction_state = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("transaction_states.transaction_state")
                n -= 1
                here = pos
                pos = here + n
                transaction_states_transaction_state = long_text(buf, here, pos)
            transaction_states_transaction_timeout_ms, transaction_states_transaction_start_time_ms, transaction_states_producer_id, transaction_states_producer_epoch, n = unpack_iqqhB(buf, pos)
            pos += 23
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            transaction_states_topics: list[TopicData]
            if n < 0:
                raise BadField("transaction_states.topics")
            room -= n * 204
            if room < 0:
                room = verify(DescribeTransactionsResponse, version, buf, start, pos + n)
            transaction_states_topics = []
            transaction_states_topics_count = n
            for _ in range(transaction_states_topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    transaction_states_topics_topic = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("transaction_states.topics.topic")
                    n -= 1
                    here = pos
                    pos = here + n
                    transaction_states_topics_topic = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                transaction_states_topics_partitions: list[int]
                if n < 0:
                    raise BadField("transaction_states.topics.partitions")
                room -= n * 40
                if room < 0:
                    room = verify(DescribeTransactionsResponse, version, buf, start, pos + n)
                transaction_states_topics_partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                transaction_states_topics.append(TopicData(transaction_states_topics_topic, transaction_states_topics_partitions))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            transaction_states.append(TransactionState(transaction_states_error_code, transaction_states_transactional_id, transaction_states_transaction_state, transaction_states_transaction_timeout_ms, transaction_states_transaction_start_time_ms, transaction_states_producer_id, transaction_states_producer_epoch, transaction_states_topics))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeTransactionsResponse(throttle_time_ms, transaction_states), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeTransactionsResponse, version, buf, start, pos) from None


def encode_describe_transactions_response_v0(msg: DescribeTransactionsResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        transaction_states = msg.transaction_states
        n = len(transaction_states) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for transaction_states_item in transaction_states:
            raw = transaction_states_item.transactional_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(transaction_states_item.error_code, n)
            else:
                out += pack_h(transaction_states_item.error_code)
                out += write_string_size(n)
            out += raw
            raw = transaction_states_item.transaction_state.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            transaction_states_topics = transaction_states_item.topics
            n = len(transaction_states_topics) + 1
            if n < 0x80:
                out += pack_iqqhB(transaction_states_item.transaction_timeout_ms, transaction_states_item.transaction_start_time_ms, transaction_states_item.producer_id, transaction_states_item.producer_epoch, n)
            else:
                out += pack_iqqh(transaction_states_item.transaction_timeout_ms, transaction_states_item.transaction_start_time_ms, transaction_states_item.producer_id, transaction_states_item.producer_epoch)
                out += write_uvarint(n)
            for transaction_states_topics_item in transaction_states_topics:
                raw = transaction_states_topics_item.topic.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                transaction_states_topics_partitions = transaction_states_topics_item.partitions
                n = len(transaction_states_topics_partitions) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*transaction_states_topics_partitions) if len(transaction_states_topics_partitions) == 1 else pack(f">{len(transaction_states_topics_partitions)}i", *transaction_states_topics_partitions)
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeTransactionsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DescribeTransactionsRequest: {
        0: decode_describe_transactions_request_v0,
    },
    DescribeTransactionsResponse: {
        0: decode_describe_transactions_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DescribeTransactionsRequest: {
        0: encode_describe_transactions_request_v0,
    },
    DescribeTransactionsResponse: {
        0: encode_describe_transactions_response_v0,
    },
}
