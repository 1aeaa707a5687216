"""Codecs of protocol/messages/create_acls.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import (
    unpack_bB,
    unpack_bb,
    unpack_bbB,
    unpack_bh,
    unpack_h,
    unpack_hB,
    unpack_hh,
    unpack_i,
    unpack_iB,
    unpack_ii,
)
from protocol.messages.create_acls import AclCreation, AclCreationResult, CreateAclsRequest, CreateAclsResponse
from protocol.refusal import BadField, decode_failure, encode_failure, verify
from protocol.runs import RUNS_OF_TEXT, Field, Shape, alike
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

SHAPE_1 = Shape("bb", 2, Field("b", 1, 2, False, ""), Field("b", 1, 2, False, ""), Field("", 0, 2, False, ""))
SHAPE_2 = Shape("bbx", 3, Field("b", 1, 1, False, ""), Field("b", 1, 1, False, ""), Field("", 0, 1, False, ""))
SHAPE_3 = Shape("", 0, Field("h", 2, 2, True, ""))
SHAPE_4 = Shape("x", 1, Field("h", 2, 1, True, ""))
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_bb = Struct(">bb").pack
pack_bbx = Struct(">bbx").pack
pack_bh = Struct(">bh").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hBx = Struct(">hBx").pack
pack_hh = Struct(">hh").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack


def decode_create_acls_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[CreateAclsRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        creations: list[AclCreation]
        if n < 0:
            raise BadField("creations")
        room -= n * 432
        if room < 0:
            room, limit = verify(CreateAclsRequest, version, buf, start, pos + n, limit - n * 432), 0
        creations = []
        creations_left, creations_step = n, 8
        while creations_left:
            creations_count = creations_left
            if creations_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, creations_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    creations_left -= n
                    creations += [AclCreation(resource_type, resource_name.decode(), resource_pattern_type, principal.decode(), host.decode(), operation, permission_type) for resource_type, resource_name, resource_pattern_type, principal, host, operation, permission_type in rows]
                    continue
                if creations_step < creations_left:
                    creations_count = creations_step
                creations_step *= 2
            creations_left -= creations_count
            for _ in range(creations_count):
                creations_resource_type, n = unpack_bh(buf, pos)
                if n < 0:
                    raise BadField("creations.resource_name")
                if n < 0x80:
                    creations_resource_name = buf[pos + 3 : (pos := pos + 3 + n)].decode()
                else:
                    here = pos + 3
                    pos = here + n
                    creations_resource_name = long_text(buf, here, pos)
                creations_resource_pattern_type, n = unpack_bh(buf, pos)
                if n < 0:
                    raise BadField("creations.principal")
                if n < 0x80:
                    creations_principal = buf[pos + 3 : (pos := pos + 3 + n)].decode()
                else:
                    here = pos + 3
                    pos = here + n
                    creations_principal = long_text(buf, here, pos)
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("creations.host")
                if n < 0x80:
                    creations_host = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    creations_host = long_text(buf, here, pos)
                creations_operation, creations_permission_type = unpack_bb(buf, pos)
                pos += 2
                creations.append(AclCreation(creations_resource_type, creations_resource_name, creations_resource_pattern_type, creations_principal, creations_host, creations_operation, creations_permission_type))
        if pos > len(buf):
            raise IndexError
        return CreateAclsRequest(creations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreateAclsRequest, version, buf, start, pos) from None


def decode_create_acls_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[CreateAclsRequest, int]:
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
        creations: list[AclCreation]
        if n < 0:
            raise BadField("creations")
        room -= n * 440
        if room < 0:
            room, limit = verify(CreateAclsRequest, version, buf, start, pos + n, limit - n * 440), 0
        creations = []
        creations_left, creations_step = n, 8
        while creations_left:
            creations_count = creations_left
            if creations_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_2, buf, pos, creations_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    creations_left -= n
                    creations += [AclCreation(resource_type, resource_name.decode(), resource_pattern_type, principal.decode(), host.decode(), operation, permission_type) for resource_type, resource_name, resource_pattern_type, principal, host, operation, permission_type in rows]
                    continue
                if creations_step < creations_left:
                    creations_count = creations_step
                creations_step *= 2
            creations_left -= creations_count
            for _ in range(creations_count):
                creations_resource_type, n = unpack_bB(buf, pos)
                if 0 < n < 0x80:
                    creations_resource_name = buf[pos + 2 : (pos := pos + 1 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 1)
                    if n == 0:
                        raise BadField("creations.resource_name")
                    n -= 1
                    here = pos
                    pos = here + n
                    creations_resource_name = long_text(buf, here, pos)
                creations_resource_pattern_type, n = unpack_bB(buf, pos)
                if 0 < n < 0x80:
                    creations_principal = buf[pos + 2 : (pos := pos + 1 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 1)
                    if n == 0:
                        raise BadField("creations.principal")
                    n -= 1
                    here = pos
                    pos = here + n
                    creations_principal = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    creations_host = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("creations.host")
                    n -= 1
                    here = pos
                    pos = here + n
                    creations_host = long_text(buf, here, pos)
                creations_operation, creations_permission_type, n = unpack_bbB(buf, pos)
                pos += 3
                if n:
                    pos = skip_tags(buf, pos - 1)
                creations.append(AclCreation(creations_resource_type, creations_resource_name, creations_resource_pattern_type, creations_principal, creations_host, creations_operation, creations_permission_type))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return CreateAclsRequest(creations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreateAclsRequest, version, buf, start, pos) from None


decode_create_acls_request_v3 = at_version(decode_create_acls_request_v2, 3)


def encode_create_acls_request_v1(msg: CreateAclsRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        creations = msg.creations
        out += pack_i(len(creations))
        for creations_item in creations:
            raw = creations_item.resource_name.encode()
            out += pack_bh(creations_item.resource_type, len(raw))
            out += raw
            raw = creations_item.principal.encode()
            out += pack_bh(creations_item.resource_pattern_type, len(raw))
            out += raw
            raw = creations_item.host.encode()
            out += pack_h(len(raw))
            out += raw
            out += pack_bb(creations_item.operation, creations_item.permission_type)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreateAclsRequest", version) from error


def encode_create_acls_request_v2(msg: CreateAclsRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        creations = msg.creations
        n = len(creations) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for creations_item in creations:
            raw = creations_item.resource_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_bB(creations_item.resource_type, n)
            else:
                out += pack_b(creations_item.resource_type)
                out += write_string_size(n)
            out += raw
            raw = creations_item.principal.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_bB(creations_item.resource_pattern_type, n)
            else:
                out += pack_b(creations_item.resource_pattern_type)
                out += write_string_size(n)
            out += raw
            raw = creations_item.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            out += pack_bbx(creations_item.operation, creations_item.permission_type)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreateAclsRequest", version) from error


encode_create_acls_request_v3 = at_version(encode_create_acls_request_v2, 3)


def decode_create_acls_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[CreateAclsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        results: list[AclCreationResult]
        if n < 0:
            raise BadField("results")
        room -= n * 152
        if room < 0:
            room = verify(CreateAclsResponse, version, buf, start, pos + n)
        results = []
        results_left, results_step = n, 8
        while results_left:
            results_count = results_left
            if results_left >= 8:
                run = alike(SHAPE_3, buf, pos, results_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    results_left -= n
                    if is_same and absent == "":
                        results += starmap(AclCreationResult, rows)
                        continue
                    if is_same:
                        results += [AclCreationResult(error_code, absent) for error_code, in rows]
                    else:
                        results += [AclCreationResult(error_code, error_message.decode()) for error_code, error_message in rows]
                    continue
                if results_step < results_left:
                    results_count = results_step
                results_step *= 2
            results_left -= results_count
            for _ in range(results_count):
                results_error_message: str | None
                results_error_code, n = unpack_hh(buf, pos)
                if n < 0:
                    results_error_message = None
                    pos += 4
                elif n < 0x80:
                    results_error_message = buf[pos + 4 : (pos := pos + 4 + n)].decode()
                else:
                    here = pos + 4
                    pos = here + n
                    results_error_message = long_text(buf, here, pos)
                results.append(AclCreationResult(results_error_code, results_error_message))
        if pos > len(buf):
            raise IndexError
        return CreateAclsResponse(throttle_time_ms, results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreateAclsResponse, version, buf, start, pos) from None


def decode_create_acls_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[CreateAclsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        results: list[AclCreationResult]
        if n < 0:
            raise BadField("results")
        room -= n * 152
        if room < 0:
            room = verify(CreateAclsResponse, version, buf, start, pos + n)
        results = []
        results_left, results_step = n, 8
        while results_left:
            results_count = results_left
            if results_left >= 8:
                run = alike(SHAPE_4, buf, pos, results_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    results_left -= n
                    if is_same and absent == "":
                        results += starmap(AclCreationResult, rows)
                        continue
                    if is_same:
                        results += [AclCreationResult(error_code, absent) for error_code, in rows]
                    else:
                        results += [AclCreationResult(error_code, error_message.decode()) for error_code, error_message in rows]
                    continue
                if results_step < results_left:
                    results_count = results_step
                results_step *= 2
            results_left -= results_count
            for _ in range(results_count):
                results_error_message: str | None
                results_error_code, n = unpack_hB(buf, pos)
                if not n:
                    results_error_message = None
                    pos += 3
                elif n == 1:
                    results_error_message = ""
                    pos += 3
                elif n < 0x80:
                    results_error_message = buf[pos + 3 : (pos := pos + 2 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 2)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        results_error_message = long_text(buf, here, pos)
                    else:
                        results_error_message = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                results.append(AclCreationResult(results_error_code, results_error_message))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return CreateAclsResponse(throttle_time_ms, results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreateAclsResponse, version, buf, start, pos) from None


decode_create_acls_response_v3 = at_version(decode_create_acls_response_v2, 3)


def encode_create_acls_response_v1(msg: CreateAclsResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        results = msg.results
        out += pack_ii(msg.throttle_time_ms, len(results))
        for results_item in results:
            text = results_item.error_message
            if not text:
                out += pack_hh(results_item.error_code, -1 if text is None else 0)
                continue
            text = results_item.error_message
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_hh(results_item.error_code, n)
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreateAclsResponse", version) from error


def encode_create_acls_response_v2(msg: CreateAclsResponse, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        results = msg.results
        n = len(results) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for results_item in results:
            text = results_item.error_message
            if not text:
                out += pack_hBx(results_item.error_code, 0 if text is None else 1)
                continue
            text = results_item.error_message
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(results_item.error_code, n)
            else:
                out += pack_h(results_item.error_code)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreateAclsResponse", version) from error


encode_create_acls_response_v3 = at_version(encode_create_acls_response_v2, 3)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    CreateAclsRequest: {
        1: decode_create_acls_request_v1,
        2: decode_create_acls_request_v2,
        3: decode_create_acls_request_v3,
    },
    CreateAclsResponse: {
        1: decode_create_acls_response_v1,
        2: decode_create_acls_response_v2,
        3: decode_create_acls_response_v3,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    CreateAclsRequest: {
        1: encode_create_acls_request_v1,
        2: encode_create_acls_request_v2,
        3: encode_create_acls_request_v3,
    },
    CreateAclsResponse: {
        1: encode_create_acls_response_v1,
        2: encode_create_acls_response_v2,
        3: encode_create_acls_response_v3,
    },
}
