"""TopicNews: which shards hear of topics that changed or are deleted, and when."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, cast

from structlog.testing import capture_logs

from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.gather import Refused
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.server.hosting.topic_news import DeleteTopics, TopicNews
from protocol.error_codes import ErrorCode

OURSELVES = RequestContext("", "", -1, -1)
ORDERS, BILLS, NOTES = (DeletedTopic(name, name.encode()) for name in ("orders", "bills", "notes"))


class Runtime:
    """Notes what its shards are told, and answers as the test says."""

    def __init__(self) -> None:
        self.told: list[list[DeletedTopic]] = []
        self.changed: list[list[str]] = []
        self.answers: list[Refused | None] = [None]

    def write_all(
        self,
        operation: object,
        context: RequestContext,
        topics: Sequence[DeletedTopic],
        done: Callable[[list[Refused | None]], None],
    ) -> None:
        assert context is OURSELVES
        self.told.append([*topics])
        done(self.answers)

    def read_all(self, name: str, operation: object, names: Collection[str]) -> None:
        assert (name, operation) == ("topics-changed", hear)
        self.changed.append([*names])


def hear(_shard: object, _offset: int, _names: Collection[str]) -> None:
    """Stand for the operation that tells a shard of changes."""


def news_of(*kinds: str) -> tuple[TopicNews, dict[str, Runtime]]:
    """Of these kinds, of which the first hears of changes, too, and of one without an operation."""
    runtimes = {kind: Runtime() for kind in (*kinds, "other")}
    deleting = {kind: cast(DeleteTopics, object()) for kind in kinds}
    return TopicNews(cast(dict[str, CoordinatorRuntime[Any]], runtimes), deleting, {kinds[0]: hear}, OURSELVES), runtimes


def test_every_kind_with_an_operation_hears_of_a_deletion() -> None:
    """Once all shards are loaded; what was deleted before is told then, together."""
    news, runtimes = news_of("a", "b")
    news.deleted([ORDERS])
    news.deleted([BILLS])
    assert [runtime.told for runtime in runtimes.values()] == [[], [], []]

    news.begin()
    news.deleted([NOTES])

    expected = [[ORDERS, BILLS], [NOTES]]
    assert {kind: runtime.told for kind, runtime in runtimes.items()} == {"a": expected, "b": expected, "other": []}


def test_a_change_is_told_at_once() -> None:
    """Whoever is loaded serves. A deletion is a change as well."""
    news, runtimes = news_of("a", "b")
    news.changed(["orders"])
    news.changed([])
    news.deleted([BILLS, NOTES])

    assert {kind: runtime.changed for kind, runtime in runtimes.items()} == {
        "a": [["orders"], ["bills", "notes"]],
        "b": [],
        "other": [],
    }


def test_what_comes_while_the_lease_is_over_is_told_when_it_is_renewed() -> None:
    """Shards refuse it before, and nobody would tell them again."""
    news, runtimes = news_of("a")
    news.begin()
    news.suspend(True)
    news.changed(["orders"])
    news.deleted([BILLS])
    news.changed(["orders", "notes"])
    assert (runtimes["a"].told, runtimes["a"].changed) == ([], [])

    news.suspend(False)
    news.suspend(False)

    assert (runtimes["a"].told, runtimes["a"].changed) == ([[BILLS]], [["orders", "bills", "notes"]])


def test_no_operation_runs_for_nothing() -> None:
    news, runtimes = news_of("a")

    news.begin()
    news.deleted([])

    assert runtimes["a"].told == []


def test_shards_that_keep_what_was_deleted_are_logged() -> None:
    """With the topics. A shard of another loop is not one."""
    news, runtimes = news_of("a")
    news.begin()
    with capture_logs() as lines:
        news.deleted([ORDERS])
        runtimes["a"].answers = [None, Refused(ErrorCode.KAFKA_STORAGE_ERROR), Refused(ErrorCode.KAFKA_STORAGE_ERROR)]
        news.deleted([BILLS, NOTES])

    assert [(line["event"], line["kind"], line["topics"], line["shards"]) for line in lines] == [
        ("deleted-topics-kept", "a", ["bills", "notes"], 2)
    ]
