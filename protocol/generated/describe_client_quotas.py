"""Codecs of protocol/messages/describe_client_quotas.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_bB, unpack_bh, unpack_h, unpack_i, unpack_ihB, unpack_ihh, unpack_z, unpack_zB
from protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
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
SHAPE_3 = Shape("", 0, Field("", 0, 2, False, ""), Field("", 0, 2, True, ""))
SHAPE_4 = Shape("d", 8, Field("", 0, 2, False, ""))
SHAPE_5 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, True, ""))
SHAPE_6 = Shape("dx", 9, Field("", 0, 1, False, ""))
pack_z = Struct(">?").pack
pack_zx = Struct(">?x").pack
pack_Bdx = Struct(">Bdx").pack
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_bh = Struct(">bh").pack
pack_d = Struct(">d").pack
pack_dx = Struct(">dx").pack
pack_h = Struct(">h").pack
pack_hd = Struct(">hd").pack
pack_i = Struct(">i").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ihh = Struct(">ihh").pack
unpack_d = Struct(">d").unpack_from
unpack_dB = Struct(">dB").unpack_from


def decode_describe_client_quotas_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeClientQuotasRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        components: list[ComponentData]
        if n < 0:
            raise BadField("components")
        room -= n * 244
        if room < 0:
            room, limit = verify(DescribeClientQuotasRequest, version, buf, start, pos + n, limit - n * 244), 0
        components = []
        components_left, components_step = n, 8
        while components_left:
            components_count = components_left
            if components_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, components_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    components_left -= n
                    components += [ComponentData(entity_type.decode(), match_type, match.decode() if match else absent[1]) for entity_type, match_type, match in rows]
                    continue
                if components_step < components_left:
                    components_count = components_step
                components_step *= 2
            components_left -= components_count
            for _ in range(components_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("components.entity_type")
                if n < 0x80:
                    components_entity_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    components_entity_type = long_text(buf, here, pos)
                components_match: str | None
                components_match_type, n = unpack_bh(buf, pos)
                if n < 0:
                    components_match = None
                    pos += 3
                elif n < 0x80:
                    components_match = buf[pos + 3 : (pos := pos + 3 + n)].decode()
                else:
                    here = pos + 3
                    pos = here + n
                    components_match = long_text(buf, here, pos)
                components.append(ComponentData(components_entity_type, components_match_type, components_match))
        (strict,) = unpack_z(buf, pos)
        pos += 1
        return DescribeClientQuotasRequest(components, strict), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeClientQuotasRequest, version, buf, start, pos) from None


def decode_describe_client_quotas_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DescribeClientQuotasRequest, int]:
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
        components: list[ComponentData]
        if n < 0:
            raise BadField("components")
        room -= n * 248
        if room < 0:
            room, limit = verify(DescribeClientQuotasRequest, version, buf, start, pos + n, limit - n * 248), 0
        components = []
        components_left, components_step = n, 8
        while components_left:
            components_count = components_left
            if components_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_2, buf, pos, components_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    components_left -= n
                    components += [ComponentData(entity_type.decode(), match_type, match.decode() if match else absent[1]) for entity_type, match_type, match in rows]
                    continue
                if components_step < components_left:
                    components_count = components_step
                components_step *= 2
            components_left -= components_count
            for _ in range(components_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    components_entity_type = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("components.entity_type")
                    n -= 1
                    here = pos
                    pos = here + n
                    components_entity_type = long_text(buf, here, pos)
                components_match: str | None
                components_match_type, n = unpack_bB(buf, pos)
                if not n:
                    components_match = None
                    pos += 2
                elif n == 1:
                    components_match = ""
                    pos += 2
                elif n < 0x80:
                    components_match = buf[pos + 2 : (pos := pos + 1 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 1)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        components_match = long_text(buf, here, pos)
                    else:
                        components_match = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                components.append(ComponentData(components_entity_type, components_match_type, components_match))
        strict, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeClientQuotasRequest(components, strict), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeClientQuotasRequest, version, buf, start, pos) from None


def encode_describe_client_quotas_request_v0(msg: DescribeClientQuotasRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        components = msg.components
        out += pack_i(len(components))
        for components_item in components:
            raw = components_item.entity_type.encode()
            out += pack_h(len(raw))
            out += raw
            text = components_item.match
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_bh(components_item.match_type, n)
            out += raw
        out += pack_z(msg.strict)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeClientQuotasRequest", version) from error


def encode_describe_client_quotas_request_v1(msg: DescribeClientQuotasRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        components = msg.components
        n = len(components) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for components_item in components:
            raw = components_item.entity_type.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            text = components_item.match
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_bB(components_item.match_type, n)
            else:
                out += pack_b(components_item.match_type)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out += pack_zx(msg.strict)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeClientQuotasRequest", version) from error


def decode_describe_client_quotas_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeClientQuotasResponse, int]:
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
        entries: list[EntryData] | None
        if n < 0:
            entries = None
        else:
            room -= n * 184
            if room < 0:
                room = verify(DescribeClientQuotasResponse, version, buf, start, pos + n)
            entries = []
            entries_count = n
            for _ in range(entries_count):
                (n,) = unpack_i(buf, pos)
                pos += 4
                entries_entity: list[EntityData]
                if n < 0:
                    raise BadField("entries.entity")
                room -= n * 200
                if room < 0:
                    room = verify(DescribeClientQuotasResponse, version, buf, start, pos + n)
                entries_entity = []
                entries_entity_left, entries_entity_step = n, 8
                while entries_entity_left:
                    entries_entity_count = entries_entity_left
                    if entries_entity_left >= 8 and RUNS_OF_TEXT:
                        run = alike(SHAPE_3, buf, pos, entries_entity_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            entries_entity_left -= n
                            entries_entity += [EntityData(entity_type.decode(), entity_name.decode() if entity_name else absent[1]) for entity_type, entity_name in rows]
                            continue
                        if entries_entity_step < entries_entity_left:
                            entries_entity_count = entries_entity_step
                        entries_entity_step *= 2
                    entries_entity_left -= entries_entity_count
                    for _ in range(entries_entity_count):
                        (n,) = unpack_h(buf, pos)
                        if n < 0:
                            raise BadField("entries.entity.entity_type")
                        if n < 0x80:
                            entries_entity_entity_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                        else:
                            here = pos + 2
                            pos = here + n
                            entries_entity_entity_type = long_text(buf, here, pos)
                        entries_entity_entity_name: str | None
                        (n,) = unpack_h(buf, pos)
                        if n < 0:
                            entries_entity_entity_name = None
                            pos += 2
                        elif n < 0x80:
                            entries_entity_entity_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                        else:
                            here = pos + 2
                            pos = here + n
                            entries_entity_entity_name = long_text(buf, here, pos)
                        entries_entity.append(EntityData(entries_entity_entity_type, entries_entity_entity_name))
                (n,) = unpack_i(buf, pos)
                pos += 4
                entries_values: list[ValueData]
                if n < 0:
                    raise BadField("entries.values")
                room -= n * 128
                if room < 0:
                    room = verify(DescribeClientQuotasResponse, version, buf, start, pos + n)
                entries_values = []
                entries_values_left, entries_values_step = n, 8
                while entries_values_left:
                    entries_values_count = entries_values_left
                    if entries_values_left >= 8:
                        run = alike(SHAPE_4, buf, pos, entries_values_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            entries_values_left -= n
                            if is_same:
                                entries_values += [ValueData(absent, value_) for value_, in rows]
                            else:
                                entries_values += [ValueData(key.decode(), value_) for key, value_ in rows]
                            continue
                        if entries_values_step < entries_values_left:
                            entries_values_count = entries_values_step
                        entries_values_step *= 2
                    entries_values_left -= entries_values_count
                    for _ in range(entries_values_count):
                        (n,) = unpack_h(buf, pos)
                        if n < 0:
                            raise BadField("entries.values.key")
                        if n < 0x80:
                            entries_values_key = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                        else:
                            here = pos + 2
                            pos = here + n
                            entries_values_key = long_text(buf, here, pos)
                        (entries_values_value,) = unpack_d(buf, pos)
                        pos += 8
                        entries_values.append(ValueData(entries_values_key, entries_values_value))
                entries.append(EntryData(entries_entity, entries_values))
        if pos > len(buf):
            raise IndexError
        return DescribeClientQuotasResponse(throttle_time_ms, error_code, error_message, entries), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeClientQuotasResponse, version, buf, start, pos) from None


def decode_describe_client_quotas_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DescribeClientQuotasResponse, int]:
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
        entries: list[EntryData] | None
        if n < 0:
            entries = None
        else:
            room -= n * 204
            if room < 0:
                room = verify(DescribeClientQuotasResponse, version, buf, start, pos + n)
            entries = []
            entries_count = n
            for _ in range(entries_count):
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                entries_entity: list[EntityData]
                if n < 0:
                    raise BadField("entries.entity")
                room -= n * 204
                if room < 0:
                    room = verify(DescribeClientQuotasResponse, version, buf, start, pos + n)
                entries_entity = []
                entries_entity_left, entries_entity_step = n, 8
                while entries_entity_left:
                    entries_entity_count = entries_entity_left
                    if entries_entity_left >= 8 and RUNS_OF_TEXT:
                        run = alike(SHAPE_5, buf, pos, entries_entity_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            entries_entity_left -= n
                            entries_entity += [EntityData(entity_type.decode(), entity_name.decode() if entity_name else absent[1]) for entity_type, entity_name in rows]
                            continue
                        if entries_entity_step < entries_entity_left:
                            entries_entity_count = entries_entity_step
                        entries_entity_step *= 2
                    entries_entity_left -= entries_entity_count
                    for _ in range(entries_entity_count):
                        n = buf[pos]
                        if 0 < n < 0x80:
                            entries_entity_entity_type = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("entries.entity.entity_type")
                            n -= 1
                            here = pos
                            pos = here + n
                            entries_entity_entity_type = long_text(buf, here, pos)
                        entries_entity_entity_name: str | None
                        n = buf[pos]
                        if not n:
                            entries_entity_entity_name = None
                            pos += 1
                        elif n == 1:
                            entries_entity_entity_name = ""
                            pos += 1
                        elif n < 0x80:
                            entries_entity_entity_name = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n:
                                n -= 1
                                here = pos
                                pos = here + n
                                entries_entity_entity_name = long_text(buf, here, pos)
                            else:
                                entries_entity_entity_name = None
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        entries_entity.append(EntityData(entries_entity_entity_type, entries_entity_entity_name))
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                entries_values: list[ValueData]
                if n < 0:
                    raise BadField("entries.values")
                room -= n * 128
                if room < 0:
                    room = verify(DescribeClientQuotasResponse, version, buf, start, pos + n)
                entries_values = []
                entries_values_left, entries_values_step = n, 8
                while entries_values_left:
                    entries_values_count = entries_values_left
                    if entries_values_left >= 8:
                        run = alike(SHAPE_6, buf, pos, entries_values_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            entries_values_left -= n
                            if is_same:
                                entries_values += [ValueData(absent, value_) for value_, in rows]
                            else:
                                entries_values += [ValueData(key.decode(), value_) for key, value_ in rows]
                            continue
                        if entries_values_step < entries_values_left:
                            entries_values_count = entries_values_step
                        entries_values_step *= 2
                    entries_values_left -= entries_values_count
                    for _ in range(entries_values_count):
                        n = buf[pos]
                        if 0 < n < 0x80:
                            entries_values_key = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("entries.values.key")
                            n -= 1
                            here = pos
                            pos = here + n
                            entries_values_key = long_text(buf, here, pos)
                        entries_values_value, n = unpack_dB(buf, pos)
                        pos += 9
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        entries_values.append(ValueData(entries_values_key, entries_values_value))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                entries.append(EntryData(entries_entity, entries_values))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeClientQuotasResponse(throttle_time_ms, error_code, error_message, entries), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeClientQuotasResponse, version, buf, start, pos) from None


def encode_describe_client_quotas_response_v0(msg: DescribeClientQuotasResponse, out: bytearray, version: int = 0) -> None:
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
        entries = msg.entries
        if entries is None:
            out += pack_i(-1)
        else:
            out += pack_i(len(entries))
            for entries_item in entries:
                entries_entity = entries_item.entity
                out += pack_i(len(entries_entity))
                for entries_entity_item in entries_entity:
                    raw = entries_entity_item.entity_type.encode()
                    out += pack_h(len(raw))
                    out += raw
                    text = entries_entity_item.entity_name
                    if text is None:
                        n, raw = -1, b""
                    else:
                        raw = text.encode()
                        n = len(raw)
                    out += pack_h(n)
                    out += raw
                entries_values = entries_item.values
                out += pack_i(len(entries_values))
                for entries_values_item in entries_values:
                    if entries_values_item.key == "":
                        out += pack_hd(0, entries_values_item.value)
                        continue
                    raw = entries_values_item.key.encode()
                    out += pack_h(len(raw))
                    out += raw
                    out += pack_d(entries_values_item.value)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeClientQuotasResponse", version) from error


def encode_describe_client_quotas_response_v1(msg: DescribeClientQuotasResponse, out: bytearray, version: int = 1) -> None:
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
        entries = msg.entries
        if entries is None:
            out.append(0)
        else:
            n = len(entries) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for entries_item in entries:
                entries_entity = entries_item.entity
                n = len(entries_entity) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for entries_entity_item in entries_entity:
                    raw = entries_entity_item.entity_type.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    text = entries_entity_item.entity_name
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
                    out.append(0)
                entries_values = entries_item.values
                n = len(entries_values) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for entries_values_item in entries_values:
                    if entries_values_item.key == "":
                        out += pack_Bdx(1, entries_values_item.value)
                        continue
                    raw = entries_values_item.key.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    out += pack_dx(entries_values_item.value)
                out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeClientQuotasResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DescribeClientQuotasRequest: {
        0: decode_describe_client_quotas_request_v0,
        1: decode_describe_client_quotas_request_v1,
    },
    DescribeClientQuotasResponse: {
        0: decode_describe_client_quotas_response_v0,
        1: decode_describe_client_quotas_response_v1,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DescribeClientQuotasRequest: {
        0: encode_describe_client_quotas_request_v0,
        1: encode_describe_client_quotas_request_v1,
    },
    DescribeClientQuotasResponse: {
        0: encode_describe_client_quotas_response_v0,
        1: encode_describe_client_quotas_response_v1,
    },
}
