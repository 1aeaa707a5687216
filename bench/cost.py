"""What a request costs the whole server, socket and sync included:
its processor time, its system calls' share of it, and how often it syncs.

    python -m bench.cost [--loops 2] [--only 'commit 1'] [--shape 200x1]
    python -m bench.cost --against ../other          this tree and another one (or the python of another environment) in turns
    python -m bench.cost --kafka                     and a Kafka broker: on a busy machine the ratio of these figures is the
                                                     fairest one

Figures are of the server's processes alone, from /proc, so that what else the machine does matters less than it does for requests
per second; the round with the least of it is printed, which is the one that noise spoiled least. ``us`` is user and system time
per request, ``sys`` the system's part of it, ``switches`` how often the server gave its core up by itself.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.beside import KAFKA
from bench.load import SCENARIOS, blast, compiled, plan, set_up
from bench.serve import SHAPES
from bench.targets import kafka_process, this_server
from tests.support.members import Member
from tests.support.processes import SYSTEM, TICKS_PER_SECOND, descendants, stat
from tests.support.server import ROOT


class Used(NamedTuple):
    """What processes have used up to now."""

    seconds: float
    system_seconds: float
    switches: int

    def less(self, before: Used) -> Used:
        """What was used since then."""
        return Used(self.seconds - before.seconds, self.system_seconds - before.system_seconds, self.switches - before.switches)


class Cost(NamedTuple):
    """What one request cost in a round, and what its clients saw."""

    us: float
    sys_us: float
    switches: float
    per_second: float
    p50_ms: float
    p99_ms: float


class Side(NamedTuple):
    """A server that is measured."""

    name: str
    pid: int
    members: list[Member]


def main() -> None:
    options = _options()
    compiled()
    with contextlib.ExitStack() as stack:
        count = max(SHAPES[shape][0] for shape in options.shape)
        sides = []
        for name, path in _paths(options.against):
            words = ([] if path.is_dir() else [str(path)]) + (["--loops", str(options.loops)] if options.loops > 1 else [])
            with _import_from(path):
                server = stack.enter_context(this_server(words))
            sides.append(Side(name, server.pid, set_up(server.address, count)))
        if options.kafka:
            broker = stack.enter_context(kafka_process([]))
            sides.append(Side(KAFKA, broker.pid, set_up(broker.address, count)))
        for scenario in options.only:
            for shape in options.shape:
                for name, costs in _measure(scenario, shape, sides, options).items():
                    print(_line(scenario, shape, name, costs), flush=True)


def _paths(against: list[str]) -> list[tuple[str, Path]]:
    return [("here", ROOT), *((each, Path(each).absolute()) for each in against)]


@contextlib.contextmanager
def _import_from(path: Path) -> Iterator[None]:
    """What is started meanwhile finds its modules in that tree."""
    if path.is_dir():
        os.environ |= {"PYTHONPATH": str(path), "PYTHONSAFEPATH": "1"}
    try:
        yield
    finally:
        for name in ("PYTHONPATH", "PYTHONSAFEPATH"):
            os.environ.pop(name, None)


def _measure(scenario: str, shape: str, sides: list[Side], options: argparse.Namespace) -> dict[str, list[Cost]]:
    connections, window = SHAPES[shape]
    plans = {side.name: plan(side.members[:connections], scenario) for side in sides}
    costs: dict[str, list[Cost]] = {side.name: [] for side in sides}
    for side in sides:
        # A JVM compiles what it has seen run for a while.
        blast(connections, window, plans[side.name], 0, options.warm_up if side.name == KAFKA else 0.3)
    for _ in range(options.rounds):
        for side in sides:
            before = _used(side.pid)
            measured = blast(connections, window, plans[side.name], 0, options.seconds)
            after = _used(side.pid)
            if measured["wrong"]:
                sys.exit(f"{measured['wrong']} answers were not what they should be")
            spent, answers = after.less(before), measured["answers"]
            costs[side.name].append(
                Cost(
                    spent.seconds / answers * 1e6,
                    spent.system_seconds / answers * 1e6,
                    spent.switches / answers,
                    measured["per_second"],
                    measured["p50_ms"],
                    measured["p99_ms"],
                )
            )
    return costs


def _line(scenario: str, shape: str, name: str, costs: list[Cost]) -> str:
    us, sys_us, switches, rate, p50, p99 = min(costs)
    return (
        f"{scenario:11} {shape:6} {name[-24:]:24} {us:8.2f} us   sys {sys_us:7.2f}   switches {switches:6.3f}   "
        f"{rate:9,.0f}/s   p50 {p50:7.2f}   p99 {p99:7.2f} ms"
    )


def _used(pid: int) -> Used:
    """By a process and its children, all threads."""
    seconds = system = 0.0
    switches = 0
    for each in (pid, *descendants(pid)):
        for task in Path(f"/proc/{each}/task").iterdir():
            seconds += int((task / "schedstat").read_text().split()[0]) / 1e9
            system += int(stat(task)[SYSTEM]) / TICKS_PER_SECOND
            status = (task / "status").read_text()
            switches += int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return Used(seconds, system, switches)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.cost", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", type=int, default=1, metavar="N")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--seconds", type=float, default=1, metavar="S", help="length of a round (default 1)")
    parser.add_argument("--only", action="append", choices=list(SCENARIOS), help="may be repeated; default all")
    parser.add_argument("--shape", action="append", choices=list(SHAPES), help="may be repeated; default all")
    parser.add_argument("--kafka", action="store_true", help="a Kafka 4.3.1 broker, too (java and mvn)")
    parser.add_argument(
        "--warm-up", type=float, default=5, metavar="S", help="load that a Kafka broker gets before each scenario (default 5)"
    )
    parser.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="PATH",
        help="another tree, or another environment's python; may be repeated",
    )
    options = parser.parse_args()
    options.only = options.only or list(SCENARIOS)
    options.shape = options.shape or list(SHAPES)
    return options


if __name__ == "__main__":
    main()
