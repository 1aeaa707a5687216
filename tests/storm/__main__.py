"""The storm at length: python -m tests.storm [--consumers | --shares | --streams] [--moves] [--seconds 300] [--seed N]

Exit code 1 when a rule was broken, or a group had not settled within that many seconds of quiet.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Callable, Coroutine, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple

from coordinator_server.kinds import GROUPS, SHARE_STATE
from coordinator_server.runtime.partitioner import partition_for
from tests.storm import consumers, shares, streams, weather
from tests.storm.group_weather import SIZES
from tests.support.server import Server
from tests.support.shard_mover import ShardMover

MOVED_EVERY_S = 1.0


class Kind(NamedTuple):
    """A kind of storm: what its server needs to know, and the storm itself."""

    help: str
    overrides: Mapping[str, str]
    storm: Callable[..., Coroutine[Any, Any, weather.Report]]


CLASSIC: Final = Kind("", weather.OVERRIDES, weather.storm)
KINDS: Final = {
    "consumers": Kind("consumer groups, with members of both protocols", consumers.overrides(SIZES), consumers.storm),
    "shares": Kind("share groups, and leaders of share partitions", shares.overrides(SIZES), shares.storm),
    "streams": Kind("streams groups, with and without state", streams.overrides(SIZES), streams.storm),
}
"""By option. Without one, classic groups."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.storm", description="200 members join, leave, die and restart at random."
    )
    parser.add_argument("--seconds", type=float, default=300, help="how long, quiet times not counted (default 300)")
    parser.add_argument("--seed", type=int, default=None, help="what happens, but for what time decides")
    parser.add_argument("--settle", type=float, default=10, metavar="SECONDS", help="of quiet after which all has to be settled")
    for name, kind in KINDS.items():
        parser.add_argument(f"--{name}", dest="kind", action="store_const", const=name, help=kind.help)
    parser.add_argument("--moves", action="store_true", help="two loops, and each second a shard moves to the other one")
    arguments = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 31) if arguments.seed is None else arguments.seed
    kind = KINDS.get(arguments.kind, CLASSIC)
    loops = 2 if arguments.moves else 1
    with (
        tempfile.TemporaryDirectory() as directory,
        Server(Path(directory), kind.overrides, loops) as server,
        ExitStack() as stack,
    ):
        shards = shards_of_storms(server, arguments.kind == "shares")
        mover = stack.enter_context(ShardMover(server, MOVED_EVERY_S, shards)) if arguments.moves else None
        report = asyncio.run(kind.storm(server.addresses, seed, arguments.seconds, arguments.settle))
    print(report)  # noqa: T201 - its output is what it is for
    if mover is not None:
        print(mover)  # noqa: T201
    return 1 if report.broken else 0


def shards_of_storms(server: Server, has_shares: bool) -> list[str]:
    """The shards of the groups of a storm, and those of share partitions."""
    groups = {f"{GROUPS.topic}-{partition_for(f'storm-{size}', 50)}" for size in SIZES}
    kinds = (SHARE_STATE.topic,) if has_shares else ()
    return sorted(groups | {shard for shard in server.control(op="owners")["owners"] if shard.startswith(kinds)})


if __name__ == "__main__":
    sys.exit(main())
