"""DeleteAcls (31): remove the access rules that match filters, and say which they were (KIP-140).

Version 1 adds the type of a resource pattern (KIP-290), 3 users as resources (KIP-373).
"""

from __future__ import annotations

from protocol.fields import Int8, Int16, Int32, Item, Message, String, request, response


class DeleteAclsRequest(Message):
    kafka = request(31, "1-3", flexible="2+")
    filters: list[DeleteAclsFilter] = []


class DeleteAclsFilter(Item):
    resource_type_filter: Int8 = 0
    resource_name_filter: String | None = ""
    pattern_type_filter: Int8 = 3
    principal_filter: String | None = ""
    host_filter: String | None = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class DeleteAclsResponse(Message):
    kafka = response(31, "1-3", flexible="2+")
    throttle_time_ms: Int32 = 0
    filter_results: list[DeleteAclsFilterResult] = []


class DeleteAclsFilterResult(Item):
    error_code: Int16 = 0
    error_message: String | None = ""
    matching_acls: list[DeleteAclsMatchingAcl] = []


class DeleteAclsMatchingAcl(Item):
    error_code: Int16 = 0
    error_message: String | None = ""
    resource_type: Int8 = 0
    resource_name: String = ""
    pattern_type: Int8 = 3
    principal: String = ""
    host: String = ""
    operation: Int8 = 0
    permission_type: Int8 = 0
