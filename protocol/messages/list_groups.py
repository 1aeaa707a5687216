"""ListGroups (16): the groups of one broker. Version 4 filters by state (KIP-518), 5 by type (KIP-848)."""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Int16, Int32, Item, Message, String, V, request, response


class ListGroupsRequest(Message):
    kafka = request(16, "0-5", flexible="3+")
    states_filter: Annotated[list[String], V("4+")] = []
    types_filter: Annotated[list[String], V("5+")] = []


class ListGroupsResponse(Message):
    kafka = response(16, "0-5", flexible="3+")
    throttle_time_ms: Annotated[Int32, V("1+", ignorable=True)] = 0
    error_code: Int16 = 0
    groups: list[ListedGroup] = []


class ListedGroup(Item):
    group_id: String = ""
    protocol_type: String = ""
    group_state: Annotated[String, V("4+", ignorable=True)] = ""
    group_type: Annotated[String, V("5+", ignorable=True)] = ""
