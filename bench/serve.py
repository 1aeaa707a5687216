"""Requests per second of this server beside a server that does nothing, and beside Kafka brokers with --kafka and --kafka-fsync.

    python -m bench.serve [--kafka] [--kafka-fsync] [--ours 'WORDS'] [--node SHARDS] [--rounds 5] [--seconds 2]
                          [--only heartbeat --only 'commit 1'] [--json FILE]

The servers run side by side and take turns: round by round each gets the same load for the same time, and the medians are
printed. Figures are for comparing within one run on one machine; nothing here asserts on them.

--ours may be repeated: each is a server of its own, started with these words of the command line, and under another interpreter
when the first word is one: --ours '' --ours '--loops 2' --ours 'compiled/bin/python --loops 2'.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from bench.beside import KAFKA, add_server_options, servers
from bench.load import SCENARIOS, Measured, answer_of, blast, compiled, moved, plan, sent_to, set_up
from bench.targets import BUILD, Address, idle_server
from tests.support.members import Member

SHAPES = {"1x1": (1, 1), "200x1": (200, 1), "16x20": (16, 20)}
Figure = Literal["per_second", "p50_ms", "p99_ms"]
IDLE = "does nothing"
SYNCS = 200
# Times Kafka's requests per second without its fsync: what this project sets out to reach with its own on.
GOALS = {
    ("heartbeat", "200x1"): 1.7,
    ("heartbeat", "16x20"): 12,
    ("consumer heartbeat", "200x1"): 1.2,
    ("consumer heartbeat", "16x20"): 4,
    ("streams heartbeat", "200x1"): 1.2,
    ("streams heartbeat", "16x20"): 4,
    ("commit 1", "200x1"): 1.5,
    ("commit 1", "16x20"): 5,
    ("commit 10", "200x1"): 1.4,
    ("commit 10", "16x20"): 4,
    ("commit 100", "200x1"): 1.7,
    ("commit 100", "16x20"): 4,
    ("fetch 10", "200x1"): 1.3,
    ("fetch 10", "16x20"): 5,
    ("share write 1", "200x1"): 1.2,
    ("share write 1", "16x20"): 3,
    ("share write 20", "200x1"): 1.2,
    ("share write 20", "16x20"): 3,
    ("share read", "200x1"): 1.2,
    ("share read", "16x20"): 3,
}


class Target(NamedTuple):
    """A server with its groups."""

    name: str
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
        f"{os.cpu_count()} cores, Python {platform.python_version()}, fdatasync {_sync_ms():.2f} ms (median), medians of "
        f"{options.rounds} rounds of {options.seconds} s"
    )
    rows = []
    with contextlib.ExitStack() as stack:
        count = max(SHAPES[shape][0] for shape in options.shape)
        targets = [_target(name, address, count) for name, address in servers(options, stack).items()]
        for scenario in options.only:
            for shape in options.shape:
                rows.append(_measure(scenario, shape, targets, options))
                print(*_lines(rows[-1]), sep="\n", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps([row._asdict() for row in rows], indent=1) + "\n")
    if wrong := sum(run["wrong"] for row in rows for name, runs in row.runs.items() if name != IDLE for run in runs):
        sys.exit(f"{wrong} answers were not what they should be")


def _target(name: str, address: Address, members: int) -> Target:
    return Target(name, set_up(address, members))


def _measure(scenario: str, shape: str, targets: list[Target], options: argparse.Namespace) -> Row:
    connections, window = SHAPES[shape]
    plans = {target.name: plan(target.members[:connections], scenario) for target in targets}
    first = plans[targets[0].name]
    if options.tls:
        plans = {name: moved(entries, options.tls_ports) for name, entries in plans.items()}

    def has_tls(name: str) -> bool:
        return options.tls and name != IDLE

    with _idle(first) as (_, port):
        plans[IDLE] = sent_to(first, port)
        runs: dict[str, list[Measured]] = {name: [] for name in plans}
        for name, entries in plans.items():
            # A JVM compiles what it has seen run for a while.
            blast(connections, window, entries, 0, options.warm_up if name.startswith(KAFKA) else 0.5, has_tls=has_tls(name))
        for _ in range(options.rounds):
            for name, entries in plans.items():
                runs[name].append(blast(connections, window, entries, options.warm, options.seconds, has_tls=has_tls(name)))
    return Row(scenario, shape, runs)


@contextlib.contextmanager
def _idle(of: bytes) -> Iterator[Address]:
    with idle_server(answer_of(of)) as address:
        yield address


def _lines(row: Row) -> Iterator[str]:
    """A line per server; how many times it is Kafka's, and what is aimed at, where Kafka runs too."""
    yield f"\n{row.scenario}, {row.shape} (connections x window)"
    goal = GOALS.get((row.scenario, row.shape))
    for name in row.runs:
        rate = row.median(name)
        line = f"  {name:34}{rate:11,.0f}/s   p50 {row.median(name, 'p50_ms'):7.2f} ms   p99 {row.median(name, 'p99_ms'):7.2f} ms"
        if KAFKA in row.runs and name != IDLE:
            line += f"   {rate / row.median(KAFKA):5.2f} x Kafka"
            if goal is not None and name.startswith("ours"):
                line += f" (goal {goal:g})"
        yield line


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
    add_server_options(parser, seconds=2, warm_up=5)
    parser.add_argument("--only", action="append", choices=list(SCENARIOS), help="may be repeated; default all")
    parser.add_argument(
        "--shape", action="append", choices=list(SHAPES), help="connections x window; may be repeated; default all"
    )
    options = parser.parse_args()
    options.only = options.only or list(SCENARIOS)
    options.shape = options.shape or list(SHAPES)
    return options


if __name__ == "__main__":
    main()
