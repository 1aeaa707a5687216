"""Codecs of protocol/messages/principal.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_zB
from protocol.messages.principal import DefaultPrincipalData
from protocol.refusal import BadField, decode_failure, encode_failure
from protocol.wire import DECODE_ERRORS, ENCODE_ERRORS, long_text, read_string_size, skip_tags, write_string_size

pack_zx = Struct(">?x").pack


def decode_default_principal_data_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DefaultPrincipalData, int]:
    start = pos
    n: int
    try:
        n = buf[pos]
        if 0 < n < 0x80:
            type = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("type")
            n -= 1
            here = pos
            pos = here + n
            type = long_text(buf, here, pos)
        n = buf[pos]
        if 0 < n < 0x80:
            name = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("name")
            n -= 1
            here = pos
            pos = here + n
            name = long_text(buf, here, pos)
        token_authenticated, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return DefaultPrincipalData(type, name, token_authenticated), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DefaultPrincipalData, version, buf, start, pos) from None


def encode_default_principal_data_v0(msg: DefaultPrincipalData, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.type.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        raw = msg.name.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        out += pack_zx(msg.token_authenticated)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DefaultPrincipalData", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DefaultPrincipalData: {
        0: decode_default_principal_data_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DefaultPrincipalData: {
        0: encode_default_principal_data_v0,
    },
}
