"""CreateAcls (30): add access rules (KIP-140).

Version 1 adds the type of a resource pattern (KIP-290), 3 users as resources (KIP-373).
"""

from __future__ import annotations

from protocol.fields import Int8, Int16, Int32, Item, Message, String, request, response


class CreateAclsRequest(Message):
    kafka = request(30, "1-3", flexible="2+")
    creations: list[AclCreation] = []


class AclCreation(Item):
    resource_type: Int8 = 0
    resource_name: String = ""
    resource_pattern_type: Int8 = 3
    principal: String = ""
    host: String = ""
    operation: Int8 = 0
    permission_type: Int8 = 0


class CreateAclsResponse(Message):
    kafka = response(30, "1-3", flexible="2+")
    throttle_time_ms: Int32 = 0
    results: list[AclCreationResult] = []


class AclCreationResult(Item):
    error_code: Int16 = 0
    error_message: String | None = ""
