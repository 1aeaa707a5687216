"""Those who look at a server while it works: Prometheus, a load balancer, and an operator with ``top`` on a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
import threading
import time
import urllib.error
import urllib.request
from typing import Final, NamedTuple, Self

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text

from coordinator_server.cli.live import HOME

SCRAPE_EVERY_S: Final = 1.0
PROBE_EVERY_S: Final = 0.05
LINES, COLUMNS = 40, 120
_OPEN_METRICS: Final = "application/openmetrics-text; version=1.0.0"
Labels = frozenset[tuple[str, str]]


class Observer(threading.Thread):
    """Does something again and again until ``stop``."""

    def __init__(self, every_s: float) -> None:
        super().__init__(daemon=True)
        self._every_s = every_s
        self._stopped = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End it, and wait for the end."""
        self._stopped.set()
        self.join()

    def run(self) -> None:
        """Look at regular times; a look that takes longer delays the next one."""
        next_s = time.monotonic()
        while not self._stopped.wait(max(0.0, next_s - time.monotonic())):
            next_s = max(next_s + self._every_s, time.monotonic())
            self.look()

    def look(self) -> None:
        raise AssertionError("an observer looks")


class Scrape(NamedTuple):
    """One answer of /metrics: when, how long it took, and its samples."""

    at_s: float
    took_s: float
    samples: dict[tuple[str, Labels], float]

    def value(self, name: str, **labels: str) -> float | None:
        """Return the sample with exactly these labels."""
        return self.samples.get((name, frozenset(labels.items())))


class Scraper(Observer):
    """Scrapes each second, in turns in both forms, and parses with Prometheus' own parsers."""

    def __init__(self, address: str) -> None:
        super().__init__(SCRAPE_EVERY_S)
        self.scrapes: list[Scrape] = []
        self.failures: list[str] = []
        self._url = f"{address}/metrics"

    def look(self) -> None:
        """Scrape once."""
        form, parse = ("", plain_text) if len(self.scrapes) % 2 == 0 else (_OPEN_METRICS, open_metrics)
        began_s = time.monotonic()
        try:
            with urllib.request.urlopen(urllib.request.Request(self._url, headers={"Accept": form}), timeout=30) as answer:
                text = answer.read().decode()
            took_s = time.monotonic() - began_s
            samples = {
                (each.name, frozenset(each.labels.items())): each.value for family in parse(text) for each in family.samples
            }
        except (OSError, ValueError) as error:
            self.failures.append(f"{type(error).__name__}: {error}")
            return
        self.scrapes.append(Scrape(began_s, took_s, samples))


class Probed(NamedTuple):
    """One answer of /readyz: when, its status, and its reasons."""

    at_s: float
    status: int
    why: list[str]


class Prober(Observer):
    """Asks /readyz twenty times a second."""

    def __init__(self, address: str) -> None:
        super().__init__(PROBE_EVERY_S)
        self.answers: list[Probed] = []
        self._url = f"{address}/readyz"

    def look(self) -> None:
        """Ask once."""
        began_s = time.monotonic()
        try:
            with urllib.request.urlopen(self._url, timeout=30) as answer:
                status, body = answer.status, answer.read()
        except urllib.error.HTTPError as refused:
            status, body = refused.code, refused.read()
        self.answers.append(Probed(began_s, status, json.loads(body)["why"]))

    def since(self, at_s: float, *, ready: bool) -> Probed | None:
        """Return the first answer from a moment on that is 200, or is not."""
        return next((each for each in [*self.answers] if each.at_s >= at_s and (each.status == 200) == ready), None)


class Top:
    """``top`` on a terminal of its own, and its pictures."""

    def __init__(self, command: list[str]) -> None:
        self.pictures: list[tuple[float, str]] = []
        terminal, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._terminal = terminal
        self._process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, start_new_session=True)
        os.close(its)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        seen = ""
        while True:
            try:
                data = os.read(self._terminal, 1 << 16)
            except OSError:
                # The program has ended.
                data = b""
            *pictures, seen = (seen + data.decode(errors="replace")).split(HOME)
            self.pictures += [(time.monotonic(), each) for each in pictures]
            if not data:
                self.pictures.append((time.monotonic(), seen))
                return

    def quit(self) -> int:
        """Press q, and return the exit code."""
        os.write(self._terminal, b"q")
        code = self._process.wait(60)
        self._reader.join()
        os.close(self._terminal)
        return code
