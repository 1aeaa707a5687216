"""IncrementalAlterConfigs (44): set, delete, append to or subtract from single settings (KIP-339)."""

from __future__ import annotations

from protocol.fields import Bool, Int8, Int16, Int32, Item, Message, String, request, response


class IncrementalAlterConfigsRequest(Message):
    kafka = request(44, "0-1", flexible="1+")
    resources: list[AlterConfigsResource] = []
    validate_only: Bool = False


class AlterConfigsResource(Item):
    resource_type: Int8 = 0
    resource_name: String = ""
    configs: list[AlterableConfig] = []


class AlterableConfig(Item):
    name: String = ""
    config_operation: Int8 = 0
    value: String | None = ""


class IncrementalAlterConfigsResponse(Message):
    kafka = response(44, "0-1", flexible="1+")
    throttle_time_ms: Int32 = 0
    responses: list[AlterConfigsResourceResponse] = []


class AlterConfigsResourceResponse(Item):
    error_code: Int16 = 0
    error_message: String | None = ""
    resource_type: Int8 = 0
    resource_name: String = ""
