"""Requests that wait for other shards: their replies, which are answered once.

All steps of a request together have the deadline of one that waits for the log. What was begun goes on after it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from coordinator_server.machine.shard import DEFERRED, CoordinatorResult, CoordinatorTimer, Reply
from protocol.error_codes import ErrorCode


class ParkedReplies:
    """The replies of requests in progress. They get NOT_COORDINATOR when the shard is unloaded."""

    __slots__ = ("_replies", "_timeout_ms", "_timer")

    def __init__(self, timer: CoordinatorTimer, timeout_ms: int) -> None:
        self._timer = timer
        self._timeout_ms = timeout_ms
        # By identity.
        self._replies: dict[int, Reply[Any]] = {}

    def park(self, reply: Reply[Any]) -> None:
        """Keep a reply until it is answered, with REQUEST_TIMED_OUT at the deadline."""
        self._replies[id(reply)] = reply
        self._timer.schedule(_key(reply), self._timeout_ms, partial(self._time_out, reply))

    def complete(self, reply: Reply[Any], response: object) -> None:
        """Answer a request, unless it was refused."""
        if self._take(reply):
            reply.complete(response)

    def fail(self, reply: Reply[Any], error: ErrorCode) -> None:
        """Refuse a request, unless it was refused already."""
        if self._take(reply):
            reply.fail(error)

    def fail_all(self) -> None:
        """Refuse all requests: the shard is unloaded."""
        replies, self._replies = self._replies, {}
        for reply in replies.values():
            self._timer.cancel(_key(reply))
            reply.fail(ErrorCode.NOT_COORDINATOR)

    def _take(self, reply: Reply[Any]) -> bool:
        self._timer.cancel(_key(reply))
        return self._replies.pop(id(reply), None) is reply

    def _time_out(self, reply: Reply[Any]) -> CoordinatorResult[None]:
        self.fail(reply, ErrorCode.REQUEST_TIMED_OUT)
        return CoordinatorResult(DEFERRED)


def _key(reply: Reply[Any]) -> tuple[str, int]:
    return "parked", id(reply)
