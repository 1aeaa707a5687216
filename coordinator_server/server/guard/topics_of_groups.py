"""The topics of the groups of a request, those that it names or all: OffsetFetch and DescribeShareGroupOffsets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import MESSAGES, Asked
from coordinator_server.server.guard.parts import Refused, divided
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode

_ERROR: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED


class TopicsOfGroups(NamedTuple):
    """How topics of groups, each of which must be allowed to be described, are named and refused.

    ``name_of`` returns None for a topic of a request that the handler refuses itself. ``refused`` makes the answer for a denied
    topic, and ``answered_name`` returns the name of a topic of an answer.
    """

    name_of: Callable[[Asked, Any], str | None]
    refused: Refused
    answered_name: Callable[[Any], str]

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take the denied topics out of each of ``request.groups``. Groups are answered in the order of the request."""
        groups: list[Any] = []
        answers: list[list[Any]] = []
        for group in request.groups:
            rest, refused = yield from self._without_denied(asked, group)
            groups.append(rest)
            answers.append(refused)

        def completed(response: Any) -> Any:
            done = [self._completed(asked, *each) for each in zip(groups, answers, response.groups, strict=True)]
            return replace(response, groups=done)

        reply.amend(completed)
        reply.request = replace(request, groups=groups)
        return reply.request

    def divide_group(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take the denied topics out of a request that is one group."""
        rest, refused = yield from self._without_denied(asked, request)
        reply.amend(partial(self._completed, asked, rest, refused))
        reply.request = rest
        return rest

    def _without_denied(self, asked: Asked, group: Any) -> Work[tuple[Any, list[Any]]]:
        """Return a group of a request without the topics that may not be described, and the answers for these."""
        if group.topics is None:
            return group, []
        name_of = partial(self.name_of, asked)
        topics, denied = yield from divided(asked, group.topics, Operation.DESCRIBE, ResourceType.TOPIC, name_of)
        refused = [self.refused(topic, _ERROR, MESSAGES[_ERROR]) for topic in denied]
        return (replace(group, topics=topics) if denied else group), refused

    def _completed(self, asked: Asked, group: Any, refused: list[Any], answer: Any) -> Any:
        """Return the answer for a group: with the denied topics that it names, or without those that it does not name."""
        if answer.error_code:
            return answer
        if group.topics is not None:
            return replace(answer, topics=[*answer.topics, *refused]) if refused else answer
        verdicts = asked.access.verdicts(Operation.DESCRIBE, ResourceType.TOPIC)
        return replace(answer, topics=[topic for topic in answer.topics if verdicts[self.answered_name(topic)]])
