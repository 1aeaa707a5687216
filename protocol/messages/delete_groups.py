"""DeleteGroups (42): forget groups that have no members (KIP-229)."""

from __future__ import annotations

from protocol.fields import Int16, Int32, Item, Message, String, request, response


class DeleteGroupsRequest(Message):
    kafka = request(42, "0-2", flexible="2+")
    groups_names: list[String] = []


class DeleteGroupsResponse(Message):
    kafka = response(42, "0-2", flexible="2+")
    throttle_time_ms: Int32 = 0
    results: list[DeletableGroupResult] = []


class DeletableGroupResult(Item):
    group_id: String = ""
    error_code: Int16 = 0
