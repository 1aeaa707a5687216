"""LeaveGroup (13): members go. Version 3 removes many at once, by static id too (KIP-345), 5 adds the reason (KIP-800)."""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Int16, Int32, Item, Message, String, V, request, response


class LeaveGroupRequest(Message):
    kafka = request(13, "0-5", flexible="4+")
    group_id: String = ""
    member_id: Annotated[String, V("0-2")] = ""
    members: Annotated[list[MemberIdentity], V("3+")] = []


class MemberIdentity(Item):
    member_id: String = ""
    group_instance_id: String | None = None
    reason: Annotated[String | None, V("5+", ignorable=True)] = None


class LeaveGroupResponse(Message):
    kafka = response(13, "0-5", flexible="4+")
    throttle_time_ms: Annotated[Int32, V("1+", ignorable=True)] = 0
    error_code: Int16 = 0
    members: Annotated[list[MemberResponse], V("3+")] = []


class MemberResponse(Item):
    member_id: String = ""
    group_instance_id: String | None = ""
    error_code: Int16 = 0
