"""Play simulations: one, with all that happened, or very many.

python -m tests.simulation 4711 --history            what was wrong with seed 4711, and what happened
python -m tests.simulation --seeds 100000            so many seeds, on all cores; ends with the first that fails unless --go-on
python -m tests.simulation --effects --seeds 10000   the same of several loops whose shards have effects on each other (purses.py)
python -m tests.simulation --transactions --seeds 10000   the same of several loops and producers with transactions (transactions.py)
python -m tests.simulation --clients --seeds 10000   the same of programs that use the client library (clients.py)
python -m tests.simulation --consumers --seeds 10000  the same of members of consumer groups, of both protocols (consumers.py)
python -m tests.simulation --shares --seeds 10000     the same of members of share groups, and leaders of share partitions (shares.py)
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial

from tests.simulation import clients, consumers, purses, shares, transactions
from tests.simulation.play import STORM_S, run
from tests.simulation.verdict import faults
from tests.toy.rows import plug, unplug

LONG_S = 60


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
    parser.add_argument("--effects", action="store_true", help="play with effects between shards")
    parser.add_argument("--transactions", action="store_true", help="play with producers and several loops")
    parser.add_argument("--clients", action="store_true", help="play with programs that use the client library")
    parser.add_argument("--consumers", action="store_true", help="play with members of consumer groups")
    parser.add_argument("--shares", action="store_true", help="play with members of share groups")
    parser.add_argument("--go-on", action="store_true", help="do not end with the first seed that fails")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count(), metavar="N", help="processes (%(default)s)")
    options = parser.parse_args()
    seeds = [*options.seed, *range(options.first, options.first + options.seeds)]
    if options.effects:
        return _play(seeds, options, wrong_with_effects, effects_command)
    if options.transactions:
        return _play(seeds, options, wrong_with_transactions, transactions_command)
    if options.clients:
        return _play(seeds, options, wrong_with_clients, clients_command)
    if options.consumers:
        return _play_groups(seeds, options, consumers.told, wrong_with_consumers, consumers_command)
    if options.shares:
        return _play_groups(seeds, options, shares.told, wrong_with_shares, shares_command)
    if options.history:
        for seed in seeds:
            for line in run(seed, options.storm).history.lines():
                print(line)
    judged = partial(wrong_with, storm_s=options.storm)
    return _play(seeds, options, judged, partial(replay_command, storm_s=options.storm))


def replay_command(seed: int, storm_s: int) -> str:
    """How to see a failure again."""
    return f".venv/bin/python -m tests.simulation {seed} --history" + ("" if storm_s == STORM_S else f" --storm {storm_s}")


def wrong_with(seed: int, storm_s: int = STORM_S) -> tuple[int, list[str]]:
    """The seed, and what is wrong with it; a simulation that breaks is wrong, too."""
    try:
        return seed, faults(run(seed, storm_s))
    except Exception:  # noqa: BLE001 - whatever it is, it is for the report
        return seed, [traceback.format_exc()]


def effects_command(seed: int) -> str:
    """How to see a failure of effects again."""
    return f".venv/bin/python -m tests.simulation --effects {seed}"


def wrong_with_effects(seed: int) -> tuple[int, list[str]]:
    """The same for a seed of effects between shards."""
    plug()
    try:
        return seed, purses.run(seed)
    except Exception:  # noqa: BLE001 - whatever it is, it is for the report
        return seed, [traceback.format_exc()]
    finally:
        unplug()


def transactions_command(seed: int) -> str:
    """How to see a failure of transactions again."""
    return f".venv/bin/python -m tests.simulation --transactions {seed}"


def wrong_with_transactions(seed: int) -> tuple[int, list[str]]:
    """The same for a seed of transactions."""
    try:
        return seed, transactions.run(seed)
    except Exception:  # noqa: BLE001 - whatever it is, it is for the report
        return seed, [traceback.format_exc()]


def clients_command(seed: int) -> str:
    """How to see a failure of the client library again."""
    return f".venv/bin/python -m tests.simulation --clients {seed}"


def wrong_with_clients(seed: int) -> tuple[int, list[str]]:
    """The same for a seed of programs with the client library."""
    try:
        return seed, clients.run(seed)
    except Exception:  # noqa: BLE001 - whatever it is, it is for the report
        return seed, [traceback.format_exc()]


def consumers_command(seed: int) -> str:
    """How to see a failure of consumer groups again."""
    return f".venv/bin/python -m tests.simulation --consumers {seed} --history"


def wrong_with_consumers(seed: int) -> tuple[int, list[str]]:
    """The same for a seed of members of consumer groups."""
    try:
        return seed, consumers.run(seed)
    except Exception:  # noqa: BLE001 - whatever it is, it is for the report
        return seed, [traceback.format_exc()]


def shares_command(seed: int) -> str:
    """How to see a failure of share groups again."""
    return f".venv/bin/python -m tests.simulation --shares {seed} --history"


def wrong_with_shares(seed: int) -> tuple[int, list[str]]:
    """The same for a seed of members of share groups."""
    try:
        return seed, shares.run(seed)
    except Exception:  # noqa: BLE001 - whatever it is, it is for the report
        return seed, [traceback.format_exc()]


def _play_groups(
    seeds: list[int],
    options: argparse.Namespace,
    told: Callable[[int], Iterator[str]],
    judged: Callable[[int], tuple[int, list[str]]],
    command: Callable[[int], str],
) -> int:
    for seed in seeds if options.history else ():
        for line in told(seed):
            print(line)
    return _play(seeds, options, judged, command)


def _play(
    seeds: list[int],
    options: argparse.Namespace,
    judged: Callable[[int], tuple[int, list[str]]],
    command: Callable[[int], str],
) -> int:
    failed = played = 0
    with multiprocessing.Pool(min(options.jobs, max(len(seeds), 1))) as pool:
        for seed, wrong in pool.imap_unordered(judged, seeds, chunksize=8):
            played += 1
            if wrong:
                failed += 1
                print(f"seed {seed}: {command(seed)}")
                for each in wrong[:5]:
                    print(f"    {each}")
                if not options.go_on:
                    break
            if played % 1000 == 0:
                print(f"{played} seeds played, {failed} failed", flush=True)
    print(f"{played} seeds played, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
