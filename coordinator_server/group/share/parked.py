"""Requests that wait for other shards: their replies, which are answered once."""

from __future__ import annotations

from typing import Any

from coordinator_server.machine.shard import Reply
from protocol.error_codes import ErrorCode


class ParkedReplies:
    """The replies of requests in progress. They get NOT_COORDINATOR when the shard is unloaded."""

    __slots__ = ("_replies",)

    def __init__(self) -> None:
        # By identity.
        self._replies: dict[int, Reply[Any]] = {}

    def park(self, reply: Reply[Any]) -> None:
        """Keep a reply until it is answered."""
        self._replies[id(reply)] = reply

    def complete(self, reply: Reply[Any], response: object) -> None:
        """Answer a request, unless the shard was unloaded."""
        if self._replies.pop(id(reply), None) is not None:
            reply.complete(response)

    def fail(self, reply: Reply[Any], error: ErrorCode) -> None:
        """Refuse a request, unless the shard was unloaded."""
        if self._replies.pop(id(reply), None) is not None:
            reply.fail(error)

    def fail_all(self) -> None:
        """Refuse all requests: the shard is unloaded."""
        replies, self._replies = self._replies, {}
        for reply in replies.values():
            reply.fail(ErrorCode.NOT_COORDINATOR)
