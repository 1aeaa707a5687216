"""Codecs of protocol/messages/describe_user_scram_credentials.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_biB, unpack_hB, unpack_ihB
from protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
    UserName,
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

SHAPE_1 = Shape("x", 1, Field("", 0, 1, False, ""))
pack_bix = Struct(">bix").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
rows_bix = Struct(">bix").iter_unpack


def decode_describe_user_scram_credentials_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeUserScramCredentialsRequest, int]:
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
        users: list[UserName] | None
        if n < 0:
            users = None
        else:
            room -= n * 128
            if room < 0:
                room, limit = verify(DescribeUserScramCredentialsRequest, version, buf, start, pos + n, limit - n * 128), 0
            users = []
            users_left, users_step = n, 8
            while users_left:
                users_count = users_left
                if users_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_1, buf, pos, users_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        users_left -= n
                        if is_same and absent == "":
                            users += starmap(UserName, rows)
                            continue
                        if is_same:
                            users += [UserName(absent) for _ in rows]
                        else:
                            users += [UserName(name.decode()) for name, in rows]
                        continue
                    if users_step < users_left:
                        users_count = users_step
                    users_step *= 2
                users_left -= users_count
                for _ in range(users_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        users_name = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("users.name")
                        n -= 1
                        here = pos
                        pos = here + n
                        users_name = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    users.append(UserName(users_name))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeUserScramCredentialsRequest(users), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeUserScramCredentialsRequest, version, buf, start, pos) from None


def encode_describe_user_scram_credentials_request_v0(msg: DescribeUserScramCredentialsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        users = msg.users
        if users is None:
            out.append(0)
        else:
            n = len(users) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for users_item in users:
                raw = users_item.name.encode()
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
        raise encode_failure(error, "DescribeUserScramCredentialsRequest", version) from error


def decode_describe_user_scram_credentials_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeUserScramCredentialsResponse, int]:
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
        results: list[DescribeUserScramCredentialsResult]
        if n < 0:
            raise BadField("results")
        room -= n * 320
        if room < 0:
            room = verify(DescribeUserScramCredentialsResponse, version, buf, start, pos + n)
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
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            results_credential_infos: list[CredentialInfo]
            if n < 0:
                raise BadField("results.credential_infos")
            room -= n * 96
            if room < 0:
                room = verify(DescribeUserScramCredentialsResponse, version, buf, start, pos + n)
            end = pos + n * 6
            if buf[pos + 5 : end : 6].count(0) == n:
                results_credential_infos = list(starmap(CredentialInfo, rows_bix(buf[pos:end])))
                pos = end
            else:
                results_credential_infos = []
                results_credential_infos_count = n
                for _ in range(results_credential_infos_count):
                    results_credential_infos_mechanism, results_credential_infos_iterations, n = unpack_biB(buf, pos)
                    pos += 6
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    results_credential_infos.append(CredentialInfo(results_credential_infos_mechanism, results_credential_infos_iterations))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            results.append(DescribeUserScramCredentialsResult(results_user, results_error_code, results_error_message, results_credential_infos))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeUserScramCredentialsResponse(throttle_time_ms, error_code, error_message, results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeUserScramCredentialsResponse, version, buf, start, pos) from None


def encode_describe_user_scram_credentials_response_v0(msg: DescribeUserScramCredentialsResponse, out: bytearray, version: int = 0) -> None:
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
        results = msg.results
        n = len(results) + 1
        if n < 0x80:
            out.append(n)
        else:
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
            results_credential_infos = results_item.credential_infos
            n = len(results_credential_infos) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += b"".join([pack_bix(results_credential_infos_item.mechanism, results_credential_infos_item.iterations) for results_credential_infos_item in results_credential_infos])
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeUserScramCredentialsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DescribeUserScramCredentialsRequest: {
        0: decode_describe_user_scram_credentials_request_v0,
    },
    DescribeUserScramCredentialsResponse: {
        0: decode_describe_user_scram_credentials_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DescribeUserScramCredentialsRequest: {
        0: encode_describe_user_scram_credentials_request_v0,
    },
    DescribeUserScramCredentialsResponse: {
        0: encode_describe_user_scram_credentials_response_v0,
    },
}
