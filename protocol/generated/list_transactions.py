"""Codecs of protocol/messages/list_transactions.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_ihB, unpack_qB
from protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse, TransactionState
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
from protocol.runs import Field, Shape, alike
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

SHAPE_1 = Shape("x", 1, Field("", 0, 1, False, ""), Field("q", 8, 1, False, ""))
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_q = Struct(">q").pack
pack_qB = Struct(">qB").pack
pack_qx = Struct(">qx").pack


def decode_list_transactions_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ListTransactionsRequest, int]:
    start = pos
    n: int
    try:
        room = 45792 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        state_filters: list[str]
        if n < 0:
            raise BadField("state_filters")
        room -= n * 100
        if room < 0:
            room, limit = verify(ListTransactionsRequest, version, buf, start, pos + n, limit - n * 100), 0
        state_filters = []
        state_filters_count = n
        for _ in range(state_filters_count):
            n = buf[pos]
            if 0 < n < 0x80:
                state_filters_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("state_filters.item")
                n -= 1
                here = pos
                pos = here + n
                state_filters_item = long_text(buf, here, pos)
            state_filters.append(state_filters_item)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        producer_id_filters: list[int]
        if n < 0:
            raise BadField("producer_id_filters")
        room -= n * 32
        if room < 0:
            room, limit = verify(ListTransactionsRequest, version, buf, start, pos + n, limit - n * 32), 0
        producer_id_filters = list(unpack_from(f">{n}q", buf, pos))
        pos += n * 8
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListTransactionsRequest(state_filters, producer_id_filters), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListTransactionsRequest, version, buf, start, pos) from None


def decode_list_transactions_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ListTransactionsRequest, int]:
    start = pos
    n: int
    try:
        room = 45744 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        state_filters: list[str]
        if n < 0:
            raise BadField("state_filters")
        room -= n * 100
        if room < 0:
            room, limit = verify(ListTransactionsRequest, version, buf, start, pos + n, limit - n * 100), 0
        state_filters = []
        state_filters_count = n
        for _ in range(state_filters_count):
            n = buf[pos]
            if 0 < n < 0x80:
                state_filters_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("state_filters.item")
                n -= 1
                here = pos
                pos = here + n
                state_filters_item = long_text(buf, here, pos)
            state_filters.append(state_filters_item)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        producer_id_filters: list[int]
        if n < 0:
            raise BadField("producer_id_filters")
        room -= n * 32
        if room < 0:
            room, limit = verify(ListTransactionsRequest, version, buf, start, pos + n, limit - n * 32), 0
        producer_id_filters = list(unpack_from(f">{n}q", buf, pos))
        pos += n * 8
        duration_filter, n = unpack_qB(buf, pos)
        pos += 9
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListTransactionsRequest(state_filters, producer_id_filters, duration_filter), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListTransactionsRequest, version, buf, start, pos) from None


def decode_list_transactions_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[ListTransactionsRequest, int]:
    start = pos
    n: int
    try:
        room = 45664 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        state_filters: list[str]
        if n < 0:
            raise BadField("state_filters")
        room -= n * 100
        if room < 0:
            room, limit = verify(ListTransactionsRequest, version, buf, start, pos + n, limit - n * 100), 0
        state_filters = []
        state_filters_count = n
        for _ in range(state_filters_count):
            n = buf[pos]
            if 0 < n < 0x80:
                state_filters_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("state_filters.item")
                n -= 1
                here = pos
                pos = here + n
                state_filters_item = long_text(buf, here, pos)
            state_filters.append(state_filters_item)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        producer_id_filters: list[int]
        if n < 0:
            raise BadField("producer_id_filters")
        room -= n * 32
        if room < 0:
            room, limit = verify(ListTransactionsRequest, version, buf, start, pos + n, limit - n * 32), 0
        producer_id_filters = list(unpack_from(f">{n}q", buf, pos))
        pos += n * 8
        transactional_id_pattern: str | None
        duration_filter, n = unpack_qB(buf, pos)
        if not n:
            transactional_id_pattern = None
            pos += 9
        elif n == 1:
            transactional_id_pattern = ""
            pos += 9
        elif n < 0x80:
            transactional_id_pattern = buf[pos + 9 : (pos := pos + 8 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 8)
            if n:
                n -= 1
                here = pos
                pos = here + n
                transactional_id_pattern = long_text(buf, here, pos)
            else:
                transactional_id_pattern = None
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListTransactionsRequest(state_filters, producer_id_filters, duration_filter, transactional_id_pattern), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListTransactionsRequest, version, buf, start, pos) from None


def encode_list_transactions_request_v0(msg: ListTransactionsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.duration_filter != -1:
            raise not_in_version("duration_filter")
        if msg.transactional_id_pattern is not None:
            raise not_in_version("transactional_id_pattern")
        state_filters = msg.state_filters
        n = len(state_filters) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for state_filters_item in state_filters:
            raw = state_filters_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        producer_id_filters = msg.producer_id_filters
        n = len(producer_id_filters) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_q(*producer_id_filters) if len(producer_id_filters) == 1 else pack(f">{len(producer_id_filters)}q", *producer_id_filters)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListTransactionsRequest", version) from error


def encode_list_transactions_request_v1(msg: ListTransactionsRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.transactional_id_pattern is not None:
            raise not_in_version("transactional_id_pattern")
        state_filters = msg.state_filters
        n = len(state_filters) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for state_filters_item in state_filters:
            raw = state_filters_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        producer_id_filters = msg.producer_id_filters
        n = len(producer_id_filters) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_q(*producer_id_filters) if len(producer_id_filters) == 1 else pack(f">{len(producer_id_filters)}q", *producer_id_filters)
        out += pack_qx(msg.duration_filter)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListTransactionsRequest", version) from error


def encode_list_transactions_request_v2(msg: ListTransactionsRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        state_filters = msg.state_filters
        n = len(state_filters) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for state_filters_item in state_filters:
            raw = state_filters_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        producer_id_filters = msg.producer_id_filters
        n = len(producer_id_filters) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_q(*producer_id_filters) if len(producer_id_filters) == 1 else pack(f">{len(producer_id_filters)}q", *producer_id_filters)
        text = msg.transactional_id_pattern
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out += pack_qB(msg.duration_filter, n)
        else:
            out += pack_q(msg.duration_filter)
            out += write_string_size(n)
        out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListTransactionsRequest", version) from error


def decode_list_transactions_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ListTransactionsResponse, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        pos += 7
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        unknown_state_filters: list[str]
        if n < 0:
            raise BadField("unknown_state_filters")
        room -= n * 100
        if room < 0:
            room = verify(ListTransactionsResponse, version, buf, start, pos + n)
        unknown_state_filters = []
        unknown_state_filters_count = n
        for _ in range(unknown_state_filters_count):
            n = buf[pos]
            if 0 < n < 0x80:
                unknown_state_filters_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("unknown_state_filters.item")
                n -= 1
                here = pos
                pos = here + n
                unknown_state_filters_item = long_text(buf, here, pos)
            unknown_state_filters.append(unknown_state_filters_item)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        transaction_states: list[TransactionState]
        if n < 0:
            raise BadField("transaction_states")
        room -= n * 220
        if room < 0:
            room = verify(ListTransactionsResponse, version, buf, start, pos + n)
        transaction_states = []
        transaction_states_left, transaction_states_step = n, 8
        while transaction_states_left:
            transaction_states_count = transaction_states_left
            if transaction_states_left >= 8:
                run = alike(SHAPE_1, buf, pos, transaction_states_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    transaction_states_left -= n
                    transaction_states += [TransactionState(transactional_id.decode(), producer_id, transaction_state.decode()) for transactional_id, producer_id, transaction_state in rows]
                    continue
                if transaction_states_step < transaction_states_left:
                    transaction_states_count = transaction_states_step
                transaction_states_step *= 2
            transaction_states_left -= transaction_states_count
            for _ in range(transaction_states_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    transaction_states_transactional_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("transaction_states.transactional_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    transaction_states_transactional_id = long_text(buf, here, pos)
                transaction_states_producer_id, n = unpack_qB(buf, pos)
                if 0 < n < 0x80:
                    transaction_states_transaction_state = buf[pos + 9 : (pos := pos + 8 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 8)
                    if n == 0:
                        raise BadField("transaction_states.transaction_state")
                    n -= 1
                    here = pos
                    pos = here + n
                    transaction_states_transaction_state = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                transaction_states.append(TransactionState(transaction_states_transactional_id, transaction_states_producer_id, transaction_states_transaction_state))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListTransactionsResponse(throttle_time_ms, error_code, unknown_state_filters, transaction_states), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListTransactionsResponse, version, buf, start, pos) from None


decode_list_transactions_response_v1 = at_version(decode_list_transactions_response_v0, 1)


decode_list_transactions_response_v2 = at_version(decode_list_transactions_response_v0, 2)


def encode_list_transactions_response_v0(msg: ListTransactionsResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        unknown_state_filters = msg.unknown_state_filters
        n = len(unknown_state_filters) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
            out += write_uvarint(n)
        for unknown_state_filters_item in unknown_state_filters:
            raw = unknown_state_filters_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        transaction_states = msg.transaction_states
        n = len(transaction_states) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for transaction_states_item in transaction_states:
            raw = transaction_states_item.transactional_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = transaction_states_item.transaction_state.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_qB(transaction_states_item.producer_id, n)
            else:
                out += pack_q(transaction_states_item.producer_id)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListTransactionsResponse", version) from error


encode_list_transactions_response_v1 = at_version(encode_list_transactions_response_v0, 1)


encode_list_transactions_response_v2 = at_version(encode_list_transactions_response_v0, 2)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ListTransactionsRequest: {
        0: decode_list_transactions_request_v0,
        1: decode_list_transactions_request_v1,
        2: decode_list_transactions_request_v2,
    },
    ListTransactionsResponse: {
        0: decode_list_transactions_response_v0,
        1: decode_list_transactions_response_v1,
        2: decode_list_transactions_response_v2,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ListTransactionsRequest: {
        0: encode_list_transactions_request_v0,
        1: encode_list_transactions_request_v1,
        2: encode_list_transactions_request_v2,
    },
    ListTransactionsResponse: {
        0: encode_list_transactions_response_v0,
        1: encode_list_transactions_response_v1,
        2: encode_list_transactions_response_v2,
    },
}
