"""Heartbeat (12): a member of a classic group is alive. Version 3 adds static membership (KIP-345)."""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Int16, Int32, Message, String, V, request, response


class HeartbeatRequest(Message):
    kafka = request(12, "0-4", flexible="4+")
    group_id: String = ""
    generation_id: Int32 = 0
    member_id: String = ""
    group_instance_id: Annotated[String | None, V("3+")] = None


class HeartbeatResponse(Message):
    kafka = response(12, "0-4", flexible="4+")
    throttle_time_ms: Annotated[Int32, V("1+", ignorable=True)] = 0
    error_code: Int16 = 0
