"""JoinGroup (11): become, or stay, a member of a classic group.

Version 1 adds the rebalance timeout, 4 the member id that a first join must come back with (KIP-394), 5 static membership
(KIP-345), 7 the protocol type (KIP-559), 8 the reason (KIP-800), 9 skip_assignment (KIP-814).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Bool, Bytes, Int16, Int32, Item, Message, String, V, request, response


class JoinGroupRequest(Message):
    kafka = request(11, "0-9", flexible="6+")
    group_id: String = ""
    session_timeout_ms: Int32 = 0
    rebalance_timeout_ms: Annotated[Int32, V("1+", ignorable=True)] = -1
    member_id: String = ""
    group_instance_id: Annotated[String | None, V("5+")] = None
    protocol_type: String = ""
    protocols: list[JoinGroupRequestProtocol] = []
    reason: Annotated[String | None, V("8+", ignorable=True)] = None


class JoinGroupRequestProtocol(Item):
    name: String = ""
    metadata: Bytes = b""


class JoinGroupResponse(Message):
    kafka = response(11, "0-9", flexible="6+")
    throttle_time_ms: Annotated[Int32, V("2+", ignorable=True)] = 0
    error_code: Int16 = 0
    generation_id: Int32 = -1
    protocol_type: Annotated[String | None, V("7+", ignorable=True)] = None
    protocol_name: Annotated[String | None, V(nullable="7+")] = ""
    leader: String = ""
    skip_assignment: Annotated[Bool, V("9+")] = False
    member_id: String = ""
    members: list[JoinGroupResponseMember] = []


class JoinGroupResponseMember(Item):
    member_id: String = ""
    group_instance_id: Annotated[String | None, V("5+", ignorable=True)] = None
    metadata: Bytes = b""
