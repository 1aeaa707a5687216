"""DescribeConfigs (32): settings of brokers, topics and groups, and where their values come from (KIP-133).

Version 1 adds the source and the synonyms (KIP-226), 3 types and documentation (KIP-569).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Bool, Int8, Int16, Int32, Item, Message, String, V, request, response


class DescribeConfigsRequest(Message):
    kafka = request(32, "1-4", flexible="4+")
    resources: list[DescribeConfigsResource] = []
    include_synonyms: Bool = False
    include_documentation: Annotated[Bool, V("3+")] = False


class DescribeConfigsResource(Item):
    resource_type: Int8 = 0
    resource_name: String = ""
    configuration_keys: list[String] | None = []


class DescribeConfigsResponse(Message):
    kafka = response(32, "1-4", flexible="4+")
    throttle_time_ms: Int32 = 0
    results: list[DescribeConfigsResult] = []


class DescribeConfigsResult(Item):
    error_code: Int16 = 0
    error_message: String | None = ""
    resource_type: Int8 = 0
    resource_name: String = ""
    configs: list[DescribeConfigsResourceResult] = []


class DescribeConfigsResourceResult(Item):
    name: String = ""
    value: String | None = ""
    read_only: Bool = False
    config_source: Int8 = -1
    is_sensitive: Bool = False
    synonyms: list[DescribeConfigsSynonym] = []
    config_type: Annotated[Int8, V("3+", ignorable=True)] = 0
    documentation: Annotated[String | None, V("3+", ignorable=True)] = ""


class DescribeConfigsSynonym(Item):
    name: String = ""
    value: String | None = ""
    source: Int8 = 0
