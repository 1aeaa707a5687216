"""How long heartbeats take while other clients commit as much as they can.

    python -m bench.heartbeats_beside [--kafka] [--kafka-fsync] [--ours 'WORDS'] [--only 'commit 10'] [--rounds 5] [--seconds 3]

200 connections commit, one request each at a time. 200 members of other groups send a heartbeat every 0.1 s, evenly spread, each
over a connection of its own. The servers run side by side and take turns; medians of the rounds are printed. The two loads come
from a process each, so that heartbeats do not wait in the generator.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from bench.beside import KAFKA, add_server_options, servers
from bench.load import Measured, blast, compiled, moved, plan, set_up

CONNECTIONS: Final = 200
EVERY_S: Final = 0.1
LOADS: Final = ("commit 1", "commit 10", "commit 100")


class Round(NamedTuple):
    """What was measured of both loads."""

    heartbeats: Measured
    commits: Measured


def main() -> None:
    options = _options()
    compiled(has_tls=options.tls)
    with contextlib.ExitStack() as stack:
        members = {name: set_up(address, 2 * CONNECTIONS) for name, address in servers(options, stack).items()}
        for load in options.only:
            plans = {
                name: (plan(found[:CONNECTIONS], "heartbeat"), plan(found[CONNECTIONS:], load)) for name, found in members.items()
            }
            if options.tls:
                plans = {
                    name: (moved(one, options.tls_ports), moved(two, options.tls_ports)) for name, (one, two) in plans.items()
                }
            for name, (_, commits) in plans.items():
                blast(CONNECTIONS, 1, commits, 0, options.warm_up if name.startswith(KAFKA) else 0.5, has_tls=options.tls)
            rounds: dict[str, list[Round]] = {name: [] for name in plans}
            for _ in range(options.rounds):
                for name, both in plans.items():
                    rounds[name].append(_measure(*both, options))
            print(f"\n{CONNECTIONS / EVERY_S:,.0f} heartbeats a second beside {load}, {CONNECTIONS}x1")
            for name, found in rounds.items():
                print(_line(name, found), flush=True)


def _measure(heartbeats: bytes, commits: bytes, options: argparse.Namespace) -> Round:
    with ThreadPoolExecutor() as both:
        load = both.submit(blast, CONNECTIONS, 1, commits, options.warm, options.seconds, has_tls=options.tls)
        beside = both.submit(
            blast, CONNECTIONS, 1, heartbeats, options.warm, options.seconds, every_s=EVERY_S, has_tls=options.tls
        )
        return Round(beside.result(), load.result())


def _line(name: str, rounds: list[Round]) -> str:
    p50, p99, longest = (
        statistics.median(each) for each in zip(*((h["p50_ms"], h["p99_ms"], h["longest_ms"]) for h, _ in rounds), strict=True)
    )
    commits = statistics.median(each.commits["per_second"] for each in rounds)
    return f"  {name:34}heartbeats p50 {p50:7.2f}   p99 {p99:7.2f}   longest {longest:7.2f} ms   beside {commits:9,.0f} commits/s"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.heartbeats_beside", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_server_options(parser, seconds=3, warm_up=5)
    parser.add_argument("--only", action="append", choices=LOADS, help="may be repeated; default all")
    options = parser.parse_args()
    options.only = options.only or list(LOADS)
    return options


if __name__ == "__main__":
    main()
