"""AlterClientQuotas (49): set or remove quotas (KIP-546)."""

from __future__ import annotations

from protocol.fields import Bool, Float64, Int16, Int32, Item, Message, String, request, response


class AlterClientQuotasRequest(Message):
    kafka = request(49, "0-1", flexible="1+")
    entries: list[RequestEntryData] = []
    validate_only: Bool = False


class RequestEntryData(Item):
    entity: list[EntityData] = []
    ops: list[OpData] = []


class EntityData(Item):
    entity_type: String = ""
    entity_name: String | None = ""


class OpData(Item):
    key: String = ""
    value: Float64 = 0.0
    remove: Bool = False


class AlterClientQuotasResponse(Message):
    kafka = response(49, "0-1", flexible="1+")
    throttle_time_ms: Int32 = 0
    entries: list[ResponseEntryData] = []


class ResponseEntryData(Item):
    error_code: Int16 = 0
    error_message: String | None = ""
    entity: list[EntityData] = []
