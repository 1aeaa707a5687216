"""RegexResolver: which topics match, in how long, and for whom."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

from coordinator_server.catalog.topics import Topic
from coordinator_server.group.common.regexes import MATCHES_PER_STEP, REST_MS, STEP_MS, RegexResolver, Resolved
from coordinator_server.group.consumer.records import regex_tombstone
from coordinator_server.group.pass_times import STEP_INTERVAL_MS, PassTimes
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from protocol.error_codes import ErrorCode
from tests.support.clock import ManualClock
from tests.support.group import ManualTimer
from tests.support.topics import FakeTopics

CLIENT = RequestContext("client", "127.0.0.1", 68, 1, principal="User:a")


class Resolving:
    """A resolver, and what it has found by group."""

    def __init__(self, *topics: str) -> None:
        self.clock = ManualClock()
        self.timer = ManualTimer(self.clock)
        self.topics = FakeTopics()
        self.topics.create(**dict.fromkeys(topics, 1))
        self.found: dict[str, Resolved] = {}
        self.denied: set[str] = set()
        # The topics that were prepared for the operation that gets a result.
        self.prepared: list[str] = []
        self.resolver = RegexResolver(self.topics, self.timer, self.clock, PassTimes(), self._authorize, self._prepare)

    def resolve(self, group_id: str, *regexes: str) -> None:
        def take(resolved: Resolved) -> CoordinatorResult[Any]:
            assert group_id not in self.found
            self.found[group_id] = resolved
            return CoordinatorResult(None)

        self.resolver.resolve(CLIENT, group_id, regexes, take)

    def advance(self, ms: int) -> int:
        """Let time pass, and return the number of steps."""
        end, steps = self.clock.now_ms() + ms, 0
        while (due := self.timer.pop_due(end)) is not None:
            at, operation = due
            self.clock.advance(max(at - self.clock.now_ms(), 0))
            operation()
            steps += 1
        self.clock.advance(max(end - self.clock.now_ms(), 0))
        return steps

    def _prepare(self, topic: Topic) -> None:
        self.prepared.append(topic.name)

    def _authorize(self, context: RequestContext, topics: Collection[str]) -> Iterable[str]:
        assert context is CLIENT
        return [topic for topic in topics if topic not in self.denied]


def test_each_topic_that_matches_is_prepared_in_the_steps() -> None:
    """Its hash takes long for thousands of topics, and the operation that gets the result needs it."""
    resolving = Resolving("a1", "a2", "b1")
    resolving.resolve("g", "a.", ".2")
    resolving.advance(100)

    assert resolving.prepared == ["a1", "a2", "a2"]
    assert list(resolving.found) == ["g"]


def test_the_topics_of_each_expression_are_found() -> None:
    """Whole names, sorted. An expression that matches nothing has none."""
    resolving = Resolving("orders", "my_orders", "bills", "orders2")
    resolving.resolve("g", "orders.*", ".*s", "nothing")
    assert resolving.resolver.is_resolving("g")

    resolving.advance(0)

    assert resolving.found["g"].topics == {
        "orders.*": ["orders", "orders2"],
        ".*s": ["bills", "my_orders", "orders"],
        "nothing": [],
    }
    assert not resolving.resolver.is_resolving("g")


def test_all_topics_are_those_of_the_beginning() -> None:
    """So are the version and the time of the result."""
    resolving = Resolving(*(f"t{number}" for number in range(MATCHES_PER_STEP + 1)))
    began = resolving.clock.wall_ms(), resolving.topics.version
    resolving.resolve("g", ".*")
    assert resolving.advance(0) == 1

    resolving.topics.create(late=1)
    assert resolving.found == {}
    resolving.advance(2 * STEP_INTERVAL_MS)

    found = resolving.found["g"]
    assert (found.timestamp, found.version) == began
    assert len(found.topics[".*"]) == MATCHES_PER_STEP + 1


def test_a_resolution_goes_in_steps() -> None:
    """With time for requests in between, and over the expressions."""
    resolving = Resolving(*(f"t{number}" for number in range(MATCHES_PER_STEP)))
    resolving.resolve("g", "t1.*", "t2.*", "t3.*")

    steps = [resolving.advance(STEP_INTERVAL_MS - 1), *(resolving.advance(STEP_INTERVAL_MS) for _ in range(4))]

    assert steps == [1, 1, 1, 1, 0]
    assert [len(names) for names in resolving.found["g"].topics.values()] == [111, 111, 111]


def test_a_slow_expression_ends_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the loop has four times as long for others."""
    resolving = Resolving(*"abcdef")

    def slow(_self: object, _text: str) -> bool:
        resolving.clock.advance(10 * STEP_MS)
        return True

    monkeypatch.setattr("coordinator_server.group.common.regexes.Expression.matches", slow)
    resolving.resolve("g", ".*")
    began = resolving.clock.now_ms()

    assert resolving.advance(0) == 1
    steps = 1
    while not resolving.found:
        steps += resolving.advance(1)

    assert steps == 7
    assert resolving.clock.now_ms() - began >= 6 * 5 * 10 * STEP_MS


def test_groups_take_turns() -> None:
    """Each loop has one step at a time, whatever the number of groups."""
    resolving = Resolving(*(f"t{number}" for number in range(MATCHES_PER_STEP + 1)))
    for group_id in "gh":
        resolving.resolve(group_id, ".*")

    assert [resolving.advance(0), *(resolving.advance(STEP_INTERVAL_MS) for _ in range(4))] == [1, 1, 1, 1, 0]
    assert resolving.found.keys() == {"g", "h"}


def test_topics_that_a_client_may_not_describe_are_left_out() -> None:
    """In every expression. This is the seam for authorization."""
    resolving = Resolving("open", "secret")
    resolving.denied = {"secret"}
    resolving.resolve("g", ".*", "s.*")

    resolving.advance(0)

    assert resolving.found["g"].topics == {".*": ["open"], "s.*": []}


def test_without_authorization_everybody_gets_all_topics() -> None:
    resolving = Resolving("b", "a")
    resolving.resolver = RegexResolver(resolving.topics, resolving.timer, resolving.clock, PassTimes())
    resolving.resolve("g", ".*")

    resolving.advance(0)

    assert resolving.found["g"].topics == {".*": ["a", "b"]}


@pytest.mark.parametrize(
    ("error", "rests"), [(None, False), (ErrorCode.NOT_COORDINATOR, False), (ErrorCode.RECORD_LIST_TOO_LARGE, True)]
)
def test_a_group_whose_result_is_not_written_rests(error: ErrorCode | None, rests: bool) -> None:
    """Otherwise each heartbeat would have it resolved again. An unloaded shard has no timers."""
    resolving = Resolving("a")
    outcomes: list[ErrorCode | None] = []
    record = regex_tombstone("g", "a")
    resolving.resolver.resolve(CLIENT, "g", ["a"], lambda _: CoordinatorResult(None, [record], outcomes.append))
    due = resolving.timer.pop_due(resolving.clock.now_ms())
    assert due is not None
    result = due[1]()
    assert result.on_append is not None

    result.on_append(error)

    assert outcomes == [error]
    assert resolving.resolver.is_resolving("g") == rests
    resolving.advance(REST_MS)
    assert not resolving.resolver.is_resolving("g")


def test_an_expression_that_is_not_valid_here_matches_nothing() -> None:
    """It may come from the log of a broker that takes it."""
    resolving = Resolving("a")
    resolving.resolve("g", "(a{100}){11}", "a")

    resolving.advance(0)

    assert resolving.found["g"].topics == {"(a{100}){11}": [], "a": ["a"]}


@pytest.mark.parametrize(
    ("regex", "why"),
    [
        ("[", "missing closing ]"),
        ("(a", "missing closing )"),
        ("a**", "invalid nested repetition operator"),
        ("*", "missing argument to repetition operator"),
        ("(?=a)", "invalid or unsupported Perl syntax"),
        ("(?<=a)", "invalid named capture"),
        ("a" * 1001, "longer than 1000 characters"),
    ],
)
def test_a_wrong_expression_is_refused_in_kafkas_words(regex: str, why: str) -> None:
    with pytest.raises(CoordinatorError) as refused:
        Resolving().resolver.check(regex)

    assert refused.value.error is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert refused.value.message == f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {why}."


def test_a_valid_expression_is_not_refused() -> None:
    Resolving().resolver.check("team-(1|2)\\..*")
