"""The topics of heartbeats of the newer protocols: ConsumerGroupHeartbeat, ShareGroupHeartbeat and StreamsGroupHeartbeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import Asked
from coordinator_server.server.guard.parts import divided
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode


class SubscribedTopics:
    """The topics to which a member of a newer protocol subscribes: it must be allowed to describe each."""

    def names(self, request: Any) -> Sequence[str]:
        """Return the topics. Nearly every heartbeat has none."""
        return request.subscribed_topic_names or ()

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether all names are allowed."""
        names = self.names(request)
        if not names:
            return True
        verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
        return all(verdicts[name] for name in names)

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Refuse the request for any denied topic."""
        _, denied = yield from divided(asked, self.names(request), Operation.DESCRIBE, ResourceType.TOPIC, lambda name: name)
        if not denied:
            return request
        reply.fail(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        return None
