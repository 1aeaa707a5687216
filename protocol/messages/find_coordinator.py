"""FindCoordinator (10): the broker that owns a group, a transactional id or a share partition.

Version 1 adds the key's type, 4 asks for many keys at once (KIP-699), 5 allows TRANSACTION_ABORTABLE (KIP-890), 6 share groups
(KIP-932).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import Int8, Int16, Int32, Item, Message, String, V, request, response


class FindCoordinatorRequest(Message):
    kafka = request(10, "0-6", flexible="3+")
    key: Annotated[String, V("0-3")] = ""
    key_type: Annotated[Int8, V("1+")] = 0
    coordinator_keys: Annotated[list[String], V("4+")] = []


class FindCoordinatorResponse(Message):
    kafka = response(10, "0-6", flexible="3+")
    throttle_time_ms: Annotated[Int32, V("1+", ignorable=True)] = 0
    error_code: Annotated[Int16, V("0-3")] = 0
    error_message: Annotated[String | None, V("1-3", ignorable=True)] = ""
    node_id: Annotated[Int32, V("0-3")] = 0
    host: Annotated[String, V("0-3")] = ""
    port: Annotated[Int32, V("0-3")] = 0
    coordinators: Annotated[list[Coordinator], V("4+")] = []


class Coordinator(Item):
    key: String = ""
    node_id: Int32 = 0
    host: String = ""
    port: Int32 = 0
    error_code: Int16 = 0
    error_message: Annotated[String | None, V(ignorable=True)] = ""
