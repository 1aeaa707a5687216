"""The storm at length: python -m tests.storm [--consumers | --shares] [--seconds 300] [--seed N] [--settle 10]

Exit code 1 when a rule was broken, or a group had not settled within that many seconds of quiet.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path

from tests.storm import consumers, shares, weather
from tests.storm.group_weather import SIZES
from tests.support.server import Server


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.storm", description="200 members join, leave, die and restart at random."
    )
    parser.add_argument("--seconds", type=float, default=300, help="how long, quiet times not counted (default 300)")
    parser.add_argument("--seed", type=int, default=None, help="what happens, but for what time decides")
    parser.add_argument("--settle", type=float, default=10, metavar="SECONDS", help="of quiet after which all has to be settled")
    parser.add_argument("--consumers", action="store_true", help="consumer groups, with members of both protocols")
    parser.add_argument("--shares", action="store_true", help="share groups, and leaders of share partitions")
    arguments = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 31) if arguments.seed is None else arguments.seed
    overrides, storm = weather.OVERRIDES, weather.storm
    if arguments.consumers:
        overrides, storm = consumers.overrides(SIZES), consumers.storm
    elif arguments.shares:
        overrides, storm = shares.overrides(SIZES), shares.storm
    with tempfile.TemporaryDirectory() as directory, Server(Path(directory), overrides) as server:
        report = asyncio.run(storm(server.address, seed, arguments.seconds, arguments.settle))
    print(report)  # noqa: T201 - its output is what it is for
    return 1 if report.broken else 0


if __name__ == "__main__":
    sys.exit(main())
