"""What an OffsetCommit needs, where the same request comes again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from coordinator_server.catalog.topics import Topic
from coordinator_server.server.apis.commit_shapes import commit_reader
from coordinator_server.server.apis.offset_commit import OFFSET_COMMIT_API
from coordinator_server.server.guard.access import ApiAccess, Asked
from protocol.codec import encode
from protocol.first_versions import OFFSETS_BY_TOPIC_ID
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.plain_commits import PlainCommit

pytestmark = pytest.mark.interpreted

SECRET = Topic("secret", b"s" * 16, 1)


def test_a_commit_of_a_topic_that_becomes_known_is_not_allowed_for_what_was_asked_before() -> None:
    """The loop that answers may hear of a topic after its client has."""
    known: dict[bytes, Topic] = {}
    node: Any = SimpleNamespace(image=SimpleNamespace(topic_by_id=known.get))
    principal: Any = SimpleNamespace(verdicts=lambda operation, resource_type: {"secret": False})
    context: Any = SimpleNamespace(api_version=OFFSETS_BY_TOPIC_ID)
    asked = Asked(node, context, principal, lambda *_: None)
    topic = OffsetCommitRequestTopic(topic_id=SECRET.topic_id, partitions=[OffsetCommitRequestPartition(0, 7)])
    read = commit_reader(OFFSETS_BY_TOPIC_ID)
    frame = encode(OffsetCommitRequest("group", 1, "member", None, topics=[topic]), OFFSETS_BY_TOPIC_ID)

    def is_allowed() -> bool:
        request, _ = read(frame, 0)
        assert isinstance(request, PlainCommit)
        access = OFFSET_COMMIT_API.access
        assert isinstance(access, ApiAccess)
        assert access.parts is not None
        return access.parts.allows_all(asked, request)

    while_unknown = [is_allowed(), is_allowed()]
    known[SECRET.topic_id] = SECRET

    assert while_unknown == [True, True]
    assert not is_allowed()
