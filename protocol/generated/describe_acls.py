"""Codecs of protocol/messages/describe_acls.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import (
    unpack_bB,
    unpack_bb,
    unpack_bbB,
    unpack_bh,
    unpack_bi,
    unpack_h,
    unpack_i,
    unpack_ihB,
    unpack_ihh,
)
from protocol.messages.describe_acls import AclDescription, DescribeAclsRequest, DescribeAclsResource, DescribeAclsResponse
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

SHAPE_1 = Shape("bb", 2, Field("", 0, 2, False, ""), Field("", 0, 2, False, ""))
SHAPE_2 = Shape("bbx", 3, Field("", 0, 1, False, ""), Field("", 0, 1, False, ""))
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_bb = Struct(">bb").pack
pack_bbx = Struct(">bbx").pack
pack_bh = Struct(">bh").pack
pack_bi = Struct(">bi").pack
pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ihh = Struct(">ihh").pack


def decode_describe_acls_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DescribeAclsRequest, int]:
    start = pos
    n: int
    try:
        resource_name_filter: str | None
        resource_type_filter, n = unpack_bh(buf, pos)
        if n < 0:
            resource_name_filter = None
            pos += 3
        elif n < 0x80:
            resource_name_filter = buf[pos + 3 : (pos := pos + 3 + n)].decode()
        else:
            here = pos + 3
            pos = here + n
            resource_name_filter = long_text(buf, here, pos)
        principal_filter: str | None
        pattern_type_filter, n = unpack_bh(buf, pos)
        if n < 0:
            principal_filter = None
            pos += 3
        elif n < 0x80:
            principal_filter = buf[pos + 3 : (pos := pos + 3 + n)].decode()
        else:
            here = pos + 3
            pos = here + n
            principal_filter = long_text(buf, here, pos)
        host_filter: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            host_filter = None
            pos += 2
        elif n < 0x80:
            host_filter = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            host_filter = long_text(buf, here, pos)
        operation, permission_type = unpack_bb(buf, pos)
        pos += 2
        return DescribeAclsRequest(resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeAclsRequest, version, buf, start, pos) from None


def decode_describe_acls_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[DescribeAclsRequest, int]:
    start = pos
    n: int
    try:
        resource_name_filter: str | None
        resource_type_filter, n = unpack_bB(buf, pos)
        if not n:
            resource_name_filter = None
            pos += 2
        elif n == 1:
            resource_name_filter = ""
            pos += 2
        elif n < 0x80:
            resource_name_filter = buf[pos + 2 : (pos := pos + 1 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 1)
            if n:
                n -= 1
                here = pos
                pos = here + n
                resource_name_filter = long_text(buf, here, pos)
            else:
                resource_name_filter = None
        principal_filter: str | None
        pattern_type_filter, n = unpack_bB(buf, pos)
        if not n:
            principal_filter = None
            pos += 2
        elif n == 1:
            principal_filter = ""
            pos += 2
        elif n < 0x80:
            principal_filter = buf[pos + 2 : (pos := pos + 1 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 1)
            if n:
                n -= 1
                here = pos
                pos = here + n
                principal_filter = long_text(buf, here, pos)
            else:
                principal_filter = None
        host_filter: str | None
        n = buf[pos]
        if not n:
            host_filter = None
            pos += 1
        elif n == 1:
            host_filter = ""
            pos += 1
        elif n < 0x80:
            host_filter = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                host_filter = long_text(buf, here, pos)
            else:
                host_filter = None
        operation, permission_type, n = unpack_bbB(buf, pos)
        pos += 3
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeAclsRequest(resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeAclsRequest, version, buf, start, pos) from None


decode_describe_acls_request_v3 = at_version(decode_describe_acls_request_v2, 3)


def encode_describe_acls_request_v1(msg: DescribeAclsRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        text = msg.resource_name_filter
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_bh(msg.resource_type_filter, n)
        out += raw
        text = msg.principal_filter
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_bh(msg.pattern_type_filter, n)
        out += raw
        text = msg.host_filter
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        out += pack_bb(msg.operation, msg.permission_type)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeAclsRequest", version) from error


def encode_describe_acls_request_v2(msg: DescribeAclsRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        text = msg.resource_name_filter
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out += pack_bB(msg.resource_type_filter, n)
        else:
            out += pack_b(msg.resource_type_filter)
            out += write_string_size(n)
        out += raw
        text = msg.principal_filter
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out += pack_bB(msg.pattern_type_filter, n)
        else:
            out += pack_b(msg.pattern_type_filter)
            out += write_string_size(n)
        out += raw
        text = msg.host_filter
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        out += pack_bbx(msg.operation, msg.permission_type)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeAclsRequest", version) from error


encode_describe_acls_request_v3 = at_version(encode_describe_acls_request_v2, 3)


def decode_describe_acls_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DescribeAclsResponse, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
        error_message: str | None
        throttle_time_ms, error_code, n = unpack_ihh(buf, pos)
        if n < 0:
            error_message = None
            pos += 8
        elif n < 0x80:
            error_message = buf[pos + 8 : (pos := pos + 8 + n)].decode()
        else:
            here = pos + 8
            pos = here + n
            error_message = long_text(buf, here, pos)
        (n,) = unpack_i(buf, pos)
        pos += 4
        resources: list[DescribeAclsResource]
        if n < 0:
            raise BadField("resources")
        room -= n * 264
        if room < 0:
            room = verify(DescribeAclsResponse, version, buf, start, pos + n)
        resources = []
        resources_count = n
        for _ in range(resources_count):
            resources_resource_type, n = unpack_bh(buf, pos)
            if n < 0:
                raise BadField("resources.resource_name")
            if n < 0x80:
                resources_resource_name = buf[pos + 3 : (pos := pos + 3 + n)].decode()
            else:
                here = pos + 3
                pos = here + n
                resources_resource_name = long_text(buf, here, pos)
            resources_pattern_type, n = unpack_bi(buf, pos)
            pos += 5
            resources_acls: list[AclDescription]
            if n < 0:
                raise BadField("resources.acls")
            room -= n * 272
            if room < 0:
                room = verify(DescribeAclsResponse, version, buf, start, pos + n)
            resources_acls = []
            resources_acls_left, resources_acls_step = n, 8
            while resources_acls_left:
                resources_acls_count = resources_acls_left
                if resources_acls_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_1, buf, pos, resources_acls_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        resources_acls_left -= n
                        resources_acls += [AclDescription(principal.decode(), host.decode(), operation, permission_type) for principal, host, operation, permission_type in rows]
                        continue
                    if resources_acls_step < resources_acls_left:
                        resources_acls_count = resources_acls_step
                    resources_acls_step *= 2
                resources_acls_left -= resources_acls_count
                for _ in range(resources_acls_count):
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("resources.acls.principal")
                    if n < 0x80:
                        resources_acls_principal = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        resources_acls_principal = long_text(buf, here, pos)
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("resources.acls.host")
                    if n < 0x80:
                        resources_acls_host = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        resources_acls_host = long_text(buf, here, pos)
                    resources_acls_operation, resources_acls_permission_type = unpack_bb(buf, pos)
                    pos += 2
                    resources_acls.append(AclDescription(resources_acls_principal, resources_acls_host, resources_acls_operation, resources_acls_permission_type))
            resources.append(DescribeAclsResource(resources_resource_type, resources_resource_name, resources_pattern_type, resources_acls))
        if pos > len(buf):
            raise IndexError
        return DescribeAclsResponse(throttle_time_ms, error_code, error_message, resources), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeAclsResponse, version, buf, start, pos) from None


def decode_describe_acls_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[DescribeAclsResponse, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
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
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        resources: list[DescribeAclsResource]
        if n < 0:
            raise BadField("resources")
        room -= n * 276
        if room < 0:
            room = verify(DescribeAclsResponse, version, buf, start, pos + n)
        resources = []
        resources_count = n
        for _ in range(resources_count):
            resources_resource_type, n = unpack_bB(buf, pos)
            if 0 < n < 0x80:
                resources_resource_name = buf[pos + 2 : (pos := pos + 1 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 1)
                if n == 0:
                    raise BadField("resources.resource_name")
                n -= 1
                here = pos
                pos = here + n
                resources_resource_name = long_text(buf, here, pos)
            resources_pattern_type, n = unpack_bB(buf, pos)
            pos += 2
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            resources_acls: list[AclDescription]
            if n < 0:
                raise BadField("resources.acls")
            room -= n * 276
            if room < 0:
                room = verify(DescribeAclsResponse, version, buf, start, pos + n)
            resources_acls = []
            resources_acls_left, resources_acls_step = n, 8
            while resources_acls_left:
                resources_acls_count = resources_acls_left
                if resources_acls_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_2, buf, pos, resources_acls_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        resources_acls_left -= n
                        resources_acls += [AclDescription(principal.decode(), host.decode(), operation, permission_type) for principal, host, operation, permission_type in rows]
                        continue
                    if resources_acls_step < resources_acls_left:
                        resources_acls_count = resources_acls_step
                    resources_acls_step *= 2
                resources_acls_left -= resources_acls_count
                for _ in range(resources_acls_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        resources_acls_principal = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("resources.acls.principal")
                        n -= 1
                        here = pos
                        pos = here + n
                        resources_acls_principal = long_text(buf, here, pos)
                    n = buf[pos]
                    if 0 < n < 0x80:
                        resources_acls_host = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("resources.acls.host")
                        n -= 1
                        here = pos
                        pos = here + n
                        resources_acls_host = long_text(buf, here, pos)
                    resources_acls_operation, resources_acls_permission_type, n = unpack_bbB(buf, pos)
                    pos += 3
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    resources_acls.append(AclDescription(resources_acls_principal, resources_acls_host, resources_acls_operation, resources_acls_permission_type))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            resources.append(DescribeAclsResource(resources_resource_type, resources_resource_name, resources_pattern_type, resources_acls))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeAclsResponse(throttle_time_ms, error_code, error_message, resources), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeAclsResponse, version, buf, start, pos) from None


decode_describe_acls_response_v3 = at_version(decode_describe_acls_response_v2, 3)


def encode_describe_acls_response_v1(msg: DescribeAclsResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        text = msg.error_message
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_ihh(msg.throttle_time_ms, msg.error_code, n)
        out += raw
        resources = msg.resources
        out += pack_i(len(resources))
        for resources_item in resources:
            raw = resources_item.resource_name.encode()
            out += pack_bh(resources_item.resource_type, len(raw))
            out += raw
            resources_acls = resources_item.acls
            out += pack_bi(resources_item.pattern_type, len(resources_acls))
            for resources_acls_item in resources_acls:
                raw = resources_acls_item.principal.encode()
                out += pack_h(len(raw))
                out += raw
                raw = resources_acls_item.host.encode()
                out += pack_h(len(raw))
                out += raw
                out += pack_bb(resources_acls_item.operation, resources_acls_item.permission_type)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeAclsResponse", version) from error


def encode_describe_acls_response_v2(msg: DescribeAclsResponse, out: bytearray, version: int = 2) -> None:
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
        resources = msg.resources
        n = len(resources) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for resources_item in resources:
            raw = resources_item.resource_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_bB(resources_item.resource_type, n)
            else:
                out += pack_b(resources_item.resource_type)
                out += write_string_size(n)
            out += raw
            resources_acls = resources_item.acls
            n = len(resources_acls) + 1
            if n < 0x80:
                out += pack_bB(resources_item.pattern_type, n)
            else:
                out += pack_b(resources_item.pattern_type)
                out += write_uvarint(n)
            for resources_acls_item in resources_acls:
                raw = resources_acls_item.principal.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                raw = resources_acls_item.host.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                out += pack_bbx(resources_acls_item.operation, resources_acls_item.permission_type)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeAclsResponse", version) from error


encode_describe_acls_response_v3 = at_version(encode_describe_acls_response_v2, 3)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DescribeAclsRequest: {
        1: decode_describe_acls_request_v1,
        2: decode_describe_acls_request_v2,
        3: decode_describe_acls_request_v3,
    },
    DescribeAclsResponse: {
        1: decode_describe_acls_response_v1,
        2: decode_describe_acls_response_v2,
        3: decode_describe_acls_response_v3,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DescribeAclsRequest: {
        1: encode_describe_acls_request_v1,
        2: encode_describe_acls_request_v2,
        3: encode_describe_acls_request_v3,
    },
    DescribeAclsResponse: {
        1: encode_describe_acls_response_v1,
        2: encode_describe_acls_response_v2,
        3: encode_describe_acls_response_v3,
    },
}
