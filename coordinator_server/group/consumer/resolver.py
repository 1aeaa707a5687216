"""Which topics a regular expression matches: the seam to what resolves them off the loop."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol

from coordinator_server.group.common.topics import TopicImage
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.expressions import Expression, ExpressionError
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorTimer
from protocol.error_codes import ErrorCode


class Resolved(NamedTuple):
    """The topics of some regular expressions, as of a version of the topic image."""

    topics: Mapping[str, Collection[str]]
    version: int


TakeResolved = Callable[[Resolved], CoordinatorResult[Any]]
"""The write operation that enters a result into the state of its group."""


class RegexResolver(Protocol):
    """Resolves the regular expressions of groups."""

    def check(self, regex: str, /) -> None:
        """Refuse an invalid expression. Raises INVALID_REGULAR_EXPRESSION."""

    def is_resolving(self, group_id: str, /) -> bool:
        """Return whether a result for the group is on its way."""

    def resolve(self, group_id: str, regexes: Collection[str], take: TakeResolved, /) -> None:
        """Resolve all expressions of a group, and run ``take`` as a write operation when that is done."""


class TimerResolver:
    """Resolves expressions in the loop, in an operation of their own."""

    def __init__(self, topics: TopicImage, timer: CoordinatorTimer) -> None:
        self._topics = topics
        self._timer = timer

    def check(self, regex: str) -> None:
        try:
            Expression(regex)
        except ExpressionError as wrong:
            raise CoordinatorError(
                ErrorCode.INVALID_REGULAR_EXPRESSION,
                f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {wrong}.",
            ) from wrong

    def is_resolving(self, group_id: str) -> bool:
        return self._timer.is_scheduled(_key(group_id))

    def resolve(self, group_id: str, regexes: Collection[str], take: TakeResolved) -> None:
        self._timer.schedule(_key(group_id), 0, partial(self._resolve, tuple(regexes), take))

    def _resolve(self, regexes: Collection[str], take: TakeResolved) -> CoordinatorResult[Any]:
        names = [topic.name for topic in self._topics.all_topics()]
        topics: dict[str, list[str]] = {}
        for regex in regexes:
            try:
                expression = Expression(regex)
            except ExpressionError:
                # From the log of a broker that accepted it: it matches nothing here.
                topics[regex] = []
            else:
                topics[regex] = [name for name in names if expression.matches(name)]
        return take(Resolved(topics, self._topics.version))


def _key(group_id: str) -> tuple[str, str]:
    return "consumer-regexes", group_id
