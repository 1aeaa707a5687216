"""Answers of the server as Prometheus reads them, by the parser of its client library."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from coordinator_server.histogram_bounds import REQUEST_BOUNDS_S
from coordinator_server.ops.metrics.exposition import metrics
from coordinator_server.ops.metrics.families import OF_LOOPS, Kind, families
from coordinator_server.ops.metrics.found import Found
from coordinator_server.ops.metrics.processes import log_bytes, open_files_limit, process_numbers
from coordinator_server.ops.metrics.readiness import Verdict

HEALTH = [
    {"loop": 0, "node_id": 5, "stage": "serving", "starts": 1},
    {"loop": 1, "node_id": 6, "stage": "no-answer", "starts": 4},
]
SAMPLES: dict[str, list[list[Any]]] = {
    "requests": [["Heartbeat", "4", 12]],
    "groups": [["classic", "Stable", 3]],
    "group_commit_age_seconds": [['a"b\\c\nd', 5.5]],
    "request_duration_seconds": [["JoinGroup", [1, 2, *[0] * (len(REQUEST_BOUNDS_S) - 2), 1], 70.5]],
}
REPORTS: dict[str, dict[str, Any]] = {
    "cleaner": {"runs": 2, "failures": 1, "records_in": 100, "records": 10, "seconds": 1.5},
    "schedule": {"jobs": {"verify": {"runs": {"done": 3, "differs": 1}, "seconds": 9.0, "records_in": 50, "last_done_ms": 2500}}},
}


class Once(Collector):
    def __init__(self, found: Found) -> None:
        self._found = found

    def collect(self) -> Any:
        return metrics(self._found, Verdict(is_good=False), 0.25)


@pytest.fixture
def scraped(tmp_path: Path) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """The samples by name and labels."""
    (tmp_path / "__consumer_offsets-7").mkdir()
    (tmp_path / "__consumer_offsets-7/segment").write_bytes(b"x" * 5000)
    entries = [{"node_id": 5, "pid": os.getpid(), "samples": SAMPLES}]
    registry = CollectorRegistry()
    registry.register(Once(Found(tmp_path, "1.2.3", "compiled", HEALTH, entries, REPORTS)))
    text = generate_latest(registry).decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_every_sample_has_its_loop_and_its_labels(scraped: dict[Any, float]) -> None:
    """Those of a client are escaped."""
    loop = ("loop", "0")

    assert scraped["coordinator_requests_total", (("api", "Heartbeat"), loop, ("version", "4"))] == 12
    assert scraped["coordinator_groups", (loop, ("state", "Stable"), ("type", "classic"))] == 3
    assert scraped["coordinator_group_commit_age_seconds", (("group", 'a"b\\c\nd'), loop)] == 5.5
    assert scraped["coordinator_build_info", (("build", "compiled"), ("version", "1.2.3"))] == 1


def test_a_loop_that_does_not_answer_is_down(scraped: dict[Any, float]) -> None:
    assert [scraped["coordinator_loop_up", (("loop", each),)] for each in "01"] == [1, 0]
    assert scraped["coordinator_loop_starts_total", (("loop", "1"),)] == 4
    assert scraped["coordinator_ready", ()] == 0


def test_classes_of_a_histogram_add_up(scraped: dict[Any, float]) -> None:
    name, labels = "coordinator_request_duration_seconds", (("api", "JoinGroup"), ("loop", "0"))
    buckets = {float(dict(of)["le"]): value for (found, of), value in scraped.items() if found == f"{name}_bucket"}

    assert list(buckets.values()) == [1, *[3] * (len(REQUEST_BOUNDS_S) - 1), 4]
    assert list(buckets) == [*REQUEST_BOUNDS_S, float("inf")]
    assert (scraped[f"{name}_count", labels], scraped[f"{name}_sum", labels]) == (4, 70.5)


def test_the_process_looks_after_processes_and_the_disk_itself(scraped: dict[Any, float]) -> None:
    loop = (("loop", "0"),)

    assert scraped["coordinator_process_cpu_seconds_total", loop] > 0
    assert scraped["coordinator_process_resident_memory_bytes", loop] > 1 << 20
    assert 0 < scraped["coordinator_process_open_fds", loop] < scraped["coordinator_process_max_fds", loop]
    assert scraped["coordinator_log_bytes", (("topic", "__consumer_offsets"),)] >= 5000
    assert 0 < scraped["coordinator_disk_free_bytes", ()] <= scraped["coordinator_disk_size_bytes", ()]


def test_what_the_jobs_report_is_there(scraped: dict[Any, float]) -> None:
    job = (("job_name", "verify"), ("schedule", "schedule"))

    assert scraped["coordinator_compactions_total", (("outcome", "failed"),)] == 1
    assert scraped["coordinator_compacted_records_total", (("what", "kept"),)] == 10
    assert scraped["coordinator_job_runs_total", (job[0], ("outcome", "differs"), job[1])] == 1
    assert scraped["coordinator_job_last_success_timestamp_seconds", job] == 2.5


def test_every_metric_of_the_table_can_be_scraped(tmp_path: Path) -> None:
    """With samples of each, and nothing else."""
    samples = {
        each.key: [[*each.labels, [1] * (len(each.bounds) + 1), 1.0] if each.kind is Kind.HISTOGRAM else [*each.labels, 1]]
        for each in OF_LOOPS
    }
    entries = [{"node_id": 5, "pid": os.getpid(), "samples": samples}]

    found = {each.name for each in Once(Found(tmp_path, "1", "x", HEALTH, entries, REPORTS)).collect()}

    assert found == {each.name.removesuffix("_total") for each in families()}


@pytest.mark.parametrize(("limit", "number"), [("1024", 1024), ("unlimited", float("inf"))])
def test_the_limit_of_open_files_is_the_soft_one(limit: str, number: float) -> None:
    text = f"Limit  Soft Limit  Hard Limit  Units\nMax processes  5  6  processes\nMax open files  {limit}  524288  files\n"

    assert open_files_limit(text) == number


def test_a_process_that_has_ended_has_no_numbers(tmp_path: Path) -> None:
    assert process_numbers(1 << 30) is None
    assert log_bytes(tmp_path / "none") == {}
