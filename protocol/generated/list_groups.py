"""Codecs of protocol/messages/list_groups.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_hi, unpack_ihB, unpack_ihi
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse, ListedGroup
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
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

SHAPE_1 = Shape("", 0, Field("", 0, 2, False, ""), Field("", 0, 2, False, ""))
SHAPE_2 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, False, ""))
SHAPE_3 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, False, ""), Field("", 0, 1, False, ""))
SHAPE_4 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, False, ""), Field("", 0, 1, False, ""), Field("", 0, 1, False, ""))
pack_h = Struct(">h").pack
pack_hi = Struct(">hi").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ihi = Struct(">ihi").pack


def decode_list_groups_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ListGroupsRequest, int]:
    start = pos
    n: int
    try:
        if pos > len(buf):
            raise IndexError
        return ListGroupsRequest(), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListGroupsRequest, version, buf, start, pos) from None


decode_list_groups_request_v1 = at_version(decode_list_groups_request_v0, 1)


decode_list_groups_request_v2 = at_version(decode_list_groups_request_v0, 2)


def decode_list_groups_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[ListGroupsRequest, int]:
    start = pos
    n: int
    try:
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListGroupsRequest(), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListGroupsRequest, version, buf, start, pos) from None


def decode_list_groups_request_v4(buf: bytes, pos: int, version: int = 4) -> tuple[ListGroupsRequest, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        states_filter: list[str]
        if n < 0:
            raise BadField("states_filter")
        room -= n * 100
        if room < 0:
            room, limit = verify(ListGroupsRequest, version, buf, start, pos + n, limit - n * 100), 0
        states_filter = []
        states_filter_count = n
        for _ in range(states_filter_count):
            n = buf[pos]
            if 0 < n < 0x80:
                states_filter_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("states_filter.item")
                n -= 1
                here = pos
                pos = here + n
                states_filter_item = long_text(buf, here, pos)
            states_filter.append(states_filter_item)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListGroupsRequest(states_filter), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListGroupsRequest, version, buf, start, pos) from None


def decode_list_groups_request_v5(buf: bytes, pos: int, version: int = 5) -> tuple[ListGroupsRequest, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        states_filter: list[str]
        if n < 0:
            raise BadField("states_filter")
        room -= n * 100
        if room < 0:
            room, limit = verify(ListGroupsRequest, version, buf, start, pos + n, limit - n * 100), 0
        states_filter = []
        states_filter_count = n
        for _ in range(states_filter_count):
            n = buf[pos]
            if 0 < n < 0x80:
                states_filter_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("states_filter.item")
                n -= 1
                here = pos
                pos = here + n
                states_filter_item = long_text(buf, here, pos)
            states_filter.append(states_filter_item)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        types_filter: list[str]
        if n < 0:
            raise BadField("types_filter")
        room -= n * 100
        if room < 0:
            room, limit = verify(ListGroupsRequest, version, buf, start, pos + n, limit - n * 100), 0
        types_filter = []
        types_filter_count = n
        for _ in range(types_filter_count):
            n = buf[pos]
            if 0 < n < 0x80:
                types_filter_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("types_filter.item")
                n -= 1
                here = pos
                pos = here + n
                types_filter_item = long_text(buf, here, pos)
            types_filter.append(types_filter_item)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListGroupsRequest(states_filter, types_filter), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListGroupsRequest, version, buf, start, pos) from None


def encode_list_groups_request_v0(msg: ListGroupsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.states_filter:
            raise not_in_version("states_filter")
        if msg.types_filter:
            raise not_in_version("types_filter")
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListGroupsRequest", version) from error


encode_list_groups_request_v1 = at_version(encode_list_groups_request_v0, 1)


encode_list_groups_request_v2 = at_version(encode_list_groups_request_v0, 2)


def encode_list_groups_request_v3(msg: ListGroupsRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        if msg.states_filter:
            raise not_in_version("states_filter")
        if msg.types_filter:
            raise not_in_version("types_filter")
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListGroupsRequest", version) from error


def encode_list_groups_request_v4(msg: ListGroupsRequest, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        if msg.types_filter:
            raise not_in_version("types_filter")
        states_filter = msg.states_filter
        n = len(states_filter) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for states_filter_item in states_filter:
            raw = states_filter_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListGroupsRequest", version) from error


def encode_list_groups_request_v5(msg: ListGroupsRequest, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        states_filter = msg.states_filter
        n = len(states_filter) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for states_filter_item in states_filter:
            raw = states_filter_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        types_filter = msg.types_filter
        n = len(types_filter) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for types_filter_item in types_filter:
            raw = types_filter_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListGroupsRequest", version) from error


def decode_list_groups_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ListGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45840 - 2 * len(buf)
        error_code, n = unpack_hi(buf, pos)
        pos += 6
        groups: list[ListedGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 216
        if room < 0:
            room = verify(ListGroupsResponse, version, buf, start, pos + n)
        groups = []
        groups_left, groups_step = n, 8
        while groups_left:
            groups_count = groups_left
            if groups_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, groups_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    groups_left -= n
                    groups += [ListedGroup(group_id.decode(), protocol_type.decode()) for group_id, protocol_type in rows]
                    continue
                if groups_step < groups_left:
                    groups_count = groups_step
                groups_step *= 2
            groups_left -= groups_count
            for _ in range(groups_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("groups.group_id")
                if n < 0x80:
                    groups_group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    groups_group_id = long_text(buf, here, pos)
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("groups.protocol_type")
                if n < 0x80:
                    groups_protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    groups_protocol_type = long_text(buf, here, pos)
                groups.append(ListedGroup(groups_group_id, groups_protocol_type))
        if pos > len(buf):
            raise IndexError
        return ListGroupsResponse(0, error_code, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListGroupsResponse, version, buf, start, pos) from None


def decode_list_groups_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ListGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        throttle_time_ms, error_code, n = unpack_ihi(buf, pos)
        pos += 10
        groups: list[ListedGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 216
        if room < 0:
            room = verify(ListGroupsResponse, version, buf, start, pos + n)
        groups = []
        groups_left, groups_step = n, 8
        while groups_left:
            groups_count = groups_left
            if groups_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, groups_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    groups_left -= n
                    groups += [ListedGroup(group_id.decode(), protocol_type.decode()) for group_id, protocol_type in rows]
                    continue
                if groups_step < groups_left:
                    groups_count = groups_step
                groups_step *= 2
            groups_left -= groups_count
            for _ in range(groups_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("groups.group_id")
                if n < 0x80:
                    groups_group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    groups_group_id = long_text(buf, here, pos)
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("groups.protocol_type")
                if n < 0x80:
                    groups_protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    groups_protocol_type = long_text(buf, here, pos)
                groups.append(ListedGroup(groups_group_id, groups_protocol_type))
        if pos > len(buf):
            raise IndexError
        return ListGroupsResponse(throttle_time_ms, error_code, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListGroupsResponse, version, buf, start, pos) from None


decode_list_groups_response_v2 = at_version(decode_list_groups_response_v1, 2)


def decode_list_groups_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[ListGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        pos += 7
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[ListedGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 220
        if room < 0:
            room = verify(ListGroupsResponse, version, buf, start, pos + n)
        groups = []
        groups_left, groups_step = n, 8
        while groups_left:
            groups_count = groups_left
            if groups_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_2, buf, pos, groups_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    groups_left -= n
                    groups += [ListedGroup(group_id.decode(), protocol_type.decode()) for group_id, protocol_type in rows]
                    continue
                if groups_step < groups_left:
                    groups_count = groups_step
                groups_step *= 2
            groups_left -= groups_count
            for _ in range(groups_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_group_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.group_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_group_id = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_protocol_type = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.protocol_type")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_protocol_type = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                groups.append(ListedGroup(groups_group_id, groups_protocol_type))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListGroupsResponse(throttle_time_ms, error_code, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListGroupsResponse, version, buf, start, pos) from None


def decode_list_groups_response_v4(buf: bytes, pos: int, version: int = 4) -> tuple[ListGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        pos += 7
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[ListedGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 296
        if room < 0:
            room = verify(ListGroupsResponse, version, buf, start, pos + n)
        groups = []
        groups_left, groups_step = n, 8
        while groups_left:
            groups_count = groups_left
            if groups_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_3, buf, pos, groups_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    groups_left -= n
                    groups += [ListedGroup(group_id.decode(), protocol_type.decode(), group_state.decode()) for group_id, protocol_type, group_state in rows]
                    continue
                if groups_step < groups_left:
                    groups_count = groups_step
                groups_step *= 2
            groups_left -= groups_count
            for _ in range(groups_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_group_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.group_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_group_id = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_protocol_type = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.protocol_type")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_protocol_type = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_group_state = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.group_state")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_group_state = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                groups.append(ListedGroup(groups_group_id, groups_protocol_type, groups_group_state))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListGroupsResponse(throttle_time_ms, error_code, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListGroupsResponse, version, buf, start, pos) from None


def decode_list_groups_response_v5(buf: bytes, pos: int, version: int = 5) -> tuple[ListGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        pos += 7
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[ListedGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 372
        if room < 0:
            room = verify(ListGroupsResponse, version, buf, start, pos + n)
        groups = []
        groups_left, groups_step = n, 8
        while groups_left:
            groups_count = groups_left
            if groups_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_4, buf, pos, groups_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    groups_left -= n
                    groups += [ListedGroup(group_id.decode(), protocol_type.decode(), group_state.decode(), group_type.decode()) for group_id, protocol_type, group_state, group_type in rows]
                    continue
                if groups_step < groups_left:
                    groups_count = groups_step
                groups_step *= 2
            groups_left -= groups_count
            for _ in range(groups_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_group_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.group_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_group_id = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_protocol_type = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.protocol_type")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_protocol_type = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_group_state = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.group_state")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_group_state = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_group_type = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.group_type")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_group_type = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                groups.append(ListedGroup(groups_group_id, groups_protocol_type, groups_group_state, groups_group_type))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListGroupsResponse(throttle_time_ms, error_code, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListGroupsResponse, version, buf, start, pos) from None


def encode_list_groups_response_v0(msg: ListGroupsResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        groups = msg.groups
        out += pack_hi(msg.error_code, len(groups))
        for groups_item in groups:
            raw = groups_item.group_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = groups_item.protocol_type.encode()
            out += pack_h(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListGroupsResponse", version) from error


def encode_list_groups_response_v1(msg: ListGroupsResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        groups = msg.groups
        out += pack_ihi(msg.throttle_time_ms, msg.error_code, len(groups))
        for groups_item in groups:
            raw = groups_item.group_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = groups_item.protocol_type.encode()
            out += pack_h(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListGroupsResponse", version) from error


encode_list_groups_response_v2 = at_version(encode_list_groups_response_v1, 2)


def encode_list_groups_response_v3(msg: ListGroupsResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        groups = msg.groups
        n = len(groups) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
            out += write_uvarint(n)
        for groups_item in groups:
            raw = groups_item.group_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = groups_item.protocol_type.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListGroupsResponse", version) from error


def encode_list_groups_response_v4(msg: ListGroupsResponse, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        groups = msg.groups
        n = len(groups) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
            out += write_uvarint(n)
        for groups_item in groups:
            raw = groups_item.group_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = groups_item.protocol_type.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = groups_item.group_state.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListGroupsResponse", version) from error


def encode_list_groups_response_v5(msg: ListGroupsResponse, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        groups = msg.groups
        n = len(groups) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
            out += write_uvarint(n)
        for groups_item in groups:
            raw = groups_item.group_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = groups_item.protocol_type.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = groups_item.group_state.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = groups_item.group_type.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListGroupsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ListGroupsRequest: {
        0: decode_list_groups_request_v0,
        1: decode_list_groups_request_v1,
        2: decode_list_groups_request_v2,
        3: decode_list_groups_request_v3,
        4: decode_list_groups_request_v4,
        5: decode_list_groups_request_v5,
    },
    ListGroupsResponse: {
        0: decode_list_groups_response_v0,
        1: decode_list_groups_response_v1,
        2: decode_list_groups_response_v2,
        3: decode_list_groups_response_v3,
        4: decode_list_groups_response_v4,
        5: decode_list_groups_response_v5,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ListGroupsRequest: {
        0: encode_list_groups_request_v0,
        1: encode_list_groups_request_v1,
        2: encode_list_groups_request_v2,
        3: encode_list_groups_request_v3,
        4: encode_list_groups_request_v4,
        5: encode_list_groups_request_v5,
    },
    ListGroupsResponse: {
        0: encode_list_groups_response_v0,
        1: encode_list_groups_response_v1,
        2: encode_list_groups_response_v2,
        3: encode_list_groups_response_v3,
        4: encode_list_groups_response_v4,
        5: encode_list_groups_response_v5,
    },
}
