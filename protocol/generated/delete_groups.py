"""Codecs of protocol/messages/delete_groups.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_hB, unpack_i, unpack_iB, unpack_ii
from protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from protocol.refusal import BadField, decode_failure, encode_failure, verify
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

SHAPE_1 = Shape("h", 2, Field("", 0, 2, False, ""))
SHAPE_2 = Shape("hx", 3, Field("", 0, 1, False, ""))
pack_Bhx = Struct(">Bhx").pack
pack_h = Struct(">h").pack
pack_hh = Struct(">hh").pack
pack_hx = Struct(">hx").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack


def decode_delete_groups_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DeleteGroupsRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        groups_names: list[str]
        if n < 0:
            raise BadField("groups_names")
        room -= n * 96
        if room < 0:
            room, limit = verify(DeleteGroupsRequest, version, buf, start, pos + n, limit - n * 96), 0
        groups_names = []
        groups_names_count = n
        for _ in range(groups_names_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups_names.item")
            if n < 0x80:
                groups_names_item = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_names_item = long_text(buf, here, pos)
            groups_names.append(groups_names_item)
        if pos > len(buf):
            raise IndexError
        return DeleteGroupsRequest(groups_names), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteGroupsRequest, version, buf, start, pos) from None


decode_delete_groups_request_v1 = at_version(decode_delete_groups_request_v0, 1)


def decode_delete_groups_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[DeleteGroupsRequest, int]:
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
        groups_names: list[str]
        if n < 0:
            raise BadField("groups_names")
        room -= n * 100
        if room < 0:
            room, limit = verify(DeleteGroupsRequest, version, buf, start, pos + n, limit - n * 100), 0
        groups_names = []
        groups_names_count = n
        for _ in range(groups_names_count):
            n = buf[pos]
            if 0 < n < 0x80:
                groups_names_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("groups_names.item")
                n -= 1
                here = pos
                pos = here + n
                groups_names_item = long_text(buf, here, pos)
            groups_names.append(groups_names_item)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteGroupsRequest(groups_names), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteGroupsRequest, version, buf, start, pos) from None


def encode_delete_groups_request_v0(msg: DeleteGroupsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        groups_names = msg.groups_names
        out += pack_i(len(groups_names))
        for groups_names_item in groups_names:
            raw = groups_names_item.encode()
            out += pack_h(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteGroupsRequest", version) from error


encode_delete_groups_request_v1 = at_version(encode_delete_groups_request_v0, 1)


def encode_delete_groups_request_v2(msg: DeleteGroupsRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        groups_names = msg.groups_names
        n = len(groups_names) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for groups_names_item in groups_names:
            raw = groups_names_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteGroupsRequest", version) from error


def decode_delete_groups_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DeleteGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        results: list[DeletableGroupResult]
        if n < 0:
            raise BadField("results")
        room -= n * 152
        if room < 0:
            room = verify(DeleteGroupsResponse, version, buf, start, pos + n)
        results = []
        results_left, results_step = n, 8
        while results_left:
            results_count = results_left
            if results_left >= 8:
                run = alike(SHAPE_1, buf, pos, results_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    results_left -= n
                    if is_same:
                        results += [DeletableGroupResult(absent, error_code) for error_code, in rows]
                    else:
                        results += [DeletableGroupResult(group_id.decode(), error_code) for group_id, error_code in rows]
                    continue
                if results_step < results_left:
                    results_count = results_step
                results_step *= 2
            results_left -= results_count
            for _ in range(results_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("results.group_id")
                if n < 0x80:
                    results_group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    results_group_id = long_text(buf, here, pos)
                (results_error_code,) = unpack_h(buf, pos)
                pos += 2
                results.append(DeletableGroupResult(results_group_id, results_error_code))
        if pos > len(buf):
            raise IndexError
        return DeleteGroupsResponse(throttle_time_ms, results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteGroupsResponse, version, buf, start, pos) from None


decode_delete_groups_response_v1 = at_version(decode_delete_groups_response_v0, 1)


def decode_delete_groups_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[DeleteGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        results: list[DeletableGroupResult]
        if n < 0:
            raise BadField("results")
        room -= n * 152
        if room < 0:
            room = verify(DeleteGroupsResponse, version, buf, start, pos + n)
        results = []
        results_left, results_step = n, 8
        while results_left:
            results_count = results_left
            if results_left >= 8:
                run = alike(SHAPE_2, buf, pos, results_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    results_left -= n
                    if is_same:
                        results += [DeletableGroupResult(absent, error_code) for error_code, in rows]
                    else:
                        results += [DeletableGroupResult(group_id.decode(), error_code) for group_id, error_code in rows]
                    continue
                if results_step < results_left:
                    results_count = results_step
                results_step *= 2
            results_left -= results_count
            for _ in range(results_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    results_group_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("results.group_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    results_group_id = long_text(buf, here, pos)
                results_error_code, n = unpack_hB(buf, pos)
                pos += 3
                if n:
                    pos = skip_tags(buf, pos - 1)
                results.append(DeletableGroupResult(results_group_id, results_error_code))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteGroupsResponse(throttle_time_ms, results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteGroupsResponse, version, buf, start, pos) from None


def encode_delete_groups_response_v0(msg: DeleteGroupsResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        results = msg.results
        out += pack_ii(msg.throttle_time_ms, len(results))
        for results_item in results:
            if results_item.group_id == "":
                out += pack_hh(0, results_item.error_code)
                continue
            raw = results_item.group_id.encode()
            out += pack_h(len(raw))
            out += raw
            out += pack_h(results_item.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteGroupsResponse", version) from error


encode_delete_groups_response_v1 = at_version(encode_delete_groups_response_v0, 1)


def encode_delete_groups_response_v2(msg: DeleteGroupsResponse, out: bytearray, version: int = 2) -> None:
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
            if results_item.group_id == "":
                out += pack_Bhx(1, results_item.error_code)
                continue
            raw = results_item.group_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            out += pack_hx(results_item.error_code)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteGroupsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DeleteGroupsRequest: {
        0: decode_delete_groups_request_v0,
        1: decode_delete_groups_request_v1,
        2: decode_delete_groups_request_v2,
    },
    DeleteGroupsResponse: {
        0: decode_delete_groups_response_v0,
        1: decode_delete_groups_response_v1,
        2: decode_delete_groups_response_v2,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DeleteGroupsRequest: {
        0: encode_delete_groups_request_v0,
        1: encode_delete_groups_request_v1,
        2: encode_delete_groups_request_v2,
    },
    DeleteGroupsResponse: {
        0: encode_delete_groups_response_v0,
        1: encode_delete_groups_response_v1,
        2: encode_delete_groups_response_v2,
    },
}
