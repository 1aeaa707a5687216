"""SaslHandshake (17): choose a mechanism. After version 1 its tokens travel in SaslAuthenticate (KIP-152), after 0 bare."""

from __future__ import annotations

from protocol.fields import Int16, Message, String, request, response


class SaslHandshakeRequest(Message):
    kafka = request(17, "0-1", flexible="none")
    mechanism: String = ""


class SaslHandshakeResponse(Message):
    kafka = response(17, "0-1", flexible="none")
    error_code: Int16 = 0
    mechanisms: list[String] = []
