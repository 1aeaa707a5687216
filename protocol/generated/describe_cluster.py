"""Codecs of protocol/messages/describe_cluster.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_bB, unpack_iB, unpack_ihB, unpack_zB, unpack_zbB, unpack_zbzB
from protocol.messages.describe_cluster import DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
from protocol.runs import Field, Shape, alike
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

SHAPE_1 = Shape("x", 1, Field("i", 4, 1, False, ""), Field("i", 4, 1, True, ""))
SHAPE_2 = Shape("?x", 2, Field("i", 4, 1, False, ""), Field("i", 4, 1, True, ""))
pack_zbzx = Struct(">?b?x").pack
pack_zbx = Struct(">?bx").pack
pack_zx = Struct(">?x").pack
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ix = Struct(">ix").pack


def decode_describe_cluster_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeClusterRequest, int]:
    start = pos
    n: int
    try:
        include_cluster_authorized_operations, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeClusterRequest(include_cluster_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeClusterRequest, version, buf, start, pos) from None


def decode_describe_cluster_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DescribeClusterRequest, int]:
    start = pos
    n: int
    try:
        include_cluster_authorized_operations, endpoint_type, n = unpack_zbB(buf, pos)
        pos += 3
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeClusterRequest(include_cluster_authorized_operations, endpoint_type), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeClusterRequest, version, buf, start, pos) from None


def decode_describe_cluster_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[DescribeClusterRequest, int]:
    start = pos
    n: int
    try:
        include_cluster_authorized_operations, endpoint_type, include_fenced_brokers, n = unpack_zbzB(buf, pos)
        pos += 4
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeClusterRequest(include_cluster_authorized_operations, endpoint_type, include_fenced_brokers), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeClusterRequest, version, buf, start, pos) from None


def encode_describe_cluster_request_v0(msg: DescribeClusterRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.endpoint_type != 1:
            raise not_in_version("endpoint_type")
        if msg.include_fenced_brokers:
            raise not_in_version("include_fenced_brokers")
        out += pack_zx(msg.include_cluster_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeClusterRequest", version) from error


def encode_describe_cluster_request_v1(msg: DescribeClusterRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.include_fenced_brokers:
            raise not_in_version("include_fenced_brokers")
        out += pack_zbx(msg.include_cluster_authorized_operations, msg.endpoint_type)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeClusterRequest", version) from error


def encode_describe_cluster_request_v2(msg: DescribeClusterRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        out += pack_zbzx(msg.include_cluster_authorized_operations, msg.endpoint_type, msg.include_fenced_brokers)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeClusterRequest", version) from error


def decode_describe_cluster_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeClusterResponse, int]:
    start = pos
    n: int
    try:
        room = 45552 - 2 * len(buf)
        error_message: str | None
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        if not n:
            error_message = None
            pos += 7
        elif n == 1:
            error_message = ""
            pos += 7
        elif n < 0x80:
            error_message = buf[pos + 7 : (pos := pos + 6 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 6)
            if n:
                n -= 1
                here = pos
                pos = here + n
                error_message = long_text(buf, here, pos)
            else:
                error_message = None
        n = buf[pos]
        if 0 < n < 0x80:
            cluster_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("cluster_id")
            n -= 1
            here = pos
            pos = here + n
            cluster_id = long_text(buf, here, pos)
        controller_id, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        brokers: list[DescribeClusterBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 268
        if room < 0:
            room = verify(DescribeClusterResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_1, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [DescribeClusterBroker(broker_id, host.decode(), port, rack.decode() if rack else absent[1]) for broker_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_broker_id, n = unpack_iB(buf, pos)
                if 0 < n < 0x80:
                    brokers_host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n == 0:
                        raise BadField("brokers.host")
                    n -= 1
                    here = pos
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_iB(buf, pos)
                if not n:
                    brokers_rack = None
                    pos += 5
                elif n == 1:
                    brokers_rack = ""
                    pos += 5
                elif n < 0x80:
                    brokers_rack = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        brokers_rack = long_text(buf, here, pos)
                    else:
                        brokers_rack = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                brokers.append(DescribeClusterBroker(brokers_broker_id, brokers_host, brokers_port, brokers_rack))
        cluster_authorized_operations, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeClusterResponse(throttle_time_ms, error_code, error_message, 1, cluster_id, controller_id, brokers, cluster_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeClusterResponse, version, buf, start, pos) from None


def decode_describe_cluster_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DescribeClusterResponse, int]:
    start = pos
    n: int
    try:
        room = 45520 - 2 * len(buf)
        error_message: str | None
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        if not n:
            error_message = None
            pos += 7
        elif n == 1:
            error_message = ""
            pos += 7
        elif n < 0x80:
            error_message = buf[pos + 7 : (pos := pos + 6 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 6)
            if n:
                n -= 1
                here = pos
                pos = here + n
                error_message = long_text(buf, here, pos)
            else:
                error_message = None
        endpoint_type, n = unpack_bB(buf, pos)
        if 0 < n < 0x80:
            cluster_id = buf[pos + 2 : (pos := pos + 1 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 1)
            if n == 0:
                raise BadField("cluster_id")
            n -= 1
            here = pos
            pos = here + n
            cluster_id = long_text(buf, here, pos)
        controller_id, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        brokers: list[DescribeClusterBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 268
        if room < 0:
            room = verify(DescribeClusterResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_1, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [DescribeClusterBroker(broker_id, host.decode(), port, rack.decode() if rack else absent[1]) for broker_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_broker_id, n = unpack_iB(buf, pos)
                if 0 < n < 0x80:
                    brokers_host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n == 0:
                        raise BadField("brokers.host")
                    n -= 1
                    here = pos
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_iB(buf, pos)
                if not n:
                    brokers_rack = None
                    pos += 5
                elif n == 1:
                    brokers_rack = ""
                    pos += 5
                elif n < 0x80:
                    brokers_rack = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        brokers_rack = long_text(buf, here, pos)
                    else:
                        brokers_rack = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                brokers.append(DescribeClusterBroker(brokers_broker_id, brokers_host, brokers_port, brokers_rack))
        cluster_authorized_operations, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeClusterResponse(throttle_time_ms, error_code, error_message, endpoint_type, cluster_id, controller_id, brokers, cluster_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeClusterResponse, version, buf, start, pos) from None


def decode_describe_cluster_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[DescribeClusterResponse, int]:
    start = pos
    n: int
    try:
        room = 45520 - 2 * len(buf)
        error_message: str | None
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        if not n:
            error_message = None
            pos += 7
        elif n == 1:
            error_message = ""
            pos += 7
        elif n < 0x80:
            error_message = buf[pos + 7 : (pos := pos + 6 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 6)
            if n:
                n -= 1
                here = pos
                pos = here + n
                error_message = long_text(buf, here, pos)
            else:
                error_message = None
        endpoint_type, n = unpack_bB(buf, pos)
        if 0 < n < 0x80:
            cluster_id = buf[pos + 2 : (pos := pos + 1 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 1)
            if n == 0:
                raise BadField("cluster_id")
            n -= 1
            here = pos
            pos = here + n
            cluster_id = long_text(buf, here, pos)
        controller_id, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        brokers: list[DescribeClusterBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 264
        if room < 0:
            room = verify(DescribeClusterResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_2, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [DescribeClusterBroker(broker_id, host.decode(), port, rack.decode() if rack else absent[1], is_fenced) for broker_id, host, port, rack, is_fenced in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_broker_id, n = unpack_iB(buf, pos)
                if 0 < n < 0x80:
                    brokers_host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n == 0:
                        raise BadField("brokers.host")
                    n -= 1
                    here = pos
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_iB(buf, pos)
                if not n:
                    brokers_rack = None
                    pos += 5
                elif n == 1:
                    brokers_rack = ""
                    pos += 5
                elif n < 0x80:
                    brokers_rack = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        brokers_rack = long_text(buf, here, pos)
                    else:
                        brokers_rack = None
                brokers_is_fenced, n = unpack_zB(buf, pos)
                pos += 2
                if n:
                    pos = skip_tags(buf, pos - 1)
                brokers.append(DescribeClusterBroker(brokers_broker_id, brokers_host, brokers_port, brokers_rack, brokers_is_fenced))
        cluster_authorized_operations, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeClusterResponse(throttle_time_ms, error_code, error_message, endpoint_type, cluster_id, controller_id, brokers, cluster_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeClusterResponse, version, buf, start, pos) from None


def encode_describe_cluster_response_v0(msg: DescribeClusterResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.endpoint_type != 1:
            raise not_in_version("endpoint_type")
        text = msg.error_message
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
            out += write_string_size(n)
        out += raw
        raw = msg.cluster_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        brokers = msg.brokers
        n = len(brokers) + 1
        if n < 0x80:
            out += pack_iB(msg.controller_id, n)
        else:
            out += pack_i(msg.controller_id)
            out += write_uvarint(n)
        for brokers_item in brokers:
            if brokers_item.is_fenced:
                raise not_in_version("brokers.is_fenced")
            raw = brokers_item.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.broker_id, n)
            else:
                out += pack_i(brokers_item.broker_id)
                out += write_string_size(n)
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.port, n)
            else:
                out += pack_i(brokers_item.port)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out += pack_ix(msg.cluster_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeClusterResponse", version) from error


def encode_describe_cluster_response_v1(msg: DescribeClusterResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        text = msg.error_message
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
            out += write_string_size(n)
        out += raw
        raw = msg.cluster_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out += pack_bB(msg.endpoint_type, n)
        else:
            out += pack_b(msg.endpoint_type)
            out += write_string_size(n)
        out += raw
        brokers = msg.brokers
        n = len(brokers) + 1
        if n < 0x80:
            out += pack_iB(msg.controller_id, n)
        else:
            out += pack_i(msg.controller_id)
            out += write_uvarint(n)
        for brokers_item in brokers:
            if brokers_item.is_fenced:
                raise not_in_version("brokers.is_fenced")
            raw = brokers_item.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.broker_id, n)
            else:
                out += pack_i(brokers_item.broker_id)
                out += write_string_size(n)
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.port, n)
            else:
                out += pack_i(brokers_item.port)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out += pack_ix(msg.cluster_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeClusterResponse", version) from error


def encode_describe_cluster_response_v2(msg: DescribeClusterResponse, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        text = msg.error_message
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
            out += write_string_size(n)
        out += raw
        raw = msg.cluster_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out += pack_bB(msg.endpoint_type, n)
        else:
            out += pack_b(msg.endpoint_type)
            out += write_string_size(n)
        out += raw
        brokers = msg.brokers
        n = len(brokers) + 1
        if n < 0x80:
            out += pack_iB(msg.controller_id, n)
        else:
            out += pack_i(msg.controller_id)
            out += write_uvarint(n)
        for brokers_item in brokers:
            raw = brokers_item.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.broker_id, n)
            else:
                out += pack_i(brokers_item.broker_id)
                out += write_string_size(n)
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.port, n)
            else:
                out += pack_i(brokers_item.port)
                out += write_string_size(n)
            out += raw
            out += pack_zx(brokers_item.is_fenced)
        out += pack_ix(msg.cluster_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeClusterResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DescribeClusterRequest: {
        0: decode_describe_cluster_request_v0,
        1: decode_describe_cluster_request_v1,
        2: decode_describe_cluster_request_v2,
    },
    DescribeClusterResponse: {
        0: decode_describe_cluster_response_v0,
        1: decode_describe_cluster_response_v1,
        2: decode_describe_cluster_response_v2,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DescribeClusterRequest: {
        0: encode_describe_cluster_request_v0,
        1: encode_describe_cluster_request_v1,
        2: encode_describe_cluster_request_v2,
    },
    DescribeClusterResponse: {
        0: encode_describe_cluster_response_v0,
        1: encode_describe_cluster_response_v1,
        2: encode_describe_cluster_response_v2,
    },
}
