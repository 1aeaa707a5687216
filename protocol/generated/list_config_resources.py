"""Codecs of protocol/messages/list_config_resources.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_bB, unpack_ihB
from protocol.messages.list_config_resources import ConfigResource, ListConfigResourcesRequest, ListConfigResourcesResponse
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
from protocol.runs import RUNS_OF_TEXT, Field, Shape, alike
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

SHAPE_1 = Shape("x", 1, Field("", 0, 1, False, ""))
SHAPE_2 = Shape("bx", 2, Field("", 0, 1, False, ""))
pack_Bbx = Struct(">Bbx").pack
pack_b = Struct(">b").pack
pack_bx = Struct(">bx").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack


def decode_list_config_resources_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ListConfigResourcesRequest, int]:
    start = pos
    n: int
    try:
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListConfigResourcesRequest(), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListConfigResourcesRequest, version, buf, start, pos) from None


def decode_list_config_resources_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ListConfigResourcesRequest, int]:
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
        resource_types: list[int]
        if n < 0:
            raise BadField("resource_types")
        room -= n * 52
        if room < 0:
            room, limit = verify(ListConfigResourcesRequest, version, buf, start, pos + n, limit - n * 52), 0
        resource_types = list(unpack_from(f">{n}b", buf, pos))
        pos += n * 1
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListConfigResourcesRequest(resource_types), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListConfigResourcesRequest, version, buf, start, pos) from None


def encode_list_config_resources_request_v0(msg: ListConfigResourcesRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.resource_types:
            raise not_in_version("resource_types")
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListConfigResourcesRequest", version) from error


def encode_list_config_resources_request_v1(msg: ListConfigResourcesRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        resource_types = msg.resource_types
        n = len(resource_types) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += pack_b(*resource_types) if len(resource_types) == 1 else pack(f">{len(resource_types)}b", *resource_types)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListConfigResourcesRequest", version) from error


def decode_list_config_resources_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ListConfigResourcesResponse, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        pos += 7
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        config_resources: list[ConfigResource]
        if n < 0:
            raise BadField("config_resources")
        room -= n * 128
        if room < 0:
            room = verify(ListConfigResourcesResponse, version, buf, start, pos + n)
        config_resources = []
        config_resources_left, config_resources_step = n, 8
        while config_resources_left:
            config_resources_count = config_resources_left
            if config_resources_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, config_resources_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    config_resources_left -= n
                    if is_same and absent == "":
                        config_resources += starmap(ConfigResource, rows)
                        continue
                    if is_same:
                        config_resources += [ConfigResource(absent) for _ in rows]
                    else:
                        config_resources += [ConfigResource(resource_name.decode()) for resource_name, in rows]
                    continue
                if config_resources_step < config_resources_left:
                    config_resources_count = config_resources_step
                config_resources_step *= 2
            config_resources_left -= config_resources_count
            for _ in range(config_resources_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    config_resources_resource_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("config_resources.resource_name")
                    n -= 1
                    here = pos
                    pos = here + n
                    config_resources_resource_name = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                config_resources.append(ConfigResource(config_resources_resource_name))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListConfigResourcesResponse(throttle_time_ms, error_code, config_resources), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListConfigResourcesResponse, version, buf, start, pos) from None


def decode_list_config_resources_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ListConfigResourcesResponse, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        pos += 7
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        config_resources: list[ConfigResource]
        if n < 0:
            raise BadField("config_resources")
        room -= n * 156
        if room < 0:
            room = verify(ListConfigResourcesResponse, version, buf, start, pos + n)
        config_resources = []
        config_resources_left, config_resources_step = n, 8
        while config_resources_left:
            config_resources_count = config_resources_left
            if config_resources_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_2, buf, pos, config_resources_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    config_resources_left -= n
                    if is_same:
                        config_resources += [ConfigResource(absent, resource_type) for resource_type, in rows]
                    else:
                        config_resources += [ConfigResource(resource_name.decode(), resource_type) for resource_name, resource_type in rows]
                    continue
                if config_resources_step < config_resources_left:
                    config_resources_count = config_resources_step
                config_resources_step *= 2
            config_resources_left -= config_resources_count
            for _ in range(config_resources_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    config_resources_resource_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("config_resources.resource_name")
                    n -= 1
                    here = pos
                    pos = here + n
                    config_resources_resource_name = long_text(buf, here, pos)
                config_resources_resource_type, n = unpack_bB(buf, pos)
                pos += 2
                if n:
                    pos = skip_tags(buf, pos - 1)
                config_resources.append(ConfigResource(config_resources_resource_name, config_resources_resource_type))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListConfigResourcesResponse(throttle_time_ms, error_code, config_resources), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListConfigResourcesResponse, version, buf, start, pos) from None


def encode_list_config_resources_response_v0(msg: ListConfigResourcesResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        config_resources = msg.config_resources
        n = len(config_resources) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
            out += write_uvarint(n)
        for config_resources_item in config_resources:
            raw = config_resources_item.resource_name.encode()
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
        raise encode_failure(error, "ListConfigResourcesResponse", version) from error


def encode_list_config_resources_response_v1(msg: ListConfigResourcesResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        config_resources = msg.config_resources
        n = len(config_resources) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
            out += write_uvarint(n)
        for config_resources_item in config_resources:
            if config_resources_item.resource_name == "":
                out += pack_Bbx(1, config_resources_item.resource_type)
                continue
            raw = config_resources_item.resource_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            out += pack_bx(config_resources_item.resource_type)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListConfigResourcesResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ListConfigResourcesRequest: {
        0: decode_list_config_resources_request_v0,
        1: decode_list_config_resources_request_v1,
    },
    ListConfigResourcesResponse: {
        0: decode_list_config_resources_response_v0,
        1: decode_list_config_resources_response_v1,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ListConfigResourcesRequest: {
        0: encode_list_config_resources_request_v0,
        1: encode_list_config_resources_request_v1,
    },
    ListConfigResourcesResponse: {
        0: encode_list_config_resources_response_v0,
        1: encode_list_config_resources_response_v1,
    },
}
