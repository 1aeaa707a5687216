"""The wait for Spark's results, of one job or of several, with a context that a test plays."""

from __future__ import annotations

from threading import Barrier, Event
from types import SimpleNamespace
from typing import Any, cast

import pytest

pytest.importorskip("pyspark", reason="the spark extra is not installed: make test brings it")

from py4j.protocol import Py4JNetworkError

from coordinator_server.pipeline.errors import ShardFailed
from coordinator_server.pipeline.spark.tasks import collect_results, run_at_once


class Dying:
    """A context and its rows, whose JVM dies in the middle of the work."""

    def __init__(self, error: Exception) -> None:
        self._error = error
        self._is_dead = Event()
        self.found: Exception = Py4JNetworkError("Answer from Java side is empty")

    def cancelAllJobs(self) -> None:  # noqa: N802 - Spark's name
        self._is_dead.set()
        raise self._error

    def collect(self) -> Any:
        assert self._is_dead.wait(60)
        raise self.found


@pytest.mark.parametrize("error", [ConnectionRefusedError(), Py4JNetworkError("Answer from Java side is empty")])
def test_an_interruption_is_not_replaced_by_an_error_of_the_jvm(error: Exception) -> None:
    dying = cast("Any", Dying(error))

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect_results(dying, dying, interrupt)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Py4JNetworkError("Answer from Java side is empty"), "Answer from Java side is empty"),
        (ConnectionRefusedError(111, "Connection refused"), "its JVM does not answer, .*memory: .*Connection refused"),
    ],
)
def test_a_jvm_that_dies_is_a_failure(found: Exception, said: str) -> None:
    dying = Dying(ConnectionRefusedError())
    dying.found = found
    dying._is_dead.set()

    with pytest.raises(ShardFailed, match=f"Spark gave up: {said}"):
        collect_results(cast("Any", dying), cast("Any", dying), lambda: None)


class Context:
    """Of two cores."""

    defaultParallelism = 2  # noqa: N815 - Spark's name

    def __init__(self) -> None:
        self.is_cancelled = Event()

    def cancelAllJobs(self) -> None:  # noqa: N802 - Spark's name
        self.is_cancelled.set()


def session() -> Any:
    return SimpleNamespace(sparkContext=Context())


def test_as_many_run_as_there_are_cores() -> None:
    """Two wait for each other, and so on: none would end alone."""
    pairs = Barrier(2)

    def job() -> int:
        return pairs.wait(10)

    assert sorted(run_at_once(session(), [job] * 6)) == [0, 0, 0, 1, 1, 1]


def test_one_that_fails_ends_the_others() -> None:
    """Those that run are cancelled, and those that wait never begin."""
    spark = session()
    begun: list[str] = []

    def fails() -> None:
        raise ShardFailed("no")

    def lasts() -> None:
        begun.append("")
        assert spark.sparkContext.is_cancelled.wait(10)

    with pytest.raises(ShardFailed):
        list(run_at_once(spark, [lasts, fails, *[lasts] * 20]))

    assert spark.sparkContext.is_cancelled.is_set()
    assert len(begun) <= 3
