"""SyncGroup (14): the leader hands in the assignments, every member gets its own.

Version 3 adds static membership (KIP-345), 5 the protocol type and name (KIP-559).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Bytes, Int16, Int32, Item, Message, String, V, request, response


class SyncGroupRequest(Message):
    kafka = request(14, "0-5", flexible="4+")
    group_id: String = ""
    generation_id: Int32 = 0
    member_id: String = ""
    group_instance_id: Annotated[String | None, V("3+")] = None
    protocol_type: Annotated[String | None, V("5+", ignorable=True)] = None
    protocol_name: Annotated[String | None, V("5+", ignorable=True)] = None
    assignments: list[SyncGroupRequestAssignment] = []


class SyncGroupRequestAssignment(Item):
    member_id: String = ""
    assignment: Bytes = b""


class SyncGroupResponse(Message):
    kafka = response(14, "0-5", flexible="4+")
    throttle_time_ms: Annotated[Int32, V("1+", ignorable=True)] = 0
    error_code: Int16 = 0
    protocol_type: Annotated[String | None, V("5+", ignorable=True)] = None
    protocol_name: Annotated[String | None, V("5+", ignorable=True)] = None
    assignment: Bytes = b""
