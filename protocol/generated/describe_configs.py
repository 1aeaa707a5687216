"""Codecs of protocol/messages/describe_configs.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import (
    unpack_b,
    unpack_bB,
    unpack_bh,
    unpack_h,
    unpack_hB,
    unpack_hh,
    unpack_i,
    unpack_iB,
    unpack_ii,
    unpack_z,
    unpack_zbzB,
    unpack_zbzi,
    unpack_zz,
    unpack_zzB,
)
from protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
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

SHAPE_1 = Shape("b", 1, Field("", 0, 2, False, ""), Field("", 0, 2, True, ""))
SHAPE_2 = Shape("bx", 2, Field("", 0, 1, False, ""), Field("", 0, 1, True, ""))
pack_z = Struct(">?").pack
pack_zz = Struct(">??").pack
pack_zzx = Struct(">??x").pack
pack_zbz = Struct(">?b?").pack
pack_zbzB = Struct(">?b?B").pack
pack_zbzi = Struct(">?b?i").pack
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_bh = Struct(">bh").pack
pack_bx = Struct(">bx").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hh = Struct(">hh").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack


def decode_describe_configs_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DescribeConfigsRequest, int]:
    start = pos
    n: int
    try:
        room = 45872 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        resources: list[DescribeConfigsResource]
        if n < 0:
            raise BadField("resources")
        room -= n * 236
        if room < 0:
            room, limit = verify(DescribeConfigsRequest, version, buf, start, pos + n, limit - n * 236), 0
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
            resources_configuration_keys: list[str] | None
            if n < 0:
                resources_configuration_keys = None
            else:
                room -= n * 96
                if room < 0:
                    room, limit = verify(DescribeConfigsRequest, version, buf, start, pos + n, limit - n * 96), 0
                resources_configuration_keys = []
                resources_configuration_keys_count = n
                for _ in range(resources_configuration_keys_count):
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("resources.configuration_keys.item")
                    if n < 0x80:
                        resources_configuration_keys_item = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        resources_configuration_keys_item = long_text(buf, here, pos)
                    resources_configuration_keys.append(resources_configuration_keys_item)
            resources.append(DescribeConfigsResource(resources_resource_type, resources_resource_name, resources_configuration_keys))
        (include_synonyms,) = unpack_z(buf, pos)
        pos += 1
        return DescribeConfigsRequest(resources, include_synonyms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeConfigsRequest, version, buf, start, pos) from None


decode_describe_configs_request_v2 = at_version(decode_describe_configs_request_v1, 2)


def decode_describe_configs_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[DescribeConfigsRequest, int]:
    start = pos
    n: int
    try:
        room = 45872 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        resources: list[DescribeConfigsResource]
        if n < 0:
            raise BadField("resources")
        room -= n * 236
        if room < 0:
            room, limit = verify(DescribeConfigsRequest, version, buf, start, pos + n, limit - n * 236), 0
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
            resources_configuration_keys: list[str] | None
            if n < 0:
                resources_configuration_keys = None
            else:
                room -= n * 96
                if room < 0:
                    room, limit = verify(DescribeConfigsRequest, version, buf, start, pos + n, limit - n * 96), 0
                resources_configuration_keys = []
                resources_configuration_keys_count = n
                for _ in range(resources_configuration_keys_count):
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("resources.configuration_keys.item")
                    if n < 0x80:
                        resources_configuration_keys_item = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        resources_configuration_keys_item = long_text(buf, here, pos)
                    resources_configuration_keys.append(resources_configuration_keys_item)
            resources.append(DescribeConfigsResource(resources_resource_type, resources_resource_name, resources_configuration_keys))
        include_synonyms, include_documentation = unpack_zz(buf, pos)
        pos += 2
        return DescribeConfigsRequest(resources, include_synonyms, include_documentation), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeConfigsRequest, version, buf, start, pos) from None


def decode_describe_configs_request_v4(buf: bytes, pos: int, version: int = 4) -> tuple[DescribeConfigsRequest, int]:
    start = pos
    n: int
    try:
        room = 45872 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        resources: list[DescribeConfigsResource]
        if n < 0:
            raise BadField("resources")
        room -= n * 248
        if room < 0:
            room, limit = verify(DescribeConfigsRequest, version, buf, start, pos + n, limit - n * 248), 0
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
            resources_configuration_keys: list[str] | None
            if n < 0:
                resources_configuration_keys = None
            else:
                room -= n * 100
                if room < 0:
                    room, limit = verify(DescribeConfigsRequest, version, buf, start, pos + n, limit - n * 100), 0
                resources_configuration_keys = []
                resources_configuration_keys_count = n
                for _ in range(resources_configuration_keys_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        resources_configuration_keys_item = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("resources.configuration_keys.item")
                        n -= 1
                        here = pos
                        pos = here + n
                        resources_configuration_keys_item = long_text(buf, here, pos)
                    resources_configuration_keys.append(resources_configuration_keys_item)
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            resources.append(DescribeConfigsResource(resources_resource_type, resources_resource_name, resources_configuration_keys))
        include_synonyms, include_documentation, n = unpack_zzB(buf, pos)
        pos += 3
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeConfigsRequest(resources, include_synonyms, include_documentation), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeConfigsRequest, version, buf, start, pos) from None


def encode_describe_configs_request_v1(msg: DescribeConfigsRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.include_documentation:
            raise not_in_version("include_documentation")
        resources = msg.resources
        out += pack_i(len(resources))
        for resources_item in resources:
            raw = resources_item.resource_name.encode()
            out += pack_bh(resources_item.resource_type, len(raw))
            out += raw
            resources_configuration_keys = resources_item.configuration_keys
            if resources_configuration_keys is None:
                out += pack_i(-1)
            else:
                out += pack_i(len(resources_configuration_keys))
                for resources_configuration_keys_item in resources_configuration_keys:
                    raw = resources_configuration_keys_item.encode()
                    out += pack_h(len(raw))
                    out += raw
        out += pack_z(msg.include_synonyms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeConfigsRequest", version) from error


encode_describe_configs_request_v2 = at_version(encode_describe_configs_request_v1, 2)


def encode_describe_configs_request_v3(msg: DescribeConfigsRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        resources = msg.resources
        out += pack_i(len(resources))
        for resources_item in resources:
            raw = resources_item.resource_name.encode()
            out += pack_bh(resources_item.resource_type, len(raw))
            out += raw
            resources_configuration_keys = resources_item.configuration_keys
            if resources_configuration_keys is None:
                out += pack_i(-1)
            else:
                out += pack_i(len(resources_configuration_keys))
                for resources_configuration_keys_item in resources_configuration_keys:
                    raw = resources_configuration_keys_item.encode()
                    out += pack_h(len(raw))
                    out += raw
        out += pack_zz(msg.include_synonyms, msg.include_documentation)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeConfigsRequest", version) from error


def encode_describe_configs_request_v4(msg: DescribeConfigsRequest, out: bytearray, version: int = 4) -> None:
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
            resources_configuration_keys = resources_item.configuration_keys
            if resources_configuration_keys is None:
                out.append(0)
            else:
                n = len(resources_configuration_keys) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for resources_configuration_keys_item in resources_configuration_keys:
                    raw = resources_configuration_keys_item.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
            out.append(0)
        out += pack_zzx(msg.include_synonyms, msg.include_documentation)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeConfigsRequest", version) from error


def decode_describe_configs_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DescribeConfigsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        results: list[DescribeConfigsResult]
        if n < 0:
            raise BadField("results")
        room -= n * 348
        if room < 0:
            room = verify(DescribeConfigsResponse, version, buf, start, pos + n)
        results = []
        results_count = n
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
            results_resource_type, n = unpack_bh(buf, pos)
            if n < 0:
                raise BadField("results.resource_name")
            if n < 0x80:
                results_resource_name = buf[pos + 3 : (pos := pos + 3 + n)].decode()
            else:
                here = pos + 3
                pos = here + n
                results_resource_name = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            results_configs: list[DescribeConfigsResourceResult]
            if n < 0:
                raise BadField("results.configs")
            room -= n * 332
            if room < 0:
                room = verify(DescribeConfigsResponse, version, buf, start, pos + n)
            results_configs = []
            results_configs_count = n
            for _ in range(results_configs_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("results.configs.name")
                if n < 0x80:
                    results_configs_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    results_configs_name = long_text(buf, here, pos)
                results_configs_value: str | None
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    results_configs_value = None
                    pos += 2
                elif n < 0x80:
                    results_configs_value = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    results_configs_value = long_text(buf, here, pos)
                results_configs_read_only, results_configs_config_source, results_configs_is_sensitive, n = unpack_zbzi(buf, pos)
                pos += 7
                results_configs_synonyms: list[DescribeConfigsSynonym]
                if n < 0:
                    raise BadField("results.configs.synonyms")
                room -= n * 244
                if room < 0:
                    room = verify(DescribeConfigsResponse, version, buf, start, pos + n)
                results_configs_synonyms = []
                results_configs_synonyms_left, results_configs_synonyms_step = n, 8
                while results_configs_synonyms_left:
                    results_configs_synonyms_count = results_configs_synonyms_left
                    if results_configs_synonyms_left >= 8 and RUNS_OF_TEXT:
                        run = alike(SHAPE_1, buf, pos, results_configs_synonyms_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            results_configs_synonyms_left -= n
                            results_configs_synonyms += [DescribeConfigsSynonym(name.decode(), value_.decode() if value_ else absent[1], source) for name, value_, source in rows]
                            continue
                        if results_configs_synonyms_step < results_configs_synonyms_left:
                            results_configs_synonyms_count = results_configs_synonyms_step
                        results_configs_synonyms_step *= 2
                    results_configs_synonyms_left -= results_configs_synonyms_count
                    for _ in range(results_configs_synonyms_count):
                        (n,) = unpack_h(buf, pos)
                        if n < 0:
                            raise BadField("results.configs.synonyms.name")
                        if n < 0x80:
                            results_configs_synonyms_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                        else:
                            here = pos + 2
                            pos = here + n
                            results_configs_synonyms_name = long_text(buf, here, pos)
                        results_configs_synonyms_value: str | None
                        (n,) = unpack_h(buf, pos)
                        if n < 0:
                            results_configs_synonyms_value = None
                            pos += 2
                        elif n < 0x80:
                            results_configs_synonyms_value = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                        else:
                            here = pos + 2
                            pos = here + n
                            results_configs_synonyms_value = long_text(buf, here, pos)
                        (results_configs_synonyms_source,) = unpack_b(buf, pos)
                        pos += 1
                        results_configs_synonyms.append(DescribeConfigsSynonym(results_configs_synonyms_name, results_configs_synonyms_value, results_configs_synonyms_source))
                results_configs.append(DescribeConfigsResourceResult(results_configs_name, results_configs_value, results_configs_read_only, results_configs_config_source, results_configs_is_sensitive, results_configs_synonyms))
            results.append(DescribeConfigsResult(results_error_code, results_error_message, results_resource_type, results_resource_name, results_configs))
        if pos > len(buf):
            raise IndexError
        return DescribeConfigsResponse(throttle_time_ms, results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeConfigsResponse, version, buf, start, pos) from None


decode_describe_configs_response_v2 = at_version(decode_describe_configs_response_v1, 2)


def decode_describe_configs_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[DescribeConfigsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        results: list[DescribeConfigsResult]
        if n < 0:
            raise BadField("results")
        room -= n * 348
        if room < 0:
            room = verify(DescribeConfigsResponse, version, buf, start, pos + n)
        results = []
        results_count = n
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
            results_resource_type, n = unpack_bh(buf, pos)
            if n < 0:
                raise BadField("results.resource_name")
            if n < 0x80:
                results_resource_name = buf[pos + 3 : (pos := pos + 3 + n)].decode()
            else:
                here = pos + 3
                pos = here + n
                results_resource_name = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            results_configs: list[DescribeConfigsResourceResult]
            if n < 0:
                raise BadField("results.configs")
            room -= n * 432
            if room < 0:
                room = verify(DescribeConfigsResponse, version, buf, start, pos + n)
            results_configs = []
            results_configs_count = n
            for _ in range(results_configs_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("results.configs.name")
                if n < 0x80:
                    results_configs_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    results_configs_name = long_text(buf, here, pos)
                results_configs_value: str | None
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    results_configs_value = None
                    pos += 2
                elif n < 0x80:
                    results_configs_value = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    results_configs_value = long_text(buf, here, pos)
                results_configs_read_only, results_configs_config_source, results_configs_is_sensitive, n = unpack_zbzi(buf, pos)
                pos += 7
                results_configs_synonyms: list[DescribeConfigsSynonym]
                if n < 0:
                    raise BadField("results.configs.synonyms")
                room -= n * 244
                if room < 0:
                    room = verify(DescribeConfigsResponse, version, buf, start, pos + n)
                results_configs_synonyms = []
                results_configs_synonyms_left, results_configs_synonyms_step = n, 8
                while results_configs_synonyms_left:
                    results_configs_synonyms_count = results_configs_synonyms_left
                    if results_configs_synonyms_left >= 8 and RUNS_OF_TEXT:
                        run = alike(SHAPE_1, buf, pos, results_configs_synonyms_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            results_configs_synonyms_left -= n
                            results_configs_synonyms += [DescribeConfigsSynonym(name.decode(), value_.decode() if value_ else absent[1], source) for name, value_, source in rows]
                            continue
                        if results_configs_synonyms_step < results_configs_synonyms_left:
                            results_configs_synonyms_count = results_configs_synonyms_step
                        results_configs_synonyms_step *= 2
                    results_configs_synonyms_left -= results_configs_synonyms_count
                    for _ in range(results_configs_synonyms_count):
                        (n,) = unpack_h(buf, pos)
                        if n < 0:
                            raise BadField("results.configs.synonyms.name")
                        if n < 0x80:
                            results_configs_synonyms_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                        else:
                            here = pos + 2
                            pos = here + n
                            results_configs_synonyms_name = long_text(buf, here, pos)
                        results_configs_synonyms_value: str | None
                        (n,) = unpack_h(buf, pos)
                        if n < 0:
                            results_configs_synonyms_value = None
                            pos += 2
                        elif n < 0x80:
                            results_configs_synonyms_value = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                        else:
                            here = pos + 2
                            pos = here + n
                            results_configs_synonyms_value = long_text(buf, here, pos)
                        (results_configs_synonyms_source,) = unpack_b(buf, pos)
                        pos += 1
                        results_configs_synonyms.append(DescribeConfigsSynonym(results_configs_synonyms_name, results_configs_synonyms_value, results_configs_synonyms_source))
                results_configs_documentation: str | None
                results_configs_config_type, n = unpack_bh(buf, pos)
                if n < 0:
                    results_configs_documentation = None
                    pos += 3
                elif n < 0x80:
                    results_configs_documentation = buf[pos + 3 : (pos := pos + 3 + n)].decode()
                else:
                    here = pos + 3
                    pos = here + n
                    results_configs_documentation = long_text(buf, here, pos)
                results_configs.append(DescribeConfigsResourceResult(results_configs_name, results_configs_value, results_configs_read_only, results_configs_config_source, results_configs_is_sensitive, results_configs_synonyms, results_configs_config_type, results_configs_documentation))
            results.append(DescribeConfigsResult(results_error_code, results_error_message, results_resource_type, results_resource_name, results_configs))
        if pos > len(buf):
            raise IndexError
        return DescribeConfigsResponse(throttle_time_ms, results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeConfigsResponse, version, buf, start, pos) from None


def decode_describe_configs_response_v4(buf: bytes, pos: int, version: int = 4) -> tuple[DescribeConfigsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        results: list[DescribeConfigsResult]
        if n < 0:
            raise BadField("results")
        room -= n * 364
        if room < 0:
            room = verify(DescribeConfigsResponse, version, buf, start, pos + n)
        results = []
        results_count = n
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
            results_resource_type, n = unpack_bB(buf, pos)
            if 0 < n < 0x80:
                results_resource_name = buf[pos + 2 : (pos := pos + 1 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 1)
                if n == 0:
                    raise BadField("results.resource_name")
                n -= 1
                here = pos
                pos = here + n
                results_resource_name = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            results_configs: list[DescribeConfigsResourceResult]
            if n < 0:
                raise BadField("results.configs")
            room -= n * 452
            if room < 0:
                room = verify(DescribeConfigsResponse, version, buf, start, pos + n)
            results_configs = []
            results_configs_count = n
            for _ in range(results_configs_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    results_configs_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("results.configs.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    results_configs_name = long_text(buf, here, pos)
                results_configs_value: str | None
                n = buf[pos]
                if not n:
                    results_configs_value = None
                    pos += 1
                elif n == 1:
                    results_configs_value = ""
                    pos += 1
                elif n < 0x80:
                    results_configs_value = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        results_configs_value = long_text(buf, here, pos)
                    else:
                        results_configs_value = None
                results_configs_read_only, results_configs_config_source, results_configs_is_sensitive, n = unpack_zbzB(buf, pos)
                pos += 4
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                results_configs_synonyms: list[DescribeConfigsSynonym]
                if n < 0:
                    raise BadField("results.configs.synonyms")
                room -= n * 248
                if room < 0:
                    room = verify(DescribeConfigsResponse, version, buf, start, pos + n)
                results_configs_synonyms = []
                results_configs_synonyms_left, results_configs_synonyms_step = n, 8
                while results_configs_synonyms_left:
                    results_configs_synonyms_count = results_configs_synonyms_left
                    if results_configs_synonyms_left >= 8 and RUNS_OF_TEXT:
                        run = alike(SHAPE_2, buf, pos, results_configs_synonyms_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            results_configs_synonyms_left -= n
                            results_configs_synonyms += [DescribeConfigsSynonym(name.decode(), value_.decode() if value_ else absent[1], source) for name, value_, source in rows]
                            continue
                        if results_configs_synonyms_step < results_configs_synonyms_left:
                            results_configs_synonyms_count = results_configs_synonyms_step
                        results_configs_synonyms_step *= 2
                    results_configs_synonyms_left -= results_configs_synonyms_count
                    for _ in range(results_configs_synonyms_count):
                        n = buf[pos]
                        if 0 < n < 0x80:
                            results_configs_synonyms_name = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("results.configs.synonyms.name")
                            n -= 1
                            here = pos
                            pos = here + n
                            results_configs_synonyms_name = long_text(buf, here, pos)
                        results_configs_synonyms_value: str | None
                        n = buf[pos]
                        if not n:
                            results_configs_synonyms_value = None
                            pos += 1
                        elif n == 1:
                            results_configs_synonyms_value = ""
                            pos += 1
                        elif n < 0x80:
                            results_configs_synonyms_value = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n:
                                n -= 1
                                here = pos
                                pos = here + n
                                results_configs_synonyms_value = long_text(buf, here, pos)
                            else:
                                results_configs_synonyms_value = None
                        results_configs_synonyms_source, n = unpack_bB(buf, pos)
                        pos += 2
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        results_configs_synonyms.append(DescribeConfigsSynonym(results_configs_synonyms_name, results_configs_synonyms_value, results_configs_synonyms_source))
                results_configs_documentation: str | None
                results_configs_config_type, n = unpack_bB(buf, pos)
                if not n:
                    results_configs_documentation = None
                    pos += 2
                elif n == 1:
                    results_configs_documentation = ""
                    pos += 2
                elif n < 0x80:
                    results_configs_documentation = buf[pos + 2 : (pos := pos + 1 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 1)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        results_configs_documentation = long_text(buf, here, pos)
                    else:
                        results_configs_documentation = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                results_configs.append(DescribeConfigsResourceResult(results_configs_name, results_configs_value, results_configs_read_only, results_configs_config_source, results_configs_is_sensitive, results_configs_synonyms, results_configs_config_type, results_configs_documentation))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            results.append(DescribeConfigsResult(results_error_code, results_error_message, results_resource_type, results_resource_name, results_configs))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeConfigsResponse(throttle_time_ms, results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeConfigsResponse, version, buf, start, pos) from None


def encode_describe_configs_response_v1(msg: DescribeConfigsResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        results = msg.results
        out += pack_ii(msg.throttle_time_ms, len(results))
        for results_item in results:
            text = results_item.error_message
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_hh(results_item.error_code, n)
            out += raw
            raw = results_item.resource_name.encode()
            out += pack_bh(results_item.resource_type, len(raw))
            out += raw
            results_configs = results_item.configs
            out += pack_i(len(results_configs))
            for results_configs_item in results_configs:
                raw = results_configs_item.name.encode()
                out += pack_h(len(raw))
                out += raw
                text = results_configs_item.value
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_h(n)
                out += raw
                results_configs_synonyms = results_configs_item.synonyms
                out += pack_zbzi(results_configs_item.read_only, results_configs_item.config_source, results_configs_item.is_sensitive, len(results_configs_synonyms))
                for results_configs_synonyms_item in results_configs_synonyms:
                    raw = results_configs_synonyms_item.name.encode()
                    out += pack_h(len(raw))
                    out += raw
                    text = results_configs_synonyms_item.value
                    if text is None:
                        n, raw = -1, b""
                    else:
                        raw = text.encode()
                        n = len(raw)
                    out += pack_h(n)
                    out += raw
                    out += pack_b(results_configs_synonyms_item.source)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeConfigsResponse", version) from error


encode_describe_configs_response_v2 = at_version(encode_describe_configs_response_v1, 2)


def encode_describe_configs_response_v3(msg: DescribeConfigsResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        results = msg.results
        out += pack_ii(msg.throttle_time_ms, len(results))
        for results_item in results:
            text = results_item.error_message
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_hh(results_item.error_code, n)
            out += raw
            raw = results_item.resource_name.encode()
            out += pack_bh(results_item.resource_type, len(raw))
            out += raw
            results_configs = results_item.configs
            out += pack_i(len(results_configs))
            for results_configs_item in results_configs:
                raw = results_configs_item.name.encode()
                out += pack_h(len(raw))
                out += raw
                text = results_configs_item.value
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_h(n)
                out += raw
                results_configs_synonyms = results_configs_item.synonyms
                out += pack_zbzi(results_configs_item.read_only, results_configs_item.config_source, results_configs_item.is_sensitive, len(results_configs_synonyms))
                for results_configs_synonyms_item in results_configs_synonyms:
                    raw = results_configs_synonyms_item.name.encode()
                    out += pack_h(len(raw))
                    out += raw
                    text = results_configs_synonyms_item.value
                    if text is None:
                        n, raw = -1, b""
                    else:
                        raw = text.encode()
                        n = len(raw)
                    out += pack_h(n)
                    out += raw
                    out += pack_b(results_configs_synonyms_item.source)
                text = results_configs_item.documentation
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_bh(results_configs_item.config_type, n)
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeConfigsResponse", version) from error


def encode_describe_configs_response_v4(msg: DescribeConfigsResponse, out: bytearray, version: int = 4) -> None:
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
            raw = results_item.resource_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_bB(results_item.resource_type, n)
            else:
                out += pack_b(results_item.resource_type)
                out += write_string_size(n)
            out += raw
            results_configs = results_item.configs
            n = len(results_configs) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for results_configs_item in results_configs:
                raw = results_configs_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                text = results_configs_item.value
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
                results_configs_synonyms = results_configs_item.synonyms
                n = len(results_configs_synonyms) + 1
                if n < 0x80:
                    out += pack_zbzB(results_configs_item.read_only, results_configs_item.config_source, results_configs_item.is_sensitive, n)
                else:
                    out += pack_zbz(results_configs_item.read_only, results_configs_item.config_source, results_configs_item.is_sensitive)
                    out += write_uvarint(n)
                for results_configs_synonyms_item in results_configs_synonyms:
                    raw = results_configs_synonyms_item.name.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    text = results_configs_synonyms_item.value
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
                    out += pack_bx(results_configs_synonyms_item.source)
                text = results_configs_item.documentation
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_bB(results_configs_item.config_type, n)
                else:
                    out += pack_b(results_configs_item.config_type)
                    out += write_string_size(n)
                out += raw
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeConfigsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DescribeConfigsRequest: {
        1: decode_describe_configs_request_v1,
        2: decode_describe_configs_request_v2,
        3: decode_describe_configs_request_v3,
        4: decode_describe_configs_request_v4,
    },
    DescribeConfigsResponse: {
        1: decode_describe_configs_response_v1,
        2: decode_describe_configs_response_v2,
        3: decode_describe_configs_response_v3,
        4: decode_describe_configs_response_v4,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DescribeConfigsRequest: {
        1: encode_describe_configs_request_v1,
        2: encode_describe_configs_request_v2,
        3: encode_describe_configs_request_v3,
        4: encode_describe_configs_request_v4,
    },
    DescribeConfigsResponse: {
        1: encode_describe_configs_response_v1,
        2: encode_describe_configs_response_v2,
        3: encode_describe_configs_response_v3,
        4: encode_describe_configs_response_v4,
    },
}
