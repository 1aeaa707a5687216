"""The options of engines, what is missing for them, and `pipeline`, which runs several jobs in one session."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from coordinator_server.cli import main, pipeline
from coordinator_server.cli.engines import add_engine_arguments, extra_needed
from coordinator_server.cli.jobs import JobDone
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.report import Counts


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_engine_arguments(parser, python="one process", workers_see="it")
    return parser.parse_args(words)


def test_settings_of_spark_are_names_and_values() -> None:
    """A value may be empty, and may have the separator."""
    options = parsed("--conf", "spark.a.b=1", "--conf", "spark.c=x=y", "--conf", "spark.d=")

    assert options.conf == [("spark.a.b", "1"), ("spark.c", "x=y"), ("spark.d", "")]


@pytest.mark.parametrize("text", ["spark.a", "a=1", "=1", "sparks=1", "spark=1"])
def test_other_settings_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentError, match=r"is not of the form spark\.some\.name=value"):
        parsed("--conf", text)


@pytest.mark.parametrize("module", ["pyspark", "pyspark.sql", "pyarrow"])
def test_a_missing_module_of_the_extra_is_named_with_what_to_do(module: str) -> None:
    with pytest.raises(CannotRun) as told, extra_needed("job", "; or do without"):
        raise ImportError(name=module)

    assert str(told.value) == f"the job needs {module}: pip install 'coordinator-server[spark]'; or do without"


@pytest.mark.parametrize("module", [None, "coordinator_server.gone", "pysparks"])
def test_any_other_missing_module_is_a_bug(module: str | None) -> None:
    with pytest.raises(ImportError), extra_needed("job"):
        raise ImportError(name=module)


class Jobs:
    """Jobs that note when they run, and a session that they share."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log: list[str] = []
        self.codes = {"compact": 0, "history": 0, "verify": 0}
        monkeypatch.setattr(pipeline, "spark_session", self.session)
        for name in self.codes:
            monkeypatch.setitem(pipeline.JOBS, name, partial(self.run, name))

    @contextmanager
    def session(self, _options: argparse.Namespace) -> Iterator[None]:
        self.log.append("begin")
        yield
        self.log.append("end")

    def run(self, name: str, _options: argparse.Namespace) -> JobDone:
        self.log.append(name)
        return JobDone(self.codes[name], [], {}, Counts())


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Jobs:
    return Jobs(monkeypatch)


def test_jobs_run_one_after_the_other_in_one_session(jobs: Jobs, tmp_path: Path) -> None:
    assert main(["pipeline", "verify", "compact", "--data-dir", str(tmp_path)]) == 0
    assert jobs.log == ["begin", "verify", "compact", "end"]


def test_the_plain_engine_needs_no_session(jobs: Jobs, tmp_path: Path) -> None:
    assert main(["pipeline", "compact", "--data-dir", str(tmp_path), "--engine", "python"]) == 0
    assert jobs.log == ["compact"]


def test_a_job_that_fails_is_the_last_one(jobs: Jobs, tmp_path: Path) -> None:
    """Its exit code is that of the pipeline."""
    jobs.codes["verify"] = 3

    assert main(["pipeline", "compact", "verify", "history", "--data-dir", str(tmp_path), "--out", str(tmp_path / "out")]) == 3
    assert jobs.log == ["begin", "compact", "verify", "end"]


def test_history_needs_a_directory(jobs: Jobs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything else has run."""
    assert main(["pipeline", "compact", "history", "--data-dir", str(tmp_path)]) == 2
    assert "history needs --out DIR" in capsys.readouterr().err
    assert jobs.log == []
