"""Requests per second of this server beside a server that does nothing, and beside a Kafka broker with --kafka.

    python -m bench.serve [--kafka] [--rounds 3] [--seconds 2] [--only heartbeat --only 'commit 1'] [--json FILE]

The servers run side by side and take turns: round by round each gets the same load for the same time, and the medians are printed. Figures
are for comparing within one run on one machine; nothing here asserts on them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from bench.load import SCENARIOS, Measured, answer_of, blast, compiled, plan, set_up
from bench.targets import BUILD, Address, idle_server, kafka_broker, this_server
from tests.support.members import Member

SHAPES = {"1x1": (1, 1), "200x1": (200, 1), "16x20": (16, 20)}
Figure = Literal["per_second", "p50_ms", "p99_ms"]
OURS, IDLE, KAFKA = "coordinator-server", "does nothing", "Kafka"
SYNCS = 200


class Target(NamedTuple):
    """A server with its groups."""

    name: str
    address: Address
    members: list[Member]


class Row(NamedTuple):
    """One scenario in one shape: the runs of every target."""

    scenario: str
    shape: str
    runs: dict[str, list[Measured]]

    def median(self, target: str, what: Figure = "per_second") -> float:
        return statistics.median(run[what] for run in self.runs[target])


def main() -> None:
    options = _options()
    compiled()
    print(
        f"{os.cpu_count()} cores, fdatasync {_sync_ms():.2f} ms (median), medians of {options.rounds} rounds of {options.seconds} s\n"
    )
    rows = []
    with contextlib.ExitStack() as stack:
        count = max(SHAPES[shape][0] for shape in options.shape)
        targets = [_target(OURS, stack.enter_context(this_server(options.override)), count)]
        if options.kafka:
            targets.append(_target(KAFKA, stack.enter_context(kafka_broker(options.kafka_property)), count))
        print(_header(options.kafka), flush=True)
        for scenario in options.only:
            for shape in options.shape:
                rows.append(_measure(scenario, shape, targets, options))
                print(_line(rows[-1]), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")
    if wrong := sum(run["wrong"] for row in rows for name, runs in row.runs.items() if name != IDLE for run in runs):
        sys.exit(f"{wrong} answers were not what they should be")


def _target(name: str, address: Address, members: int) -> Target:
    return Target(name, address, set_up(address, members))


def _measure(scenario: str, shape: str, targets: list[Target], options: argparse.Namespace) -> Row:
    connections, window = SHAPES[shape]
    plans = {target.name: plan(target.address, target.members[:connections], scenario) for target in targets}
    ports = {target.name: target.address[1] for target in targets}
    with _idle(plans[OURS]) as (_, ports[IDLE]):
        plans[IDLE] = plans[OURS]
        runs: dict[str, list[Measured]] = {name: [] for name in ports}
        for _ in range(options.rounds):
            for name, port in ports.items():
                runs[name].append(blast(port, connections, window, plans[name], options.warm, options.seconds))
    return Row(scenario, shape, runs)


@contextlib.contextmanager
def _idle(of: bytes) -> Iterator[Address]:
    with idle_server(answer_of(of)) as address:
        yield address


def _header(with_kafka: bool) -> str:
    kafka = f" | {'Kafka/s':>9} {'p99 ms':>7} {'ratio':>6}" if with_kafka else ""
    return f"{'':12}{'conns x window':>15} | {'req/s':>9} {'p50 ms':>7} {'p99 ms':>7} | {'idle/s':>9} {'ratio':>6}{kafka}"


def _line(row: Row) -> str:
    ours, idle = row.median(OURS), row.median(IDLE)
    text = f"{row.scenario:12}{row.shape:>15} | {ours:9,.0f} {row.median(OURS, 'p50_ms'):7.2f} {row.median(OURS, 'p99_ms'):7.2f}"
    text += f" | {idle:9,.0f} {ours / idle:6.2f}"
    if KAFKA in row.runs:
        text += f" | {row.median(KAFKA):9,.0f} {row.median(KAFKA, 'p99_ms'):7.2f} {ours / row.median(KAFKA):6.2f}"
    return text


def _sync_ms() -> float:
    """What one fdatasync of a small append costs where the data directories are."""
    BUILD.mkdir(exist_ok=True)
    times = []
    with tempfile.TemporaryFile(dir=BUILD) as file:
        os.posix_fallocate(file.fileno(), 0, SYNCS * 512)
        os.fsync(file.fileno())
        for number in range(SYNCS):
            started = time.perf_counter()
            os.pwrite(file.fileno(), b"x" * 512, number * 512)
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.serve", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--seconds", type=float, default=2, metavar="S", help="measured time of a round (default 2)")
    parser.add_argument("--warm", type=float, default=0.5, metavar="S", help="time before it that does not count (default 0.5)")
    parser.add_argument("--only", action="append", choices=list(SCENARIOS), help="may be repeated; default all")
    parser.add_argument(
        "--shape", action="append", choices=list(SHAPES), help="connections x window; may be repeated; default all"
    )
    parser.add_argument("--override", action="append", default=[], metavar="NAME=VALUE", help="a property of this server")
    parser.add_argument("--kafka", action="store_true", help="run a Kafka 4.3.1 broker beside it (java and mvn)")
    parser.add_argument("--kafka-property", action="append", default=[], metavar="NAME=VALUE", help="a property of the broker")
    parser.add_argument("--json", metavar="FILE", help="write every single run there too")
    options = parser.parse_args()
    options.only = options.only or list(SCENARIOS)
    options.shape = options.shape or list(SHAPES)
    return options


if __name__ == "__main__":
    main()
