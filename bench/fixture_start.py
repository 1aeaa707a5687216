"""How long a test waits for its coordinator: from the call until a client has an answer over TCP, and until it is gone.

    python -m bench.fixture_start [--rounds 50] [--kfake] [--kafka] [--kafka-rounds 5] [--json FILE]

The fixture's first server starts the template; its later ones are forks. ``restart`` and ``kill`` follow it.
``serve --ephemeral`` is a command's start, as tests in other languages see it. kfake (Go) is measured twice: as a command, and as
a Go test sees it, from NewCluster until that returns, without a client. Kafka is a broker in KRaft mode as the repository's tests
start it, formatted directory included: what testcontainers does, without the container. Starts that tests do not wait for (the
build of kfake, the download of jars) are not counted. Medians, and the slowest of ten percent.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from coordinator_server.testing import Coordinator
from protocol.messages.api_versions import ApiVersionsRequest
from tests.support.client import Client
from tests.support.kafka_broker import KafkaBroker
from tests.support.server import ROOT

KFAKE = ROOT / "bench/kfake"
EPHEMERAL = [sys.executable, "-m", "coordinator_server", "serve", "--ephemeral"]
TOPICS = {"orders": 6}

Figures = dict[str, list[float]]


def main() -> None:
    options = _options()
    figures: Figures = {}
    _measure_fixture(figures, options.rounds)
    for _ in range(min(options.rounds, 10)):
        _measure_command(figures, "serve --ephemeral", EPHEMERAL, lambda line: json.loads(line)["bootstrap_servers"])
    if options.kfake:
        _measure_kfake(figures, options.rounds)
    if options.kafka:
        for _ in range(options.kafka_rounds):
            _measure_kafka(figures)
    for name, seconds in figures.items():
        print(f"{name:32} {_ms(statistics.median(seconds))} {_ms(_slow(seconds))} {len(seconds):6}")
    if options.json:
        Path(options.json).write_text(json.dumps(figures))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--kfake", action="store_true", help="needs Go; the first run downloads its modules")
    parser.add_argument("--kafka", action="store_true", help="needs Java, and Maven for the jars")
    parser.add_argument("--kafka-rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def _measure_fixture(figures: Figures, rounds: int) -> None:
    for number in range(rounds + 1):
        started = time.perf_counter()
        server = Coordinator(topics=TOPICS)
        _ask(server.bootstrap_servers)
        _add(figures, "fixture, first" if number == 0 else "fixture", started)
        started = time.perf_counter()
        server.restart()
        _add(figures, "fixture: restart", started)
        started = time.perf_counter()
        server.advance(8 * 86_400)
        _add(figures, "fixture: advance 8 days", started)
        started = time.perf_counter()
        server.close()
        _add(figures, "fixture: close", started)
    with Coordinator(topics=TOPICS, durable=True) as durable:
        for _ in range(rounds):
            started = time.perf_counter()
            durable.kill()
            durable.restart()
            _add(figures, "fixture: kill and restart", started)


def _measure_kfake(figures: Figures, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        program = f"{directory}/kfake"
        subprocess.run(["go", "build", "-C", str(KFAKE), "-o", program, "."], check=True)
        for _ in range(rounds):
            ready = _measure_command(figures, "kfake, a command", [program], lambda line: line.split()[1])
            figures.setdefault("kfake, in a Go test", []).append(int(ready.split()[2]) / 1e6)


def _measure_kafka(figures: Figures) -> None:
    with tempfile.TemporaryDirectory() as directory:
        started = time.perf_counter()
        with KafkaBroker(Path(directory)).start() as broker:
            with broker.client() as client:
                client.call(ApiVersionsRequest(), 0)
            _add(figures, "Kafka broker", started)
            started = time.perf_counter()
        _add(figures, "Kafka broker: stop", started)


def _measure_command(figures: Figures, name: str, command: list[str], address: Callable[[str], str]) -> str:
    started = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        line = process.stdout.readline()
        _ask(address(line))
        _add(figures, name, started)
        process.stdin.close()
        process.wait()
    return line


def _ask(address: str) -> None:
    host, _, port = address.rpartition(":")
    with Client((host, int(port))) as client:
        client.call(ApiVersionsRequest(), 0)


def _add(figures: Figures, name: str, started: float) -> None:
    figures.setdefault(name, []).append(time.perf_counter() - started)


def _slow(seconds: list[float]) -> float:
    """The figure that nine of ten do not exceed."""
    return sorted(seconds)[min(len(seconds) - 1, len(seconds) * 9 // 10)]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:9.1f} ms"


if __name__ == "__main__":
    main()
