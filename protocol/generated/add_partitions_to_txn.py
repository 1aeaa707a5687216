"""Codecs of protocol/messages/add_partitions_to_txn.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_i, unpack_iB, unpack_ihB, unpack_ii, unpack_qhB, unpack_qhi, unpack_qhzB
from protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
from protocol.wire import (
    DECODE_ERRORS,
    ENCODE_ERRORS,
    at_version,
    long_text,
    read_string_size,
    read_uvarint,
    skip_tags,
    write_string_size,
    write_uvarint,
)

pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ihx = Struct(">ihx").pack
pack_ii = Struct(">ii").pack
pack_qh = Struct(">qh").pack
pack_qhz = Struct(">qh?").pack
pack_qhzB = Struct(">qh?B").pack
pack_qhB = Struct(">qhB").pack
pack_qhi = Struct(">qhi").pack
rows_ih = Struct(">ih").iter_unpack
rows_ihx = Struct(">ihx").iter_unpack


def decode_add_partitions_to_txn_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[AddPartitionsToTxnRequest, int]:
    start = pos
    n: int
    try:
        room = 45632 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("v3_and_below_transactional_id")
        if n < 0x80:
            v3_and_below_transactional_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            v3_and_below_transactional_id = long_text(buf, here, pos)
        v3_and_below_producer_id, v3_and_below_producer_epoch, n = unpack_qhi(buf, pos)
        pos += 14
        v3_and_below_topics: list[AddPartitionsToTxnTopic]
        if n < 0:
            raise BadField("v3_and_below_topics")
        room -= n * 192
        if room < 0:
            room, limit = verify(AddPartitionsToTxnRequest, version, buf, start, pos + n, limit - n * 192), 0
        v3_and_below_topics = []
        v3_and_below_topics_count = n
        for _ in range(v3_and_below_topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("v3_and_below_topics.name")
            if n < 0x80:
                v3_and_below_topics_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                v3_and_below_topics_name = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            v3_and_below_topics_partitions: list[int]
            if n < 0:
                raise BadField("v3_and_below_topics.partitions")
            room -= n * 40
            if room < 0:
                room, limit = verify(AddPartitionsToTxnRequest, version, buf, start, pos + n, limit - n * 40), 0
            v3_and_below_topics_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            v3_and_below_topics.append(AddPartitionsToTxnTopic(v3_and_below_topics_name, v3_and_below_topics_partitions))
        if pos > len(buf):
            raise IndexError
        return AddPartitionsToTxnRequest([], v3_and_below_transactional_id, v3_and_below_producer_id, v3_and_below_producer_epoch, v3_and_below_topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AddPartitionsToTxnRequest, version, buf, start, pos) from None


decode_add_partitions_to_txn_request_v1 = at_version(decode_add_partitions_to_txn_request_v0, 1)


decode_add_partitions_to_txn_request_v2 = at_version(decode_add_partitions_to_txn_request_v0, 2)


def decode_add_partitions_to_txn_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[AddPartitionsToTxnRequest, int]:
    start = pos
    n: int
    try:
        room = 45632 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        if 0 < n < 0x80:
            v3_and_below_transactional_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("v3_and_below_transactional_id")
            n -= 1
            here = pos
            pos = here + n
            v3_and_below_transactional_id = long_text(buf, here, pos)
        v3_and_below_producer_id, v3_and_below_producer_epoch, n = unpack_qhB(buf, pos)
        pos += 11
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        v3_and_below_topics: list[AddPartitionsToTxnTopic]
        if n < 0:
            raise BadField("v3_and_below_topics")
        room -= n * 204
        if room < 0:
            room, limit = verify(AddPartitionsToTxnRequest, version, buf, start, pos + n, limit - n * 204), 0
        v3_and_below_topics = []
        v3_and_below_topics_count = n
        for _ in range(v3_and_below_topics_count):
            n = buf[pos]
            if 0 < n < 0x80:
                v3_and_below_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("v3_and_below_topics.name")
                n -= 1
                here = pos
                pos = here + n
                v3_and_below_topics_name = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            v3_and_below_topics_partitions: list[int]
            if n < 0:
                raise BadField("v3_and_below_topics.partitions")
            room -= n * 40
            if room < 0:
                room, limit = verify(AddPartitionsToTxnRequest, version, buf, start, pos + n, limit - n * 40), 0
            v3_and_below_topics_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            v3_and_below_topics.append(AddPartitionsToTxnTopic(v3_and_below_topics_name, v3_and_below_topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return AddPartitionsToTxnRequest([], v3_and_below_transactional_id, v3_and_below_producer_id, v3_and_below_producer_epoch, v3_and_below_topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AddPartitionsToTxnRequest, version, buf, start, pos) from None


def decode_add_partitions_to_txn_request_v4(buf: bytes, pos: int, version: int = 4) -> tuple[AddPartitionsToTxnRequest, int]:
    start = pos
    n: int
    try:
        room = 45776 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        transactions: list[AddPartitionsToTxnTransaction]
        if n < 0:
            raise BadField("transactions")
        room -= n * 256
        if room < 0:
            room, limit = verify(AddPartitionsToTxnRequest, version, buf, start, pos + n, limit - n * 256), 0
        transactions = []
        transactions_count = n
        for _ in range(transactions_count):
            n = buf[pos]
            if 0 < n < 0x80:
                transactions_transactional_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("transactions.transactional_id")
                n -= 1
                here = pos
                pos = here + n
                transactions_transactional_id = long_text(buf, here, pos)
            transactions_producer_id, transactions_producer_epoch, transactions_verify_only, n = unpack_qhzB(buf, pos)
            pos += 12
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            transactions_topics: list[AddPartitionsToTxnTopic]
            if n < 0:
                raise BadField("transactions.topics")
            room -= n * 204
            if room < 0:
                room, limit = verify(AddPartitionsToTxnRequest, version, buf, start, pos + n, limit - n * 204), 0
            transactions_topics = []
            transactions_topics_count = n
            for _ in range(transactions_topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    transactions_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("transactions.topics.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    transactions_topics_name = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                transactions_topics_partitions: list[int]
                if n < 0:
                    raise BadField("transactions.topics.partitions")
                room -= n * 40
                if room < 0:
                    room, limit = verify(AddPartitionsToTxnRequest, version, buf, start, pos + n, limit - n * 40), 0
                transactions_topics_partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                transactions_topics.append(AddPartitionsToTxnTopic(transactions_topics_name, transactions_topics_partitions))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            transactions.append(AddPartitionsToTxnTransaction(transactions_transactional_id, transactions_producer_id, transactions_producer_epoch, transactions_verify_only, transactions_topics))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return AddPartitionsToTxnRequest(transactions), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AddPartitionsToTxnRequest, version, buf, start, pos) from None


decode_add_partitions_to_txn_request_v5 = at_version(decode_add_partitions_to_txn_request_v4, 5)


def encode_add_partitions_to_txn_request_v0(msg: AddPartitionsToTxnRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.transactions:
            raise not_in_version("transactions")
        raw = msg.v3_and_below_transactional_id.encode()
        out += pack_h(len(raw))
        out += raw
        v3_and_below_topics = msg.v3_and_below_topics
        out += pack_qhi(msg.v3_and_below_producer_id, msg.v3_and_below_producer_epoch, len(v3_and_below_topics))
        for v3_and_below_topics_item in v3_and_below_topics:
            raw = v3_and_below_topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            v3_and_below_topics_partitions = v3_and_below_topics_item.partitions
            out += pack_i(len(v3_and_below_topics_partitions))
            out += pack_i(*v3_and_below_topics_partitions) if len(v3_and_below_topics_partitions) == 1 else pack(f">{len(v3_and_below_topics_partitions)}i", *v3_and_below_topics_partitions)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AddPartitionsToTxnRequest", version) from error


encode_add_partitions_to_txn_request_v1 = at_version(encode_add_partitions_to_txn_request_v0, 1)


encode_add_partitions_to_txn_request_v2 = at_version(encode_add_partitions_to_txn_request_v0, 2)


def encode_add_partitions_to_txn_request_v3(msg: AddPartitionsToTxnRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        if msg.transactions:
            raise not_in_version("transactions")
        raw = msg.v3_and_below_transactional_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        v3_and_below_topics = msg.v3_and_below_topics
        n = len(v3_and_below_topics) + 1
        if n < 0x80:
            out += pack_qhB(msg.v3_and_below_producer_id, msg.v3_and_below_producer_epoch, n)
        else:
            out += pack_qh(msg.v3_and_below_producer_id, msg.v3_and_below_producer_epoch)
            out += write_uvarint(n)
        for v3_and_below_topics_item in v3_and_below_topics:
            raw = v3_and_below_topics_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            v3_and_below_topics_partitions = v3_and_below_topics_item.partitions
            n = len(v3_and_below_topics_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*v3_and_below_topics_partitions) if len(v3_and_below_topics_partitions) == 1 else pack(f">{len(v3_and_below_topics_partitions)}i", *v3_and_below_topics_partitions)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AddPartitionsToTxnRequest", version) from error


def encode_add_partitions_to_txn_request_v4(msg: AddPartitionsToTxnRequest, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        if msg.v3_and_below_transactional_id:
            raise not_in_version("v3_and_below_transactional_id")
        if msg.v3_and_below_producer_id:
            raise not_in_version("v3_and_below_producer_id")
        if msg.v3_and_below_producer_epoch:
            raise not_in_version("v3_and_below_producer_epoch")
        if msg.v3_and_below_topics:
            raise not_in_version("v3_and_below_topics")
        transactions = msg.transactions
        n = len(transactions) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for transactions_item in transactions:
            raw = transactions_item.transactional_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            transactions_topics = transactions_item.topics
            n = len(transactions_topics) + 1
            if n < 0x80:
                out += pack_qhzB(transactions_item.producer_id, transactions_item.producer_epoch, transactions_item.verify_only, n)
            else:
                out += pack_qhz(transactions_item.producer_id, transactions_item.producer_epoch, transactions_item.verify_only)
                out += write_uvarint(n)
            for transactions_topics_item in transactions_topics:
                raw = transactions_topics_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                transactions_topics_partitions = transactions_topics_item.partitions
                n = len(transactions_topics_partitions) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*transactions_topics_partitions) if len(transactions_topics_partitions) == 1 else pack(f">{len(transactions_topics_partitions)}i", *transactions_topics_partitions)
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AddPartitionsToTxnRequest", version) from error


encode_add_partitions_to_txn_request_v5 = at_version(encode_add_partitions_to_txn_request_v4, 5)


def decode_add_partitions_to_txn_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[AddPartitionsToTxnResponse, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult]
        if n < 0:
            raise BadField("results_by_topic_v3_and_below")
        room -= n * 192
        if room < 0:
            room = verify(AddPartitionsToTxnResponse, version, buf, start, pos + n)
        results_by_topic_v3_and_below = []
        results_by_topic_v3_and_below_count = n
        for _ in range(results_by_topic_v3_and_below_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("results_by_topic_v3_and_below.name")
            if n < 0x80:
                results_by_topic_v3_and_below_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                results_by_topic_v3_and_below_name = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            results_by_topic_v3_and_below_results_by_partition: list[AddPartitionsToTxnPartitionResult]
            if n < 0:
                raise BadField("results_by_topic_v3_and_below.results_by_partition")
            room -= n * 96
            if room < 0:
                room = verify(AddPartitionsToTxnResponse, version, buf, start, pos + n)
            end = pos + n * 6
            results_by_topic_v3_and_below_results_by_partition = list(starmap(AddPartitionsToTxnPartitionResult, rows_ih(buf[pos:end])))
            pos = end
            results_by_topic_v3_and_below.append(AddPartitionsToTxnTopicResult(results_by_topic_v3_and_below_name, results_by_topic_v3_and_below_results_by_partition))
        if pos > len(buf):
            raise IndexError
        return AddPartitionsToTxnResponse(throttle_time_ms, 0, [], results_by_topic_v3_and_below), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AddPartitionsToTxnResponse, version, buf, start, pos) from None


decode_add_partitions_to_txn_response_v1 = at_version(decode_add_partitions_to_txn_response_v0, 1)


decode_add_partitions_to_txn_response_v2 = at_version(decode_add_partitions_to_txn_response_v0, 2)


def decode_add_partitions_to_txn_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[AddPartitionsToTxnResponse, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult]
        if n < 0:
            raise BadField("results_by_topic_v3_and_below")
        room -= n * 204
        if room < 0:
            room = verify(AddPartitionsToTxnResponse, version, buf, start, pos + n)
        results_by_topic_v3_and_below = []
        results_by_topic_v3_and_below_count = n
        for _ in range(results_by_topic_v3_and_below_count):
            n = buf[pos]
            if 0 < n < 0x80:
                results_by_topic_v3_and_below_name = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("results_by_topic_v3_and_below.name")
                n -= 1
                here = pos
                pos = here + n
                results_by_topic_v3_and_below_name = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            results_by_topic_v3_and_below_results_by_partition: list[AddPartitionsToTxnPartitionResult]
            if n < 0:
                raise BadField("results_by_topic_v3_and_below.results_by_partition")
            room -= n * 92
            if room < 0:
                room = verify(AddPartitionsToTxnResponse, version, buf, start, pos + n)
            end = pos + n * 7
            if buf[pos + 6 : end : 7].count(0) == n:
                results_by_topic_v3_and_below_results_by_partition = list(starmap(AddPartitionsToTxnPartitionResult, rows_ihx(buf[pos:end])))
                pos = end
            else:
                results_by_topic_v3_and_below_results_by_partition = []
                results_by_topic_v3_and_below_results_by_partition_count = n
                for _ in range(results_by_topic_v3_and_below_results_by_partition_count):
                    results_by_topic_v3_and_below_results_by_partition_partition_index, results_by_topic_v3_and_below_results_by_partition_partition_error_code, n = unpack_ihB(buf, pos)
                    pos += 7
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    results_by_topic_v3_and_below_results_by_partition.append(AddPartitionsToTxnPartitionResult(results_by_topic_v3_and_below_results_by_partition_partition_index, results_by_topic_v3_and_below_results_by_partition_partition_error_code))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            results_by_topic_v3_and_below.append(AddPartitionsToTxnTopicResult(results_by_topic_v3_and_below_name, results_by_topic_v3_and_below_results_by_partition))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return AddPartitionsToTxnResponse(throttle_time_ms, 0, [], results_by_topic_v3_and_below), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AddPartitionsToTxnResponse, version, buf, start, pos) from None


def decode_add_partitions_to_txn_response_v4(buf: bytes, pos: int, version: int = 4) -> tuple[AddPartitionsToTxnResponse, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        pos += 7
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        results_by_transaction: list[AddPartitionsToTxnResult]
        if n < 0:
            raise BadField("results_by_transaction")
        room -= n * 204
        if room < 0:
            room = verify(AddPartitionsToTxnResponse, version, buf, start, pos + n)
        results_by_transaction = []
        results_by_transaction_count = n
        for _ in range(results_by_transaction_count):
            n = buf[pos]
            if 0 < n < 0x80:
                results_by_transaction_transactional_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("results_by_transaction.transactional_id")
                n -= 1
                here = pos
                pos = here + n
                results_by_transaction_transactional_id = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            results_by_transaction_topic_results: list[AddPartitionsToTxnTopicResult]
            if n < 0:
                raise BadField("results_by_transaction.topic_results")
            room -= n * 204
            if room < 0:
                room = verify(AddPartitionsToTxnResponse, version, buf, start, pos + n)
            results_by_transaction_topic_results = []
            results_by_transaction_topic_results_count = n
            for _ in range(results_by_transaction_topic_results_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    results_by_transaction_topic_results_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("results_by_transaction.topic_results.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    results_by_transaction_topic_results_name = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                results_by_transaction_topic_results_results_by_partition: list[AddPartitionsToTxnPartitionResult]
                if n < 0:
                    raise BadField("results_by_transaction.topic_results.results_by_partition")
                room -= n * 92
                if room < 0:
                    room = verify(AddPartitionsToTxnResponse, version, buf, start, pos + n)
                end = pos + n * 7
                if buf[pos + 6 : end : 7].count(0) == n:
                    results_by_transaction_topic_results_results_by_partition = list(starmap(AddPartitionsToTxnPartitionResult, rows_ihx(buf[pos:end])))
                    pos = end
                else:
                    results_by_transaction_topic_results_results_by_partition = []
                    results_by_transaction_topic_results_results_by_partition_count = n
                    for _ in range(results_by_transaction_topic_results_results_by_partition_count):
                        results_by_transaction_topic_results_results_by_partition_partition_index, results_by_transaction_topic_results_results_by_partition_partition_error_code, n = unpack_ihB(buf, pos)
                        pos += 7
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        results_by_transaction_topic_results_results_by_partition.append(AddPartitionsToTxnPartitionResult(results_by_transaction_topic_results_results_by_partition_partition_index, results_by_transaction_topic_results_results_by_partition_partition_error_code))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                results_by_transaction_topic_results.append(AddPartitionsToTxnTopicResult(results_by_transaction_topic_results_name, results_by_transaction_topic_results_results_by_partition))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            results_by_transaction.append(AddPartitionsToTxnResult(results_by_transaction_transactional_id, results_by_transaction_topic_results))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return AddPartitionsToTxnResponse(throttle_time_ms, error_code, results_by_transaction), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AddPartitionsToTxnResponse, version, buf, start, pos) from None


decode_add_partitions_to_txn_response_v5 = at_version(decode_add_partitions_to_txn_response_v4, 5)


def encode_add_partitions_to_txn_response_v0(msg: AddPartitionsToTxnResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.results_by_transaction:
            raise not_in_version("results_by_transaction")
        results_by_topic_v3_and_below = msg.results_by_topic_v3_and_below
        out += pack_ii(msg.throttle_time_ms, len(results_by_topic_v3_and_below))
        for results_by_topic_v3_and_below_item in results_by_topic_v3_and_below:
            raw = results_by_topic_v3_and_below_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            results_by_topic_v3_and_below_results_by_partition = results_by_topic_v3_and_below_item.results_by_partition
            out += pack_i(len(results_by_topic_v3_and_below_results_by_partition))
            out += b"".join([pack_ih(results_by_topic_v3_and_below_results_by_partition_item.partition_index, results_by_topic_v3_and_below_results_by_partition_item.partition_error_code) for results_by_topic_v3_and_below_results_by_partition_item in results_by_topic_v3_and_below_results_by_partition])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AddPartitionsToTxnResponse", version) from error


encode_add_partitions_to_txn_response_v1 = at_version(encode_add_partitions_to_txn_response_v0, 1)


encode_add_partitions_to_txn_response_v2 = at_version(encode_add_partitions_to_txn_response_v0, 2)


def encode_add_partitions_to_txn_response_v3(msg: AddPartitionsToTxnResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        if msg.results_by_transaction:
            raise not_in_version("results_by_transaction")
        results_by_topic_v3_and_below = msg.results_by_topic_v3_and_below
        n = len(results_by_topic_v3_and_below) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for results_by_topic_v3_and_below_item in results_by_topic_v3_and_below:
            raw = results_by_topic_v3_and_below_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            results_by_topic_v3_and_below_results_by_partition = results_by_topic_v3_and_below_item.results_by_partition
            n = len(results_by_topic_v3_and_below_results_by_partition) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += b"".join([pack_ihx(results_by_topic_v3_and_below_results_by_partition_item.partition_index, results_by_topic_v3_and_below_results_by_partition_item.partition_error_code) for results_by_topic_v3_and_below_results_by_partition_item in results_by_topic_v3_and_below_results_by_partition])
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AddPartitionsToTxnResponse", version) from error


def encode_add_partitions_to_txn_response_v4(msg: AddPartitionsToTxnResponse, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        if msg.results_by_topic_v3_and_below:
            raise not_in_version("results_by_topic_v3_and_below")
        results_by_transaction = msg.results_by_transaction
        n = len(results_by_transaction) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
            out += write_uvarint(n)
        for results_by_transaction_item in results_by_transaction:
            raw = results_by_transaction_item.transactional_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            results_by_transaction_topic_results = results_by_transaction_item.topic_results
            n = len(results_by_transaction_topic_results) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for results_by_transaction_topic_results_item in results_by_transaction_topic_results:
                raw = results_by_transaction_topic_results_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                results_by_transaction_topic_results_results_by_partition = results_by_transaction_topic_results_item.results_by_partition
                n = len(results_by_transaction_topic_results_results_by_partition) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += b"".join([pack_ihx(results_by_transaction_topic_results_results_by_partition_item.partition_index, results_by_transaction_topic_results_results_by_partition_item.partition_error_code) for results_by_transaction_topic_results_results_by_partition_item in results_by_transaction_topic_results_results_by_partition])
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AddPartitionsToTxnResponse", version) from error


encode_add_partitions_to_txn_response_v5 = at_version(encode_add_partitions_to_txn_response_v4, 5)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    AddPartitionsToTxnRequest: {
        0: decode_add_partitions_to_txn_request_v0,
        1: decode_add_partitions_to_txn_request_v1,
        2: decode_add_partitions_to_txn_request_v2,
        3: decode_add_partitions_to_txn_request_v3,
        4: decode_add_partitions_to_txn_request_v4,
        5: decode_add_partitions_to_txn_request_v5,
    },
    AddPartitionsToTxnResponse: {
        0: decode_add_partitions_to_txn_response_v0,
        1: decode_add_partitions_to_txn_response_v1,
        2: decode_add_partitions_to_txn_response_v2,
        3: decode_add_partitions_to_txn_response_v3,
        4: decode_add_partitions_to_txn_response_v4,
        5: decode_add_partitions_to_txn_response_v5,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    AddPartitionsToTxnRequest: {
        0: encode_add_partitions_to_txn_request_v0,
        1: encode_add_partitions_to_txn_request_v1,
        2: encode_add_partitions_to_txn_request_v2,
        3: encode_add_partitions_to_txn_request_v3,
        4: encode_add_partitions_to_txn_request_v4,
        5: encode_add_partitions_to_txn_request_v5,
    },
    AddPartitionsToTxnResponse: {
        0: encode_add_partitions_to_txn_response_v0,
        1: encode_add_partitions_to_txn_response_v1,
        2: encode_add_partitions_to_txn_response_v2,
        3: encode_add_partitions_to_txn_response_v3,
        4: encode_add_partitions_to_txn_response_v4,
        5: encode_add_partitions_to_txn_response_v5,
    },
}
