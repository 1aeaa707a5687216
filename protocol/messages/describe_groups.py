"""DescribeGroups (15): state and members of classic groups.

Version 3 adds authorized operations (KIP-430), 4 static membership (KIP-345), 6 the error message, and answers an unknown group
with GROUP_ID_NOT_FOUND (KIP-1043).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Bool, Bytes, Int16, Int32, Item, Message, String, V, request, response


class DescribeGroupsRequest(Message):
    kafka = request(15, "0-6", flexible="5+")
    groups: list[String] = []
    include_authorized_operations: Annotated[Bool, V("3+")] = False


class DescribeGroupsResponse(Message):
    kafka = response(15, "0-6", flexible="5+")
    throttle_time_ms: Annotated[Int32, V("1+", ignorable=True)] = 0
    groups: list[DescribedGroup] = []


class DescribedGroup(Item):
    error_code: Int16 = 0
    error_message: Annotated[String | None, V("6+")] = None
    group_id: String = ""
    group_state: String = ""
    protocol_type: String = ""
    protocol_data: String = ""
    members: list[DescribedGroupMember] = []
    authorized_operations: Annotated[Int32, V("3+")] = -0x80000000


class DescribedGroupMember(Item):
    member_id: String = ""
    group_instance_id: Annotated[String | None, V("4+", ignorable=True)] = None
    client_id: String = ""
    client_host: String = ""
    member_metadata: Bytes = b""
    member_assignment: Bytes = b""
