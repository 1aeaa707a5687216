"""JoinGroup: who encodes its answer."""

from __future__ import annotations

from typing import Any, cast

import pytest

from coordinator_server.server.apis import groups
from protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember


class _Exchange:
    def __init__(self) -> None:
        self.answers: list[tuple[str, Any]] = []

    def complete(self, response: Any) -> None:
        self.answers.append(("in the loop", response))

    def complete_beside(self, response: Any) -> None:
        self.answers.append(("beside", response))

    def fail(self, *error: Any) -> None:
        self.answers.append(("failed", error))


@pytest.mark.interpreted
def test_the_answer_with_many_members_is_encoded_beside_the_loop() -> None:
    exchange = _Exchange()
    reply = groups.JoinReply(cast(Any, exchange))
    member = JoinGroupResponseMember("m", None, b"")
    few = JoinGroupResponse(members=[member] * groups.MEMBERS_IN_LOOP)
    many = JoinGroupResponse(members=[member] * (groups.MEMBERS_IN_LOOP + 1))
    for each in (few, many):
        reply.complete(each)

    assert exchange.answers == [("in the loop", few), ("beside", many)]
