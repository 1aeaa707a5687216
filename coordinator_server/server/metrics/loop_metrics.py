"""The operation ``metrics`` of ``control.sock``: the numbers of each loop,
as samples of the families in ``ops/metrics/families.py``.

{"op": "metrics"}
{"ok": true, "metrics": [{"node_id": 1, "pid": 4711, "samples": {"requests": [["Heartbeat", "4", 12], …], …}}], "health": […]}

A sample is the values of the family's labels, but for the loop, and then the number; for a histogram, the number of observations in
each class and their sum. Counters are there from the start, with 0: Prometheus sees no increase in a series that begins with 1.
Of the errors only UNKNOWN_SERVER_ERROR is, and times are there from an API's first request on. ``health`` is what the operation
``health`` answers. Times of requests are measured from the first request on,
or from the start if the property ``metrics.listener`` is set.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.log.store import InspectedLog
from coordinator_server.machine.shard import Clock
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.guard.audit import REFUSALS, Audit
from coordinator_server.server.hosting.group_counts import REASONS
from coordinator_server.server.hosting.open import Hosting
from coordinator_server.server.hosting.refused_commits import ERRORS
from coordinator_server.server.hosting.slow_turns import NO_API
from coordinator_server.server.local_operation import Operation
from coordinator_server.server.metrics.census import Census
from coordinator_server.server.metrics.health import Health
from coordinator_server.server.metrics.node_metrics import NodeMetrics, answer_of_one_server, nothing_awaited
from coordinator_server.server.wire.incidents import NAMES
from coordinator_server.server.wire.open import Wire
from protocol.error_codes import ErrorCode

Samples = dict[str, list[list[Any]]]


class Observed(NamedTuple):
    """The parts of a loop that have numbers. ``slow_turns`` has the number of slow turns by API (``SlowTurns.counts``).

    Only a node of several has ``cluster``.
    """

    store: InspectedLog
    wire: Wire
    audit: Audit
    hosting: Hosting
    apis: Sequence[ApiRow[Any, Any]]
    slow_turns: Mapping[str, int]
    cluster: NodeMetrics | None = None


class LoopMetrics:
    """The numbers of one loop."""

    def __init__(self, of: Observed, clock: Clock) -> None:
        self._node = node = of.hosting.node
        awaited = nothing_awaited if of.cluster is None else of.cluster.awaited
        self._health = Health(node.nodes, of.hosting.hosted, of.store, awaited)
        self._of = of
        self._clock = clock
        self._started_ms = clock.now_ms()
        self._census = Census(node.config.live, node.groups, node.transactions, clock)
        if node.config.metrics_listener:
            self._measure()

    @property
    def operations(self) -> dict[str, Operation]:
        """The operations of ``control.sock``."""
        cluster = self._of.cluster
        return {
            "metrics": self.answer,
            "health": self._health.answer,
            "cluster": answer_of_one_server if cluster is None else cluster.answer,
        }

    async def answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return one entry: with several loops the supervisor joins them."""
        self._measure()
        samples: Samples = {}
        self._add_requests(samples)
        self._add_log(samples)
        self._add_loop(samples)
        if self._of.cluster is not None:
            self._of.cluster.add(samples)
        await self._add_census(samples)
        return {
            "metrics": [{"node_id": self._node.nodes.id, "pid": os.getpid(), "samples": samples}],
            **await self._health.answer(request),
        }

    def close(self) -> None:
        """End what runs in the background."""
        self._census.close()

    def _measure(self) -> None:
        """Measure the times of requests from now on."""
        for api in self._of.apis:
            for tally in api.tallies:
                tally.measure(api.name)

    def _add_requests(self, samples: Samples) -> None:
        requests: list[list[Any]] = []
        errors: list[list[Any]] = []
        times: list[list[Any]] = []
        for api in self._of.apis:
            of_api = Counter({int(ErrorCode.UNKNOWN_SERVER_ERROR): 0})
            classes, seconds = [0] * len(api.tallies[0].times), 0.0
            for version, tally in enumerate(api.tallies):
                if not api.min_version <= version <= api.max_version:
                    continue
                requests.append([api.name, str(version), tally.requests])
                of_api.update(tally.errors)
                classes = [one + other for one, other in zip(classes, tally.times, strict=True)]
                seconds += tally.seconds
            errors += [[api.name, _error_name(code), count] for code, count in of_api.items()]
            if any(classes):
                times.append([api.name, classes, seconds])
        samples |= {"requests": requests, "request_errors": errors, "request_duration_seconds": times}
        samples["slow_turns"] = _from_zero([NO_API, *(api.name for api in self._of.apis)], self._of.slow_turns)

    def _add_log(self, samples: Samples) -> None:
        counts = self._of.store.submits
        samples["journal_sync_duration_seconds"] = [[list(counts.times), counts.seconds]]
        samples["batch_size_bytes"] = [[list(counts.sizes), counts.bytes]]
        samples["submits"] = [[counts.submits]]
        samples["refused_submits"] = [[counts.refusals]]
        samples["history_failures"] = [[event, count] for event, count in self._of.hosting.history.failures.items()]
        shards: Counter[tuple[str, str]] = Counter(
            (each.shard.topic, each.state.value) for each in self._of.hosting.hosted.progress
        )
        samples["shards"] = [[topic, state, count] for (topic, state), count in shards.items()]
        samples["load_records"] = [[topic, runtime.records_loaded] for topic, runtime in self._of.hosting.hosted.runtimes.items()]
        if self._of.hosting.hosted.loaded_in_s is not None:
            samples["load_duration_seconds"] = [[self._of.hosting.hosted.loaded_in_s]]

    def _add_loop(self, samples: Samples) -> None:
        connections, parked, waiting = self._of.wire.listener.counts()
        samples["connections"] = [[connections]]
        samples["parked_answers"] = [[parked]]
        samples["waiting_connections"] = [[waiting]]
        samples["incidents"] = _from_zero(NAMES, self._of.wire.incidents.counts)
        samples["access_refusals"] = _from_zero(REFUSALS, self._of.audit.counts)
        samples["shard_moves"] = _from_zero(["in", "out"], self._of.hosting.moves.counts)
        samples["rebalances"] = _from_zero(REASONS, self._of.hosting.group_counts.reasons)
        samples["refused_commits"] = _from_zero(
            [error.name for error in ERRORS], self._of.hosting.group_counts.refused_commits.errors
        )
        samples["sessions_expired"] = [[self._of.hosting.group_counts.expired]]
        samples["uptime_seconds"] = [[(self._clock.now_ms() - self._started_ms) / 1000]]
        if self._node.nodes.controller_id == self._node.nodes.id:
            topics = self._node.catalog.read(CatalogShard.all_topics)
            samples["topics"] = [[len(topics)]]
            samples["partitions"] = [[sum(each.partitions for each in topics)]]
        if self._of.cluster is not None or self._node.nodes.controller_id == self._node.nodes.id:
            # Loops of one server have the same ones.
            samples["certificate_expiry_timestamp_seconds"] = [
                [listener, at_s] for listener, at_s in self._of.wire.certificates.expiries().items()
            ]

    async def _add_census(self, samples: Samples) -> None:
        counts, now_ms = await self._census.counts(), self._clock.wall_ms()
        samples["groups"] = [[kind, state, count] for (kind, state), count in counts.groups.items()]
        samples["group_members"] = [[kind, count] for kind, count in counts.members.items()]
        samples["transactional_ids"] = [[state, count] for state, count in counts.transactions.items()]
        samples["group_commit_age_seconds"] = [
            [group_id, max(now_ms - at_ms, 0) / 1000] for group_id, at_ms in counts.oldest_commits.items()
        ]


def _from_zero(names: Iterable[str], counts: Mapping[str, int]) -> list[list[Any]]:
    """Return the samples of all names; 0 for those without a count."""
    return [[name, count] for name, count in {**dict.fromkeys(names, 0), **counts}.items()]


def _error_name(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)
