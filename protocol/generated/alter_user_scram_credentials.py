"""Codecs of protocol/messages/alter_user_scram_credentials.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from protocol.wire import (
    DECODE_ERRORS,
    ENCODE_ERRORS,
    BadField,
    ShortField,
    decode_failure,
    encode_failure,
    read_string_size,
    read_uvarint,
    skip_tags,
    write_string_size,
    write_uvarint,
)

pack_Bbx = Struct(">Bbx").pack
pack_bi = Struct(">bi").pack
pack_biB = Struct(">biB").pack
pack_bx = Struct(">bx").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
rows_xbx = Struct(">xbx").iter_unpack
unpack_bB = Struct(">bB").unpack_from
unpack_biB = Struct(">biB").unpack_from
unpack_hB = Struct(">hB").unpack_from
unpack_iB = Struct(">iB").unpack_from


def decode_alter_user_scram_credentials_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[AlterUserScramCredentialsRequest, int]:
    start = pos
    n: int
    try:
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        deletions: list[ScramCredentialDeletion]
        if not 0 <= n * 3 <= len(buf) - pos:
            if n < 0:
                raise BadField("deletions")
            raise ShortField("deletions", n)
        end = pos + n * 3
        if n > 1 and end <= len(buf) and (mark := buf[pos + 0]) == 1 and buf[pos + 0 : end : 3].count(mark) == n and buf[pos + 2 : end : 3].count(0) == n:
            deletions = [ScramCredentialDeletion("", mechanism) for mechanism, in rows_xbx(buf[pos:end])]
            pos = end
        else:
            deletions = []
            deletions_count = n
            for _ in range(deletions_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    deletions_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("deletions.name")
                    deletions_name = buf[pos : (pos := pos + n - 1)].decode()
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
        if not 0 <= n * 9 <= len(buf) - pos:
            if n < 0:
                raise BadField("upsertions")
            raise ShortField("upsertions", n)
        upsertions = []
        upsertions_count = n
        for _ in range(upsertions_count):
            n = buf[pos]
            if 0 < n < 0x80:
                upsertions_name = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("upsertions.name")
                upsertions_name = buf[pos : (pos := pos + n - 1)].decode()
            upsertions_mechanism, upsertions_iterations, n = unpack_biB(buf, pos)
            if 0 < n < 0x80:
                upsertions_salt = buf[pos + 6 : (pos := pos + 5 + n)]
            else:
                n, pos = read_uvarint(buf, pos + 5)
                if n == 0:
                    raise BadField("upsertions.salt")
                upsertions_salt = buf[pos : (pos := pos + n - 1)]
            n = buf[pos]
            if 0 < n < 0x80:
                upsertions_salted_password = buf[pos + 1 : (pos := pos + n)]
            else:
                n, pos = read_uvarint(buf, pos)
                if n == 0:
                    raise BadField("upsertions.salted_password")
                upsertions_salted_password = buf[pos : (pos := pos + n - 1)]
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
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        results: list[AlterUserScramCredentialsResult]
        if not 0 <= n * 5 <= len(buf) - pos:
            if n < 0:
                raise BadField("results")
            raise ShortField("results", n)
        results = []
        results_count = n
        for _ in range(results_count):
            n = buf[pos]
            if 0 < n < 0x80:
                results_user = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("results.user")
                results_user = buf[pos : (pos := pos + n - 1)].decode()
            results_error_message: str | None
            results_error_code, n = unpack_hB(buf, pos)
            if 0 < n < 0x80:
                results_error_message = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            elif n == 0:
                results_error_message = None
                pos += 3
            else:
                n, pos = read_string_size(buf, pos + 2)
                results_error_message = buf[pos : (pos := pos + n - 1)].decode() if n else None
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
