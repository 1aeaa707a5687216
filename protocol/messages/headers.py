"""What precedes every request and response. The client id is an int16-sized string even in flexible versions."""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Int16, Int32, Message, String, V, header


class RequestHeader(Message):
    kafka = header("1-2", flexible="2+")
    request_api_key: Int16 = 0
    request_api_version: Int16 = 0
    correlation_id: Int32 = 0
    client_id: Annotated[String | None, V(flexible="none")] = ""


class ResponseHeader(Message):
    kafka = header("0-1", flexible="1+")
    correlation_id: Int32 = 0
