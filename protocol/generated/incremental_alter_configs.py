"""Codecs of protocol/messages/incremental_alter_configs.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import (
    unpack_bB,
    unpack_bh,
    unpack_h,
    unpack_hB,
    unpack_hh,
    unpack_i,
    unpack_iB,
    unpack_ii,
    unpack_z,
    unpack_zB,
)
from protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
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

SHAPE_1 = Shape("", 0, Field("", 0, 2, False, ""), Field("b", 1, 2, True, ""))
SHAPE_2 = Shape("x", 1, Field("", 0, 1, False, ""), Field("b", 1, 1, True, ""))
SHAPE_3 = Shape("", 0, Field("h", 2, 2, True, ""), Field("b", 1, 2, False, ""))
SHAPE_4 = Shape("x", 1, Field("h", 2, 1, True, ""), Field("b", 1, 1, False, ""))
pack_z = Struct(">?").pack
pack_zx = Struct(">?x").pack
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_bh = Struct(">bh").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hh = Struct(">hh").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack


def decode_incremental_alter_configs_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[IncrementalAlterConfigsRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        resources: list[AlterConfigsResource]
        if n < 0:
            raise BadField("resources")
        room -= n * 236
        if room < 0:
            room, limit = verify(IncrementalAlterConfigsRequest, version, buf, start, pos + n, limit - n * 236), 0
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
            (n,) = unpack_i(buf, pos)
            pos += 4
            resources_configs: list[AlterableConfig]
            if n < 0:
                raise BadField("resources.configs")
            room -= n * 244
            if room < 0:
                room, limit = verify(IncrementalAlterConfigsRequest, version, buf, start, pos + n, limit - n * 244), 0
            resources_configs = []
            resources_configs_left, resources_configs_step = n, 8
            while resources_configs_left:
                resources_configs_count = resources_configs_left
                if resources_configs_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_1, buf, pos, resources_configs_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        resources_configs_left -= n
                        resources_configs += [AlterableConfig(name.decode(), config_operation, value_.decode() if value_ else absent[1]) for name, config_operation, value_ in rows]
                        continue
                    if resources_configs_step < resources_configs_left:
                        resources_configs_count = resources_configs_step
                    resources_configs_step *= 2
                resources_configs_left -= resources_configs_count
                for _ in range(resources_configs_count):
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("resources.configs.name")
                    if n < 0x80:
                        resources_configs_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        resources_configs_name = long_text(buf, here, pos)
                    resources_configs_value: str | None
                    resources_configs_config_operation, n = unpack_bh(buf, pos)
                    if n < 0:
                        resources_configs_value = None
                        pos += 3
                    elif n < 0x80:
                        resources_configs_value = buf[pos + 3 : (pos := pos + 3 + n)].decode()
                    else:
                        here = pos + 3
                        pos = here + n
                        resources_configs_value = long_text(buf, here, pos)
                    resources_configs.append(AlterableConfig(resources_configs_name, resources_configs_config_operation, resources_configs_value))
            resources.append(AlterConfigsResource(resources_resource_type, resources_resource_name, resources_configs))
        (validate_only,) = unpack_z(buf, pos)
        pos += 1
        return IncrementalAlterConfigsRequest(resources, validate_only), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, IncrementalAlterConfigsRequest, version, buf, start, pos) from None


def decode_incremental_alter_configs_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[IncrementalAlterConfigsRequest, int]:
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
        resources: list[AlterConfigsResource]
        if n < 0:
            raise BadField("resources")
        room -= n * 248
        if room < 0:
            room, limit = verify(IncrementalAlterConfigsRequest, version, buf, start, pos + n, limit - n * 248), 0
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
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            resources_configs: list[AlterableConfig]
            if n < 0:
                raise BadField("resources.configs")
            room -= n * 248
            if room < 0:
                room, limit = verify(IncrementalAlterConfigsRequest, version, buf, start, pos + n, limit - n * 248), 0
            resources_configs = []
            resources_configs_left, resources_configs_step = n, 8
            while resources_configs_left:
                resources_configs_count = resources_configs_left
                if resources_configs_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_2, buf, pos, resources_configs_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        resources_configs_left -= n
                        resources_configs += [AlterableConfig(name.decode(), config_operation, value_.decode() if value_ else absent[1]) for name, config_operation, value_ in rows]
                        continue
                    if resources_configs_step < resources_configs_left:
                        resources_configs_count = resources_configs_step
                    resources_configs_step *= 2
                resources_configs_left -= resources_configs_count
                for _ in range(resources_configs_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        resources_configs_name = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("resources.configs.name")
                        n -= 1
                        here = pos
                        pos = here + n
                        resources_configs_name = long_text(buf, here, pos)
                    resources_configs_value: str | None
                    resources_configs_config_operation, n = unpack_bB(buf, pos)
                    if not n:
                        resources_configs_value = None
                        pos += 2
                    elif n == 1:
                        resources_configs_value = ""
                        pos += 2
                    elif n < 0x80:
                        resources_configs_value = buf[pos + 2 : (pos := pos + 1 + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos + 1)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            resources_configs_value = long_text(buf, here, pos)
                        else:
                            resources_configs_value = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    resources_configs.append(AlterableConfig(resources_configs_name, resources_configs_config_operation, resources_configs_value))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            resources.append(AlterConfigsResource(resources_resource_type, resources_resource_name, resources_configs))
        validate_only, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return IncrementalAlterConfigsRequest(resources, validate_only), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, IncrementalAlterConfigsRequest, version, buf, start, pos) from None


def encode_incremental_alter_configs_request_v0(msg: IncrementalAlterConfigsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        resources = msg.resources
        out += pack_i(len(resources))
        for resources_item in resources:
            raw = resources_item.resource_name.encode()
            out += pack_bh(resources_item.resource_type, len(raw))
            out += raw
            resources_configs = resources_item.configs
            out += pack_i(len(resources_configs))
            for resources_configs_item in resources_configs:
                raw = resources_configs_item.name.encode()
                out += pack_h(len(raw))
                out += raw
                text = resources_configs_item.value
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_bh(resources_configs_item.config_operation, n)
                out += raw
        out += pack_z(msg.validate_only)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "IncrementalAlterConfigsRequest", version) from error


def encode_incremental_alter_configs_request_v1(msg: IncrementalAlterConfigsRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
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
            resources_configs = resources_item.configs
            n = len(resources_configs) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for resources_configs_item in resources_configs:
                raw = resources_configs_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                text = resources_configs_item.value
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_bB(resources_configs_item.config_operation, n)
                else:
                    out += pack_b(resources_configs_item.config_operation)
                    out += write_string_size(n)
                out += raw
                out.append(0)
            out.append(0)
        out += pack_zx(msg.validate_only)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "IncrementalAlterConfigsRequest", version) from error


def decode_incremental_alter_configs_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[IncrementalAlterConfigsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        responses: list[AlterConfigsResourceResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 268
        if room < 0:
            room = verify(IncrementalAlterConfigsResponse, version, buf, start, pos + n)
        responses = []
        responses_left, responses_step = n, 8
        while responses_left:
            responses_count = responses_left
            if responses_left >= 8:
                run = alike(SHAPE_3, buf, pos, responses_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    responses_left -= n
                    responses += [AlterConfigsResourceResponse(error_code, error_message.decode() if error_message else absent[0], resource_type, resource_name.decode()) for error_code, error_message, resource_type, resource_name in rows]
                    continue
                if responses_step < responses_left:
                    responses_count = responses_step
                responses_step *= 2
            responses_left -= responses_count
            for _ in range(responses_count):
                responses_error_message: str | None
                responses_error_code, n = unpack_hh(buf, pos)
                if n < 0:
                    responses_error_message = None
                    pos += 4
                elif n < 0x80:
                    responses_error_message = buf[pos + 4 : (pos := pos + 4 + n)].decode()
                else:
                    here = pos + 4
                    pos = here + n
                    responses_error_message = long_text(buf, here, pos)
                responses_resource_type, n = unpack_bh(buf, pos)
                if n < 0:
                    raise BadField("responses.resource_name")
                if n < 0x80:
                    responses_resource_name = buf[pos + 3 : (pos := pos + 3 + n)].decode()
                else:
                    here = pos + 3
                    pos = here + n
                    responses_resource_name = long_text(buf, here, pos)
                responses.append(AlterConfigsResourceResponse(responses_error_code, responses_error_message, responses_resource_type, responses_resource_name))
        if pos > len(buf):
            raise IndexError
        return IncrementalAlterConfigsResponse(throttle_time_ms, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, IncrementalAlterConfigsResponse, version, buf, start, pos) from None


def decode_incremental_alter_configs_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[IncrementalAlterConfigsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        responses: list[AlterConfigsResourceResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 272
        if room < 0:
            room = verify(IncrementalAlterConfigsResponse, version, buf, start, pos + n)
        responses = []
        responses_left, responses_step = n, 8
        while responses_left:
            responses_count = responses_left
            if responses_left >= 8:
                run = alike(SHAPE_4, buf, pos, responses_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    responses_left -= n
                    responses += [AlterConfigsResourceResponse(error_code, error_message.decode() if error_message else absent[0], resource_type, resource_name.decode()) for error_code, error_message, resource_type, resource_name in rows]
                    continue
                if responses_step < responses_left:
                    responses_count = responses_step
                responses_step *= 2
            responses_left -= responses_count
            for _ in range(responses_count):
                responses_error_message: str | None
                responses_error_code, n = unpack_hB(buf, pos)
                if not n:
                    responses_error_message = None
                    pos += 3
                elif n == 1:
                    responses_error_message = ""
                    pos += 3
                elif n < 0x80:
                    responses_error_message = buf[pos + 3 : (pos := pos + 2 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 2)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        responses_error_message = long_text(buf, here, pos)
                    else:
                        responses_error_message = None
                responses_resource_type, n = unpack_bB(buf, pos)
                if 0 < n < 0x80:
                    responses_resource_name = buf[pos + 2 : (pos := pos + 1 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 1)
                    if n == 0:
                        raise BadField("responses.resource_name")
                    n -= 1
                    here = pos
                    pos = here + n
                    responses_resource_name = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                responses.append(AlterConfigsResourceResponse(responses_error_code, responses_error_message, responses_resource_type, responses_resource_name))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return IncrementalAlterConfigsResponse(throttle_time_ms, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, IncrementalAlterConfigsResponse, version, buf, start, pos) from None


def encode_incremental_alter_configs_response_v0(msg: IncrementalAlterConfigsResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        responses = msg.responses
        out += pack_ii(msg.throttle_time_ms, len(responses))
        for responses_item in responses:
            text = responses_item.error_message
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_hh(responses_item.error_code, n)
            out += raw
            raw = responses_item.resource_name.encode()
            out += pack_bh(responses_item.resource_type, len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "IncrementalAlterConfigsResponse", version) from error


def encode_incremental_alter_configs_response_v1(msg: IncrementalAlterConfigsResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        responses = msg.responses
        n = len(responses) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for responses_item in responses:
            text = responses_item.error_message
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(responses_item.error_code, n)
            else:
                out += pack_h(responses_item.error_code)
                out += write_string_size(n)
            out += raw
            raw = responses_item.resource_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_bB(responses_item.resource_type, n)
            else:
                out += pack_b(responses_item.resource_type)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "IncrementalAlterConfigsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    IncrementalAlterConfigsRequest: {
        0: decode_incremental_alter_configs_request_v0,
        1: decode_incremental_alter_configs_request_v1,
    },
    IncrementalAlterConfigsResponse: {
        0: decode_incremental_alter_configs_response_v0,
        1: decode_incremental_alter_configs_response_v1,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    IncrementalAlterConfigsRequest: {
        0: encode_incremental_alter_configs_request_v0,
        1: encode_incremental_alter_configs_request_v1,
    },
    IncrementalAlterConfigsResponse: {
        0: encode_incremental_alter_configs_response_v0,
        1: encode_incremental_alter_configs_response_v1,
    },
}
