"""Codecs of protocol/messages/delete_acls.py, generated from it by ``python -m protocol.generate``."""

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
    unpack_h,
    unpack_hB,
    unpack_hh,
    unpack_i,
    unpack_iB,
    unpack_ii,
)
from protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
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

SHAPE_1 = Shape("bb", 2, Field("b", 1, 2, True, ""), Field("b", 1, 2, True, ""), Field("", 0, 2, True, ""))
SHAPE_2 = Shape("bbx", 3, Field("b", 1, 1, True, ""), Field("b", 1, 1, True, ""), Field("", 0, 1, True, ""))
SHAPE_3 = Shape("bb", 2, Field("h", 2, 2, True, ""), Field("b", 1, 2, False, ""), Field("b", 1, 2, False, ""), Field("", 0, 2, False, ""))
SHAPE_4 = Shape("bbx", 3, Field("h", 2, 1, True, ""), Field("b", 1, 1, False, ""), Field("b", 1, 1, False, ""), Field("", 0, 1, False, ""))
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_bb = Struct(">bb").pack
pack_bbx = Struct(">bbx").pack
pack_bh = Struct(">bh").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hh = Struct(">hh").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack


def decode_delete_acls_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DeleteAclsRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        filters: list[DeleteAclsFilter]
        if n < 0:
            raise BadField("filters")
        room -= n * 432
        if room < 0:
            room, limit = verify(DeleteAclsRequest, version, buf, start, pos + n, limit - n * 432), 0
        filters = []
        filters_left, filters_step = n, 8
        while filters_left:
            filters_count = filters_left
            if filters_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, filters_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    filters_left -= n
                    filters += [DeleteAclsFilter(resource_type_filter, resource_name_filter.decode() if resource_name_filter else absent[0], pattern_type_filter, principal_filter.decode() if principal_filter else absent[1], host_filter.decode() if host_filter else absent[2], operation, permission_type) for resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type in rows]
                    continue
                if filters_step < filters_left:
                    filters_count = filters_step
                filters_step *= 2
            filters_left -= filters_count
            for _ in range(filters_count):
                filters_resource_name_filter: str | None
                filters_resource_type_filter, n = unpack_bh(buf, pos)
                if n < 0:
                    filters_resource_name_filter = None
                    pos += 3
                elif n < 0x80:
                    filters_resource_name_filter = buf[pos + 3 : (pos := pos + 3 + n)].decode()
                else:
                    here = pos + 3
                    pos = here + n
                    filters_resource_name_filter = long_text(buf, here, pos)
                filters_principal_filter: str | None
                filters_pattern_type_filter, n = unpack_bh(buf, pos)
                if n < 0:
                    filters_principal_filter = None
                    pos += 3
                elif n < 0x80:
                    filters_principal_filter = buf[pos + 3 : (pos := pos + 3 + n)].decode()
                else:
                    here = pos + 3
                    pos = here + n
                    filters_principal_filter = long_text(buf, here, pos)
                filters_host_filter: str | None
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    filters_host_filter = None
                    pos += 2
                elif n < 0x80:
                    filters_host_filter = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    filters_host_filter = long_text(buf, here, pos)
                filters_operation, filters_permission_type = unpack_bb(buf, pos)
                pos += 2
                filters.append(DeleteAclsFilter(filters_resource_type_filter, filters_resource_name_filter, filters_pattern_type_filter, filters_principal_filter, filters_host_filter, filters_operation, filters_permission_type))
        if pos > len(buf):
            raise IndexError
        return DeleteAclsRequest(filters), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteAclsRequest, version, buf, start, pos) from None


def decode_delete_acls_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[DeleteAclsRequest, int]:
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
        filters: list[DeleteAclsFilter]
        if n < 0:
            raise BadField("filters")
        room -= n * 440
        if room < 0:
            room, limit = verify(DeleteAclsRequest, version, buf, start, pos + n, limit - n * 440), 0
        filters = []
        filters_left, filters_step = n, 8
        while filters_left:
            filters_count = filters_left
            if filters_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_2, buf, pos, filters_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    filters_left -= n
                    filters += [DeleteAclsFilter(resource_type_filter, resource_name_filter.decode() if resource_name_filter else absent[0], pattern_type_filter, principal_filter.decode() if principal_filter else absent[1], host_filter.decode() if host_filter else absent[2], operation, permission_type) for resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type in rows]
                    continue
                if filters_step < filters_left:
                    filters_count = filters_step
                filters_step *= 2
            filters_left -= filters_count
            for _ in range(filters_count):
                filters_resource_name_filter: str | None
                filters_resource_type_filter, n = unpack_bB(buf, pos)
                if not n:
                    filters_resource_name_filter = None
                    pos += 2
                elif n == 1:
                    filters_resource_name_filter = ""
                    pos += 2
                elif n < 0x80:
                    filters_resource_name_filter = buf[pos + 2 : (pos := pos + 1 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 1)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        filters_resource_name_filter = long_text(buf, here, pos)
                    else:
                        filters_resource_name_filter = None
                filters_principal_filter: str | None
                filters_pattern_type_filter, n = unpack_bB(buf, pos)
                if not n:
                    filters_principal_filter = None
                    pos += 2
                elif n == 1:
                    filters_principal_filter = ""
                    pos += 2
                elif n < 0x80:
                    filters_principal_filter = buf[pos + 2 : (pos := pos + 1 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 1)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        filters_principal_filter = long_text(buf, here, pos)
                    else:
                        filters_principal_filter = None
                filters_host_filter: str | None
                n = buf[pos]
                if not n:
                    filters_host_filter = None
                    pos += 1
                elif n == 1:
                    filters_host_filter = ""
                    pos += 1
                elif n < 0x80:
                    filters_host_filter = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        filters_host_filter = long_text(buf, here, pos)
                    else:
                        filters_host_filter = None
                filters_operation, filters_permission_type, n = unpack_bbB(buf, pos)
                pos += 3
                if n:
                    pos = skip_tags(buf, pos - 1)
                filters.append(DeleteAclsFilter(filters_resource_type_filter, filters_resource_name_filter, filters_pattern_type_filter, filters_principal_filter, filters_host_filter, filters_operation, filters_permission_type))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteAclsRequest(filters), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteAclsRequest, version, buf, start, pos) from None


decode_delete_acls_request_v3 = at_version(decode_delete_acls_request_v2, 3)


def encode_delete_acls_request_v1(msg: DeleteAclsRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        filters = msg.filters
        out += pack_i(len(filters))
        for filters_item in filters:
            text = filters_item.resource_name_filter
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_bh(filters_item.resource_type_filter, n)
            out += raw
            text = filters_item.principal_filter
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_bh(filters_item.pattern_type_filter, n)
            out += raw
            text = filters_item.host_filter
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_h(n)
            out += raw
            out += pack_bb(filters_item.operation, filters_item.permission_type)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteAclsRequest", version) from error


def encode_delete_acls_request_v2(msg: DeleteAclsRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        filters = msg.filters
        n = len(filters) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for filters_item in filters:
            text = filters_item.resource_name_filter
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_bB(filters_item.resource_type_filter, n)
            else:
                out += pack_b(filters_item.resource_type_filter)
                out += write_string_size(n)
            out += raw
            text = filters_item.principal_filter
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_bB(filters_item.pattern_type_filter, n)
            else:
                out += pack_b(filters_item.pattern_type_filter)
                out += write_string_size(n)
            out += raw
            text = filters_item.host_filter
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
            out += pack_bbx(filters_item.operation, filters_item.permission_type)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteAclsRequest", version) from error


encode_delete_acls_request_v3 = at_version(encode_delete_acls_request_v2, 3)


def decode_delete_acls_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DeleteAclsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        filter_results: list[DeleteAclsFilterResult]
        if n < 0:
            raise BadField("filter_results")
        room -= n * 232
        if room < 0:
            room = verify(DeleteAclsResponse, version, buf, start, pos + n)
        filter_results = []
        filter_results_count = n
        for _ in range(filter_results_count):
            filter_results_error_message: str | None
            filter_results_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                filter_results_error_message = None
                pos += 4
            elif n < 0x80:
                filter_results_error_message = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                filter_results_error_message = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            filter_results_matching_acls: list[DeleteAclsMatchingAcl]
            if n < 0:
                raise BadField("filter_results.matching_acls")
            room -= n * 544
            if room < 0:
                room = verify(DeleteAclsResponse, version, buf, start, pos + n)
            filter_results_matching_acls = []
            filter_results_matching_acls_left, filter_results_matching_acls_step = n, 8
            while filter_results_matching_acls_left:
                filter_results_matching_acls_count = filter_results_matching_acls_left
                if filter_results_matching_acls_left >= 8:
                    run = alike(SHAPE_3, buf, pos, filter_results_matching_acls_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        filter_results_matching_acls_left -= n
                        filter_results_matching_acls += [DeleteAclsMatchingAcl(error_code, error_message.decode() if error_message else absent[0], resource_type, resource_name.decode(), pattern_type, principal.decode(), host.decode(), operation, permission_type) for error_code, error_message, resource_type, resource_name, pattern_type, principal, host, operation, permission_type in rows]
                        continue
                    if filter_results_matching_acls_step < filter_results_matching_acls_left:
                        filter_results_matching_acls_count = filter_results_matching_acls_step
                    filter_results_matching_acls_step *= 2
                filter_results_matching_acls_left -= filter_results_matching_acls_count
                for _ in range(filter_results_matching_acls_count):
                    filter_results_matching_acls_error_message: str | None
                    filter_results_matching_acls_error_code, n = unpack_hh(buf, pos)
                    if n < 0:
                        filter_results_matching_acls_error_message = None
                        pos += 4
                    elif n < 0x80:
                        filter_results_matching_acls_error_message = buf[pos + 4 : (pos := pos + 4 + n)].decode()
                    else:
                        here = pos + 4
                        pos = here + n
                        filter_results_matching_acls_error_message = long_text(buf, here, pos)
                    filter_results_matching_acls_resource_type, n = unpack_bh(buf, pos)
                    if n < 0:
                        raise BadField("filter_results.matching_acls.resource_name")
                    if n < 0x80:
                        filter_results_matching_acls_resource_name = buf[pos + 3 : (pos := pos + 3 + n)].decode()
                    else:
                        here = pos + 3
                        pos = here + n
                        filter_results_matching_acls_resource_name = long_text(buf, here, pos)
                    filter_results_matching_acls_pattern_type, n = unpack_bh(buf, pos)
                    if n < 0:
                        raise BadField("filter_results.matching_acls.principal")
                    if n < 0x80:
                        filter_results_matching_acls_principal = buf[pos + 3 : (pos := pos + 3 + n)].decode()
                    else:
                        here = pos + 3
                        pos = here + n
                        filter_results_matching_acls_principal = long_text(buf, here, pos)
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("filter_results.matching_acls.host")
                    if n < 0x80:
                        filter_results_matching_acls_host = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        filter_results_matching_acls_host = long_text(buf, here, pos)
                    filter_results_matching_acls_operation, filter_results_matching_acls_permission_type = unpack_bb(buf, pos)
                    pos += 2
                    filter_results_matching_acls.append(DeleteAclsMatchingAcl(filter_results_matching_acls_error_code, filter_results_matching_acls_error_message, filter_results_matching_acls_resource_type, filter_results_matching_acls_resource_name, filter_results_matching_acls_pattern_type, filter_results_matching_acls_principal, filter_results_matching_acls_host, filter_results_matching_acls_operation, filter_results_matching_acls_permission_type))
            filter_results.append(DeleteAclsFilterResult(filter_results_error_code, filter_results_error_message, filter_results_matching_acls))
        if pos > len(buf):
            raise IndexError
        return DeleteAclsResponse(throttle_time_ms, filter_results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteAclsResponse, version, buf, start, pos) from None


def decode_delete_acls_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[DeleteAclsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        filter_results: list[DeleteAclsFilterResult]
        if n < 0:
            raise BadField("filter_results")
        room -= n * 244
        if room < 0:
            room = verify(DeleteAclsResponse, version, buf, start, pos + n)
        filter_results = []
        filter_results_count = n
        for _ in range(filter_results_count):
            filter_results_error_message: str | None
            filter_results_error_code, n = unpack_hB(buf, pos)
            if not n:
                filter_results_error_message = None
                pos += 3
            elif n == 1:
                filter_results_error_message = ""
                pos += 3
            elif n < 0x80:
                filter_results_error_message = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n:
                    n -= 1
                    here = pos
                    pos = here + n
                    filter_results_error_message = long_text(buf, here, pos)
                else:
                    filter_results_error_message = None
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            filter_results_matching_acls: list[DeleteAclsMatchingAcl]
            if n < 0:
                raise BadField("filter_results.matching_acls")
            room -= n * 556
            if room < 0:
                room = verify(DeleteAclsResponse, version, buf, start, pos + n)
            filter_results_matching_acls = []
            filter_results_matching_acls_left, filter_results_matching_acls_step = n, 8
            while filter_results_matching_acls_left:
                filter_results_matching_acls_count = filter_results_matching_acls_left
                if filter_results_matching_acls_left >= 8:
                    run = alike(SHAPE_4, buf, pos, filter_results_matching_acls_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        filter_results_matching_acls_left -= n
                        filter_results_matching_acls += [DeleteAclsMatchingAcl(error_code, error_message.decode() if error_message else absent[0], resource_type, resource_name.decode(), pattern_type, principal.decode(), host.decode(), operation, permission_type) for error_code, error_message, resource_type, resource_name, pattern_type, principal, host, operation, permission_type in rows]
                        continue
                    if filter_results_matching_acls_step < filter_results_matching_acls_left:
                        filter_results_matching_acls_count = filter_results_matching_acls_step
                    filter_results_matching_acls_step *= 2
                filter_results_matching_acls_left -= filter_results_matching_acls_count
                for _ in range(filter_results_matching_acls_count):
                    filter_results_matching_acls_error_message: str | None
                    filter_results_matching_acls_error_code, n = unpack_hB(buf, pos)
                    if not n:
                        filter_results_matching_acls_error_message = None
                        pos += 3
                    elif n == 1:
                        filter_results_matching_acls_error_message = ""
                        pos += 3
                    elif n < 0x80:
                        filter_results_matching_acls_error_message = buf[pos + 3 : (pos := pos + 2 + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos + 2)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            filter_results_matching_acls_error_message = long_text(buf, here, pos)
                        else:
                            filter_results_matching_acls_error_message = None
                    filter_results_matching_acls_resource_type, n = unpack_bB(buf, pos)
                    if 0 < n < 0x80:
                        filter_results_matching_acls_resource_name = buf[pos + 2 : (pos := pos + 1 + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos + 1)
                        if n == 0:
                            raise BadField("filter_results.matching_acls.resource_name")
                        n -= 1
                        here = pos
                        pos = here + n
                        filter_results_matching_acls_resource_name = long_text(buf, here, pos)
                    filter_results_matching_acls_pattern_type, n = unpack_bB(buf, pos)
                    if 0 < n < 0x80:
                        filter_results_matching_acls_principal = buf[pos + 2 : (pos := pos + 1 + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos + 1)
                        if n == 0:
                            raise BadField("filter_results.matching_acls.principal")
                        n -= 1
                        here = pos
                        pos = here + n
                        filter_results_matching_acls_principal = long_text(buf, here, pos)
                    n = buf[pos]
                    if 0 < n < 0x80:
                        filter_results_matching_acls_host = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("filter_results.matching_acls.host")
                        n -= 1
                        here = pos
                        pos = here + n
                        filter_results_matching_acls_host = long_text(buf, here, pos)
                    filter_results_matching_acls_operation, filter_results_matching_acls_permission_type, n = unpack_bbB(buf, pos)
                    pos += 3
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    filter_results_matching_acls.append(DeleteAclsMatchingAcl(filter_results_matching_acls_error_code, filter_results_matching_acls_error_message, filter_results_matching_acls_resource_type, filter_results_matching_acls_resource_name, filter_results_matching_acls_pattern_type, filter_results_matching_acls_principal, filter_results_matching_acls_host, filter_results_matching_acls_operation, filter_results_matching_acls_permission_type))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            filter_results.append(DeleteAclsFilterResult(filter_results_error_code, filter_results_error_message, filter_results_matching_acls))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteAclsResponse(throttle_time_ms, filter_results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteAclsResponse, version, buf, start, pos) from None


decode_delete_acls_response_v3 = at_version(decode_delete_acls_response_v2, 3)


def encode_delete_acls_response_v1(msg: DeleteAclsResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        filter_results = msg.filter_results
        out += pack_ii(msg.throttle_time_ms, len(filter_results))
        for filter_results_item in filter_results:
            text = filter_results_item.error_message
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_hh(filter_results_item.error_code, n)
            out += raw
            filter_results_matching_acls = filter_results_item.matching_acls
            out += pack_i(len(filter_results_matching_acls))
            for filter_results_matching_acls_item in filter_results_matching_acls:
                text = filter_results_matching_acls_item.error_message
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_hh(filter_results_matching_acls_item.error_code, n)
                out += raw
                raw = filter_results_matching_acls_item.resource_name.encode()
                out += pack_bh(filter_results_matching_acls_item.resource_type, len(raw))
                out += raw
                raw = filter_results_matching_acls_item.principal.encode()
                out += pack_bh(filter_results_matching_acls_item.pattern_type, len(raw))
                out += raw
                raw = filter_results_matching_acls_item.host.encode()
                out += pack_h(len(raw))
                out += raw
                out += pack_bb(filter_results_matching_acls_item.operation, filter_results_matching_acls_item.permission_type)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteAclsResponse", version) from error


def encode_delete_acls_response_v2(msg: DeleteAclsResponse, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        filter_results = msg.filter_results
        n = len(filter_results) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for filter_results_item in filter_results:
            text = filter_results_item.error_message
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(filter_results_item.error_code, n)
            else:
                out += pack_h(filter_results_item.error_code)
                out += write_string_size(n)
            out += raw
            filter_results_matching_acls = filter_results_item.matching_acls
            n = len(filter_results_matching_acls) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for filter_results_matching_acls_item in filter_results_matching_acls:
                text = filter_results_matching_acls_item.error_message
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_hB(filter_results_matching_acls_item.error_code, n)
                else:
                    out += pack_h(filter_results_matching_acls_item.error_code)
                    out += write_string_size(n)
                out += raw
                raw = filter_results_matching_acls_item.resource_name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out += pack_bB(filter_results_matching_acls_item.resource_type, n)
                else:
                    out += pack_b(filter_results_matching_acls_item.resource_type)
                    out += write_string_size(n)
                out += raw
                raw = filter_results_matching_acls_item.principal.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out += pack_bB(filter_results_matching_acls_item.pattern_type, n)
                else:
                    out += pack_b(filter_results_matching_acls_item.pattern_type)
                    out += write_string_size(n)
                out += raw
                raw = filter_results_matching_acls_item.host.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                out += pack_bbx(filter_results_matching_acls_item.operation, filter_results_matching_acls_item.permission_type)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteAclsResponse", version) from error


encode_delete_acls_response_v3 = at_version(encode_delete_acls_response_v2, 3)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DeleteAclsRequest: {
        1: decode_delete_acls_request_v1,
        2: decode_delete_acls_request_v2,
        3: decode_delete_acls_request_v3,
    },
    DeleteAclsResponse: {
        1: decode_delete_acls_response_v1,
        2: decode_delete_acls_response_v2,
        3: decode_delete_acls_response_v3,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DeleteAclsRequest: {
        1: encode_delete_acls_request_v1,
        2: encode_delete_acls_request_v2,
        3: encode_delete_acls_request_v3,
    },
    DeleteAclsResponse: {
        1: encode_delete_acls_response_v1,
        2: encode_delete_acls_response_v2,
        3: encode_delete_acls_response_v3,
    },
}
