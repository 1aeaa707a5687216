"""Answers scrapes of a directory that follows a cluster: keeps its index up to date, and reads the metrics from there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

import structlog
from prometheus_client.core import Metric

from coordinator_server.log.errors import LogError
from coordinator_server.log.opening import identity_of
from coordinator_server.observe.metrics import metrics, observed
from coordinator_server.ops.metrics.readiness import Verdict
from coordinator_server.pipeline.errors import Busy, PipelineError
from coordinator_server.pipeline.index.database import NoIndex
from coordinator_server.pipeline.index.feed import index_of, update
from coordinator_server.pipeline.input.data_dir import durable
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD, read_topic_names
from coordinator_server.pipeline.progress import Progress

log = structlog.get_logger(__name__)

ROUND_S: Final = 10.0


class Exporter:
    """What an HTTP server of metrics asks."""

    def __init__(self, data_dir: Path, most_partitions: int) -> None:
        self._data_dir = data_dir
        self._most_partitions = most_partitions
        self._problem = "the log is being read for the first time"
        self._names: Mapping[bytes, str] = {}
        self._named_to = 0

    def keep_up(self) -> NoReturn:
        """Bring the index up to date, again and again. An unexpected error ends it."""
        while True:
            self.round()
            time.sleep(ROUND_S)

    def scrape(self) -> Callable[[float], Iterable[Metric]]:
        """Read the index, and return what makes metrics of it; none if there is no index yet."""
        cluster_id = identity_of(self._data_dir).cluster_id
        try:
            with index_of(self._data_dir) as index:
                found = observed(index.database, cluster_id, self._most_partitions, self._names)
        except NoIndex:
            return lambda _: ()
        return lambda _: metrics(found, time.time_ns() // 1_000_000)

    def liveness(self) -> Verdict:
        """It answers, so it lives."""
        return Verdict(is_good=True)

    def readiness(self) -> Verdict:
        """Return whether the index is as new as it can be."""
        return Verdict(is_good=not self._problem, why=[self._problem] if self._problem else [])

    def round(self) -> None:
        """Bring the index up to date. A problem is logged once, and is the reason not to be ready."""
        problem = ""
        try:
            ends = durable(self._data_dir)
            # Another process may keep the index, such as that of the page: its work is read.
            with suppress(Busy):
                update(self._data_dir, Progress(), ends=ends)
            self._know_topics(ends.get(CATALOG_SHARD, 0))
        except (PipelineError, LogError, OSError) as failed:
            problem = str(failed)
            if problem != self._problem:
                log.warning("metrics-not-up-to-date", why=problem)
        self._problem = problem

    def _know_topics(self, end: int) -> None:
        """Read the names of topics if the catalog has grown to an offset."""
        if end != self._named_to:
            self._names, self._named_to = read_topic_names(self._data_dir, end), end
