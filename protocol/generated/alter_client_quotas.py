"""Codecs of protocol/messages/alter_client_quotas.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_hB, unpack_hh, unpack_i, unpack_iB, unpack_ii, unpack_z, unpack_zB
from protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
    RequestEntryData,
    ResponseEntryData,
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

SHAPE_1 = Shape("", 0, Field("", 0, 2, False, ""), Field("", 0, 2, True, ""))
SHAPE_2 = Shape("d?", 9, Field("", 0, 2, False, ""))
SHAPE_3 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, True, ""))
SHAPE_4 = Shape("d?x", 10, Field("", 0, 1, False, ""))
pack_z = Struct(">?").pack
pack_zx = Struct(">?x").pack
pack_Bdzx = Struct(">Bd?x").pack
pack_dz = Struct(">d?").pack
pack_dzx = Struct(">d?x").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hdz = Struct(">hd?").pack
pack_hh = Struct(">hh").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack
unpack_dz = Struct(">d?").unpack_from
unpack_dzB = Struct(">d?B").unpack_from


def decode_alter_client_quotas_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[AlterClientQuotasRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        entries: list[RequestEntryData]
        if n < 0:
            raise BadField("entries")
        room -= n * 184
        if room < 0:
            room, limit = verify(AlterClientQuotasRequest, version, buf, start, pos + n, limit - n * 184), 0
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
                room, limit = verify(AlterClientQuotasRequest, version, buf, start, pos + n, limit - n * 200), 0
            entries_entity = []
            entries_entity_left, entries_entity_step = n, 8
            while entries_entity_left:
                entries_entity_count = entries_entity_left
                if entries_entity_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_1, buf, pos, entries_entity_left)
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
            entries_ops: list[OpData]
            if n < 0:
                raise BadField("entries.ops")
            room -= n * 124
            if room < 0:
                room, limit = verify(AlterClientQuotasRequest, version, buf, start, pos + n, limit - n * 124), 0
            entries_ops = []
            entries_ops_left, entries_ops_step = n, 8
            while entries_ops_left:
                entries_ops_count = entries_ops_left
                if entries_ops_left >= 8:
                    run = alike(SHAPE_2, buf, pos, entries_ops_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        entries_ops_left -= n
                        if is_same:
                            entries_ops += [OpData(absent, value_, remove) for value_, remove in rows]
                        else:
                            entries_ops += [OpData(key.decode(), value_, remove) for key, value_, remove in rows]
                        continue
                    if entries_ops_step < entries_ops_left:
                        entries_ops_count = entries_ops_step
                    entries_ops_step *= 2
                entries_ops_left -= entries_ops_count
                for _ in range(entries_ops_count):
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("entries.ops.key")
                    if n < 0x80:
                        entries_ops_key = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        entries_ops_key = long_text(buf, here, pos)
                    entries_ops_value, entries_ops_remove = unpack_dz(buf, pos)
                    pos += 9
                    entries_ops.append(OpData(entries_ops_key, entries_ops_value, entries_ops_remove))
            entries.append(RequestEntryData(entries_entity, entries_ops))
        (validate_only,) = unpack_z(buf, pos)
        pos += 1
        return AlterClientQuotasRequest(entries, validate_only), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AlterClientQuotasRequest, version, buf, start, pos) from None


def decode_alter_client_quotas_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[AlterClientQuotasRequest, int]:
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
        entries: list[RequestEntryData]
        if n < 0:
            raise BadField("entries")
        room -= n * 204
        if room < 0:
            room, limit = verify(AlterClientQuotasRequest, version, buf, start, pos + n, limit - n * 204), 0
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
                room, limit = verify(AlterClientQuotasRequest, version, buf, start, pos + n, limit - n * 204), 0
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
            entries_ops: list[OpData]
            if n < 0:
                raise BadField("entries.ops")
            room -= n * 124
            if room < 0:
                room, limit = verify(AlterClientQuotasRequest, version, buf, start, pos + n, limit - n * 124), 0
            entries_ops = []
            entries_ops_left, entries_ops_step = n, 8
            while entries_ops_left:
                entries_ops_count = entries_ops_left
                if entries_ops_left >= 8:
                    run = alike(SHAPE_4, buf, pos, entries_ops_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        entries_ops_left -= n
                        if is_same:
                            entries_ops += [OpData(absent, value_, remove) for value_, remove in rows]
                        else:
                            entries_ops += [OpData(key.decode(), value_, remove) for key, value_, remove in rows]
                        continue
                    if entries_ops_step < entries_ops_left:
                        entries_ops_count = entries_ops_step
                    entries_ops_step *= 2
                entries_ops_left -= entries_ops_count
                for _ in range(entries_ops_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        entries_ops_key = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("entries.ops.key")
                        n -= 1
                        here = pos
                        pos = here + n
                        entries_ops_key = long_text(buf, here, pos)
                    entries_ops_value, entries_ops_remove, n = unpack_dzB(buf, pos)
                    pos += 10
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    entries_ops.append(OpData(entries_ops_key, entries_ops_value, entries_ops_remove))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            entries.append(RequestEntryData(entries_entity, entries_ops))
        validate_only, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return AlterClientQuotasRequest(entries, validate_only), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AlterClientQuotasRequest, version, buf, start, pos) from None


def encode_alter_client_quotas_request_v0(msg: AlterClientQuotasRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        entries = msg.entries
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
            entries_ops = entries_item.ops
            out += pack_i(len(entries_ops))
            for entries_ops_item in entries_ops:
                if entries_ops_item.key == "":
                    out += pack_hdz(0, entries_ops_item.value, entries_ops_item.remove)
                    continue
                raw = entries_ops_item.key.encode()
                out += pack_h(len(raw))
                out += raw
                out += pack_dz(entries_ops_item.value, entries_ops_item.remove)
        out += pack_z(msg.validate_only)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AlterClientQuotasRequest", version) from error


def encode_alter_client_quotas_request_v1(msg: AlterClientQuotasRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        entries = msg.entries
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
            entries_ops = entries_item.ops
            n = len(entries_ops) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for entries_ops_item in entries_ops:
                if entries_ops_item.key == "":
                    out += pack_Bdzx(1, entries_ops_item.value, entries_ops_item.remove)
                    continue
                raw = entries_ops_item.key.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                out += pack_dzx(entries_ops_item.value, entries_ops_item.remove)
            out.append(0)
        out += pack_zx(msg.validate_only)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AlterClientQuotasRequest", version) from error


def decode_alter_client_quotas_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[AlterClientQuotasResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        entries: list[ResponseEntryData]
        if n < 0:
            raise BadField("entries")
        room -= n * 232
        if room < 0:
            room = verify(AlterClientQuotasResponse, version, buf, start, pos + n)
        entries = []
        entries_count = n
        for _ in range(entries_count):
            entries_error_message: str | None
            entries_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                entries_error_message = None
                pos += 4
            elif n < 0x80:
                entries_error_message = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                entries_error_message = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            entries_entity: list[EntityData]
            if n < 0:
                raise BadField("entries.entity")
            room -= n * 200
            if room < 0:
                room = verify(AlterClientQuotasResponse, version, buf, start, pos + n)
            entries_entity = []
            entries_entity_left, entries_entity_step = n, 8
            while entries_entity_left:
                entries_entity_count = entries_entity_left
                if entries_entity_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_1, buf, pos, entries_entity_left)
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
            entries.append(ResponseEntryData(entries_error_code, entries_error_message, entries_entity))
        if pos > len(buf):
            raise IndexError
        return AlterClientQuotasResponse(throttle_time_ms, entries), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AlterClientQuotasResponse, version, buf, start, pos) from None


def decode_alter_client_quotas_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[AlterClientQuotasResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        entries: list[ResponseEntryData]
        if n < 0:
            raise BadField("entries")
        room -= n * 244
        if room < 0:
            room = verify(AlterClientQuotasResponse, version, buf, start, pos + n)
        entries = []
        entries_count = n
        for _ in range(entries_count):
            entries_error_message: str | None
            entries_error_code, n = unpack_hB(buf, pos)
            if not n:
                entries_error_message = None
                pos += 3
            elif n == 1:
                entries_error_message = ""
                pos += 3
            elif n < 0x80:
                entries_error_message = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n:
                    n -= 1
                    here = pos
                    pos = here + n
                    entries_error_message = long_text(buf, here, pos)
                else:
                    entries_error_message = None
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
                room = verify(AlterClientQuotasResponse, version, buf, start, pos + n)
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
            if n:
                pos = skip_tags(buf, pos - 1)
            entries.append(ResponseEntryData(entries_error_code, entries_error_message, entries_entity))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return AlterClientQuotasResponse(throttle_time_ms, entries), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AlterClientQuotasResponse, version, buf, start, pos) from None


def encode_alter_client_quotas_response_v0(msg: AlterClientQuotasResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        entries = msg.entries
        out += pack_ii(msg.throttle_time_ms, len(entries))
        for entries_item in entries:
            text = entries_item.error_message
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_hh(entries_item.error_code, n)
            out += raw
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
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AlterClientQuotasResponse", version) from error


def encode_alter_client_quotas_response_v1(msg: AlterClientQuotasResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        entries = msg.entries
        n = len(entries) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for entries_item in entries:
            text = entries_item.error_message
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(entries_item.error_code, n)
            else:
                out += pack_h(entries_item.error_code)
                out += write_string_size(n)
            out += raw
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
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AlterClientQuotasResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    AlterClientQuotasRequest: {
        0: decode_alter_client_quotas_request_v0,
        1: decode_alter_client_quotas_request_v1,
    },
    AlterClientQuotasResponse: {
        0: decode_alter_client_quotas_response_v0,
        1: decode_alter_client_quotas_response_v1,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    AlterClientQuotasRequest: {
        0: encode_alter_client_quotas_request_v0,
        1: encode_alter_client_quotas_request_v1,
    },
    AlterClientQuotasResponse: {
        0: encode_alter_client_quotas_response_v0,
        1: encode_alter_client_quotas_response_v1,
    },
}
