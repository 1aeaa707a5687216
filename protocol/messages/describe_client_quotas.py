"""DescribeClientQuotas (48): the quotas of users, clients and addresses that match a filter (KIP-546)."""

from __future__ import annotations

from protocol.fields import Bool, Float64, Int8, Int16, Int32, Item, Message, String, request, response


class DescribeClientQuotasRequest(Message):
    kafka = request(48, "0-1", flexible="1+")
    components: list[ComponentData] = []
    strict: Bool = False


class ComponentData(Item):
    entity_type: String = ""
    match_type: Int8 = 0
    match: String | None = ""


class DescribeClientQuotasResponse(Message):
    kafka = response(48, "0-1", flexible="1+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = ""
    entries: list[EntryData] | None = []


class EntryData(Item):
    entity: list[EntityData] = []
    values: list[ValueData] = []


class EntityData(Item):
    entity_type: String = ""
    entity_name: String | None = ""


class ValueData(Item):
    key: String = ""
    value: Float64 = 0.0
