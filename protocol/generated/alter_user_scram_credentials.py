"""Codecs of protocol/messages/alter_user_scram_credentials.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_bB, unpack_biB, unpack_hB, unpack_iB
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
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

SHAPE_1 = Shape("bx", 2, Field("", 0, 1, False, ""))
SHAPE_2 = Shape("x", 1, Field("", 0, 1, False, ""), Field("bi", 5, 1, False, b""), Field("", 0, 1, False, b""))
SHAPE_3 = Shape("x", 1, Field("", 0, 1, False, ""), Field("h", 2, 1, True, ""))
pack_Bbx = Struct(">Bbx").pack
pack_bi = Struct(">bi").pack
pack_biB = Struct(">biB").pack
pack_bx = Struct(">bx").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack


def decode_alter_user_scram_credentials_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[AlterUserScramCredentialsRequest, int]:
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
        deletions: list[ScramCredentialDeletion]
        if n < 0:
            raise BadField("deletions")
        room -= n * 156
        if room < 0:
            room, limit = verify(AlterUserScramCredentialsRequest, version, buf, start, pos + n, limit - n * 156), 0
        deletions = []
        deletions_left, deletions_step = n, 8
        while deletions_left:
            deletions_count = deletions_left
            if deletions_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, deletions_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    deletions_left -= n
                    if is_same:
                        deletions += [ScramCredentialDeletion(absent, mechanism) for mechanism, in rows]
                    else:
                        deletions += [ScramCredentialDeletion(name.decode(), mechanism) for name, mechanism in rows]
                    continue
                if deletions_step < deletions_left:
                    deletions_count = deletions_step
                deletions_step *= 2
            deletions_left -= deletions_count
            for _ in range(deletions_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    deletions_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("deletions.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    deletions_name = long_text(buf, here, pos)
                deletions_mechanism, n = unpack_bB(buf, pos)
                pos += 2
                if n:
                    pos = skip_tags(buf, pos - 1)
                deletions.append(ScramCredentialDeletion(deletions_name, deletions_mechanism))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        upsertions: list[ScramCredentialUpsertion]
        if n < 0:
            raise BadField("upsertions")
        room -= n * 276
        if room < 0:
            room, limit = verify(AlterUserScramCredentialsRequest, version, buf, start, pos + n, limit - n * 276), 0
        upsertions = []
        upsertions_left, upsertions_step = n, 8
        while upsertions_left:
            upsertions_count = upsertions_left
            if upsertions_left >= 8:
                run = alike(SHAPE_2, buf, pos, upsertions_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    upsertions_left -= n
                    upsertions += [ScramCredentialUpsertion(name.decode(), mechanism, iterations, salt, salted_password) for name, mechanism, iterations, salt, salted_password in rows]
                    continue
                if upsertions_step < upsertions_left:
                    upsertions_count = upsertions_step
                upsertions_step *= 2
            upsertions_left -= upsertions_count
            for _ in range(upsertions_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    upsertions_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("upsertions.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    upsertions_name = long_text(buf, here, pos)
                upsertions_mechanism, upsertions_iterations, n = unpack_biB(buf, pos)
                if 0 < n < 0x80:
                    upsertions_salt = buf[pos + 6 : (pos := pos + 5 + n)]
                else:
                    n, pos = read_uvarint(buf, pos + 5)
                    if n == 0:
                        raise BadField("upsertions.salt")
                    n -= 1
                    here = pos
                    pos = here + n
                    upsertions_salt = buf[here:pos]
                n = buf[pos]
                if 0 < n < 0x80:
                    upsertions_salted_password = buf[pos + 1 : (pos := pos + n)]
                else:
                    n, pos = read_uvarint(buf, pos)
                    if n == 0:
                        raise BadField("upsertions.salted_password")
                    n -= 1
                    here = pos
                    pos = here + n
                    upsertions_salted_password = buf[here:pos]
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                upsertions.append(ScramCredentialUpsertion(upsertions_name, upsertions_mechanism, upsertions_iterations, upsertions_salt, upsertions_salted_password))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return AlterUserScramCredentialsRequest(deletions, upsertions), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AlterUserScramCredentialsRequest, version, buf, start, pos) from None


def encode_alter_user_scram_credentials_request_v0(msg: AlterUserScramCredentialsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        deletions = msg.deletions
        n = len(deletions) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for deletions_item in deletions:
            if deletions_item.name == "":
                out += pack_Bbx(1, deletions_item.mechanism)
                continue
            raw = deletions_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            out += pack_bx(deletions_item.mechanism)
        upsertions = msg.upsertions
        n = len(upsertions) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for upsertions_item in upsertions:
            raw = upsertions_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = upsertions_item.salt
            n = len(raw) + 1
            if n < 0x80:
                out += pack_biB(upsertions_item.mechanism, upsertions_item.iterations, n)
            else:
                out += pack_bi(upsertions_item.mechanism, upsertions_item.iterations)
                out += write_uvarint(n)
            out += raw
            raw = upsertions_item.salted_password
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AlterUserScramCredentialsRequest", version) from error


def decode_alter_user_scram_credentials_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[AlterUserScramCredentialsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        results: list[AlterUserScramCredentialsResult]
        if n < 0:
            raise BadField("results")
        room -= n * 244
        if room < 0:
            room = verify(AlterUserScramCredentialsResponse, version, buf, start, pos + n)
        results = []
        results_left, results_step = n, 8
        while results_left:
            results_count = results_left
            if results_left >= 8:
                run = alike(SHAPE_3, buf, pos, results_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    results_left -= n
                    results += [AlterUserScramCredentialsResult(user.decode(), error_code, error_message.decode() if error_message else absent[1]) for user, error_code, error_message in rows]
                    continue
                if results_step < results_left:
                    results_count = results_step
                results_step *= 2
            results_left -= results_count
            for _ in range(results_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    results_user = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("results.user")
                    n -= 1
                    here = pos
                    pos = here + n
                    results_user = long_text(buf, here, pos)
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
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                results.append(AlterUserScramCredentialsResult(results_user, results_error_code, results_error_message))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return AlterUserScramCredentialsResponse(throttle_time_ms, results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AlterUserScramCredentialsResponse, version, buf, start, pos) from None


def encode_alter_user_scram_credentials_response_v0(msg: AlterUserScramCredentialsResponse, out: bytearray, version: int = 0) -> None:
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
            raw = results_item.user.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
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
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AlterUserScramCredentialsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    AlterUserScramCredentialsRequest: {
        0: decode_alter_user_scram_credentials_request_v0,
    },
    AlterUserScramCredentialsResponse: {
        0: decode_alter_user_scram_credentials_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    AlterUserScramCredentialsRequest: {
        0: encode_alter_user_scram_credentials_request_v0,
    },
    AlterUserScramCredentialsResponse: {
        0: encode_alter_user_scram_credentials_response_v0,
    },
}
