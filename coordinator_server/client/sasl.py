"""SASL: PLAIN (RFC 4616), SCRAM (RFC 5802, RFC 7677) and OAUTHBEARER (RFC 7628), as messages without I/O."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import stringprep
import unicodedata
from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from collections.abc import Generator

from coordinator_server.client.errors import AuthenticationFailed
from coordinator_server.client.settings import OAuthBearer, Sasl

Exchange = Generator[bytes, bytes, None]
"""Yields what the client sends, is sent what the server answers, and returns when the server is satisfied."""

MAX_ITERATIONS = 1_000_000
"""A server that asks for more would keep this process busy for seconds."""


def exchange(sasl: Sasl, nonce: str | None = None) -> Exchange:
    """Return the conversation of a mechanism. ``nonce`` is drawn, except in tests."""
    if sasl.mechanism == "PLAIN":
        return _plain(sasl)
    return _scram(sasl, sasl.mechanism.removeprefix("SCRAM-").replace("-", "").lower(), nonce or secrets.token_urlsafe(24))


def bearer(sasl: OAuthBearer, token: str) -> Exchange:
    """Return the conversation of OAUTHBEARER. A server that does not take the token says so, and refuses the answer to that."""
    extensions = "".join(f"{name}={value}\x01" for name, value in sasl.extensions.items())
    rejection = yield f"n,,\x01auth=Bearer {token}\x01{extensions}\x01".encode()
    if rejection:
        yield b"\x01"
        raise AuthenticationFailed(f"OAUTHBEARER: the server does not take the token: {rejection.decode(errors='replace')}")


def _plain(sasl: Sasl) -> Exchange:
    yield f"\0{sasl.username}\0{sasl.password}".encode()


def _scram(sasl: Sasl, digest: str, nonce: str) -> Exchange:
    name = _prepared(sasl.username).replace("=", "=3D").replace(",", "=2C")
    first = f"n={name},r={nonce}"
    server_first = (yield f"n,,{first}".encode()).decode(errors="replace")
    fields = _fields(server_first)
    iterations = fields.get("i", "")
    if not fields.get("r", "").startswith(nonce) or not iterations.isdecimal() or not 0 < int(iterations) <= MAX_ITERATIONS:
        raise AuthenticationFailed(f"SCRAM: the server's first message is invalid: {server_first!r}")
    try:
        salt = b64decode(fields.get("s", ""), validate=True)
    except BadBase64:
        raise AuthenticationFailed("SCRAM: the server's salt is invalid") from None
    salted = hashlib.pbkdf2_hmac(digest, _prepared(sasl.password).encode(), salt, int(iterations))
    client_key = hmac.digest(salted, b"Client Key", digest)
    unproven = f"c=biws,r={fields['r']}"
    signed = f"{first},{server_first},{unproven}".encode()
    signature = hmac.digest(hashlib.new(digest, client_key).digest(), signed, digest)
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    server_final = (yield f"{unproven},p={b64encode(proof).decode()}".encode()).decode(errors="replace")
    expected = b64encode(hmac.digest(hmac.digest(salted, b"Server Key", digest), signed, digest)).decode()
    if not hmac.compare_digest(_fields(server_final).get("v", "").encode(), expected.encode()):
        raise AuthenticationFailed("SCRAM: the server does not know the password")


def _fields(message: str) -> dict[str, str]:
    return {part[0]: part[2:] for part in message.split(",") if part[1:2] == "="}


def _prepared(text: str) -> str:
    """Return the text as SASLprep (RFC 4013) maps it: one form for each password, however it was typed."""
    mapped = "".join(" " if stringprep.in_table_c12(c) else c for c in text if not stringprep.in_table_b1(c))
    return unicodedata.normalize("NFKC", mapped)
