"""The answers of ``control.sock`` as metrics of prometheus-client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from coordinator_server.ops.metrics.families import (
    BUILD,
    COMPACTED,
    COMPACTION_TIME,
    COMPACTIONS,
    CPU,
    DISK_FREE,
    DISK_SIZE,
    JOB_DONE,
    JOB_RECORDS,
    JOB_TIME,
    JOBS,
    LOG_BYTES,
    LOOP_STARTS,
    LOOP_UP,
    MAX_FILES,
    MEMORY,
    OF_LOOPS,
    OPEN_FILES,
    PREFIX,
    READY,
    SCRAPE_TIME,
    Family,
    Kind,
)
from coordinator_server.ops.metrics.found import Found
from coordinator_server.ops.metrics.processes import disk_room, log_bytes, process_numbers
from coordinator_server.ops.metrics.readiness import Verdict

_CLEANER: Final = "cleaner"
# A sample: the values of the labels, then the number, or the classes and the sum of a histogram.
Samples = Iterable[Sequence[Any]]


def metrics(found: Found, verdict: Verdict, seconds: float) -> Iterator[Metric]:
    """Yield all metrics of a scrape, which took so long."""
    yield _metric(READY, [[int(verdict.is_good)]])
    yield _metric(SCRAPE_TIME, [[seconds]])
    yield _metric(BUILD, [[found.version, found.build, 1]])
    yield from _of_loops(found)
    yield from _of_disk(found)
    yield from _of_jobs(found.reports)


def _of_loops(found: Found) -> Iterator[Metric]:
    loops = {each["node_id"]: str(each["loop"]) for each in found.health}
    yield _metric(LOOP_UP, [[str(each["loop"]), int(each["stage"] == "serving")] for each in found.health])
    yield _metric(LOOP_STARTS, [[str(each["loop"]), each.get("starts", 1)] for each in found.health])
    for family in OF_LOOPS:
        samples = [
            [loops.get(entry["node_id"], ""), *sample]
            for entry in found.metrics
            for sample in entry["samples"].get(family.key, ())
        ]
        if samples:
            yield _metric(family, samples)
    numbers = {loops.get(each["node_id"], ""): process_numbers(each["pid"]) for each in found.metrics}
    for family, place in ((CPU, 0), (MEMORY, 1), (OPEN_FILES, 2), (MAX_FILES, 3)):
        yield _metric(family, [[loop, number[place]] for loop, number in numbers.items() if number is not None])


def _of_disk(found: Found) -> Iterator[Metric]:
    yield _metric(LOG_BYTES, [[topic, size] for topic, size in log_bytes(found.data_dir).items()])
    room = disk_room(found.data_dir)
    if room is not None:
        for family, size in zip((DISK_FREE, DISK_SIZE), room, strict=True):
            yield _metric(family, [[size]])


def _of_jobs(reports: Mapping[str, Mapping[str, Any]]) -> Iterator[Metric]:
    """Yield the metrics of the operation ``pipeline``: the cleaner, and the jobs of each schedule."""
    cleaner = reports.get(_CLEANER)
    if cleaner is not None:
        yield _metric(COMPACTIONS, [["done", cleaner["runs"]], ["failed", cleaner["failures"]]])
        yield _metric(COMPACTED, [["read", cleaner["records_in"]], ["kept", cleaner["records"]]])
        yield _metric(COMPACTION_TIME, [[cleaner["seconds"]]])
    jobs = [
        (schedule, name, job)
        for schedule, report in reports.items()
        if schedule != _CLEANER
        for name, job in report.get("jobs", {}).items()
    ]
    runs = [[*of, outcome, count] for *of, job in jobs for outcome, count in job["runs"].items()]
    for family, samples in (
        (JOBS, runs),
        (JOB_TIME, [[*of, job["seconds"]] for *of, job in jobs]),
        (JOB_RECORDS, [[*of, job["records_in"]] for *of, job in jobs]),
        (JOB_DONE, [[*of, job["last_done_ms"] / 1000] for *of, job in jobs if job["last_done_ms"]]),
    ):
        if samples:
            yield _metric(family, samples)


def _metric(family: Family, samples: Samples) -> Metric:
    labels = ["loop", *family.labels] if family.is_of_loop else list(family.labels)
    name = PREFIX + family.key
    count = len(labels)
    match family.kind:
        case Kind.COUNTER:
            counter = CounterMetricFamily(name, family.help, labels=labels)
            for sample in samples:
                counter.add_metric(sample[:count], sample[count])
            return counter
        case Kind.GAUGE:
            gauge = GaugeMetricFamily(name, family.help, labels=labels)
            for sample in samples:
                gauge.add_metric(sample[:count], sample[count])
            return gauge
        case Kind.HISTOGRAM:
            histogram = HistogramMetricFamily(name, family.help, labels=labels)
            for sample in samples:
                histogram.add_metric(sample[:count], _buckets(family, sample[count]), sample[count + 1])
            return histogram


def _buckets(family: Family, classes: Sequence[int]) -> list[tuple[str, float]]:
    """Return the numbers of observations up to each bound, as Prometheus counts them."""
    bounds = [*(str(float(bound)) for bound in family.bounds), "+Inf"]
    return list(zip(bounds, accumulate(classes), strict=True))
