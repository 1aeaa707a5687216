"""Play simulations: one, with all that happened, or very many.

python -m tests.simulation 4711 --history            what was wrong with seed 4711, and what happened
python -m tests.simulation --seeds 100000            so many seeds, on all cores; ends with the first that fails unless --go-on
python -m tests.simulation --effects --seeds 10000   the same of several loops whose shards have effects on each other (purses.py)
python -m tests.simulation --transactions --seeds 10000   the same of several loops and producers with transactions
                                                          (transactions.py)
python -m tests.simulation --clients --seeds 10000   the same of programs that use the client library (clients.py)
python -m tests.simulation --consumers --seeds 10000  the same of members of consumer groups, of both protocols (consumers.py)
python -m tests.simulation --memberships --seeds 10000   the same of nodes that own shards of a shared store (memberships.py)
python -m tests.simulation --nodes --seeds 10000      the same of several daemons on one shared store, with clients of all families
                                                      (nodes.py)
python -m tests.simulation --shares --seeds 10000     the same of members of share groups, and leaders of share partitions
                                                      (shares.py)
python -m tests.simulation --streams --seeds 10000    the same of members of streams groups (streams.py)
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, NamedTuple

from tests.simulation import clients, consumers, memberships, nodes, purses, shares, streams, transactions
from tests.simulation.play import STORM_S, run
from tests.simulation.verdict import faults
from tests.toy.rows import plug, unplug


def _run_purses(seed: int) -> list[str]:
    plug()
    try:
        return purses.run(seed)
    finally:
        unplug()


class Kind(NamedTuple):
    """A kind of simulation. ``run`` says what is wrong with a seed, ``told`` what happened, where that can be told."""

    help: str
    run: Callable[[int], list[str]]
    told: Callable[[int], Iterable[str]] | None = None


KINDS: Final = {
    "effects": Kind("play with effects between shards", _run_purses),
    "transactions": Kind("play with producers and several loops", transactions.run),
    "clients": Kind("play with programs that use the client library", clients.run),
    "consumers": Kind("play with members of consumer groups", consumers.run, consumers.told),
    "memberships": Kind("play with nodes that own shards of a shared store", memberships.run),
    "nodes": Kind("play with several daemons on one shared store", nodes.run, nodes.told),
    "shares": Kind("play with members of share groups", shares.run, shares.told),
    "streams": Kind("play with members of streams groups", streams.run, streams.told),
}
"""By option. Without one, the server alone is played."""


def main() -> int:
    """The exit code is 1 when something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__.partition("\n")[0])
    parser.add_argument("seed", type=int, nargs="*", help="seeds to play")
    parser.add_argument("--seeds", type=int, default=0, metavar="N", help="play N seeds")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first of them (%(default)s)")
    parser.add_argument(
        "--storm", type=int, default=STORM_S, metavar="S", help="seconds of trouble (%(default)s; a long one is 60)"
    )
    parser.add_argument("--history", action="store_true", help="print all that happened")
    for name, kind in KINDS.items():
        parser.add_argument(f"--{name}", dest="kind", action="store_const", const=name, help=kind.help)
    parser.add_argument("--go-on", action="store_true", help="do not end with the first seed that fails")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count(), metavar="N", help="processes (%(default)s)")
    options = parser.parse_args()
    seeds = [*options.seed, *range(options.first, options.first + options.seeds)]
    for seed in seeds if options.history else ():
        for line in happened(seed, options.kind, options.storm):
            print(line)
    return _play(seeds, options)


def happened(seed: int, kind: str | None, storm_s: int) -> Iterable[str]:
    """A line for each thing that happened; none of a kind that tells nothing."""
    if kind is None:
        return run(seed, storm_s).history.lines()
    told = KINDS[kind].told
    return () if told is None else told(seed)


def wrong_with(seed: int, kind: str | None = None, storm_s: int = STORM_S) -> tuple[int, list[str]]:
    """The seed, and what is wrong with it; a simulation that breaks is wrong, too."""
    try:
        return seed, KINDS[kind].run(seed) if kind else faults(run(seed, storm_s))
    except Exception:  # noqa: BLE001 - whatever it is, it is for the report
        return seed, [traceback.format_exc()]


def replay_command(seed: int, kind: str | None = None, storm_s: int = STORM_S) -> str:
    """How to see a failure again."""
    words = [".venv/bin/python -m tests.simulation", *([f"--{kind}"] if kind else []), str(seed)]
    if kind is None or KINDS[kind].told:
        words.append("--history")
    if kind is None and storm_s != STORM_S:
        words.append(f"--storm {storm_s}")
    return " ".join(words)


def _judged(seed: int, kind: str | None, storm_s: int) -> tuple[int, list[str]]:
    """Play in a process of the pool, which collects garbage between plays alone: a sixth of a play's time was that."""
    found = wrong_with(seed, kind, storm_s)
    gc.collect()
    return found


def _leave_garbage() -> None:
    gc.collect()
    gc.freeze()
    gc.disable()


def _play(seeds: list[int], options: argparse.Namespace) -> int:
    judged = partial(_judged, kind=options.kind, storm_s=options.storm)
    failed = played = 0
    with multiprocessing.Pool(min(options.jobs, max(len(seeds), 1)), _leave_garbage) as pool:
        for seed, wrong in pool.imap_unordered(judged, seeds, chunksize=8):
            played += 1
            if wrong:
                failed += 1
                print(f"seed {seed}: {replay_command(seed, options.kind, options.storm)}")
                for each in wrong[:5]:
                    print(f"    {each}")
                if not options.go_on:
                    break
            if played % 100 == 0:
                print(f"{played} seeds played, {failed} failed", flush=True)
    print(f"{played} seeds played, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
