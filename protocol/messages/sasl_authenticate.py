"""SaslAuthenticate (36): one step of a mechanism (KIP-152). Version 1 adds how long the session lasts (KIP-368)."""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Bytes, Int16, Int64, Message, String, V, request, response


class SaslAuthenticateRequest(Message):
    kafka = request(36, "0-2", flexible="2+")
    auth_bytes: Bytes = b""


class SaslAuthenticateResponse(Message):
    kafka = response(36, "0-2", flexible="2+")
    error_code: Int16 = 0
    error_message: String | None = ""
    auth_bytes: Bytes = b""
    session_lifetime_ms: Annotated[Int64, V("1+", ignorable=True)] = 0
