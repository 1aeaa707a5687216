"""A client's identity, as brokers pass it on in a forwarded request."""

from __future__ import annotations

from protocol.fields import Bool, Message, String, data


class DefaultPrincipalData(Message):
    kafka = data("0", flexible="0+")
    type: String = ""
    name: String = ""
    token_authenticated: Bool = False
