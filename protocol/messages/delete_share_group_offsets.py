"""DeleteShareGroupOffsets (92): forget topics of a share group (KIP-932)."""

from __future__ import annotations

from protocol.fields import ZERO_UUID, Int16, Int32, Item, Message, String, Uuid, request, response


class DeleteShareGroupOffsetsRequest(Message):
    kafka = request(92, "0", flexible="0+")
    group_id: String = ""
    topics: list[DeleteShareGroupOffsetsRequestTopic] = []


class DeleteShareGroupOffsetsRequestTopic(Item):
    topic_name: String = ""


class DeleteShareGroupOffsetsResponse(Message):
    kafka = response(92, "0", flexible="0+")
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: String | None = None
    responses: list[DeleteShareGroupOffsetsResponseTopic] = []


class DeleteShareGroupOffsetsResponseTopic(Item):
    topic_name: String = ""
    topic_id: Uuid = ZERO_UUID
    error_code: Int16 = 0
    error_message: String | None = None
