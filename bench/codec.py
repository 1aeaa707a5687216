"""Messages per second of this codec beside kio (native extension on) and kafka-python, in one run.

    python -m bench.codec [--rounds 15] [--milliseconds 8] [--only OffsetCommit] [--json figures.json]

The libraries take turns, round by round, on the same bytes. A ratio is how many times faster ours is: the median over the rounds of
theirs / ours, so that what the machine does meanwhile hits both. Figures are for comparing within one run; nothing asserts on them.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import statistics
import sys
import time
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from bench.codec_cases import KAFKA_PYTHON, KIO, OURS, Case, Step, cases
from protocol.wire import COMPILED

OTHERS = (KIO, KAFKA_PYTHON)


class Row(NamedTuple):
    """One case: nanoseconds per message of every library in every round."""

    case: Case
    runs: dict[str, list[float]]

    def ratio(self, library: str) -> float:
        return statistics.median(theirs / ours for theirs, ours in zip(self.runs[library], self.runs[OURS], strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.codec", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--milliseconds", type=float, default=8.0, help="how long one library runs in one round")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument(
        "--json", type=Path, help="every round of every case, in nanoseconds per message, for your own statistics"
    )
    options = parser.parse_args()
    rows = [_measure(case, options.rounds, options.milliseconds) for case in cases() if options.only in case.name]
    print(f"ours is {'compiled by mypyc' if COMPILED else 'interpreted Python'}")
    print(f"Python {sys.version.split()[0]}, medians of {options.rounds} rounds, microseconds per message\n")
    _print(rows)
    if options.json:
        cases_run = [{"message": row.case.name, "direction": row.case.direction, "nanoseconds": row.runs} for row in rows]
        options.json.write_text(json.dumps({"compiled": COMPILED, "cases": cases_run}))


def _measure(case: Case, rounds: int, milliseconds: float) -> Row:
    loops = {library: max(1, int(milliseconds * 1e6 / _time(step, 20))) for library, step in case.steps.items()}
    runs: dict[str, list[float]] = {library: [] for library in case.steps}
    for _ in range(rounds):
        for library, step in case.steps.items():
            runs[library].append(_time(step, loops[library]))
    return Row(case, runs)


def _time(step: Step, loops: int) -> float:
    """Nanoseconds of one step. Collections between the runs, not inside them: which library pays for one is chance."""
    gc.collect()
    gc.disable()
    start = time.perf_counter_ns()
    for _ in repeat(None, loops):
        step()
    spent = time.perf_counter_ns() - start
    gc.enable()
    return spent / loops


def _print(rows: list[Row]) -> None:
    print(f"{'message':42}{'':8}{OURS:>9}" + "".join(f"{other:>14}{'ratio':>8}" for other in OTHERS))
    for row in rows:
        line = f"{row.case.name:42}{row.case.direction:8}{statistics.median(row.runs[OURS]) / 1e3:9.2f}"
        for other in OTHERS:
            if other in row.runs:
                line += f"{statistics.median(row.runs[other]) / 1e3:14.2f}{row.ratio(other):8.2f}"
            else:
                line += f"{'':22}"
        print(line)
    print()
    for other in OTHERS:
        for direction in ("decode", "encode", "both"):
            ratios = [row.ratio(other) for row in rows if other in row.runs and direction in (row.case.direction, "both")]
            if ratios:
                mean = math.exp(statistics.fmean(map(math.log, ratios)))
                print(f"{other:14}{direction:8}geometric mean {mean:6.2f}   smallest {min(ratios):6.2f}")


if __name__ == "__main__":
    main()
