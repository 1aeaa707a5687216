"""What a session does before and after Spark: waiting for a cluster's executors, and saying in one line what went wrong."""

from __future__ import annotations

import contextlib
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the spark extra is not installed: make test brings it")

from py4j.protocol import Py4JError

from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.spark import session


class Cluster:
    """A SparkContext whose executors register as time passes, and the clock that it passes on."""

    def __init__(self, cores: list[int], conf: dict[str, str] | None = None, master: str = "spark://head:7077") -> None:
        self.master = master
        self.now_s = 0.0
        self._cores = cores
        self._conf = conf or {}

    @property
    def present(self) -> int:
        return self._cores[min(int(self.now_s * 10), len(self._cores) - 1)]

    @property
    def defaultParallelism(self) -> int:  # noqa: N802 - Spark's name
        return max(2, self.present)

    def getConf(self) -> Any:  # noqa: N802 - Spark's name
        return self._conf

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def await_executors(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "time", cluster)
    monkeypatch.setattr(session, "_executors", lambda context: context.present)
    session._await_executors(cluster)  # type: ignore[arg-type]


def test_a_session_waits_until_no_more_executors_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is dealt to the cores that are there: the first is not enough."""
    cluster = Cluster([0] * 20 + [4] * 4 + [8] * 3 + [32])

    await_executors(cluster, monkeypatch)

    assert cluster.present == 32
    assert cluster.now_s < 4


def test_a_cluster_without_room_is_told_and_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as Spark's own property says."""
    cluster = Cluster([0], {"spark.scheduler.maxRegisteredResourcesWaitingTime": "7s", "spark.executor.memory": "900g"})

    with pytest.raises(CannotRun, match=r"no executor within 7 s.* 900g of memory"):
        await_executors(cluster, monkeypatch)

    assert 7 <= cluster.now_s < 8


@pytest.mark.parametrize(("master", "conf"), [("local[2]", {}), ("yarn", {"spark.dynamicAllocation.enabled": "true"})])
def test_executors_that_come_with_the_work_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, master: str, conf: dict[str, str]
) -> None:
    """Local sessions have none, and others start them on demand."""
    cluster = Cluster([0], conf, master)

    await_executors(cluster, monkeypatch)

    assert cluster.now_s == 0


@pytest.mark.parametrize(("text", "seconds"), [("30s", 30), ("2min", 120), ("500ms", 0.5), ("250", 0.25), (None, 0), ("soon", 0)])
def test_durations_are_spark_s(text: str | None, seconds: float) -> None:
    """Without a unit they are milliseconds."""
    assert session._seconds(text) == seconds


@pytest.mark.parametrize(
    ("master", "is_here", "is_secret"),
    [
        ("local[2]", True, True),
        ("spark://127.0.0.1:7077", True, False),
        ("spark://localhost:7077", True, False),
        ("spark://[::1]:7077", True, False),
        ("spark://localhost.example.com:7077", False, False),
        ("spark://head:7077", False, False),
        ("yarn", False, False),
    ],
)
def test_a_driver_that_only_this_machine_needs_is_not_seen_by_others(
    tmp_path: Path, master: str, is_here: bool, is_secret: bool
) -> None:
    settings = session._settings(master, tmp_path)

    assert settings["spark.master"] == master
    assert (settings.get("spark.driver.host"), settings.get("spark.driver.bindAddress")) == (
        ("127.0.0.1", "127.0.0.1") if is_here else (None, None)
    )
    assert (settings.get("spark.authenticate") == "true") is is_secret


@pytest.mark.parametrize(
    ("is_local", "theirs", "python"),
    [(True, "their-python", sys.executable), (False, "their-python", "their-python"), (False, None, sys.executable)],
)
def test_the_environment_is_a_session_s_while_it_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_local: bool, theirs: str | None, python: str
) -> None:
    """Workers run the interpreter of the driver, or the one that is named for a cluster; afterwards all is as it was."""
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if theirs is not None:
        monkeypatch.setenv("PYSPARK_PYTHON", theirs)
    monkeypatch.setenv("PYTHONPATH", "before")
    earlier = dict(os.environ)

    with session._environment("/java", tmp_path, is_local=is_local):
        within = dict(os.environ)

    assert (within["PYSPARK_PYTHON"], within["JAVA_HOME"], within["SPARK_LOCAL_DIRS"]) == (python, "/java", str(tmp_path))
    assert within["PYTHONPATH"].split(os.pathsep) == [session._root(), "before"]
    assert dict(os.environ) == earlier
    with session._environment(None, tmp_path, is_local=is_local):
        assert "JAVA_HOME" not in os.environ


class Conf:
    """A SparkConf without a JVM."""

    def __init__(self) -> None:
        self.values = {"spark.app.name": "theirs"}

    def setAll(self, pairs: list[tuple[str, str]]) -> Conf:  # noqa: N802 - Spark's name
        self.values |= dict(pairs)
        return self

    def setIfMissing(self, name: str, value: str) -> Conf:  # noqa: N802 - Spark's name
        self.values.setdefault(name, value)
        return self


class Submitted:
    """The session on the JVM of spark-submit."""

    def __init__(self, context: Any) -> None:
        self.conf: Conf = context
        self.is_stopped = False

    def stop(self) -> None:
        self.is_stopped = True


def test_a_job_of_spark_submit_runs_on_its_jvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its properties count before ours, and those of the command line before both.

    The session ends with the job, however it ends.
    """
    monkeypatch.setenv("PYSPARK_PYTHON", "theirs")
    monkeypatch.setattr(session, "SparkConf", Conf)
    monkeypatch.setattr(session, "SparkContext", lambda conf: conf)
    monkeypatch.setattr(session, "SparkSession", Submitted)

    spark: Any
    with contextlib.suppress(KeyError), session._submitted({"spark.x": "1"}) as spark:
        assert spark.conf.values == {
            "spark.app.name": "theirs",
            "spark.x": "1",
            "spark.executorEnv.PYTHONSAFEPATH": "1",
            "spark.executorEnv.PYTHONPATH": session._root(),
        }
        assert os.environ["PYSPARK_PYTHON"] == "theirs"
        assert not spark.is_stopped
        raise KeyError("of the job")

    assert spark.is_stopped


def test_a_jvm_that_gives_no_session_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers then run this interpreter, unless another one is named."""
    monkeypatch.setenv("PYSPARK_PYTHON", "")
    monkeypatch.delenv("PYSPARK_PYTHON")
    monkeypatch.setattr(session, "SparkConf", Conf)

    def refuse(conf: Conf) -> None:
        raise Py4JError("no such property")

    monkeypatch.setattr(session, "SparkContext", refuse)

    with pytest.raises(CannotRun, match="no such property; check what spark-submit was given"), session._submitted({}):
        raise AssertionError
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


def test_the_reason_of_a_python_worker_is_in_the_line() -> None:
    """Not only that there was one."""
    said = (
        "Job aborted due to stage failure: Lost task 0.3 (10.0.0.2 executor 1): PythonException: Traceback (most recent call "
        "last):\n"
        '  File "worker.py", line 1\n'
        "ModuleNotFoundError: No module named 'coordinator_server'\n\n"
        "\tat org.apache.spark.api.python.BasePythonRunner\n"
    )

    assert session.gist(RuntimeError(said)) == (
        "Job aborted due to stage failure: Lost task 0.3 (10.0.0.2 executor 1): PythonException:"
        " ModuleNotFoundError: No module named 'coordinator_server'"
    )
    assert session.gist(RuntimeError("")) == "RuntimeError"


def test_what_is_shipped_is_all_of_the_sources(tmp_path: Path) -> None:
    """And nothing else."""
    names = zipfile.ZipFile(session._packed(tmp_path)).namelist()

    assert {
        "coordinator_server/pipeline/compact/vector_engine.py",
        "protocol/record_batch.py",
        "protocol/generated/headers.py",
    } <= set(names)
    assert all(name.startswith(("coordinator_server/", "protocol/")) and name.endswith(".py") for name in names)
