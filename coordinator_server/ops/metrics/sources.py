"""Asks the server for all that an HTTP request needs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Final

from prometheus_client.core import Metric

from coordinator_server.ops.metrics.control_requests import NoAnswer, ask
from coordinator_server.ops.metrics.exposition import metrics
from coordinator_server.ops.metrics.found import Found
from coordinator_server.ops.metrics.readiness import Liveness, Verdict, readiness

# Longer than the supervisor waits for a loop.
WITHIN_S: Final = 5.0


class Server:
    """The server of a data directory, for HTTP requests in several threads."""

    def __init__(self, data_dir: Path, version: str, build: str) -> None:
        self._nothing = Found(data_dir, version, build)
        self._liveness = Liveness()
        # One question at a time: many that ask at once cost the server no more than one.
        self._asking = Lock()
        self._health: tuple[float, Verdict] | None = None

    def readiness(self) -> Verdict:
        """Return whether the server serves."""
        asked_s = time.monotonic()
        with self._asking:
            if self._health is not None and self._health[0] >= asked_s:
                # Another thread has asked in the meantime.
                return self._health[1]
            began_s = time.monotonic()
            verdict = self._ask_health()
            self._health = (began_s, verdict)
            return verdict

    def liveness(self) -> Verdict:
        """Return whether the server lives."""
        self.readiness()
        return self._liveness.verdict(time.monotonic())

    def scrape(self) -> Callable[[float], Iterator[Metric]]:
        """Ask for all that there is, and return what makes metrics of it."""
        found, verdict = self.found()
        return lambda seconds: metrics(found, verdict, seconds)

    def found(self) -> tuple[Found, Verdict]:
        """Return all that there is to say. What the server does not answer is left out."""
        data_dir = self._nothing.data_dir
        with self._asking:
            try:
                answer = ask(data_dir, "metrics", WITHIN_S)
            except NoAnswer as why:
                return self._nothing, Verdict(is_good=False, why=[str(why)])
            self._liveness.answered(time.monotonic())
            try:
                reports = ask(data_dir, "pipeline", WITHIN_S)["pipeline"]
            except NoAnswer:
                reports = {}
        found = self._nothing._replace(health=answer["health"], metrics=answer["metrics"], reports=reports)
        return found, readiness(found.health)

    def _ask_health(self) -> Verdict:
        try:
            loops = ask(self._nothing.data_dir, "health", WITHIN_S)["health"]
        except NoAnswer as why:
            return Verdict(is_good=False, why=[str(why)])
        self._liveness.answered(time.monotonic())
        return readiness(loops)
