"""AlterConfigs (33): replace all settings of a resource (KIP-133). IncrementalAlterConfigs is what to use instead."""

from __future__ import annotations

from protocol.fields import Bool, Int8, Int16, Int32, Item, Message, String, request, response


class AlterConfigsRequest(Message):
    kafka = request(33, "0-2", flexible="2+")
    resources: list[AlterConfigsResource] = []
    validate_only: Bool = False


class AlterConfigsResource(Item):
    resource_type: Int8 = 0
    resource_name: String = ""
    configs: list[AlterableConfig] = []


class AlterableConfig(Item):
    name: String = ""
    value: String | None = ""


class AlterConfigsResponse(Message):
    kafka = response(33, "0-2", flexible="2+")
    throttle_time_ms: Int32 = 0
    responses: list[AlterConfigsResourceResponse] = []


class AlterConfigsResourceResponse(Item):
    error_code: Int16 = 0
    error_message: String | None = ""
    resource_type: Int8 = 0
    resource_name: String = ""
