"""Resolves the regular expressions of groups: finds the topics that match them (Kafka's ``TopicRegexResolver``).

Kafka does it in a thread. Here it goes in steps by timer, one group after the other and at most one resolution of a group at a
time, between the requests of the loop: ten thousand topics take some ten milliseconds for each expression. All topics of a
resolution are those of its beginning. The result enters the group as a write operation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from coordinator_server.catalog.topics import Topic
from coordinator_server.group.common.topics import TopicImage
from coordinator_server.group.pass_times import PassTimes
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.expressions import Expression, ExpressionError
from coordinator_server.machine.shard import Clock, CoordinatorResult, CoordinatorTimer, RequestContext
from protocol.error_codes import ErrorCode

MATCHES_PER_STEP: Final = 1_000
STEP_MS: Final = 2
"""A step ends after this many matches, or this much time: one match may take some milliseconds."""
REST_MS: Final = 10_000
"""How long a group is not resolved again whose result could not be written, as one that is too large for a batch."""


class Resolved(NamedTuple):
    """The topics that match each expression, sorted.

    ``version`` is that of the topic image, ``timestamp`` the wall-clock time of it.
    """

    topics: Mapping[str, Sequence[str]]
    version: int
    timestamp: int


TakeResolved = Callable[[Resolved], CoordinatorResult[Any]]
"""The write operation that enters a result into the state of its group."""

Authorize = Callable[[RequestContext, Collection[str]], Iterable[str]]
"""Returns those of the topics that the sender of a request may describe."""


class RegexResolver:
    """The resolutions of one shard. ``pass_times`` orders the steps of all shards of a loop.

    Without ``authorize`` everybody may describe all topics. ``prepare`` is called with each topic that matches: what takes long in
    the operation that gets the result can be done in these steps.
    """

    def __init__(
        self,
        topics: TopicImage,
        timer: CoordinatorTimer,
        clock: Clock,
        pass_times: PassTimes,
        authorize: Authorize | None = None,
        prepare: Callable[[Topic], object] | None = None,
    ) -> None:
        self._topics = topics
        self._timer = timer
        self._clock = clock
        self._pass_times = pass_times
        self._authorize = authorize
        self._prepare = prepare

    def check(self, regex: str) -> None:
        """Refuse an invalid expression. Raises INVALID_REGULAR_EXPRESSION."""
        try:
            Expression(regex)
        except ExpressionError as wrong:
            problem = f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {wrong.description}."
            raise CoordinatorError(ErrorCode.INVALID_REGULAR_EXPRESSION, problem) from None

    def is_resolving(self, group_id: str) -> bool:
        """Return whether a result for the group is on its way, or has just failed."""
        return self._timer.is_scheduled(_key(group_id))

    def resolve(self, context: RequestContext, group_id: str, regexes: Iterable[str], take: TakeResolved) -> None:
        """Resolve all expressions of a group for the sender of a request, and run ``take`` as a write operation."""
        resolution = _Resolution(context, regexes, take)
        self._timer.schedule(
            _key(group_id), self._pass_times.reserve(self._clock.now_ms()), partial(self._step, group_id, resolution)
        )

    def _step(self, group_id: str, resolution: _Resolution) -> CoordinatorResult[Any]:
        began_ms = self._clock.now_ms()
        if resolution.image is None:
            resolution.begin(self._topics, self._clock.wall_ms(), self._prepare)
        if resolution.step(self._clock, began_ms + STEP_MS):
            result = resolution.take(self._result(resolution))
            return replace(result, on_append=partial(self._written, group_id, result.on_append)) if result.records else result
        now_ms = self._clock.now_ms()
        delay_ms = self._pass_times.after_step(now_ms, now_ms - began_ms)
        self._timer.schedule(_key(group_id), delay_ms, partial(self._step, group_id, resolution))
        return CoordinatorResult(None)

    def _result(self, resolution: _Resolution) -> Resolved:
        assert resolution.image is not None
        topics = resolution.matched
        if self._authorize is not None:
            found = {name for names in topics.values() for name in names}
            allowed = set(self._authorize(resolution.context, found))
            topics = {regex: [name for name in names if name in allowed] for regex, names in topics.items()}
        return Resolved(topics, *resolution.image)

    def _written(self, group_id: str, then: Callable[[ErrorCode | None], None] | None, error: ErrorCode | None) -> None:
        if then is not None:
            then(error)
        if error not in (None, ErrorCode.NOT_COORDINATOR):
            self._timer.schedule(_key(group_id), REST_MS, _nothing)


class _Resolution:
    """A resolution in progress. ``image`` has the version and the time of the topics, when it has started."""

    __slots__ = ("_left", "_regexes", "context", "image", "matched", "take")

    def __init__(self, context: RequestContext, regexes: Iterable[str], take: TakeResolved) -> None:
        self.context = context
        self.take = take
        self.image: tuple[int, int] | None = None
        self.matched: dict[str, list[str]] = {regex: [] for regex in regexes}
        self._left: Iterator[None] = iter(())

    def begin(self, topics: TopicImage, now_ms: int, prepare: Callable[[Topic], object] | None) -> None:
        """Take the present topics."""
        self.image = (topics.version, now_ms)
        self._left = self._matches(sorted(topics.all_topics(), key=attrgetter("name")), prepare)

    def step(self, clock: Clock, until_ms: int) -> bool:
        """Match some topics. Return whether none is left."""
        for _ in range(MATCHES_PER_STEP):
            if next(self._left, self) is self:
                return True
            if clock.now_ms() >= until_ms:
                break
        return False

    def _matches(self, topics: Sequence[Topic], prepare: Callable[[Topic], object] | None) -> Iterator[None]:
        """Match one topic at a time."""
        for regex, matched in self.matched.items():
            try:
                expression = Expression(regex)
            except ExpressionError:
                # From the log of a broker that accepts it, or has accepted it: it matches nothing here.
                continue
            for topic in topics:
                if expression.matches(topic.name):
                    matched.append(topic.name)
                    if prepare is not None:
                        prepare(topic)
                yield


def _nothing() -> CoordinatorResult[None]:
    return CoordinatorResult(None)


def _key(group_id: str) -> tuple[str, str]:
    return "regexes", group_id
