"""Codecs of protocol/messages/api_versions.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_hB, unpack_hhB, unpack_hhhB, unpack_hi, unpack_i, unpack_iB, unpack_q, unpack_z
from protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
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

SHAPE_1 = Shape("hhx", 5, Field("", 0, 1, False, ""))
pack_BBz = Struct(">BB?").pack
pack_BBq = Struct(">BBq").pack
pack_Bhhx = Struct(">Bhhx").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hhh = Struct(">hhh").pack
pack_hhhx = Struct(">hhhx").pack
pack_hhx = Struct(">hhx").pack
pack_hi = Struct(">hi").pack
pack_i = Struct(">i").pack
rows_hhh = Struct(">hhh").iter_unpack
rows_hhhx = Struct(">hhhx").iter_unpack


def decode_api_versions_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ApiVersionsRequest, int]:
    start = pos
    n: int
    try:
        if pos > len(buf):
            raise IndexError
        return ApiVersionsRequest(), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ApiVersionsRequest, version, buf, start, pos) from None


decode_api_versions_request_v1 = at_version(decode_api_versions_request_v0, 1)


decode_api_versions_request_v2 = at_version(decode_api_versions_request_v0, 2)


def decode_api_versions_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[ApiVersionsRequest, int]:
    start = pos
    n: int
    try:
        n = buf[pos]
        if 0 < n < 0x80:
            client_software_name = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("client_software_name")
            n -= 1
            here = pos
            pos = here + n
            client_software_name = long_text(buf, here, pos)
        n = buf[pos]
        if 0 < n < 0x80:
            client_software_version = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("client_software_version")
            n -= 1
            here = pos
            pos = here + n
            client_software_version = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ApiVersionsRequest(client_software_name, client_software_version), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ApiVersionsRequest, version, buf, start, pos) from None


decode_api_versions_request_v4 = at_version(decode_api_versions_request_v3, 4)


def encode_api_versions_request_v0(msg: ApiVersionsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        pass
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ApiVersionsRequest", version) from error


encode_api_versions_request_v1 = at_version(encode_api_versions_request_v0, 1)


encode_api_versions_request_v2 = at_version(encode_api_versions_request_v0, 2)


def encode_api_versions_request_v3(msg: ApiVersionsRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        raw = msg.client_software_name.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        raw = msg.client_software_version.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ApiVersionsRequest", version) from error


encode_api_versions_request_v4 = at_version(encode_api_versions_request_v3, 4)


def decode_api_versions_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ApiVersionsResponse, int]:
    start = pos
    n: int
    try:
        room = 45648 - 2 * len(buf)
        error_code, n = unpack_hi(buf, pos)
        pos += 6
        api_keys: list[ApiVersion]
        if n < 0:
            raise BadField("api_keys")
        room -= n * 144
        if room < 0:
            room = verify(ApiVersionsResponse, version, buf, start, pos + n)
        end = pos + n * 6
        api_keys = list(starmap(ApiVersion, rows_hhh(buf[pos:end])))
        pos = end
        if pos > len(buf):
            raise IndexError
        return ApiVersionsResponse(error_code, api_keys), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ApiVersionsResponse, version, buf, start, pos) from None


def decode_api_versions_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ApiVersionsResponse, int]:
    start = pos
    n: int
    try:
        room = 45616 - 2 * len(buf)
        error_code, n = unpack_hi(buf, pos)
        pos += 6
        api_keys: list[ApiVersion]
        if n < 0:
            raise BadField("api_keys")
        room -= n * 144
        if room < 0:
            room = verify(ApiVersionsResponse, version, buf, start, pos + n)
        end = pos + n * 6
        api_keys = list(starmap(ApiVersion, rows_hhh(buf[pos:end])))
        pos = end
        (throttle_time_ms,) = unpack_i(buf, pos)
        pos += 4
        return ApiVersionsResponse(error_code, api_keys, throttle_time_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ApiVersionsResponse, version, buf, start, pos) from None


decode_api_versions_response_v2 = at_version(decode_api_versions_response_v1, 2)


def decode_api_versions_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[ApiVersionsResponse, int]:
    start = pos
    n: int
    try:
        room = 45584 - 2 * len(buf)
        error_code, n = unpack_hB(buf, pos)
        pos += 3
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        api_keys: list[ApiVersion]
        if n < 0:
            raise BadField("api_keys")
        room -= n * 140
        if room < 0:
            room = verify(ApiVersionsResponse, version, buf, start, pos + n)
        end = pos + n * 7
        if buf[pos + 6 : end : 7].count(0) == n:
            api_keys = list(starmap(ApiVersion, rows_hhhx(buf[pos:end])))
            pos = end
        else:
            api_keys = []
            api_keys_count = n
            for _ in range(api_keys_count):
                api_keys_api_key, api_keys_min_version, api_keys_max_version, n = unpack_hhhB(buf, pos)
                pos += 7
                if n:
                    pos = skip_tags(buf, pos - 1)
                api_keys.append(ApiVersion(api_keys_api_key, api_keys_min_version, api_keys_max_version))
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        supported_features: list[SupportedFeatureKey] = []
        finalized_features_epoch: int = -1
        finalized_features: list[FinalizedFeatureKey] = []
        zk_migration_ready: bool = False
        if n:
            n, pos = read_uvarint(buf, pos - 1)
            tag_count = n
            for _ in range(tag_count):
                tag, pos = read_uvarint(buf, pos)
                n, pos = read_uvarint(buf, pos)
                tag_end = pos + n
                if tag_end > len(buf):
                    raise IndexError
                if tag == 0:
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    if n < 0:
                        raise BadField("supported_features")
                    room -= n * 192
                    if room < 0:
                        room = verify(ApiVersionsResponse, version, buf, start, pos + n)
                    supported_features = []
                    supported_features_left, supported_features_step = n, 8
                    while supported_features_left:
                        supported_features_count = supported_features_left
                        if supported_features_left >= 8:
                            run = alike(SHAPE_1, buf, pos, supported_features_left)
                            if run is not None:
                                pos, n, rows, absent, is_same = run
                                supported_features_left -= n
                                if is_same:
                                    supported_features += [SupportedFeatureKey(absent, min_version, max_version) for min_version, max_version in rows]
                                else:
                                    supported_features += [SupportedFeatureKey(name.decode(), min_version, max_version) for name, min_version, max_version in rows]
                                continue
                            if supported_features_step < supported_features_left:
                                supported_features_count = supported_features_step
                            supported_features_step *= 2
                        supported_features_left -= supported_features_count
                        for _ in range(supported_features_count):
                            n = buf[pos]
                            if 0 < n < 0x80:
                                supported_features_name = buf[pos + 1 : (pos := pos + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos)
                                if n == 0:
                                    raise BadField("supported_features.name")
                                n -= 1
                                here = pos
                                pos = here + n
                                supported_features_name = long_text(buf, here, pos)
                            supported_features_min_version, supported_features_max_version, n = unpack_hhB(buf, pos)
                            pos += 5
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            supported_features.append(SupportedFeatureKey(supported_features_name, supported_features_min_version, supported_features_max_version))
                elif tag == 1:
                    (finalized_features_epoch,) = unpack_q(buf, pos)
                    pos += 8
                elif tag == 2:
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    if n < 0:
                        raise BadField("finalized_features")
                    room -= n * 192
                    if room < 0:
                        room = verify(ApiVersionsResponse, version, buf, start, pos + n)
                    finalized_features = []
                    finalized_features_left, finalized_features_step = n, 8
                    while finalized_features_left:
                        finalized_features_count = finalized_features_left
                        if finalized_features_left >= 8:
                            run = alike(SHAPE_1, buf, pos, finalized_features_left)
                            if run is not None:
                                pos, n, rows, absent, is_same = run
                                finalized_features_left -= n
                                if is_same:
                                    finalized_features += [FinalizedFeatureKey(absent, max_version_level, min_version_level) for max_version_level, min_version_level in rows]
                                else:
                                    finalized_features += [FinalizedFeatureKey(name.decode(), max_version_level, min_version_level) for name, max_version_level, min_version_level in rows]
                                continue
                            if finalized_features_step < finalized_features_left:
                                finalized_features_count = finalized_features_step
                            finalized_features_step *= 2
                        finalized_features_left -= finalized_features_count
                        for _ in range(finalized_features_count):
                            n = buf[pos]
                            if 0 < n < 0x80:
                                finalized_features_name = buf[pos + 1 : (pos := pos + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos)
                                if n == 0:
                                    raise BadField("finalized_features.name")
                                n -= 1
                                here = pos
                                pos = here + n
                                finalized_features_name = long_text(buf, here, pos)
                            finalized_features_max_version_level, finalized_features_min_version_level, n = unpack_hhB(buf, pos)
                            pos += 5
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            finalized_features.append(FinalizedFeatureKey(finalized_features_name, finalized_features_max_version_level, finalized_features_min_version_level))
                elif tag == 3:
                    (zk_migration_ready,) = unpack_z(buf, pos)
                    pos += 1
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return ApiVersionsResponse(error_code, api_keys, throttle_time_ms, supported_features, finalized_features_epoch, finalized_features, zk_migration_ready), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ApiVersionsResponse, version, buf, start, pos) from None


decode_api_versions_response_v4 = at_version(decode_api_versions_response_v3, 4)


def encode_api_versions_response_v0(msg: ApiVersionsResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        api_keys = msg.api_keys
        out += pack_hi(msg.error_code, len(api_keys))
        out += b"".join([pack_hhh(api_keys_item.api_key, api_keys_item.min_version, api_keys_item.max_version) for api_keys_item in api_keys])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ApiVersionsResponse", version) from error


def encode_api_versions_response_v1(msg: ApiVersionsResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        api_keys = msg.api_keys
        out += pack_hi(msg.error_code, len(api_keys))
        out += b"".join([pack_hhh(api_keys_item.api_key, api_keys_item.min_version, api_keys_item.max_version) for api_keys_item in api_keys])
        out += pack_i(msg.throttle_time_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ApiVersionsResponse", version) from error


encode_api_versions_response_v2 = at_version(encode_api_versions_response_v1, 2)


def encode_api_versions_response_v3(msg: ApiVersionsResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        api_keys = msg.api_keys
        n = len(api_keys) + 1
        if n < 0x80:
            out += pack_hB(msg.error_code, n)
        else:
            out += pack_h(msg.error_code)
            out += write_uvarint(n)
        out += b"".join([pack_hhhx(api_keys_item.api_key, api_keys_item.min_version, api_keys_item.max_version) for api_keys_item in api_keys])
        out += pack_i(msg.throttle_time_ms)
        tag_count = 0
        tagged = bytearray()
        if msg.supported_features:
            tag_count += 1
            tagged.append(0)
            supported_features_content = bytearray()
            supported_features = msg.supported_features
            n = len(supported_features) + 1
            if n < 0x80:
                supported_features_content.append(n)
            else:
                supported_features_content += write_uvarint(n)
            for supported_features_item in supported_features:
                if supported_features_item.name == "":
                    supported_features_content += pack_Bhhx(1, supported_features_item.min_version, supported_features_item.max_version)
                    continue
                raw = supported_features_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    supported_features_content.append(n)
                else:
                    supported_features_content += write_string_size(n)
                supported_features_content += raw
                supported_features_content += pack_hhx(supported_features_item.min_version, supported_features_item.max_version)
            n = len(supported_features_content)
            if n < 0x80:
                tagged.append(n)
            else:
                tagged += write_uvarint(n)
            tagged += supported_features_content
        if msg.finalized_features_epoch != -1:
            tag_count += 1
            tagged += pack_BBq(1, 8, msg.finalized_features_epoch)
        if msg.finalized_features:
            tag_count += 1
            tagged.append(2)
            finalized_features_content = bytearray()
            finalized_features = msg.finalized_features
            n = len(finalized_features) + 1
            if n < 0x80:
                finalized_features_content.append(n)
            else:
                finalized_features_content += write_uvarint(n)
            for finalized_features_item in finalized_features:
                if finalized_features_item.name == "":
                    finalized_features_content += pack_Bhhx(1, finalized_features_item.max_version_level, finalized_features_item.min_version_level)
                    continue
                raw = finalized_features_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    finalized_features_content.append(n)
                else:
                    finalized_features_content += write_string_size(n)
                finalized_features_content += raw
                finalized_features_content += pack_hhx(finalized_features_item.max_version_level, finalized_features_item.min_version_level)
            n = len(finalized_features_content)
            if n < 0x80:
                tagged.append(n)
            else:
                tagged += write_uvarint(n)
            tagged += finalized_features_content
        if msg.zk_migration_ready:
            tag_count += 1
            tagged += pack_BBz(3, 1, msg.zk_migration_ready)
        out.append(tag_count)
        out += tagged
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ApiVersionsResponse", version) from error


encode_api_versions_response_v4 = at_version(encode_api_versions_response_v3, 4)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ApiVersionsRequest: {
        0: decode_api_versions_request_v0,
        1: decode_api_versions_request_v1,
        2: decode_api_versions_request_v2,
        3: decode_api_versions_request_v3,
        4: decode_api_versions_request_v4,
    },
    ApiVersionsResponse: {
        0: decode_api_versions_response_v0,
        1: decode_api_versions_response_v1,
        2: decode_api_versions_response_v2,
        3: decode_api_versions_response_v3,
        4: decode_api_versions_response_v4,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ApiVersionsRequest: {
        0: encode_api_versions_request_v0,
        1: encode_api_versions_request_v1,
        2: encode_api_versions_request_v2,
        3: encode_api_versions_request_v3,
        4: encode_api_versions_request_v4,
    },
    ApiVersionsResponse: {
        0: encode_api_versions_response_v0,
        1: encode_api_versions_response_v1,
        2: encode_api_versions_response_v2,
        3: encode_api_versions_response_v3,
        4: encode_api_versions_response_v4,
    },
}
