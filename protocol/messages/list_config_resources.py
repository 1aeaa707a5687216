"""ListConfigResources (74): what has settings of its own.

Version 0 knew client metrics only (KIP-714), 1 asks for any type (KIP-1142).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Int8, Int16, Int32, Item, Message, String, V, request, response


class ListConfigResourcesRequest(Message):
    kafka = request(74, "0-1", flexible="0+")
    resource_types: Annotated[list[Int8], V("1+")] = []


class ListConfigResourcesResponse(Message):
    kafka = response(74, "0-1", flexible="0+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    config_resources: list[ConfigResource] = []


class ConfigResource(Item):
    resource_name: String = ""
    resource_type: Annotated[Int8, V("1+", ignorable=True)] = 16
