"""What tools and metrics get of compaction and schedules."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from coordinator_server.server.control.control_socket import run_operation
from coordinator_server.server.control.pipeline_reports import MAX_BYTES, MAX_SENDERS, PipelineReports
from coordinator_server.server.hosting.cleaner import CleanerReport


@pytest.fixture
def reports() -> PipelineReports:
    return PipelineReports(CleanerReport("auto"))


def ask(reports: PipelineReports, **request: object) -> Any:
    return asyncio.run(run_operation(reports.operations, request))


def test_the_newest_report_of_each_sender(reports: PipelineReports) -> None:
    """Beside that of the cleaner, which only the cleaner writes."""
    for rounds in (1, 2):
        assert ask(reports, op="pipeline-report", by="schedule", report={"rounds": rounds}) == {"ok": True}
    ask(reports, op="pipeline-report", by="nightly", report={"rounds": 7})

    found = ask(reports, op="pipeline")["pipeline"]

    assert found.pop("cleaner")["engine"] == "auto"
    assert found == {"schedule": {"rounds": 2}, "nightly": {"rounds": 7}}


@pytest.mark.parametrize(
    "request_",
    [
        {"by": "cleaner", "report": {}},
        {"by": "schedule", "report": []},
        {"report": {}},
        {"by": "schedule", "report": {"said": "x" * MAX_BYTES}},
    ],
    ids=["the cleaner's", "no object", "no sender", "too long"],
)
def test_a_malformed_pipeline_report_is_refused(reports: PipelineReports, request_: dict[str, object]) -> None:
    """It is refused, and nothing is kept."""
    assert not ask(reports, op="pipeline-report", **request_)["ok"]
    assert list(ask(reports, op="pipeline")["pipeline"]) == ["cleaner"]


def test_pipeline_reports_of_too_many_senders_are_refused(reports: PipelineReports) -> None:
    """One more is refused; those that are known go on."""
    answers = [ask(reports, op="pipeline-report", by=f"job-{n}", report={})["ok"] for n in range(MAX_SENDERS + 1)]

    assert answers == [True] * MAX_SENDERS + [False]
    assert ask(reports, op="pipeline-report", by="job-0", report={"rounds": 1})["ok"]
