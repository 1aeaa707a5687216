"""DeleteTopics (20): remove topics.

Version 5 says why a topic was refused (KIP-599), 6 names topics by id too (KIP-516).
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Int16, Int32, Item, Message, String, Uuid, V, request, response


class DeleteTopicsRequest(Message):
    kafka = request(20, "1-6", flexible="4+")
    topics: Annotated[list[DeleteTopicState], V("6+")] = []
    topic_names: Annotated[list[String], V("0-5", ignorable=True)] = []
    timeout_ms: Int32 = 0


class DeleteTopicState(Item):
    name: String | None = None
    topic_id: Uuid = ZERO_UUID


class DeleteTopicsResponse(Message):
    kafka = response(20, "1-6", flexible="4+")
    throttle_time_ms: Int32 = 0
    responses: list[DeletableTopicResult] = []


class DeletableTopicResult(Item):
    name: Annotated[String | None, V(nullable="6+")] = ""
    topic_id: Annotated[Uuid, V("6+", ignorable=True)] = ZERO_UUID
    error_code: Int16 = 0
    error_message: Annotated[String | None, V("5+", ignorable=True)] = None
