"""TopicDeletions: which shards hear of a deletion, and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from structlog.testing import capture_logs

from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.gather import Refused
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.server.hosting.topic_deletions import DeleteTopics, TopicDeletions
from protocol.error_codes import ErrorCode

OURSELVES = RequestContext("", "", -1, -1)
ORDERS, BILLS, NOTES = (DeletedTopic(name, name.encode()) for name in ("orders", "bills", "notes"))


class Runtime:
    """Notes what its shards are told, and answers as the test says."""

    def __init__(self) -> None:
        self.told: list[list[DeletedTopic]] = []
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


def deletions_of(*kinds: str) -> tuple[TopicDeletions, dict[str, Runtime]]:
    """Of these kinds, and of one without an operation."""
    runtimes = {kind: Runtime() for kind in (*kinds, "other")}
    operations = {kind: cast(DeleteTopics, object()) for kind in kinds}
    return TopicDeletions(cast(dict[str, CoordinatorRuntime[Any]], runtimes), operations, OURSELVES), runtimes


def test_every_kind_with_an_operation_hears_of_a_deletion() -> None:
    """Once all shards are loaded; what was deleted before is told then, together."""
    deletions, runtimes = deletions_of("a", "b")
    deletions.remove_state([ORDERS])
    deletions.remove_state([BILLS])
    assert [runtime.told for runtime in runtimes.values()] == [[], [], []]

    deletions.begin()
    deletions.remove_state([NOTES])

    expected = [[ORDERS, BILLS], [NOTES]]
    assert {kind: runtime.told for kind, runtime in runtimes.items()} == {"a": expected, "b": expected, "other": []}


def test_no_operation_runs_for_nothing() -> None:
    deletions, runtimes = deletions_of("a")

    deletions.begin()
    deletions.remove_state([])

    assert runtimes["a"].told == []


def test_shards_that_keep_what_was_deleted_are_logged() -> None:
    """With the topics. A shard of another loop is not one."""
    deletions, runtimes = deletions_of("a")
    deletions.begin()
    with capture_logs() as lines:
        deletions.remove_state([ORDERS])
        runtimes["a"].answers = [None, Refused(ErrorCode.KAFKA_STORAGE_ERROR), Refused(ErrorCode.KAFKA_STORAGE_ERROR)]
        deletions.remove_state([BILLS, NOTES])

    assert [(line["event"], line["kind"], line["topics"], line["shards"]) for line in lines] == [
        ("deleted-topics-kept", "a", ["bills", "notes"], 2)
    ]
